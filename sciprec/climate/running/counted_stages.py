"""Counts of the work of each stage of a step: operations, loads and stores, by the engine.

The kernels run once in binary64, in instrumented copies, from the initial state; what they do
depends on no arithmetic. Compiling the copies takes as long as compiling a model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sciprec.climate.equations.tendency import make_tendency_work
from sciprec.climate.running.lifted_model import LiftedModel, conversion_of
from sciprec.climate.running.request import Request
from sciprec.climate.running.start import initial_state
from sciprec.climate.stepping.levels import apply_increment
from sciprec.climate.transform.grid import GaussianGrid
from sciprec.climate.transform.legendre_stage import legendre_analysis, legendre_synthesis
from sciprec.climate.transform.real_fourier import fft_analysis, fft_synthesis
from sciprec.climate.transform.spectral import GROUP
from sciprec.precision import lift

StageCall = tuple[str, Callable, tuple]
"""A stage, a kernel of it, and what that is called with."""


def counted_stages(request: Request) -> list[dict[str, Any]]:
    """Operations of the stages of a tendency, and of an update of the state.

    Args:
        request: of a run; its arithmetic, compensation and stages do not matter.

    Returns:
        A dictionary per stage, in the order of a step: stage; counts, operation of the engine
        ("add", "mul", ...; "load", "store") -> how often; times, how often a step does the stage.
    """
    by_stage: dict[str, Counter] = {}
    counts_of: dict[tuple, dict[str, int]] = {}
    for stage, kernel, args in calls_of_stages(request):
        key = stage, kernel, tuple(getattr(a, "shape", ()) for a in args)
        if key not in counts_of:
            counts_of[key] = lift(kernel, "fp64").profile(*args).operations
        by_stage.setdefault(stage, Counter()).update(counts_of[key])
    tendencies = request.scheme.tendencies
    return [
        {"stage": stage, "counts": dict(counts), "times": 1 if stage == UPDATE else tendencies}
        for stage, counts in by_stage.items()
    ]


UPDATE = "state update"


def calls_of_stages(request: Request) -> Iterator[StageCall]:
    """The calls of a tendency's kernels, in their order, and that of an update of the state."""
    grid = GaussianGrid(request.truncation)
    initial = initial_state(request, grid)
    convert = conversion_of(request, initial)
    model = LiftedModel(request, convert)
    work = make_tendency_work(request.equations, convert, model.backend.carrier)
    if model.forcing is not None:
        work = model.forcing.within(work)
    spectra, fields, products, coefficients, transforms, products_work, *_ = work
    (functions, waves), (weighted, back) = model.tables
    fourier, weights, sums, work = transforms
    state, constants, nlon = convert.to_state(initial), model.constants, grid.nlon
    first, second, third = request.equations.kernels
    yield "spectra of the equations", first, (state, constants, spectra)
    for start in range(0, len(fields), GROUP):
        some = spectra[:, 2 * start : 2 * (start + GROUP)]
        between = fourier[: some.shape[1] // 2]
        yield "Legendre synthesis", legendre_synthesis, (some, functions, weights, sums, between)
        on_grid = fields[start : start + GROUP, :nlon]
        yield "Fourier synthesis", fft_synthesis, (between, waves, work, on_grid)
    yield "products on the grid", second, (fields, constants, products_work, products)
    for start in range(0, len(products), GROUP):
        some = coefficients[:, 2 * start : 2 * (start + GROUP)]
        between = fourier[: some.shape[1] // 2]
        on_grid = products[start : start + GROUP, :nlon]
        yield "Fourier analysis", fft_analysis, (on_grid, back, work, between)
        yield "Legendre analysis", legendre_analysis, (between, weighted, weights, sums, some)
    yield "tendency", third, (state, coefficients, constants, np.zeros_like(state))
    flat = state.ravel()
    yield UPDATE, apply_increment, (flat, flat, np.zeros_like(flat), np.zeros_like(flat))
