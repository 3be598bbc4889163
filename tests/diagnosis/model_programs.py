"""Models with planted faults."""

from __future__ import annotations

from pathlib import Path

import sciprec
from sciprec.climate.stepping import schemes

ROOT = Path(__file__).parents[2]


def faulty_increment(first, second, third, fourth, step, increment):
    for i in range(increment.shape[0]):
        total = (first[i] + fourth[i]) + 2.0 * (second[i] + third[i])
        increment[i] = ((0.5 * step) * total) / 3.0
        increment[i] = (increment[i] + 0.125) - 0.125


def shallow_water(backend: str, increment=None, monkeypatch=None):
    """A trace of an hour of flow over a mountain at T21, one kernel of the scheme replaced."""
    if increment is not None:
        monkeypatch.setitem(schemes.STEP_KERNELS, "runge_kutta_increment", increment)
    changes = {"climate.truncation": 21, "climate.days": 1.0 / 24.0, "climate.output_hours": 1.0}
    return sciprec.trace_scenario(
        "quickstart_climate", backend, changes=changes, output=["height", "vorticity"]
    )
