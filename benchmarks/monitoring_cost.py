"""Cost of a monitor: watched steps against steps of the model, in processor time.

A watched step's cost is that of one look, so that it can be told beside steps that vary by more.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np

from benchmarks.precision import machine
from sciprec import heston
from sciprec.climate.running.drifting import Drifting
from sciprec.climate.running.lifted_model import LiftedModel, conversion_of
from sciprec.climate.running.observing import RunObserver
from sciprec.climate.running.request import check_request
from sciprec.climate.running.start import initial_state
from sciprec.climate.transform.grid import GaussianGrid
from sciprec.heston.simulation.observing import observed_paths
from sciprec.heston.simulation.paths import estimate
from sciprec.instruments.observing.carried_sums import looking
from sciprec.instruments.observing.losing import losing
from sciprec.instruments.observing.observed import lift_observed
from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.lifting.lifting import lift
from sciprec.tools.monitor.plan import EVERY, checked_plan
from sciprec.workbench.models.arithmetic import ModelArithmetic

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
LOST_TITLE = "Cost of lost updates"
LOST_GOAL = 0.04
MODELS = (("update, and 200 operations a number", 100), ("update alone", 0))
PATHS = (("fp32", "carry"), ("bf16", "none"))
_STEPS_OF_MODEL, _CLIMATE_STEPS, _STEPS_OF_PATHS = 500, 33, 480


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
    lost = [
        _climate_row(case, truncation, backend, 2 if small else _ROUNDS)
        for case, truncation in ((("williamson_5", 21),) if small else CASES)
        for backend in BACKENDS[: 1 if small else None]
    ]
    for name, length in MODELS[: 1 if small else None]:
        for backend in ("fp32", "fp16"):
            say(f"lost updates of {name} in {backend}")
            lost.append(_lost_row(name, length, backend, 2 if small else _ROUNDS))
    rounds, paths = (2, 512) if small else (_ROUNDS, 65536)
    lost += [_paths_row(*of, paths, rounds) for of in PATHS[: 1 if small else None]]
    lost += [_kernel_row(backend, 2 if small else _ROUNDS) for backend in ("fp32", "fp16")]
    return {"benchmark": "monitor", "machine": machine(), "cases": rows, "lost": lost}


def timings(result: dict) -> dict[str, float]:
    """Seconds of a look, and of a step made again, by name."""
    return {
        f"{one['case']}, {one['truncation']}, {one['backend']}, {name}": 1e-3 * one[f"{name}_ms"]
        for one in result["cases"] for name in ("look", "drift")
    } | {
        f"{one['model']}, {one['backend']}, {name}": 1e-6 * one[f"{name}_us"]
        for one in result["lost"] for name in ("step", "looked")
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
    lost = [
        {
            "a step": row["model"], "in": row["backend"], "step, µs": f"{row['step_us']:.0f}",
            "lost updates looked at, µs": f"{row['looked_us']:.0f}",
            "more": f"{100 * row['share']:.1f} %",
        }
        for row in result["lost"]
    ]  # fmt: skip
    return {
        TITLE: [*rows, {"case": "goal"} | dict.fromkeys(SHARES, f"{100 * GOAL:.0f} %")],
        LOST_TITLE: [*lost, {"a step": "goal, of models", "more": f"{100 * LOST_GOAL:.0f} %"}],
    }


def _climate(case: str, truncation: int, backend: str) -> tuple:
    """A request that watches the whole state, its conversion, its model, and its first level."""
    names = check_request(case, truncation, 1.0, backend=backend).equations.variables
    plan = checked_plan(names, every=EVERY, drift_every=EVERY)
    request = check_request(case, truncation, 1.0, backend=backend, monitor=plan)
    initial = initial_state(request, GaussianGrid(request.truncation))
    convert = conversion_of(request, initial)
    model = LiftedModel(request, convert)
    levels = [model.steps.system.addition.level(model.stored(convert.to_state(initial)))]
    return request, convert, model, levels


def _row(case: str, truncation: int, backend: str, rounds: int) -> dict[str, Any]:
    """Milliseconds of a step and of a look at the whole state, and the share at the usual pace."""
    request, convert, model, levels = _climate(case, truncation, backend)
    observer = RunObserver(request, convert, model.columns)
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
        "variables": len(request.monitor.watch),
        "step_ms": 1e3 * median(steps), "look_ms": 1e3 * median(looks),
        "drift_ms": 1e3 * median(drifts), "drift_share": median(drifts) / (EVERY * median(steps)),
        "share": median(looks) / (EVERY * median(steps)),
        "least_share": min(looks) / (EVERY * min(steps)),
    }  # fmt: skip


def _climate_row(case: str, truncation: int, backend: str, rounds: int) -> dict[str, Any]:
    """Microseconds of a step of a climate, and of that and a look at its updates, timed alone."""
    request, convert, model, levels = _climate(case, truncation, backend)
    steps = model.steps
    steps.advance(levels, 0, 2)  # compiles
    addition = RunObserver(request, convert, model.columns).attach(steps).system.addition
    alone = replace(addition, kernels=dict.fromkeys(addition.kernels, lambda *args: None))

    def looks() -> None:
        for step in range(66, 66 + _CLIMATE_STEPS):
            alone.begin(step)
            alone.add(levels[-1], steps.system.work[0], len(levels))
            if len(levels) > 1:
                alone.filter(levels[1], *levels, 0.01, 0.53)

    looks()
    plain = [_seconds(lambda: steps.advance(levels, 2, _CLIMATE_STEPS)) for _ in range(rounds)]
    step, look = (
        1e6 * median(took) / _CLIMATE_STEPS
        for took in (plain, [_seconds(looks) for _ in range(rounds)])
    )
    return {"model": f"{case}, {request.truncation.name}", "backend": backend, "step_us": step,
            "looked_us": step + look, "share": look / step}  # fmt: skip


def _slope(x, terms, dx):
    """A reaction in every element: so many terms of a polynomial, two operations each."""
    for i in range(x.size):
        total = 0.1
        for _k in range(terms):
            total = total * x[i] + 0.1
        dx[i] = 1e-5 * total


def _lost_row(model: str, terms: int, backend: str, rounds: int) -> dict[str, Any]:
    """Microseconds of a step of a model of 4,096 numbers, and of one whose update is looked at."""
    times: dict[bool, list[float]] = {False: [], True: []}
    makers = {}
    for looked in times:
        rules = {"watch": ["x"], "every": 2**20, "alerts": {} if looked else {"lost": False}}
        arithmetic = ModelArithmetic(backend, monitor=rules)
        makers[looked] = _steps_of(arithmetic, terms)
        makers[looked](2)  # compiles
    for _ in range(rounds):
        for looked, steps in makers.items():
            times[looked].append(_seconds(lambda steps=steps: steps(_STEPS_OF_MODEL)))
    plain, more = (median(times[looked]) / _STEPS_OF_MODEL for looked in (False, True))
    return {"model": model, "backend": backend, "step_us": 1e6 * plain, "looked_us": 1e6 * more,
            "share": more / plain - 1.0}  # fmt: skip


def _sum(x, dx, steps):
    """Bare sums of a kernel."""
    for _s in range(steps):
        for i in range(x.size):
            x[i] = x[i] + dx[i]


def _kernel_row(backend: str, rounds: int) -> dict[str, Any]:
    """Microseconds of 4,096 bare sums of a lifted kernel, and of one that is looked at."""
    arithmetic, places = resolve_backend(backend), {}
    kernels = [lift(_sum, arithmetic), lift_observed(_sum, arithmetic, [losing(_sum, places)])]
    x, dx = np.linspace(0.1, 0.9, 4096), np.full(4096, 1e-5)
    times = []
    with looking(places):
        for kernel in kernels:
            kernel(x.copy(), dx, 2)  # compiles
            took = [
                _seconds(lambda k=kernel: k(x.copy(), dx, _STEPS_OF_MODEL)) for _ in range(rounds)
            ]
            times.append(median(took) / _STEPS_OF_MODEL)
    plain, more = times
    return {"model": "bare sums in a kernel", "backend": backend, "step_us": 1e6 * plain,
            "looked_us": 1e6 * more, "share": more / plain - 1.0}  # fmt: skip


def _paths_row(backend: str, compensation: str, paths: int, rounds: int) -> dict[str, Any]:
    """Microseconds of a step of paths, and of that and a look at some, timed alone."""
    model = heston.Model(spot=100, v0=0.04, kappa=4, theta=0.25, sigma=1, rho=-0.5)
    how: dict[str, Any] = {"backend": backend, "n_paths": paths, "n_steps": _STEPS_OF_PATHS}
    call, plan = heston.Call(100, 1.0), checked_plan("variance", every=_STEPS_OF_PATHS)
    scheme, carried = "quadratic_exponential_martingale", compensation != "none"

    def prices() -> None:
        estimate(model, call, scheme=scheme, compensation=compensation, **how)

    def looks() -> None:
        observed_paths(model, 1.0, plan, scheme=scheme, seed=0, carried=carried, **how)

    prices(), looks()  # compile
    plain = [_seconds(prices) for _ in range(rounds)]
    step, look = (
        1e6 * median(took) / _STEPS_OF_PATHS
        for took in (plain, [_seconds(looks) for _ in range(rounds)])
    )
    of = backend if carried else f"{backend}, no carry"
    return {"model": f"{paths:,} paths of QE-M", "backend": of, "step_us": step,
            "looked_us": step + look, "share": look / step}  # fmt: skip


def _steps_of(arithmetic: ModelArithmetic, terms: int) -> Callable[[int], None]:
    """A function that makes so many steps of the model."""
    kernel, x = arithmetic.lift(_slope), arithmetic.quantize(np.linspace(0.1, 0.9, 4096))
    dx = np.full(x.size, 1e-5)

    def steps(count: int) -> None:
        for _ in range(count):
            if terms:
                kernel(x, terms, dx)
            arithmetic.update(x, dx)

    return steps


def _seconds(what: Callable[[], Any]) -> float:
    start = time.thread_time()
    what()
    return time.thread_time() - start
