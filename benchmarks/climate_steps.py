"""Time of steps of the model: shallow water, the forced atmosphere, truncations, members at once.

A step's time is what a longer run takes more than a shorter one, in seconds of processor time.
"""

from __future__ import annotations

import math
import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from sciprec.climate import integrate
from sciprec.climate.constants import SECONDS_PER_DAY
from sciprec.climate.transform.compiled import compiled
from sciprec.climate.transform.grid import resolve_truncation
from sciprec.climate.transform.legendre_stage import legendre_synthesis
from sciprec.climate.transform.spectral import make_work, tables_in
from sciprec.precision import resolve_backend

FLOATS = ("fp64", "fp32", "mlu370", "fp16", "bf16")
FIXED = "fixed32"
DAYS_PER_YEAR = 365.25
SECONDS, FIXED_SECONDS = 1.0, 10.0
"""by which the longer run is longer (in fixed point finding the units takes seconds of both), and
so many steps at least:"""
LEAST_STEPS = 6
LEGENDRE_FIELDS = 8
FITTED_FROM = 42
"""Truncation from which on power laws are fitted."""


@dataclass(frozen=True)
class Model:
    """The model that is integrated.

    Args:
        name: of the row.
        case, truncation, step_seconds: as in `climate.integrate`.
        parameters: of the case and the model.
        tracers: how many it carries.
    """

    name: str
    case: str
    truncation: str
    step_seconds: float
    parameters: dict = field(default_factory=dict)
    tracers: int = 0


def mountain(truncation: str, step_seconds: float) -> Model:
    """Shallow-water flow over a mountain."""
    return Model(f"shallow water {truncation}", "williamson_5", truncation, step_seconds)


def forced(truncation: str, levels: int, step_seconds: float, tracers: int = 0) -> Model:
    """The forced atmosphere of Held and Suarez, which carries tracers."""
    carrying = f"with {tracers} tracers " if tracers else ""
    name = f"Held-Suarez {carrying}{truncation}L{levels}"
    return Model(name, "held_suarez", truncation, step_seconds, {"levels": levels}, tracers)


STEPS: tuple[tuple[Model, tuple[str, ...]], ...] = (
    (mountain("T42", 600.0), (*FLOATS, FIXED)),
    (mountain("T85", 300.0), FLOATS),
    (forced("T21", 10, 1800.0), (*FLOATS, FIXED)),
    (forced("T42", 20, 1200.0), FLOATS),
    (forced("T42", 20, 1200.0, tracers=10), FLOATS[:1]),
)
SMALL_STEPS = ((mountain("T10", 1200.0), FLOATS[:2]), (forced("T5", 2, 1200.0), FLOATS[:1]))
SCALING = tuple(
    forced(name, 10, seconds)
    for name, seconds in {
        "T21": 1800.0, "T31": 1200.0, "T42": 1200.0, "T63": 600.0, "T85": 450.0, "T106": 400.0,
        "T127": 300.0,
    }.items()
)  # fmt: skip
SMALL_SCALING = (forced("T5", 2, 1200.0), forced("T10", 2, 1200.0))
THREADED = ((forced("T42", 20, 1200.0), ("fp64", "mlu370")), (forced("T85", 20, 600.0), ("fp64",)))
SMALL_THREADED = ((forced("T5", 2, 1200.0), ("fp64",)),)
MEMBERS = forced("T21", 10, 1800.0)
SMALL_MEMBERS = forced("T5", 2, 1200.0)


def measure_steps(small: bool, rounds: int, say: Callable[[str], None]) -> list[dict]:
    """Seconds of a step, and simulated years per day, of every model in its arithmetics."""
    found = []
    for model, backends in SMALL_STEPS if small else STEPS:
        for backend in backends:
            say(f"steps of {model.name} in {backend}")
            longer, pairs = (FIXED_SECONDS, 1) if backend == FIXED else (SECONDS, rounds)
            seconds = step_seconds(model, backend, pairs, 0.01 if small else longer)
            found.append(
                {
                    "model": model.name,
                    "truncation": model.truncation,
                    "backend": backend,
                    "seconds": seconds,
                    "years_per_day": years_per_day(model.step_seconds, seconds),
                }
            )
    return found


def years_per_day(step_seconds: float, seconds: float) -> float:
    """Simulated years in a day of computing, steps alone."""
    return step_seconds / seconds / DAYS_PER_YEAR


def step_seconds(model: Model, backend: str, rounds: int, longer: float = SECONDS) -> float:
    """Processor time of a step: median over pairs of a short and a longer run.

    Args:
        model, backend: what is run.
        rounds: number of pairs; a run before them compiles.
        longer: by how many seconds the longer run is to be longer.
    """
    few, more = LEAST_STEPS, LEAST_STEPS
    _run(model, backend, few)
    gained = 0.0
    while gained < longer / 2:  # what begins a run takes longer, now and then, than a few steps
        rate = max(gained / more, longer / 1e4)
        more = max(2 * more, math.ceil(longer / rate)) if gained > longer / 20 else 4 * more
        gained = _run(model, backend, few + more) - _run(model, backend, few)
    seconds = 0.0
    while not seconds > 0.0:  # beginnings of the shorter runs took longer than further steps
        lengths = few, few + more
        pairs = [tuple(_run(model, backend, n) for n in lengths) for _ in range(rounds)]
        seconds = statistics.median((long - short) / more for short, long in pairs)
        more *= 2
    return seconds


def _run(
    model: Model, backend: str, steps: int, clock: Callable = time.process_time, threads: int = 1
) -> float:
    """Time of a run of so many steps."""
    days = steps * model.step_seconds / SECONDS_PER_DAY
    start = clock()
    integrate(
        model.case, model.truncation, days, backend=backend, step_seconds=model.step_seconds,
        time_scheme="semi_implicit_leapfrog", output_hours=24 * days, parameters=model.parameters,
        threads=threads,
        tracers={f"tracer_{k}": "gaussian_hill" for k in range(model.tracers)},
    )  # fmt: skip
    return clock() - start


def measure_scaling(small: bool, rounds: int, say: Callable[[str], None]) -> dict:
    """Seconds of a step and of the Legendre stage at several truncations, and powers of T in them.

    Returns:
        `truncations`: rows; `step_power` and `legendre_power`: fitted exponents p of T^p from
        T42 on.
    """
    rows = []
    for model in SMALL_SCALING if small else SCALING:
        say(f"steps and Legendre sums at {model.truncation}")
        rows.append(
            {
                "truncation": model.truncation,
                "step": step_seconds(model, "fp64", rounds, 0.01 if small else SECONDS / 2),
                "legendre": _legendre_seconds(model.truncation, 1 if small else 5),
            }
        )
    numbers = np.array([resolve_truncation(row["truncation"]).number for row in rows])
    fitted = numbers >= (0 if small else FITTED_FROM)
    powers = {
        f"{key}_power": fitted_power(numbers[fitted], np.array([r[key] for r in rows])[fitted])
        for key in ("step", "legendre")
    }
    return {"model": "Held-Suarez, 10 levels", "truncations": rows, **powers}


def fitted_power(numbers: np.ndarray, seconds: np.ndarray) -> float:
    """The exponent p of seconds ~ numbers^p, by least squares of logarithms."""
    return float(np.polyfit(np.log(numbers), np.log(seconds), 1)[0])


def _legendre_seconds(name: str, rounds: int) -> float:
    """Processor time of the Legendre stage of a synthesis, per field of a batch, in fp64."""
    row = resolve_truncation(name)
    (functions, _), _ = tables_in(row, resolve_backend("fp64"))
    fourier, weights, sums, _ = make_work(row, LEGENDRE_FIELDS)
    count = (row.number + 1) * (row.number + 4) // 2
    spectrum = np.random.default_rng(3).uniform(-1, 1, (count, 2 * LEGENDRE_FIELDS))
    kernel, taken = compiled(legendre_synthesis, "fp64"), []
    kernel(spectrum, functions, weights, sums, fourier)
    repeats = max(1, 200_000 // row.number**2)
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(repeats):
            kernel(spectrum, functions, weights, sums, fourier)
        taken.append((time.process_time() - start) / repeats / LEGENDRE_FIELDS)
    return statistics.median(taken)


def measure_threads(small: bool, rounds: int, say: Callable[[str], None]) -> list[dict]:
    """Wall time of a step with one thread, with one for each core, and of as many runs side by
    side: what the machine gives to threads that never wait for each other.

    Returns:
        Rows: for each of these `least` and `median` seconds of a step, and the medians of the
        ratios to one thread within the rounds.
    """
    cores, rows = os.cpu_count() or 1, []
    for model, backends in SMALL_THREADED if small else THREADED:
        for backend in backends:
            say(f"{model.name} in {backend} on {cores} threads")
            more = LEAST_STEPS
            if not small:
                more = max(more, math.ceil(SECONDS / step_seconds(model, backend, 1, 0.2)))
            took: dict[str, list[float]] = {"one": [], "threads": [], "side_by_side": []}
            for _ in range(rounds):
                took["one"].append(_wall(model, backend, more, 1, 1))
                took["threads"].append(_wall(model, backend, more, cores, 1))
                took["side_by_side"].append(_wall(model, backend, more, 1, cores) / cores)
            row = {"model": model.name, "backend": backend, "count": cores}
            for name, seconds in took.items():
                row[name] = {
                    "least": min(seconds), "median": statistics.median(seconds),
                    "times_one": statistics.median(
                        a / b for a, b in zip(took["one"], seconds, strict=True)
                    ),
                }  # fmt: skip
            rows.append(row)
    return rows


def _wall(model: Model, backend: str, more: int, threads: int, runs: int) -> float:
    """Wall time of a step of so many runs at once, each on so many threads."""

    def seconds(steps: int) -> float:
        start = time.perf_counter()
        with ThreadPoolExecutor(runs) as pool:
            given = model, backend, steps, time.perf_counter, threads
            for done in [pool.submit(_run, *given) for _ in range(runs)]:
                done.result()
        return time.perf_counter() - start

    short = seconds(LEAST_STEPS)
    return max(seconds(LEAST_STEPS + more) - short, 1e-9) / more


def measure_members(small: bool, rounds: int, say: Callable[[str], None]) -> dict:
    """Wall time of one run alone and of one on each core at once; efficiency is their ratio."""
    model, cores = (SMALL_MEMBERS if small else MEMBERS), os.cpu_count() or 1
    say(f"{cores} members of {model.name} at once")
    steps = LEAST_STEPS if small else 1000
    _run(model, "fp64", LEAST_STEPS)
    alone, together = [], []
    with ThreadPoolExecutor(cores) as pool:
        for _ in range(rounds):
            alone.append(_run(model, "fp64", steps, time.perf_counter))
            start = time.perf_counter()
            waiting = [pool.submit(_run, model, "fp64", steps) for _ in range(cores)]
            for done in waiting:
                done.result()
            together.append(time.perf_counter() - start)
    ratio = statistics.median(one / all_ for one, all_ in zip(alone, together, strict=True))
    return {
        "model": model.name,
        "members": cores,
        "seconds_alone": statistics.median(alone),
        "seconds_together": statistics.median(together),
        "efficiency": ratio,
    }
