"""Runs whose files are there already: a batch computes only what is missing.

Every file says by a digest which run it holds: what was computed (not in which company, nor how it
is judged), in which arithmetic with which compensation, by which code.
"""

from __future__ import annotations

import glob
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sciprec.batch.plan import Outcome, Run
from sciprec.errors import InputError
from sciprec.output import netcdf
from sciprec.output.provenance import code_digest
from sciprec.precision.backend import resolve_backend

RUN, SECONDS, SCENARIO = "sciprec_run", "sciprec_seconds", "sciprec_scenario"
"""Attributes of a file: the run's digest, the seconds it took, the scenario as resolved."""

_COMPANY = ("backends", "compensation", "tolerance")
"""Keys of a scenario that no number of a run depends on."""


def run_digest(run: Run) -> str:
    """What a run is, as 64 hexadecimal digits."""
    scenario = run.scenario.model_dump(mode="json")
    content = {
        "scenario": {k: v for k, v in scenario.items() if k not in _COMPANY},
        "backend": asdict(resolve_backend(run.backend)),
        "compensation": run.compensation.model_dump(mode="json"),
        "code": code_digest(),
    }
    text = json.dumps(content, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()


def kept_outcomes(runs: Sequence[Run], folder: str | Path) -> dict[str, Outcome]:
    """By file, the outcomes of those runs whose files are in the folder, complete and of this code.

    A file that is judged otherwise by now, or stands in other company, gets the scenario as it is.
    """
    found = (_kept(run, Path(folder) / run.file) for run in runs)
    return {outcome.file: outcome for outcome in found if outcome is not None}


def is_kept(run: Run, folder: str | Path) -> bool:
    """Whether the run's file is in the folder, complete and of this code."""
    return _matching(run, Path(folder) / run.file) is not None


def _matching(run: Run, path: Path) -> dict[str, Any] | None:
    """The attributes of a run's file; None where it is missing, damaged or of another run."""
    if not path.is_file():
        return None
    try:
        attributes = netcdf.attributes(path)
    except (InputError, OSError):
        return None
    same = attributes.get(RUN) == run_digest(run) and {SECONDS, SCENARIO} <= set(attributes)
    return attributes if same else None


def _kept(run: Run, path: Path) -> Outcome | None:
    attributes = _matching(run, path)
    if attributes is None:
        return None
    try:
        _refresh(run, path, attributes)
        seconds = float(attributes[SECONDS])
    except (InputError, OSError, TypeError, ValueError):  # what is damaged is made again
        return None
    name, choice = run.scenario.name, run.compensation.name
    return Outcome(name, run.backend, run.file, seconds, "", choice, kept=True)


def _refresh(run: Run, path: Path, attributes: dict[str, Any]) -> None:
    """Let a file state the scenario as it is now."""
    scenario = run.scenario.model_dump(mode="json")
    if json.loads(attributes[SCENARIO]) != scenario:
        dataset = netcdf.read(path)
        dataset.attrs[SCENARIO] = json.dumps(scenario, sort_keys=True)
        netcdf.write(dataset, path)


def remove_leftovers(runs: Sequence[Run], folder: str | Path) -> None:
    """Remove what killed processes have left of the files of these runs."""
    for run in runs:
        for part in Path(folder).glob(f".{glob.escape(run.file)}.*.part"):
            part.unlink(missing_ok=True)
