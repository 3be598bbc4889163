"""What a run will take, roughly: work counted, time from speeds that were measured elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, replace
from typing import Any

from sciprec.batch.compiling import is_compiled, kernels_of
from sciprec.batch.plan import Run
from sciprec.output.variables import ZONAL_MEAN
from sciprec.precision.backend import Backend, resolve_backend
from sciprec.stages_choice import MODEL_STAGES

_NUMBER_BYTES = 8
_TENDENCY = 6e-5, 1.3, 2.6
"""Seconds of a climate tendency in fp64 at T42: a V^b (T/42)^c for V prognostic fields, levels
counted; from docs/climate_transform.md (V = 3) and docs/climate_primitive.md (V = 61).
"""
_STAGED = 3.0
"""How many times as long a run takes whose transforms have arithmetics of their own (the scenarios
transform_stages and transform_stages_wave).
"""
_PATH_STEP = 1.2e-8
"""Seconds of a step of a path in fp64 (docs/heston.md)."""
_UPDATE = 1e-9
"""Seconds of an update of one sum in fp64 (docs/accumulation.md)."""
_COMPILE = {"climate": 10.0, "heston": 4.0, "accumulation": 2.0}
"""Seconds of compiling the kernels of a run (docs/engine.md: climate)."""
_SLOW_TO_COMPILE = 3.0
"""How many times as long it takes in fixed point (docs/engine.md)."""


@dataclass(frozen=True)
class Estimate:
    """A rough forecast of a run.

    Args:
        work: what there is to do, in words.
        seconds: on one core of the machine of the docs, without compilation; None where it depends
            on the numbers themselves.
        megabytes: of its file before compression, at most; None where that is not known.
        compile_seconds: of its kernels, where they are not compiled yet.
    """

    work: str
    seconds: float | None
    megabytes: float | None
    compile_seconds: float = 0.0


def estimate(run: Run) -> Estimate:
    """The forecast of a run, from its scenario alone, its kernels being compiled."""
    backend = resolve_backend(run.backend)
    given = getattr(run.scenario, run.scenario.kind)
    slowness = _slowness(backend) * (1.0 if run.variant.stages == MODEL_STAGES else _STAGED)
    return _ESTIMATES[run.scenario.kind](given, slowness)


def estimates(runs: Iterable[Run], kept: Container[str] = ()) -> list[Estimate]:
    """The forecasts of runs; members of an ensemble share theirs.

    Args:
        runs: of a batch; of those with the same kernels the first one compiles them.
        kept: names of files that are there already.
    """
    known: dict[tuple[str, str], tuple[Estimate, str]] = {}
    compiled: set[str] = set()
    found = []
    for run in runs:
        kind = run.scenario.name, run.label
        if kind not in known:
            known[kind] = estimate(run), kernels_of(run)
            if is_compiled(run):
                compiled.add(known[kind][1])
        about, kernels = known[kind]
        if run.file not in kept and kernels not in compiled:
            compiled.add(kernels)
            about = replace(about, compile_seconds=compile_seconds(run))
        found.append(about)
    return found


def compile_seconds(run: Run) -> float:
    """Roughly what it takes to compile the kernels of a run."""
    slowness = _SLOW_TO_COMPILE if resolve_backend(run.backend).fixed else 1.0
    return _COMPILE[run.scenario.kind] * slowness


def _slowness(backend: Backend) -> float:
    """Time over that of fp64: float32 carriers in the processor's modes are faster, software
    roundings slower, fixed point the slowest.
    """
    arithmetic = backend.compute
    if backend.fixed:
        return 8.0
    if arithmetic.format.significand_bits >= 53:
        return 1.0
    natural = arithmetic.format.significand_bits == 24 or arithmetic.rounding != "rn"
    if natural and arithmetic.rounding != "sr" and backend.noise is None:
        return 0.8
    return 1.7 if arithmetic.format.significand_bits <= 11 else 8.0


def _climate(given: Any, slowness: float) -> Estimate:
    from sciprec.climate.request import check_request

    request = check_request(**given.model_dump(exclude={"checkpoints"}))
    steps, scheme, number = request.stops[-1], request.scheme, request.truncation.number
    layout = request.equations.layout(request.parameters.equations)
    fields = sum(levels for _, levels in layout)
    a, b, c = _TENDENCY
    tendency = a * fields**b * (number / 42) ** c
    levels = max(levels for _, levels in layout)
    points = sum(_points(name, request.truncation) for name in request.variables)
    numbers = (len(request.stops) + 1) * levels * points
    return Estimate(
        f"{steps:,} steps of {scheme.name} at {request.truncation.name}",
        steps * scheme.tendencies * tendency * slowness,
        numbers * _NUMBER_BYTES / 1e6,
    )


def _points(name: str, truncation: Any) -> int:
    """Values of a variable on one level."""
    if name.endswith("_spectrum"):
        return truncation.number + 1
    return truncation.nlat * (1 if name.startswith(ZONAL_MEAN) else truncation.nlon)


def _heston(given: Any, slowness: float) -> Estimate:
    simulation, payoffs = given.simulation, given.payoffs
    prices = len(payoffs.strikes) * len(payoffs.maturities_years)
    megabytes = 10 * prices * _NUMBER_BYTES / 1e6
    if simulation.tolerance is not None:
        return Estimate(f"{prices} prices until {simulation.tolerance} is met", None, megabytes)
    steps = round(simulation.steps_per_year * payoffs.maturities_years[-1])
    work = simulation.n_paths * steps
    return Estimate(
        f"{simulation.n_paths:,} paths of {steps} steps", work * _PATH_STEP * slowness, megabytes
    )


def _accumulation(given: Any, slowness: float) -> Estimate:
    work = given.updates * given.members
    megabytes = given.outputs * given.members * _NUMBER_BYTES / 1e6
    return Estimate(
        f"{given.updates:,} updates of {given.members} sums", work * _UPDATE * slowness, megabytes
    )


_ESTIMATES: dict[str, Callable[[Any, float], Estimate]] = {
    "climate": _climate,
    "heston": _heston,
    "accumulation": _accumulation,
}
