"""The section of the stages of a step beside the rooflines of machines: all modelled.

Operations, loads and stores are those that the run in fp64 has counted; a number takes the bytes of
each arithmetic, and every load and store is traffic with memory.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sciprec.cost.matrix_rates import MATRIX_MACHINES
from sciprec.cost.peak_rates import MACHINES, roofline
from sciprec.cost.work import Work
from sciprec.facets.matrix_unit.section import roofline_rows
from sciprec.foundation.errors import InputError
from sciprec.report.stored.batch import StoredRun
from sciprec.results.output.stated import STAGE_WORK


def rooflines_section(runs: Sequence[StoredRun]) -> dict[str, Any] | None:
    """The stages of a step, and the arithmetics of the runs, as plain data.

    Args:
        runs: of one scenario.

    Returns:
        None where nothing was counted; else `stages`, a row each: stage, operations and numbers
        moved in a step, and for each of the `arithmetics` its intensity, operations a byte;
        `ridges`, a row for each machine: its title, and for each arithmetic the operations a byte
        at which arithmetic and memory take the same time, or None where it has no rate; `above`,
        (stage, arithmetic, machine) of what lies above a ridge, in words; `staged`, labels of runs
        whose transforms have arithmetics of their own, which the stages above do not show; `units`,
        a row for each matrix unit among those: label, unit, operations and bytes of its Legendre
        products in a step, intensity, and `ridges`, for each of the `unit_machines`.
    """
    attributes = [{} if run.dataset is None else run.dataset.attrs for run in runs]
    text = next((attrs[STAGE_WORK] for attrs in attributes if STAGE_WORK in attrs), None)
    if text is None:
        return None
    counted = json.loads(text)
    names = list(dict.fromkeys(run.backend for run in runs if run.dataset is not None))
    works = {name: [work for stage in counted if (work := _work(stage, name))] for name in names}
    names = [name for name in names if len(works[name]) == len(counted)]
    stages = [
        {
            "stage": stage["stage"],
            "operations": stage["times"] * works[names[0]][n].operations,
            "moved": stage["times"] * sum(stage["counts"].get(way, 0) for way in ("load", "store")),
            "intensities": [works[name][n].intensity for name in names],
        }
        for n, stage in enumerate(counted)
    ]  # fmt: skip
    ridges = {
        machine.title: [_ridge(works[name], machine.name, name) for name in names]
        for machine in MACHINES.values()
    }
    above = [
        f"{row['stage']} in {name} on the {title}"
        for row in stages
        for title, ridge_row in ridges.items()
        for name, intensity, ridge in zip(names, row["intensities"], ridge_row, strict=True)
        if ridge is not None and intensity > ridge
    ]
    return {
        "arithmetics": names, "stages": stages, "ridges": ridges, "above": above,
        "staged": [run.label for run in runs if run.dataset is not None and run.stages is not None],
        "units": [row for run in runs for row in roofline_rows(run, _tendencies(counted))],
        "unit_machines": [machine.title for machine in MATRIX_MACHINES.values()],
    }  # fmt: skip


def _tendencies(counted: Sequence[dict[str, Any]]) -> int:
    """The number of tendencies in a step: as often as it does the stage that it does most often."""
    return max(stage["times"] for stage in counted)


def _work(counted: dict[str, Any], backend: str) -> Work | None:
    """The work of a stage in an arithmetic; None where a number of it has no size."""
    try:
        return Work.of_counts(counted["counts"], backend)
    except (InputError, AttributeError):
        return None


def _ridge(works: Sequence[Work], machine: str, backend: str) -> float | None:
    """Operations a byte of a step at its ridge; None where the machine has no rate for it."""
    try:
        return roofline(sum(works, Work()), machine, backend).ridge
    except InputError:
        return None
