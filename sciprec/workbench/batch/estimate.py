"""Estimates of a run, roughly: work counted, time from speeds that were measured elsewhere."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace

from sciprec.facets.stages.keys import MODEL_STAGES
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.workbench.batch.compiling import is_compiled, kernels_of
from sciprec.workbench.batch.plan import Run
from sciprec.workbench.kinds import Estimate, kind_of

_STAGED = 3.0
"""The factor by which a run takes longer if its transforms have arithmetics of their own (the
scenarios transform_stages and transform_stages_wave).
"""
_SLOW_TO_COMPILE = 3.0
"""The factor by which compiling takes longer in fixed point (docs/lab/engine.md)."""


def estimate(run: Run) -> Estimate:
    """The forecast of a run, from its scenario alone, its kernels being compiled."""
    backend = resolve_backend(run.backend)
    slowness = _slowness(backend) * (1.0 if run.variant.stages == MODEL_STAGES else _STAGED)
    return kind_of(run.scenario).estimate(run.scenario.table, run.variant, slowness)


def estimates(runs: Iterable[Run], kept: Container[str] = ()) -> list[Estimate]:
    """The forecasts of runs; members of an ensemble share theirs.

    Args:
        runs: of a batch; of those with the same kernels the first one compiles them.
        kept: names of files that are there already.
    """
    by_kind: dict[tuple[str, str], tuple[Estimate, str]] = {}
    compiled: set[str] = set()
    result = []
    for run in runs:
        kind = run.scenario.name, run.label
        if kind not in by_kind:
            by_kind[kind] = estimate(run), kernels_of(run)
            if is_compiled(run):
                compiled.add(by_kind[kind][1])
        about, kernels = by_kind[kind]
        if run.file not in kept and kernels not in compiled:
            compiled.add(kernels)
            about = replace(about, compile_seconds=compile_seconds(run))
        result.append(about)
    return result


def compile_seconds(run: Run) -> float:
    """Seconds to compile the kernels of a run, roughly."""
    slowness = _SLOW_TO_COMPILE if resolve_backend(run.backend).fixed else 1.0
    return kind_of(run.scenario).compile_seconds * slowness


def _slowness(backend: Backend) -> float:
    """Time over that of fp64: float32 carriers in the processor's modes are faster, software
    roundings slower, fixed point the slowest.
    """
    arithmetic = backend.compute
    if backend.fixed:
        return 8.0
    if arithmetic.format.significand_bits >= 53 and not arithmetic.rule.random:
        return 1.0
    natural = arithmetic.format.significand_bits == 24 or arithmetic.rounding != "rn"
    if natural and not arithmetic.rule.random and backend.noise is None:
        return 0.8
    return 1.7 if arithmetic.format.significand_bits <= 11 and not arithmetic.rule.random else 8.0
