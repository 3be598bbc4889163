"""Cost of a forcing and of tracers: steps of the forced atmosphere with them and without.

All contenders make some steps in turn in every round; a share is taken within its round. Processor
time of one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from benchmarks.precision import machine
from sciprec.climate.physics.forcings import forcing
from sciprec.climate.running.lifted_model import LiftedModel, conversion_of
from sciprec.climate.running.request import check_request
from sciprec.climate.running.start import initial_state
from sciprec.climate.transform.grid import GaussianGrid

TITLE = "Cost of a forcing and of tracers"
CAPTION = (
    "the atmosphere of Held and Suarez at T42 with 20 levels, steps of 1,200 s; ratios to the step "
    "with neither in the same round; medians and least of eleven rounds; one thread, processor time"
)
BACKENDS = ("fp64", "fp16")
ALONE = "neither"
_ROUNDS, _STEPS = 11, 4


@forcing(parameters={"rate": (0.1, "1/day"), "aim": (260.0, "K")})
def one_field(fields, t, p, out):
    """Relax the temperature."""
    for k in range(fields.temperature.shape[0]):
        for j in range(fields.temperature.shape[1]):
            for i in range(fields.temperature.shape[2]):
                out.temperature[k, j, i] += p.rate * (p.aim - fields.temperature[k, j, i])


@forcing(
    parameters={
        "mean": (260.0, "K"), "wave": (12.0, "K"), "lapse": (40.0, "K"), "drag": (0.3, "1/day"),
        "weak": (0.02, "1/day"), "quick": (0.2, "1/day"), "speed": (20.0, "m/s"),
        "reference": (1000.0, "hPa"), "base": (0.7, "1"), "cold": (200.0, "K"),
    }
)  # fmt: skip
def thirty_lines(fields, t, p, out):
    """Relax the temperature and brake the winds, by 36 operations a point."""
    levels, nlat, nlon = fields.u.shape
    season = np.cos(6.283185307 * t.year)
    for k in range(levels):
        depth = fields.sigma[k] - p.base
        ground = max(0.0, depth / (1.0 - p.base))
        warm = p.mean + p.lapse * (fields.sigma[k] - 0.5)
        for j in range(nlat):
            sine = np.sin(fields.latitude[j])
            cosine2 = 1.0 - sine * sine
            tilt = p.wave * season * sine
            aim = warm + tilt - p.lapse * sine * sine
            radiating = p.weak + p.quick * ground * cosine2 * cosine2
            for i in range(nlon):
                u = fields.u[k, j, i]
                v = fields.v[k, j, i]
                air = fields.temperature[k, j, i]
                pressure = fields.surface_pressure[j, i] / p.reference
                excess = pressure - 1.0
                raised = aim + p.wave * excess * (1.0 - 0.5 * excess)
                floor = max(p.cold, raised)
                missing = floor - air
                gain = radiating * missing * (1.0 + 0.1 * excess * excess)
                fast = (u * u + v * v) / (p.speed * p.speed)
                braked = p.drag * ground * (0.5 + 0.5 * fast / (1.0 + fast))
                slower = braked * pressure
                east = slower * u + p.weak * (u - p.speed * cosine2)
                north = slower * v + p.weak * v
                heated = 0.001 * (east * u + north * v)
                out.u[k, j, i] -= east
                out.v[k, j, i] -= north
                out.temperature[k, j, i] += gain + heated


CONTENDERS: dict[str, tuple[Any, int, str]] = {
    ALONE: (None, 0, ""),
    "forcing of one field": (one_field, 0, ""),
    "forcing of 30 lines": (thirty_lines, 0, "<= 1.15"),
    "1 tracer": (None, 1, ""),
    "10 tracers": (None, 10, "<= 2.5"),
}
"""Row -> its forcing, its number of tracers, and the goal of its ratio."""


def measure(small: bool = False, say: Callable[[str], None] = lambda text: None) -> dict:
    """Run the benchmark.

    Args:
        small: T5 with two levels in one arithmetic, two rounds (for tests).
        say: is told what is being measured.

    Returns:
        The machine, and of each arithmetic and contender the milliseconds of a step and the ratios.
    """
    rows = []
    for backend in BACKENDS[: 1 if small else None]:
        say(f"steps in {backend}")
        rows += _rows(backend, small)
    return {"benchmark": "forcing", "machine": machine(), "cases": rows}


def timings(result: dict) -> dict[str, float]:
    """Seconds of a step by name."""
    return {f"{row['with']}, {row['backend']}": 1e-3 * row["step_ms"] for row in result["cases"]}


def tables(result: dict) -> dict[str, list[dict]]:
    """The table: one row per arithmetic and contender."""
    rows = [
        {
            "in": row["backend"], "a step with": row["with"], "ms": f"{row['step_ms']:.1f}",
            "least, ms": f"{row['least_ms']:.1f}", "ratio": f"{row['ratio']:.2f}",
            "goal": CONTENDERS[row["with"]][2],
        }
        for row in result["cases"]
    ]  # fmt: skip
    return {TITLE: rows}


def _rows(backend: str, small: bool) -> list[dict[str, Any]]:
    """Milliseconds of a step of every contender, and their ratios to the one with neither."""
    advance = {
        name: _steps_of(backend, given, count, small)
        for name, (given, count, _) in CONTENDERS.items()
    }
    took: dict[str, list[float]] = {name: [] for name in advance}
    for _ in range(2 if small else _ROUNDS):
        for name, steps in advance.items():
            took[name].append(1e3 * _seconds(steps) / _STEPS)
    return [
        {
            "backend": backend, "with": name, "step_ms": median(each), "least_ms": min(each),
            "ratio": median(a / b for a, b in zip(each, took[ALONE], strict=True)),
        }
        for name, each in took.items()
    ]  # fmt: skip


def _steps_of(backend: str, given: Any, count: int, small: bool) -> Callable[[], Any]:
    """A function that makes steps of a model with a forcing or tracers; compiled."""
    request = check_request(
        "held_suarez", "T5" if small else "T42", 1.0, backend=backend, step_seconds=1200.0,
        time_scheme="semi_implicit_leapfrog", parameters={"levels": 2 if small else 20},
        forcing=given, tracers={f"tracer_{k}": "gaussian_hill" for k in range(count)},
    )  # fmt: skip
    initial = initial_state(request, GaussianGrid(request.truncation))
    convert = conversion_of(request, initial)
    model = LiftedModel(request, convert)
    levels = [model.steps.system.addition.level(model.stored(convert.to_state(initial)))]
    model.steps.advance(levels, 0, 3)
    return lambda: model.steps.advance(levels, 3, _STEPS)


def _seconds(what: Callable[[], Any]) -> float:
    start = time.thread_time()
    what()
    return time.thread_time() - start
