"""Mixed arithmetics: what a mixture of fp64 and fp32 saves on this processor, what kernels cost by
assignment, and what a run of a model costs whose formats are read from a table.

Processor seconds of one thread, the least of some rounds by turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numba import njit

from benchmarks.heston import LEWIS
from benchmarks.precision import machine
from benchmarks.traced import cases as small_kernels
from sciprec.arrays.metrics import metric_of, relative_l2
from sciprec.climate import integrate
from sciprec.heston import Call
from sciprec.heston.simulation.paths import estimate
from sciprec.instruments.assigning import rows
from sciprec.instruments.assigning.assignment import Assignment, arithmetic_of
from sciprec.instruments.assigning.configured import Configured
from sciprec.precision import lift
from sciprec.tools.trace.models.traces import Results
from sciprec.tools.tune.formats import formats_of
from sciprec.tools.tune.model_problem import ModelProblem

FASTER = "Faster on this processor: fp32 under fp64"
KERNELS = "Kernels by assignment, over plain Numba in binary32"
FROM_A_TABLE = "A model's run with formats from a table, over fp64"
TITLE = "Mixed arithmetics"
CAPTION = (
    "processor seconds, one thread, least of rounds by turns; time and fp32: over fp64's; gain: of "
    "what all fp32 saves, if any; errors: relative l2, of the height at day 5 and of three prices"
)
GAIN, SLOWDOWN = 0.7, 3.0
"""Goals: of fp32's gain; of a run with formats from a table over fp64's."""
FORMATS = ("fp64", "fp32", "fp16")
STRIKES = (80.0, 100.0, 120.0)
_SOME = 0.05
"""Of fp64's time: what all fp32 has to save to be a gain."""
_NARROWED = 12
"""Lines that are narrowed alone."""


@dataclass(frozen=True)
class Case:
    """A run that is timed in fp64, in fp32 and by a policy.

    Args:
        name: in the table.
        policy: of fp32 under fp64.
        tolerance: of the error, which all fp32 misses and the policy keeps.
        run: gives processor seconds and the numbers that count, in a backend.
    """

    name: str
    policy: str
    tolerance: float
    run: Callable[[str], tuple[float, np.ndarray]]


def _flow(days: float, truncation: str, backend: Any) -> tuple[float, np.ndarray]:
    found = integrate(
        "williamson_5", truncation, days, backend=backend, step_seconds=1200.0,
        output_hours=24.0 * days, time_scheme="rk4",
    )  # fmt: skip
    weights = np.sqrt(np.cos(np.radians(found.lat)))[:, None]  # of the areas, in squares
    return found.timing.seconds, weights * np.asarray(found.fields["height"][-1])


def _prices(n_paths: int, backend: str) -> tuple[float, np.ndarray]:
    calls = [Call(strike=strike, maturity=1.0) for strike in STRIKES]
    found = estimate(
        LEWIS, calls, backend=backend, scheme="full_truncation_euler", n_paths=n_paths,
        n_steps=256, seed=1,
    )  # fmt: skip
    return found.timing.seconds, found.price


def faster_cases(small: bool) -> list[Case]:
    """Case 5 of Williamson et al. (1992), five days of RK4 in steps of 1200 s, and a year in 256
    steps of Euler's scheme, 131,072 paths at A. Lewis' parameters.
    """
    days, truncation, paths = (1 / 24, "T10", 512) if small else (5.0, "T42", 131_072)
    return [
        Case("case 5, T42", "O2", 5e-9, partial(_flow, days, truncation)),
        Case("Heston, Euler", "O1", 5e-9, partial(_prices, paths)),
    ]


def measure(
    small: bool = False, rounds: int = 7, say: Callable[[str], None] = lambda text: None
) -> dict:
    """Run the benchmark.

    Args:
        small: a quick run of tiny sizes (for tests; its ratios mean nothing).
        rounds: how often each is timed.
        say: is told what is being measured.

    Returns:
        The machine, and the seconds of each question, as plain data.
    """
    rounds = 1 if small else rounds
    faster = []
    for case in faster_cases(small):
        say(f"{case.name} in fp64, fp32 and {case.policy}")
        faster.append(_measured(case, rounds))
    kernels = []
    for name, (function, args) in list(small_kernels(small).items())[: 1 if small else None]:
        say(f"{name} by assignment")
        kernels.append({"kernel": name, "seconds": _kernel_seconds(function, args, rounds)})
    say("a model whose formats are read from a table")
    model = _model_seconds(small, min(rounds, 3))
    return {
        "benchmark": "mixed", "machine": machine(), "faster": faster, "kernels": kernels,
        "model": model,
    }  # fmt: skip


def _measured(case: Case, rounds: int) -> dict:
    backends = {
        "fp64": "fp64", "fp32": "fp32", "policy": f"policy:{case.policy},narrow=fp32,wide=fp64",
    }  # fmt: skip
    results = {row: case.run(backend)[1] for row, backend in backends.items()}  # compiles
    times = _least({row: partial(_first, case.run, b) for row, b in backends.items()}, rounds)
    errors = {row: relative_l2(results[row], results["fp64"]) for row in ("fp32", "policy")}
    return {
        "case": case.name, "policy": case.policy, "tolerance": case.tolerance, "seconds": times,
        "errors": errors,
    }  # fmt: skip


def _first(run: Callable[[str], tuple[float, np.ndarray]], backend: str) -> float:
    return run(backend)[0]


def _least(timed: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The least seconds of each, timed by turns."""
    found = [{row: one() for row, one in timed.items()} for _ in range(rounds)]
    return {row: min(one[row] for one in found) for row in timed}


# ---- kernels -----------------------------------------------------------------------------------


def _kernel_seconds(function, args: tuple, rounds: int) -> dict[str, float]:
    args = _narrow(args)
    calls: dict[str, Callable[[], object]] = {"native": _bound(njit(function), args)}
    for backend in ("fp32", "bf16"):
        everywhere = Assignment({}, default=backend)
        calls[backend] = _bound(lift(function, backend), args)
        calls[f"{backend} by assignment"] = _bound(lift(function, everywhere), args)
    configured = Configured(function, rows.NEAREST, "line", [arithmetic_of("fp64")], after=0.0)
    formats = [
        arithmetic_of(FORMATS[n % 2 + 1]) for n in range(len(configured.program.layout.rows))
    ]
    calls["from a table"] = _bound(configured, (configured.table(formats), *args))
    for call in calls.values():
        call()
    return _least({row: partial(_timed, call) for row, call in calls.items()}, 3 * rounds)


def _narrow(args: tuple) -> tuple:
    """Arguments in binary32, as plain Numba takes them."""

    def narrowed(one: Any) -> Any:
        if isinstance(one, np.ndarray):
            return one.astype(np.float32)
        return np.float32(one) if isinstance(one, float) else one

    return tuple(narrowed(one) for one in args)


def _bound(function, args: tuple) -> Callable[[], object]:
    return lambda: function(*args)


def _timed(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


# ---- a model -----------------------------------------------------------------------------------


def _model_seconds(small: bool, rounds: int) -> list[dict]:
    """Seconds of case 5 in fp64, and with the formats of choices read from a table."""
    days, truncation = (1 / 72, "T10") if small else (0.5, "T42")
    seconds: list[float] = []

    def program(backend) -> Results:
        taken, height = _flow(days, truncation, backend)
        seconds.append(taken)
        return Results({"height": height})

    problem = ModelProblem(
        program, model="case 5", content=None, stages=(), metric=metric_of("relative_l2"),
        formats=formats_of(FORMATS), by="line", versions_after=None if small else 0.0,
    )  # fmt: skip
    lines = len(problem.groups)
    fp64, fp32, fp16 = (FORMATS.index(name) for name in ("fp64", "fp32", "fp16"))
    chosen = {f"all {name}": [(number,) * lines] for number, name in enumerate(FORMATS)}
    step = lines if small else max(lines // _NARROWED, 1)
    chosen["one line fp16"] = [
        tuple(fp16 if n == at else fp64 for n in range(lines))
        for at in range(step // 2, lines, step)
    ]
    chosen["every other line fp16, the rest fp32"] = [
        tuple(fp32 if n % 2 else fp16 for n in range(lines))
    ]

    def run(choice) -> float:
        problem.run(choice)
        return seconds[-1]

    timed: dict[str, Callable[[], float]] = {"fp64": lambda: _flow(days, truncation, "fp64")[0]}
    for row, choices in chosen.items():
        for number, choice in enumerate(choices):
            timed[f"{row} {number}"] = partial(run, choice)
    for one in timed.values():
        one()
    least = _least(timed, rounds)
    return [
        {"formats": row, "seconds": [least[f"{row} {n}"] for n in range(len(choices))],
         "fp64": least["fp64"]}
        for row, choices in chosen.items()
    ]  # fmt: skip


# ---- tables ------------------------------------------------------------------------------------


def timings(result: dict) -> dict[str, float]:
    """Seconds of everything that is timed, by name."""
    found = {
        f"{one['case']}, {row}": seconds
        for one in result["faster"] for row, seconds in one["seconds"].items()
    }  # fmt: skip
    found |= {
        f"{one['kernel']}, {row}": seconds
        for one in result["kernels"] for row, seconds in one["seconds"].items() if row != "native"
    }  # fmt: skip
    return found | {f"case 5, {one['formats']}": max(one["seconds"]) for one in result["model"]}


def tables(result: dict) -> dict[str, list[dict]]:
    """One table for each of the three questions."""
    return {
        FASTER: [_faster_row(one) for one in result["faster"]],
        KERNELS: [_kernel_row(one) for one in result["kernels"]],
        FROM_A_TABLE: [_model_row(one) for one in result["model"]],
    }


def _faster_row(one: dict) -> dict:
    seconds, errors = one["seconds"], one["errors"]
    saved = {row: 1.0 - seconds[row] / seconds["fp64"] for row in ("fp32", "policy")}
    some = saved["fp32"] >= _SOME
    gain = f"{saved['policy'] / saved['fp32']:.0%}" if some else "none"
    return {
        "run": one["case"], "fp64 s": f"{seconds['fp64']:.3g}",
        "fp32": _ratio(seconds["fp32"], seconds["fp64"]), "policy": one["policy"],
        "time": _ratio(seconds["policy"], seconds["fp64"]), "gain": gain,
        "goal": f"{GAIN:.0%}", "error": f"{errors['policy']:.1e}",
        "fp32's": f"{errors['fp32']:.1e}", "allowed": f"{one['tolerance']:.0e}",
    }  # fmt: skip


def _kernel_row(one: dict) -> dict:
    native = one["seconds"]["native"]
    measured = {row: s for row, s in one["seconds"].items() if row != "native"}
    return {"kernel": one["kernel"]} | {row: _ratio(s, native) for row, s in measured.items()}


def _model_row(one: dict) -> dict:
    ratios = np.array(one["seconds"]) / max(one["fp64"], 1e-9)
    return {
        "formats": one["formats"], "runs": ratios.size,
        "median": round(float(np.median(ratios)), 1),
        "mean": round(float(ratios.mean()), 1), "most": round(float(ratios.max()), 1),
        "goal": SLOWDOWN,
    }  # fmt: skip


def _ratio(seconds: float, base: float) -> float:
    return round(seconds / max(base, 1e-9), 2)
