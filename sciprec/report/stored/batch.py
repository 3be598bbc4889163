"""A batch as its folder holds it: the runs, their files, their comparison with the truth.

Runs are those of member 0; the other members of an ensemble are read one by one when asked for.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import xarray as xr

from sciprec.cost.work import Work, stored_bytes, update_work
from sciprec.facets.compensation import PLAIN
from sciprec.facets.stages.attributes import STAGES
from sciprec.foundation import whole
from sciprec.foundation.arguments import shown
from sciprec.foundation.definitions import digest_of
from sciprec.foundation.errors import InputError
from sciprec.foundation.limits import SCALES
from sciprec.foundation.sealed import is_sealed, sealed
from sciprec.foundation.stored_objects import (
    DamagedError,
    Field,
    is_count,
    is_file_name,
    is_flag,
    is_number,
    is_text,
    read_object,
    what_is_wrong,
)
from sciprec.foundation.timing import Timing
from sciprec.precision.formats.backend import TRUTH, resolve_backend
from sciprec.results.comparison.evidence.gathering import Members, evidence
from sciprec.results.comparison.evidence.markets import is_surface
from sciprec.results.comparison.pointwise.error_metrics import metrics
from sciprec.results.comparison.pointwise.number_format import formats_of, only_arithmetic
from sciprec.results.comparison.rows import Comparison, compare
from sciprec.results.comparison.verdicts import Verdict, judge, stopped_early, with_evidence
from sciprec.results.output import files, kept_values, proven
from sciprec.results.output.dataset import PROCESSOR_SECONDS, PROCESSOR_SECONDS_RANGE
from sciprec.results.output.digests import OF_RUN
from sciprec.results.output.folders import MANIFEST
from sciprec.results.output.pieces import is_large
from sciprec.results.output.proven import DamagedFileError
from sciprec.results.output.stated import (
    INPUTS,
    MEMBERS,
    ORIGIN,
    RUN,
    SCENARIO,
    STORED_BITS,
    TRUTH_CARRIES,
)
from sciprec.scenario.variant import NAMES, OfVariant, Variant

MANIFEST_VERSION = 3
"""The version of lists that are written; those of version 2 have no seal and no digests of runs."""
MOST_BYTES_KEPT = 2**27
"""Most bytes of files kept in memory: of an ensemble's members, which several tests read for each
arithmetic, and of runs that were compared and wait to be drawn.
"""


@dataclass(frozen=True)
class StoredRun(OfVariant):
    """One run of a batch: its request, its stored results, and their comparison with the truth.

    Args:
        scenario, file: names.
        variant: by whose label pages tell runs apart.
        seconds: wall time of the whole run.
        dataset: None where the run left no file; a run that stopped early leaves one.
        comparison: None where the run or its truth failed or stopped early.
        verdict: in every case.
        member: of the scenario's ensemble.
        evidence: what `evidence.gathering.evidence` has found; None without a comparison.
        judged: (number, where its inputs come from, verdict) of each member, where these differ in
            their inputs; the run's verdict is the worst.
        later: whether most values of the dataset are read from its file when they are asked for,
            and its comparison has neither maps nor profiles; `StoredBatch.loaded` has all.
    """

    scenario: str
    variant: Variant
    file: str
    seconds: float
    dataset: xr.Dataset | None
    comparison: Comparison | None
    verdict: Verdict
    member: int = 0
    evidence: dict[str, Any] | None = None
    judged: tuple[tuple[int, str, Verdict], ...] = ()
    later: bool = False

    @cached_property
    def processor_time(self) -> Timing | None:
        """Processor time inside the model with its range; None where it is not known."""
        attrs = {} if self.dataset is None else self.dataset.attrs
        if PROCESSOR_SECONDS not in attrs or not attrs[PROCESSOR_SECONDS] > 0.0:
            return None
        return Timing(float(attrs[PROCESSOR_SECONDS]), *map(float, attrs[PROCESSOR_SECONDS_RANGE]))

    @cached_property
    def carries_residual(self) -> bool:
        """Whether what rounding loses of the state is kept and added later."""
        if not self.is_truth or self.dataset is None:
            return self.compensation != PLAIN
        carried = is_surface(self.dataset)  # what files of earlier versions do not say
        return bool(self.dataset.attrs.get(TRUTH_CARRIES, carried))

    @cached_property
    def _stored_in(self) -> str:
        """The format of the state between steps; by scale, one of as many bits."""
        bits = None if self.dataset is None else self.dataset.attrs.get(STORED_BITS)
        if only_arithmetic(self.arithmetic) is not None:
            return formats_of(self.arithmetic)[0]
        if bits is not None:
            return f"float:p={math.ceil(bits)}"
        stored = self.variant.stored
        return self.backend if stored is None or stored.startswith(SCALES) else stored

    @cached_property
    def bytes_per_number(self) -> int:
        """The bytes of a number of the state between steps, with its residual if there is one."""
        return stored_bytes(self._stored_in) * (2 if self.carries_residual else 1)

    @cached_property
    def state_update(self) -> Work:
        """The memory traffic of an update of a number of the state, its residual included."""
        return update_work(self._stored_in, residuals=int(self.carries_residual))

    @cached_property
    def stages(self) -> dict[str, Any] | None:
        """Arithmetics of the transforms' stages as plain data, or None: those of the backend."""
        return STAGES.read(self.dataset)

    @cached_property
    def arithmetic(self) -> dict[str, Any]:
        """The properties of the arithmetic as stored; none where the run left no file."""
        attrs = {} if self.dataset is None else self.dataset.attrs
        return json.loads(attrs.get("sciprec_backend_properties", "{}"))

    @cached_property
    def width(self) -> tuple[int, int]:
        """Bits of the significand, and the number of exponents; 0 where formats are mixed, or are
        not known.
        """
        mixed = (self.stages, self.variant.stored, self.variant.adaptive) != (None, None, None)
        only = only_arithmetic(self.arithmetic)
        if mixed or ("assignment" in self.arithmetic and only is None):
            return 0, 0
        if only is not None:
            return only.format.significand_bits, only.format.emax - only.format.emin
        compute = self.arithmetic.get("compute", {}) or _properties_called(self.backend)
        if not compute:
            return 0, 0
        emin, emax = (compute[key] or 0 for key in ("emin", "emax"))
        return compute["significand_bits"], emax - emin

    @property
    def size(self) -> tuple[int, int, bool]:
        """Order by the size of numbers: bits, exponents, compensation; mixed formats come last."""
        bits, exponents = self.width
        return bits or 10**6, exponents, self.compensation != PLAIN

    @cached_property
    def description(self) -> dict[str, Any]:
        """The scenario as resolved."""
        return {} if self.dataset is None else json.loads(self.dataset.attrs["sciprec_scenario"])


def _properties_called(name: str) -> dict[str, int]:
    """Bits and exponents of the arithmetic of a run that left no file; none where formats are
    mixed, or the name is not known here.
    """
    if name.startswith(("assignment:", "policy:")):
        return {}
    try:
        used = resolve_backend(name).compute.format
    except InputError:
        return {}
    return {key: getattr(used, key, 0) for key in ("significand_bits", "emin", "emax")}


@dataclass(frozen=True)
class StoredMember(OfVariant):
    """A run of an ensemble beyond member 0: where it is, or why it failed.

    Its file is there where it succeeded, or is `partial`: it stopped early.

    Args:
        scenario, variant, file, member, failure, partial: as in the list of runs.
        entry: all that the list has.
    """

    scenario: str
    variant: Variant
    file: str
    member: int
    failure: str
    partial: bool = False
    entry: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def has_file(self) -> bool:
        """Whether there is a file to read."""
        return self.partial or not self.failure


@dataclass(frozen=True)
class StoredBatch:
    """All runs of a folder, in the order of the plan, and how the batch was started.

    Args:
        folder: of the files.
        runs: those of member 0, loaded and compared.
        command, made_by: how the batch was started, and by what.
        further: the other members.
        digest: of the values of all runs; empty in folders of earlier versions.
    """

    folder: Path
    runs: tuple[StoredRun, ...]
    command: str
    made_by: dict[str, str]
    further: tuple[StoredMember, ...] = ()
    digest: str = ""

    @cached_property
    def _by_scenario(self) -> dict[str, tuple[StoredRun, ...]]:
        """The runs of each scenario, in the order of the batch."""
        runs: dict[str, list[StoredRun]] = {}
        for run in self.runs:
            runs.setdefault(run.scenario, []).append(run)
        return {name: tuple(group) for name, group in runs.items()}

    @property
    def scenarios(self) -> tuple[str, ...]:
        """Scenario names in order."""
        return tuple(self._by_scenario)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Labels in order, the truth first."""
        return tuple(dict.fromkeys(run.label for run in self.runs))

    def of_scenario(self, name: str) -> tuple[StoredRun, ...]:
        """The runs of one scenario."""
        return self._by_scenario.get(name, ())

    def loaded(self, name: str) -> tuple[StoredRun, ...]:
        """The runs of one scenario with their values in memory, but for large ones, and all that
        their comparison has found.

        Raises:
            InputError: a file is missing or damaged by now.
        """
        runs = [self._with_values(run) if run.later else run for run in self.of_scenario(name)]
        truth = next((run.dataset for run in runs if run.is_truth), None)
        return tuple(
            replace(run, comparison=compare(truth, run.dataset), later=False)
            if run.later and run.comparison is not None else run for run in runs
        )  # fmt: skip

    def _with_values(self, run: StoredRun) -> StoredRun:
        """A run with the values of its file, which is still the one that was read."""
        path = self.folder / run.file
        return replace(run, dataset=proven.available(path, run.dataset.attrs[OF_RUN]))

    def only(self, scenario: str) -> StoredBatch:
        """The batch without the runs of other scenarios."""
        further = tuple(member for member in self.further if member.scenario == scenario)
        return replace(self, runs=self.of_scenario(scenario), further=further)

    def members_of(self, scenario: str, label: str) -> Iterator[tuple[int, xr.Dataset]]:
        """Number and dataset of each member of an ensemble that has a file, read one by one.

        Member m is to be held against member m of fp64.

        Raises:
            InputError: a file is missing or damaged.
        """
        for run in self.runs:
            if (run.scenario, run.label) == (scenario, label) and run.dataset is not None:
                yield 0, run.dataset
        for member in self.further:
            if (member.scenario, member.label) == (scenario, label) and member.has_file:
                yield member.member, read_run(self.folder, member.entry)


def write_manifest(
    folder: Path, outcomes: Sequence[Any], *, command: str, made_by: dict[str, str],
    scenarios: Mapping[str, Mapping[str, Any]],
) -> Path:  # fmt: skip
    """Write the list of runs of a batch, failed ones included.

    Args:
        outcomes: objects with the attributes that are stored.
        command: the command that makes the batch again.
        made_by: versions, processor and so on.
        scenarios: as resolved, by name; files state them, and are judged by them.
    """
    judged = {name: _digest_of(json.dumps(s, sort_keys=True)) for name, s in scenarios.items()}
    content = {
        "version": MANIFEST_VERSION,
        "command": command,
        "made_by": made_by,
        "runs": [
            {"scenario": o.scenario, **o.variant.as_dict()}
            | {key: getattr(o, key) for key in _STORED}
            | {"judged": judged[o.scenario]}
            for o in outcomes
        ],
    }
    text = json.dumps(sealed(content), indent=1) + "\n"
    return write_text(folder / MANIFEST, text, lasting=True)


_STORED = ("file", "member", "seconds", "failure", "partial", "run", "digest")
"""Keys of an outcome in lists of runs, beside scenario and variant."""


def _digest_of(text: str) -> str:
    """64 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def write_text(path: Path, text: str, *, lasting: bool = False) -> Path:
    """Write a text file in the folder of a batch, whole or not at all.

    Args:
        path, text: of the file.
        lasting: whether it is flushed to the disk: it cannot be made again.

    Raises:
        InputError: it cannot be written.
    """
    try:
        return whole.write_text(path, text, lasting=lasting)
    except OSError as error:
        raise InputError(
            f"'{path}' cannot be written ({error.strerror}); make room there or correct its "
            "permissions, and run again: what is done is kept"
        ) from None


def read_batch(folder: str | Path, *, keep: bool = False) -> StoredBatch:
    """Read a batch from its folder and compare every run with the truth of its scenario.

    Args:
        folder: of the batch.
        keep: whether comparisons are kept in the cache folder by the bytes of the files and by the
            code, and those that were kept are used. Values of files are then read when they are
            asked for, but for those of runs that were just compared, up to `MOST_BYTES_KEPT`.

    Raises:
        InputError: the folder holds no batch, or its list of runs cannot be used.
    """
    folder = Path(folder)
    content = read_manifest(folder)
    of_scenario: dict[str, list[dict[str, Any]]] = {}
    for entry in content["runs"]:
        of_scenario.setdefault(entry["scenario"], []).append(entry)
    batch = StoredBatch(
        folder, (), content["command"], content["made_by"],
        tuple(map(_member, filter(_is_further, content["runs"]))), digest_of_batch(content),
    )  # fmt: skip
    measured_by, runs, size = digest_of(metrics()) if keep else "", {}, 0
    for entries in of_scenario.values():
        if not keep:
            stored_runs: Sequence[StoredRun] = _runs_of(batch, entries)
        else:
            stored_runs, complete = _kept_runs(batch, entries, measured_by)
            size += sum(run.dataset.nbytes for run in complete if run.dataset is not None)
            stored_runs = complete if complete and size <= MOST_BYTES_KEPT else stored_runs
        runs |= {run.file: run for run in stored_runs}
    ordered = (runs[entry["file"]] for entry in content["runs"] if not _is_further(entry))
    return replace(batch, runs=tuple(ordered))


def _is_further(entry: Mapping[str, Any]) -> bool:
    """Whether an entry of a list of runs is of a member beyond 0."""
    return entry.get("member", 0) > 0


def _member(entry: Mapping[str, Any]) -> StoredMember:
    """The member of an ensemble beyond 0 that an entry of a list of runs is of."""
    about = (entry[key] for key in ("file", "member", "failure"))
    variant, partial_ = Variant.read(entry), entry.get("partial", False)
    return StoredMember(entry["scenario"], variant, *about, partial_, entry)


def has_file(entry: Mapping[str, Any]) -> bool:
    """Whether an entry of a list of runs is of a run that left a file."""
    return not entry["failure"] or entry.get("partial", False)


def _kept_runs(
    batch: StoredBatch, entries: Sequence[dict[str, Any]], measured_by: str
) -> tuple[Sequence[StoredRun], Sequence[StoredRun]]:
    """The runs of a scenario with values in their files, kept where all of these hold what was
    written; and those of `_runs_of`, where they were not kept.

    Args:
        batch: without its runs.
        entries: of the scenario in the list of runs.
        measured_by: digest of the metrics, users' own among them.
    """
    paths = [batch.folder / entry["file"] for entry in entries if has_file(entry)]
    timeless = [entry | {"seconds": 0.0} for entry in entries]  # another one where a run is kept
    about = os.path.abspath(batch.folder), timeless, measured_by
    key = kept_values.key_of_files(paths, *about)
    runs = kept_values.recalled("runs", key)
    if runs is not None:
        seconds = {entry["file"]: entry["seconds"] for entry in entries}
        return [replace(run, seconds=seconds[run.file]) for run in runs], ()
    complete = _runs_of(batch, entries, keep=True)
    runs = tuple(_values_later(batch.folder, run) for run in complete)
    elsewhere = all(run.later or run.dataset is None for run in runs)
    failed = {entry["file"] for entry in entries if entry["failure"]}
    if any(run.verdict.status == "failed" and run.file not in failed for run in runs):
        return runs, complete  # a file that could not be read may be read the next time
    unchanged = key and key == kept_values.key_of_files(paths, *about)
    if elsewhere and unchanged and all(proven.verify(path).proven for path in paths):
        kept_values.keep("runs", key, runs)
    return runs, complete


def _values_later(folder: Path, run: StoredRun) -> StoredRun:
    """The run without what takes memory, as `StoredRun.later` says."""
    if run.dataset is None or is_large(run.dataset):
        return run
    comparison, path = run.comparison, os.path.abspath(folder / run.file)
    if comparison is not None:
        rows = ((row, row.statistics) for row in comparison.rows)
        light = tuple(
            row if all_of is None else replace(row, statistics=replace(all_of, map={}, profiles={}))
            for row, all_of in rows
        )
        comparison = replace(comparison, rows=light)
    dataset = files.values_later(run.dataset, path)
    return replace(run, dataset=dataset, comparison=comparison, later=True)


def _runs_of(
    batch: StoredBatch, entries: Sequence[dict[str, Any]], *, keep: bool = False
) -> tuple[StoredRun, ...]:
    """The runs of a scenario, read and compared.

    Args:
        batch, entries: as in `_kept_runs`.
        keep: whether the proofs of files are kept.
    """
    entries = [entry for entry in entries if not _is_further(entry)]
    loaded = [_load(batch.folder, entry, keep) for entry in entries]
    pairs = list(zip(entries, loaded, strict=True))
    truth = next((d for entry, (d, _) in pairs if Variant.read(entry).is_truth), None)
    runs = tuple(_stored_run(entry, *of_file, truth) for entry, of_file in pairs)
    batch = replace(batch, runs=runs)
    return tuple(_with_evidence(batch, run) for run in runs)


def _with_evidence(batch: StoredBatch, run: StoredRun) -> StoredRun:
    """The run, judged by more than its pointwise errors; a failed one where a file of another
    member is missing or damaged, since its verdict would be another one.
    """
    try:
        if run.dataset is not None and run.dataset.attrs.get(MEMBERS) == INPUTS:
            return _over_members(batch, run)
        gathered = evidence_of(batch, run)
    except DamagedFileError as error:
        return replace(run, verdict=Verdict("failed", str(error)))
    if gathered is None:
        return run
    return replace(run, evidence=gathered, verdict=with_evidence(run.verdict, gathered))


def _over_members(batch: StoredBatch, run: StoredRun) -> StoredRun:
    """The run with the worst verdict of all members, where these differ in what they are given."""
    if run.is_truth or run.comparison is None:
        return run
    truths = dict(batch.members_of(run.scenario, TRUTH))
    judged = [(0, str(run.dataset.attrs.get(ORIGIN, "")), run.verdict)]
    for number, dataset in batch.members_of(run.scenario, run.label):
        if number and number in truths:
            verdict = _judged(truths[number], dataset)
            judged.append((number, str(dataset.attrs.get(ORIGIN, "")), verdict))
    if len(judged) == 1:
        return run
    number, _, worst = min(judged, key=lambda entry: worse_first(entry[2]))
    good = sum(verdict.acceptable for *_, verdict in judged)
    which = f"member {number}, the worst of {len(judged)}; {good} of them are good enough"
    joint = replace(worst, sentence=f"{worst.sentence} ({which})", decisive="")
    return replace(run, verdict=joint, judged=tuple(judged))


def _judged(truth: xr.Dataset, dataset: xr.Dataset) -> Verdict:
    """The verdict on a member."""
    try:
        return judge(truth, dataset, compare(truth, dataset))
    except InputError as error:
        return Verdict("failed", str(error))


def worse_first(verdict: Verdict) -> tuple[int, float]:
    """A key by which the worst of some verdicts is the smallest."""
    order = ("failed", "broken", "beyond", "still", "doubtful", "unjudged", "good", "identical")
    margin = 0.0 if math.isnan(verdict.margin) else verdict.margin
    return order.index(verdict.status), -margin


def read_manifest(folder: Path) -> dict[str, Any]:
    """The content of the list of runs of a batch, checked by its seal and key by key; entries of
    version 2 have neither "run" nor "digest".

    Raises:
        InputError: there is none, or it is damaged.
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(
            f"'{folder}' holds no batch: there is no {MANIFEST} in it; give the folder that "
            "`sciprec run --out` wrote"
        )
    try:
        content = read_object(path, {"version": Field(is_count, needed=True)})
        if content["version"] not in (2, MANIFEST_VERSION):
            raise InputError(
                f"'{path}' is of version {content['version']}, and this sciprec reads version "
                f"{MANIFEST_VERSION}; use the sciprec that wrote it, or run the batch again"
            )
        if wrong := what_is_wrong(content, _OF_LIST):
            raise DamagedError(wrong)
        _check_entries(content["runs"], sealed=content["version"] == MANIFEST_VERSION)
        if content["version"] == MANIFEST_VERSION and not is_sealed(content):
            raise DamagedError("its seal does not fit: it was edited, or bytes of it were lost")
    except DamagedError as error:
        raise InputError(
            f"'{path}' is damaged ({error}), so that the runs of the batch are not known; run the "
            "batch again: what is done is kept"
        ) from None
    return content


def digest_of_batch(content: dict[str, Any]) -> str:
    """The digest of a list of runs: of their files' names, without suffix, and of the results in
    them; failed runs have none.

    Args:
        content: as `read_manifest` gives it.

    Returns:
        64 hexadecimal digits, alike wherever the same runs gave the same values; nothing where
        files have no digests.
    """
    pairs = [
        [Path(entry["file"]).stem, entry.get("digest", "")] for entry in content["runs"]
        if has_file(entry)
    ]  # fmt: skip
    if not pairs or not all(digest for _, digest in pairs):
        return ""
    return _digest_of(json.dumps(sorted(pairs)))


def verified(folder: Path, entry: Mapping[str, Any]) -> files.Verified:
    """Read the file of a run from end to end, and see whether it holds what was written, and what
    the list of runs says of it.

    Args:
        folder: of the batch.
        entry: of a list of runs, as `read_manifest` gives them.
    """
    return _as_listed(entry, files.verify(folder / entry["file"], entry.get("digest", "")))


def read_run(folder: Path, entry: Mapping[str, Any], *, keep: bool = False) -> xr.Dataset:
    """The dataset of a run, in memory or, where it is large, read when its values are asked for.

    Args:
        folder, entry: as in `verified`.
        keep: whether the proof of its file is kept.

    Raises:
        InputError: its file is missing or damaged, and how to make it again.
    """
    path, check = folder / entry["file"], partial(_as_listed, entry)
    return proven.available(path, entry.get("digest", ""), check, keep=keep)


def _as_listed(entry: Mapping[str, Any], checked: files.Verified) -> files.Verified:
    """Compare the verified file with its entry in the list of runs; return it with the damage."""
    if checked.damage:
        return checked
    if entry.get("judged") not in (None, _digest_of(str(checked.attributes.get(SCENARIO)))):
        damage = "states another scenario, such as another tolerance, than the list of runs"
        return replace(checked, damage=damage)
    label = entry["label"] + (f", member {entry['member']}" if entry.get("member") else "")
    whose = entry["scenario"], entry.get("run") or checked.attributes.get(RUN)
    stated_names = checked.attributes.get("sciprec_scenario_name"), checked.attributes.get(RUN)
    if whose == stated_names and str(checked.attributes.get("title")).endswith(f"({label})"):
        return checked
    return replace(checked, damage=f"holds another run than {entry['scenario']} in {label}")


def _check_entries(entries: list[Any], sealed: bool) -> None:
    """Make sure that entries name files and variants, each once.

    Args:
        entries: of a list.
        sealed: whether they have digests.

    Raises:
        DamagedError: one of them does not.
    """
    fields = _OF_ENTRY | (dict.fromkeys(("run", "digest", "judged"), _TEXT) if sealed else {})
    for entry in entries:
        if wrong := what_is_wrong(entry, fields):
            raise DamagedError(f"in an entry of its 'runs' {wrong}")
        variant = Variant.read(entry)
        if variant.label != entry["label"] or variant.is_truth != (entry["label"] == TRUTH):
            raise DamagedError(f"the entry of '{entry['file']}' in its 'runs' contradicts itself")
    runs = [(e["scenario"], e["label"], e.get("member", 0)) for e in entries]
    for of_each, sort in (([e["file"] for e in entries], "file"), (runs, "run")):
        (most, count) = Counter(of_each).most_common(1)[0]
        if count > 1:
            raise DamagedError(f"the {sort} {shown(most)} is in its 'runs' {count} times")


def _are_versions(value: Any) -> bool:
    return isinstance(value, dict) and all(map(is_text, (*value, *value.values())))


_TEXT = Field(is_text, needed=True)
_OF_LIST = {
    "command": Field(lambda value: isinstance(value, str), needed=True),  # paths need no characters
    "made_by": Field(_are_versions, needed=True),
    "runs": Field(lambda value: isinstance(value, list) and bool(value), needed=True),
}  # fmt: skip
_OF_ENTRY = {
    "file": Field(is_file_name, needed=True), "seconds": Field(is_number, needed=True),
    **dict.fromkeys(("scenario", *NAMES, "failure"), _TEXT),
    "member": Field(is_count), "partial": Field(is_flag),
}  # fmt: skip


def _load(folder: Path, entry: dict[str, Any], keep: bool) -> tuple[xr.Dataset | None, str]:
    """The file of a run, or the sentence that says why there is none."""
    if not has_file(entry):
        return None, entry["failure"]
    try:
        return read_run(folder, entry, keep=keep), ""
    except InputError as error:
        return None, str(error)


def _stored_run(
    entry: dict[str, Any], dataset: xr.Dataset | None, failure: str, truth: xr.Dataset | None
) -> StoredRun:
    """One run with its comparison and verdict."""
    comparison = None
    if failure:
        verdict = Verdict("failed", failure)
    elif stopped := stopped_early(dataset.attrs):
        verdict = Verdict("failed", stopped)
    elif truth is None:
        reason = "nothing can be compared: the fp64 truth failed, or its file is lost"
        verdict = Verdict("failed", reason)
    elif stopped := stopped_early(truth.attrs):
        reason = f"nothing can be compared: the fp64 truth itself {stopped}"
        verdict = Verdict("failed", reason)
    else:
        try:
            comparison = compare(truth, dataset)
            verdict = judge(truth, dataset, comparison)
        except InputError as error:
            verdict = Verdict("failed", str(error))
    return StoredRun(
        entry["scenario"], Variant.read(entry), entry["file"], entry["seconds"],
        dataset=dataset, comparison=comparison, verdict=verdict,
    )  # fmt: skip


class StoredMembers(Sequence[xr.Dataset]):
    """The datasets of some files, each read when it is asked for; small ones are kept.

    Args:
        paths: of the files.
        expected: of each the digest that the list of runs has.
    """

    def __init__(self, paths: Sequence[Path], expected: Sequence[str]) -> None:
        self.paths, self.expected = tuple(paths), tuple(expected)
        self.cached: dict[Path, xr.Dataset] = {}
        self.room = MOST_BYTES_KEPT

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index):
        path = self.paths[index]
        if path in self.cached:
            return self.cached[path]
        dataset = proven.available(path, self.expected[index])
        if dataset.nbytes <= self.room:
            self.cached[path] = dataset
            self.room -= dataset.nbytes
        return dataset


def evidence_of(batch: StoredBatch, run: StoredRun) -> dict[str, Any] | None:
    """The evidence of one run of a batch (`sciprec.results.comparison.evidence.gathering`).

    Args:
        batch: with the further members of the scenario's ensemble.
        run: of member 0.

    Returns:
        Plain data; None for the truth, where the run or its truth failed, or where members differ
        in their inputs, so that each has to be good enough by itself.
    """
    truth = truth_of(batch, run)
    if truth is None or truth.dataset is None or run.is_truth or run.comparison is None:
        return None
    if truth.dataset.attrs.get(MEMBERS) == INPUTS:
        return None
    members = (_members(batch, run.scenario, label) for label in (truth.label, run.label))
    return evidence(truth.dataset, run.dataset, Members(*members))


def truth_of(batch: StoredBatch, run: StoredRun) -> StoredRun | None:
    """The fp64 run of the same scenario."""
    return next((other for other in batch.of_scenario(run.scenario) if other.is_truth), None)


def _members(batch: StoredBatch, scenario: str, label: str) -> StoredMembers:
    """The members of one arithmetic's ensemble beyond 0 that have a file."""
    members = [
        member for member in batch.further
        if (member.scenario, member.label) == (scenario, label) and member.has_file
    ]  # fmt: skip
    paths = tuple(batch.folder / member.file for member in members)
    states = [path.stat() if path.exists() else None for path in paths]
    return _as_they_are(
        paths, tuple(member.entry.get("digest", "") for member in members),
        tuple(s and (s.st_mtime_ns, s.st_size) for s in states),
    )  # fmt: skip


@lru_cache(maxsize=2)
def _as_they_are(
    paths: tuple[Path, ...], expected: tuple[str, ...], states: tuple
) -> StoredMembers:  # fmt: skip
    """The members in files as they are now: those of the truth serve one arithmetic after another.

    Args:
        paths, expected: as in `StoredMembers`.
        states: what tells the contents of the files from earlier ones.
    """
    return StoredMembers(paths, expected)
