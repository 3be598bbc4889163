"""What a monitor costs: watched steps against steps of the model, in processor time.

A watched step's cost is that of one look, so that it can be told beside steps that vary by more.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

from benchmarks.precision import machine
from sciprec.climate.running.drifting import Drifting
from sciprec.climate.running.lifted_model import Model, conversion_of
from sciprec.climate.running.observing import Observer
from sciprec.climate.running.request import check_request
from sciprec.climate.running.start import initial_state
from sciprec.climate.transform.grid import GaussianGrid
from sciprec.tools.monitor.plan import EVERY, checked_plan

TITLE = "Cost of a monitor"
CAPTION = (
    "all prognostic variables watched at level 1; a look over a step, and over the 36 steps "
    "from one to the next; a step made again in fp64 for the estimate of drift, likewise; medians "
    "of seven rounds of processor time on one thread"
)
CASES = (("williamson_5", 42), ("williamson_5", 85), ("held_suarez", 42))
BACKENDS = ("fp64", "fp16")
GOAL = 0.05
SHARES = ("share at every = 36", "share at drift_every = 36")
_ROUNDS, _LOOKS, _STEPS = 7, 20, 8


def measure(small: bool = False, say: Callable[[str], None] = lambda text: None) -> dict:
    """Run the benchmark.

    Args:
        small: one case at a small truncation, two rounds (for tests).
        say: is told what is being measured.

    Returns:
        The machine, and of each case and arithmetic the milliseconds, as plain data.
    """
    rows = []
    for case, truncation in (("williamson_5", 21),) if small else CASES:
        for backend in BACKENDS[: 1 if small else None]:
            say(f"{case} at T{truncation} in {backend}")
            rows.append(_row(case, truncation, backend, 2 if small else _ROUNDS))
    return {"benchmark": "monitor", "machine": machine(), "cases": rows}


def timings(result: dict) -> dict[str, float]:
    """Seconds of a look, and of a step made again, by name."""
    return {
        f"{one['case']}, {one['truncation']}, {one['backend']}, {name}": 1e-3 * one[f"{name}_ms"]
        for one in result["cases"] for name in ("look", "drift")
    }  # fmt: skip


def tables(result: dict) -> dict[str, list[dict]]:
    """The table: one row per case and arithmetic; the goal last."""
    rows = [
        {
            "case": f"{row['case']}, {row['truncation']}", "in": row["backend"],
            "step, ms": f"{row['step_ms']:.2f}", "look, ms": f"{row['look_ms']:.2f}",
            "share at every = 36": f"{100 * row['share']:.1f} %",
            "drift, ms": f"{row['drift_ms']:.2f}",
            "share at drift_every = 36": f"{100 * row['drift_share']:.1f} %",
        }
        for row in result["cases"]
    ]  # fmt: skip
    return {TITLE: [*rows, {"case": "goal"} | dict.fromkeys(SHARES, f"{100 * GOAL:.0f} %")]}


def _row(case: str, truncation: int, backend: str, rounds: int) -> dict[str, Any]:
    """Milliseconds of a step and of a look at the whole state, and the share at the usual pace."""
    request = check_request(case, truncation, 1.0, backend=backend)
    names = request.equations.variables
    plan = checked_plan(names, every=EVERY, drift_every=EVERY)
    request = check_request(case, truncation, 1.0, backend=backend, monitor=plan)
    initial = initial_state(request, GaussianGrid(request.truncation))
    convert = conversion_of(request, initial)
    model = Model(request, convert)
    levels = [model.steps.system.addition.level(model.stored(convert.to_state(initial)))]
    observer = Observer(request, convert, model.columns)
    drifting = Drifting(request, convert, model.columns)

    def twice() -> None:
        drifting.begin(levels, 2)
        drifting.end(levels, 3)

    model.steps.advance(levels, 0, 2)  # compiles
    twice()
    steps, looks, drifts = [], [], []
    for _ in range(rounds):
        steps.append(_seconds(lambda: model.steps.advance(levels, 2, _STEPS)) / _STEPS)
        looks.append(_seconds(lambda: [observer.look(n, levels) for n in range(_LOOKS)]) / _LOOKS)
        drifts.append(_seconds(lambda: [twice() for _ in range(_STEPS)]) / _STEPS)
    return {
        "case": case, "truncation": request.truncation.name, "backend": backend,
        "variables": len(names), "step_ms": 1e3 * median(steps), "look_ms": 1e3 * median(looks),
        "drift_ms": 1e3 * median(drifts), "drift_share": median(drifts) / (EVERY * median(steps)),
        "share": median(looks) / (EVERY * median(steps)),
        "least_share": min(looks) / (EVERY * min(steps)),
    }  # fmt: skip


def _seconds(what: Callable[[], Any]) -> float:
    start = time.thread_time()
    what()
    return time.thread_time() - start
