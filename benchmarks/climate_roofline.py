"""The stages of a step of shallow water on the roofline, by operations and bytes that are counted.

Every load and store counts as traffic with memory, as everywhere in `machine.cost`: what caches
keep is not modelled, so that the arithmetic intensity is a lower bound of what a machine would see.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sciprec.climate.running.counted_stages import counted_stages
from sciprec.climate.running.request import check_request
from sciprec.cost.peak_rates import roofline
from sciprec.cost.work import Work

BACKEND = "fp16"
"""An arithmetic for which both machines have a rate."""
MACHINES = ("mlu370", "a100")


def measure_rooflines(say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Operations, bytes and operations per byte of each stage, with the ridge points of machines.

    Args:
        say: is told what is being counted.

    Returns:
        A dictionary per stage: stage, truncation, operations and bytes of a tendency, intensity and
        for each machine its ridge (operations per byte at which arithmetic and memory take the same
        time) and what bounds the stage there, modelled.
    """
    truncation = "T42"
    say(f"operations and bytes of the stages of a step at {truncation}")
    found = []
    request = check_request("williamson_5", truncation, 1.0, step_seconds=600.0)
    for counted in counted_stages(request):
        work = Work.of_counts(counted["counts"], BACKEND)
        row: dict[str, Any] = {
            "stage": counted["stage"], "truncation": truncation, "operations": work.operations,
            "bytes": work.bytes_moved, "intensity": work.intensity,
        }  # fmt: skip
        for machine in MACHINES:
            modelled = roofline(work, machine, BACKEND)
            row[machine] = {"ridge": modelled.ridge, "bound": modelled.bound}
        found.append(row)
    return found


def roofline_rows(measured: list[dict[str, Any]]) -> list[dict[str, str]]:
    """The rows of a table."""
    rows = []
    for entry in measured:
        row = {
            "stage": entry["stage"], "operations": f"{entry['operations']:,.0f}",
            "bytes": f"{entry['bytes']:,.0f}", "operations a byte": f"{entry['intensity']:.3f}",
        }  # fmt: skip
        for machine in MACHINES:
            told = entry[machine]
            row[f"ridge, {machine}"] = f"{told['ridge']:.3g} ({told['bound']})"
        rows.append(row)
    return rows
