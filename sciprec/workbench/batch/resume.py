"""Runs whose files are there already: a batch computes only what is missing.

Every file says by a digest which run it holds: what was computed (not in which company, nor how it
is judged), in which variant, by which code, that of registered cases, equations, schemes and
payoffs included.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sciprec.facets.monitor.attributes import told_alerts
from sciprec.facets.policy.keys import WithPolicies
from sciprec.foundation import whole
from sciprec.foundation.definitions import code_digest, digest_of
from sciprec.foundation.errors import InputError
from sciprec.precision.formats.backend import resolve_backend
from sciprec.results.comparison.verdicts import stopped_early
from sciprec.results.output import digests, files, proven
from sciprec.results.output.stated import RUN, SCENARIO, SECONDS
from sciprec.workbench.batch.plan import Outcome, Run, identity_of
from sciprec.workbench.batch.traced import traced_by
from sciprec.workbench.kinds import kind_of

_COMPANY = ("backends", "compensation", "stages", "tolerance", "ensemble", "trace", "adaptive",
            *WithPolicies.together[0])  # fmt: skip
"""Keys of a scenario that no number of a run depends on."""
INTERRUPTED = ".interrupted"
"""Folder, inside that of the batch, of what runs need to go on after an interruption."""


def run_digest(run: Run) -> str:
    """The digest of a run with its code, as 64 hexadecimal digits."""
    content = asked_of(run) | {
        "traced": traced_by(run), "code": code_digest(), "behind": (run.code, run.state),
    }  # fmt: skip
    text = json.dumps(content, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()


def asked_of(run: Run) -> dict[str, Any]:
    """The request of a run, as plain data without the code that answers it: the scenario, the
    arithmetic, and which member.
    """
    scenario = run.scenario.model_dump(mode="json")
    kind = run.scenario.kind
    table = {kind: {k: v for k, v in scenario[kind].items() if k not in run.scenario.folders}}
    backend = resolve_backend(run.backend)
    return {
        "scenario": {k: v for k, v in scenario.items() if k not in _COMPANY} | table,
        "backend": asdict(backend),
        "roundings": digest_of([a.rule for a in backend.roles if not a.fixed]),
        **run.variant.choices(),
        "member": identity_of(run),
    }


@dataclass(frozen=True)
class ExistingFile:
    """The file of a run that a batch's folder holds already, and whether it can be kept.

    Args:
        run: which.
        attributes: of its file, where that holds the run, made by this code, as it was written;
            else None.
        digest: of what it holds.
        damage: why a file that was made for the run is made again, as the end of a sentence; empty
            where there is none, or another scenario's or other code's.
    """

    run: Run
    attributes: Mapping[str, Any] | None = None
    digest: str = ""
    damage: str = ""

    @property
    def note(self) -> str:
        """The sentence about a damaged file; empty where it is not damaged."""
        return f"'{self.run.file}' {self.damage}; it is made again" if self.damage else ""


def find(runs: Sequence[Run], folder: str | Path) -> Iterator[ExistingFile]:
    """Look for the files of runs in a folder, each read from end to end and held against its own
    digests (or bytes that were), and against the list of runs that is there.
    """
    listed = _listed(Path(folder))
    return (look_for(run, folder, listed.get(run.file)) for run in runs)


def look_for(run: Run, folder: str | Path, entry: Mapping[str, Any] | None = None) -> ExistingFile:
    """Look for the file of a run.

    Args:
        run: which.
        folder: of the batch.
        entry: of the list of runs, where that has one of this file.
    """
    path, digest = Path(folder) / run.file, run_digest(run)
    if not os.path.lexists(path):
        return ExistingFile(run)
    of_this = entry is not None and entry.get("run") == digest
    verified = proven.verify(path, entry["digest"] if of_this else "", run=digest)
    if verified.proven:
        return ExistingFile(run, verified.attributes, verified.digest)
    if verified.other and not of_this:
        return ExistingFile(run)
    lost = "has lost the digests that it was written with"  # this code has written some
    return ExistingFile(run, damage=verified.damage or lost)


def _listed(folder: Path) -> dict[str, Mapping[str, Any]]:
    """The entries of a folder's list of runs by file; none where it has none that can be used."""
    from sciprec.report.stored.batch import MANIFEST, read_manifest

    if not (folder / MANIFEST).exists():
        return {}
    try:
        return {entry["file"]: entry for entry in read_manifest(folder)["runs"]}
    except InputError:  # what each file says of itself counts
        return {}


def restored(existing: ExistingFile, folder: str | Path) -> Outcome | None:
    """The outcome of a run that is kept, None where it has to be made.

    A file that is judged otherwise by now, or stands in other company, gets the scenario as it is.
    """
    run, attributes = existing.run, existing.attributes
    if attributes is None:
        return None
    try:
        _refresh(run, Path(folder) / run.file, attributes)
    except (InputError, OSError):  # it is told when the run is made again
        return None
    stopped = stopped_early(attributes)
    return run.outcome(
        float(attributes[SECONDS]), stopped, kept=True, partial=bool(stopped),
        alerts=told_alerts(attributes), run=attributes[RUN], digest=existing.digest,
    )  # fmt: skip


def _refresh(run: Run, path: Path, attributes: Mapping[str, Any]) -> None:
    """Let a file state the scenario as it is now."""
    scenario = run.scenario.model_dump(mode="json")
    if json.loads(attributes[SCENARIO]) != scenario:
        dataset = files.available(path)
        dataset.attrs[SCENARIO] = json.dumps(scenario, sort_keys=True)
        files.write(digests.seal(dataset), path)


def left_beside(runs: Sequence[Run], folder: str | Path) -> list[str]:
    """Names of files in the folder that bear the names of these scenarios and are of none of these
    runs: earlier batches, or other scenarios of the same names, have left them.
    """
    starts = tuple({f"{run.scenario.name}__" for run in runs})
    planned, endings = {run.file for run in runs}, tuple(files.SUFFIXES.values())
    names = (path.name for path in Path(folder).iterdir())
    return sorted(
        n for n in names if n.startswith(starts) and n.endswith(endings) and n not in planned
    )


def interrupted_folder(run: Run, folder: str | Path) -> Path | None:
    """The folder from which a long run goes on after an interruption; None where it cannot.

    The name holds the run's digest: other code, or another scenario of that name, begins again.
    """
    if not kind_of(run.scenario).restarts:
        return None
    return Path(folder) / INTERRUPTED / f"{run.file}-{run_digest(run)[:16]}"


def remove_interrupted(folder: Path | None) -> None:
    """Remove the checkpoints of a run that has ended."""
    if folder is None:
        return
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):  # others are still in there, or it was never made
        folder.parent.rmdir()


def interrupted_beside(runs: Sequence[Run], folder: str | Path) -> tuple[int, int]:
    """The number of other runs that could go on from what they have left in the folder, and the
    bytes that this takes.
    """
    own_folders = {interrupted_folder(run, folder) for run in runs}
    folders = [
        folder for folder in (Path(folder) / INTERRUPTED).glob("*") if folder not in own_folders
    ]
    sizes = [
        path.stat().st_size for folder in folders for path in folder.rglob("*") if path.is_file()
    ]
    return len(folders), sum(sizes)


def remove_leftovers(runs: Sequence[Run], folder: str | Path) -> None:
    """Remove files that killed processes have left of these runs, and checkpoints of other code or
    other scenarios of their names.
    """
    whole.tidy(Path(folder))
    names = {run.file: run for run in runs}
    for path in (Path(folder) / INTERRUPTED).glob("*-*"):
        run = names.get(path.name.rpartition("-")[0])
        if run is not None and path != interrupted_folder(run, folder):
            remove_interrupted(path)
