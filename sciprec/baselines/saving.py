"""Runs of a request, computed or taken from a batch, kept as a baseline with their noise."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import xarray as xr

from sciprec.baselines.keeping import Fingerprint, fingerprints, kept_values, relative_error
from sciprec.baselines.noise import Kept, has_ensemble, noise_runs, spread
from sciprec.baselines.pace import REPEATS, pace_of, reference_seconds
from sciprec.baselines.records import FOLDER, KeptRun, Record, require_new, write_record
from sciprec.baselines.requests import Request, differing, name_of
from sciprec.batch.execute import execute
from sciprec.batch.plan import Outcome, Run
from sciprec.batch.resume import SCENARIO
from sciprec.comparison.verdicts import stopped_early
from sciprec.errors import InputError
from sciprec.output import files
from sciprec.output.dataset import PROCESSOR_SECONDS
from sciprec.output.folders import alone_in
from sciprec.provenance.origin import commit_around, provenance
from sciprec.scenario.loading import TRUTH

SAVED = "saved"
"""The reason of a baseline that is new."""
_MADE_BY = ("sciprec", "numpy", "numba", "llvmlite", "scipy", "python", "system", "processor",
            "simd")  # fmt: skip


@dataclass(frozen=True)
class Given:
    """What a run has given.

    Args:
        values, known: what a baseline keeps of it.
        failure: empty, or why it failed.
        errors: by variable, relative l2 errors of the kept values against fp64's.
        seconds: processor seconds of it and of the runs beside it; 0 where they are not known.
        pace: median and least of these, as ratios to a reference kernel.
    """

    values: xr.Dataset | None = None
    known: Mapping[str, Fingerprint] = field(default_factory=dict)
    failure: str = ""
    errors: Mapping[str, float] = field(default_factory=dict)
    seconds: tuple[float, ...] = ()
    pace: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class How:
    """How runs are computed.

    Args:
        threads: how many runs at a time; None: one a processor.
        told: callbacks of `execute`: on_done, on_days, on_compiling.
        on_plan: called with all runs, before anything is computed.
    """

    threads: int | None = None
    told: Mapping[str, Callable[..., None]] = field(default_factory=dict)
    on_plan: Callable[[Sequence[Run]], None] = lambda runs: None


Answers = tuple[dict[str, Given], dict[str, tuple[dict[str, dict[str, float]], str]]]
"""What each run has given; and for each the spread of its noise, and of what that is."""
PLAIN = How()
"""One run a processor, and nobody is told."""


def save_request(
    request: Request, *, name: str = "", folder: str | Path = FOLDER, batch: Path | None = None,
    unversioned: bool = False, how: How = PLAIN,
) -> Record:  # fmt: skip
    """Compute what is asked, and the runs that tell its noise, and keep both as a baseline.

    Args:
        request: what is asked.
        name: of the baseline; left out, the request's.
        folder: of all baselines.
        batch: a folder of `sciprec run` that has the runs already; those of the noise are computed.
        unversioned: whether the folder need not be in a repository with a commit.
        how: runs are computed.

    Raises:
        InputError: there is a baseline of that name, the folder cannot be written or is in no
            repository, or the batch is of something else.
    """
    name, folder = name or request.name, Path(folder)
    require_new(name, folder)
    with writable(folder):
        commit = required_commit(folder, unversioned)
        computed = answers(request, batch, how, noisy=True)
        return write_new(request, name, folder, computed, commit)


def write_new(
    request: Request, name: str, folder: Path, computed: Answers, commit: str,
    history: Sequence[Mapping[str, Any]] = (), reason: str = SAVED,
    found: Mapping[str, int] | None = None,
) -> Record:  # fmt: skip
    """Write a baseline of what is asked, in place of what may be there.

    Args:
        request: what was asked.
        name, folder: of the baseline.
        computed: the answers, with noise.
        commit: that it is of; empty where there is none.
        history: what was before.
        reason: why the numbers are as they are now.
        found: how many variables had each verdict, against what was before.

    Raises:
        InputError: a run has left nothing, or the baseline cannot be written.
    """
    given, noise = computed
    failed = next(((n, one.failure) for n, one in given.items() if one.values is None), None)
    if failed:
        raise InputError(
            f"{failed[0]} gives nothing to keep: {failed[1]}; correct it, or leave this arithmetic "
            "out with --backend"
        )
    places = {name_of(run): run.file for run in request.runs}
    runs, values = [], {}
    for run, one in given.items():
        variables, words = noise[run]
        runs.append(KeptRun(
            run, places.get(run, ""), failure=one.failure, variables=one.known, noise=variables,
            noise_of=words, errors=one.errors, pace=one.pace,
        ))  # fmt: skip
        values[run] = one.values
    made_by = {key: value for key, value in provenance().items() if key in _MADE_BY}
    entry = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"), "commit": commit, "reason": reason,
        "found": dict(found or {}), "errors": {run.name: dict(run.errors) for run in runs},
    }  # fmt: skip
    record = Record(
        name, request.key, request.subject, request.asked, request.source, tuple(runs),
        made_by | {"commit": commit}, (*history, entry), folder,
    )  # fmt: skip
    write_record(record, values)
    return record


def answers(
    request: Request, batch: Path | None, how: How, *, noisy: bool = False, timed: bool = False
) -> Answers:
    """What the runs of a request give, by name.

    Args:
        request: what is asked.
        batch: a folder that has its runs, or None: they are computed.
        how: they are.
        noisy: whether the runs that tell their noise are computed, too.
        timed: whether each is computed so often that its time is known.

    Returns:
        What each run has given; and for each the spread of its noise, and of what that is.

    Raises:
        InputError: the folder has not all the runs, or those of something else.
    """
    noises = {run.file: noise_runs(run, request.perturbed) if noisy else [] for run in request.runs}
    todo = [] if batch is not None else list(request.runs)
    todo += [one for some in noises.values() for one in some]
    again = {
        run.file: [replace(run, file=f"again{k}__{run.file}") for k in range(1, REPEATS)]
        if timed else noises[run.file] for run in request.runs
    }  # fmt: skip
    todo += [one for some in again.values() for one in some] if timed else []
    with tempfile.TemporaryDirectory(prefix="sciprec-baseline-") as temporary, request.around():
        how.on_plan(todo)
        done = execute(todo, temporary, threads=how.threads, **how.told) if todo else ()
        outcomes = {outcome.file: outcome for outcome in done}
        place = Path(temporary)
        given = {
            name_of(run): _given(place, outcomes[run.file]) if batch is None
            else stored_run(batch, run, request.asked[name_of(run)])
            for run in request.runs
        }  # fmt: skip
        reference = reference_seconds()
        for run in request.runs if batch is None else ():
            one, others = given[name_of(run)], again[run.file]
            beside = [_given(place, outcomes[other.file]).seconds for other in others]
            seconds = (*one.seconds, *(s for some in beside for s in some))
            given[name_of(run)] = replace(
                one, seconds=seconds, pace=pace_of(seconds, reference)
            )
        noise = {
            name_of(run): _noise(run, given[name_of(run)], place, outcomes, noises[run.file])
            for run in (request.runs if noisy else ())
        }
    return _with_errors(request.runs, given), noise


def stored_run(batch: Path, run: Run, asked: Mapping[str, Any]) -> Given:
    """What a batch's folder holds of a run.

    Raises:
        InputError: the file is of another scenario.
    """
    if not batch.is_dir():
        raise InputError(f"there is no folder '{batch}'; give one that `sciprec run --out` wrote")
    path = batch / run.file
    if not path.exists():
        return Given(failure=f"there is no '{run.file}' in the batch's folder")
    dataset = files.read(path)
    said = json.loads(dataset.attrs.get(SCENARIO, "{}"))
    wanted = asked["scenario"]
    other = differing({"": said}, {"": wanted}, missing=False)
    if other:
        raise InputError(
            f"'{path}' is of another scenario than the baseline: {'; '.join(other[:3])}; give the "
            "folder of a batch of the same scenario"
        )
    return _of_dataset(dataset, stopped_early(dataset.attrs))


def required_commit(folder: Path, unversioned: bool) -> str:
    """The commit that a baseline is of.

    Raises:
        InputError: there is none, and that was not said to be right.
    """
    commit, why = commit_around(folder)
    if not commit and not unversioned:
        raise InputError(
            f"the folder '{folder}' of baselines has no commit to name ({why}); commit first, or "
            "keep baselines without one with --no-commit"
        )
    return commit


@contextlib.contextmanager
def writable(folder: Path) -> Iterator[None]:
    """Hold the folder of baselines for a `with` statement, made where it is missing, and removed
    where it stays empty.

    Raises:
        InputError: it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"the folder '{folder}' cannot be made ({error.strerror}); give one that you may write "
            "into with --folder"
        ) from None
    try:
        with alone_in(folder):
            yield
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _given(folder: Path, outcome: Outcome) -> Given:
    """What a run has left."""
    if outcome.failure and not outcome.partial:
        return Given(failure=outcome.failure)
    return _of_dataset(files.read(folder / outcome.file), outcome.failure)


def _of_dataset(dataset: xr.Dataset, failure: str) -> Given:
    seconds = float(dataset.attrs.get(PROCESSOR_SECONDS, 0.0))
    return Given(kept_values(dataset), fingerprints(dataset), failure, seconds=(seconds,))


def _noise(
    run: Run, given: Given, folder: Path, outcomes: Mapping[str, Outcome], others: Sequence[Run]
) -> tuple[dict[str, dict[str, float]], str]:
    """The spread of a run's noise, and of what that is."""
    if given.values is None:
        return {}, ""
    some = [_given(folder, outcomes[one.file]) for one in others]
    ended: list[Kept] = [(one.values, one.known) for one in some if one.values is not None]
    words = "members of its ensemble" if has_ensemble(run) else (
        "runs whose inputs are one unit of the format apart")  # fmt: skip
    lost = next((one.failure for one in some if one.values is None), "")
    if not ended:
        return {}, f"not known ({lost}): only the same bits are the same"
    said = f"{len(ended)} {words}"
    return spread([(given.values, given.known), *ended]), said


def _with_errors(runs: Sequence[Run], given: Mapping[str, Given]) -> dict[str, Given]:
    """What runs have given, with errors against the truth of their member."""
    truths = {run.member: given[name_of(run)].values for run in runs if run.backend == TRUTH}
    return {
        name_of(run): _against(truths.get(run.member), given[name_of(run)], run) for run in runs
    }


def _against(truth: xr.Dataset | None, one: Given, run: Run) -> Given:
    if truth is None or one.values is None or run.is_truth:
        return one
    alike = _alike(truth, one.values)
    errors = {name: relative_error(truth, one.values, name) for name in alike}
    return replace(one, errors=errors)


def _alike(one: xr.Dataset, other: xr.Dataset) -> Iterator[str]:
    """Names of variables that are of one shape in both."""
    for name in one.data_vars:
        if name in other and one[name].shape == other[name].shape:
            yield str(name)
