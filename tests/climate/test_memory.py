"""The memory of a run: formulas of docs/reference/climate.md against arrays that a model holds."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from sciprec.arrays.aligned import LINE_BYTES, Pool, aligned_zeros
from sciprec.climate.catalogue import CASES, EQUATIONS
from sciprec.climate.running.needed_memory import PROCESS_BYTES, bytes_of_run
from sciprec.climate.running.request import check_request
from sciprec.climate.stages.needed_room import StagedRoom
from sciprec.climate.stages.staged_transform import StagedTransform
from sciprec.climate.transform.grid import Truncation
from sciprec.facets.stages.arithmetics import STAGES, Stages
from sciprec.precision import resolve_backend
from tests.climate.small_models import model_of
from tests.precision.test_matrix_unit import random_unit


def bytes_of(arrays):
    if isinstance(arrays, tuple):
        return sum(map(bytes_of, arrays))
    whole = arrays if arrays.base is None else arrays.base
    own = whole.nbytes - (0 if whole is arrays else LINE_BYTES)
    return arrays.nbytes if own == arrays.nbytes else 0  # a part of another one


def made(case, truncation, stages=None, **parameters):
    request = check_request(
        case, truncation, 1.0, step_seconds=1200.0, parameters=parameters, stages=stages
    )
    return model_of(request)[0], request.truncation


OF_EQUATIONS = {case.equations: name for name, case in CASES.items()}


@pytest.mark.slow
@pytest.mark.parametrize("truncation", ["T21", "T63"])
@pytest.mark.parametrize("equations", EQUATIONS)
def test_a_forecast_holds_what_a_model_holds(equations, truncation):
    """The arrays of any set of equations, and not three times of them."""
    levels = {"levels": 12} if EQUATIONS[equations].parameters.get("levels") else {}
    model, _ = made(OF_EQUATIONS[equations], truncation, **levels)
    system = model.steps.system
    held = model.work, model.tables, model.constants, system.work, system.addition.damping
    held_bytes = bytes_of(held) + 2 * model.request.scheme.levels * system.work[0].nbytes
    forecast = bytes_of_run(replace(model.request, variables=())) - PROCESS_BYTES
    assert 1.0 <= forecast / held_bytes <= 2.5
    stored = bytes_of_run(model.request) - PROCESS_BYTES - forecast
    points = model.request.truncation.nlon * model.request.truncation.nlat
    assert stored >= 3 * 8 * points * len(model.request.variables)


SMALL = Truncation(12, 20, 40, 1200.0)


def random_stages(rng):
    """Stages of a transform, some on matrix units, and the arithmetic of their model."""
    pick = lambda *of: of[rng.integers(len(of))]  # noqa: E731
    backend = pick("fp64", "fp32", "mlu370")
    if rng.integers(4) == 0:
        return STAGES[pick("fp16", "fp16-fourier", "mixed-m3", "mixed-l3")], backend
    kept = {"kept": pick("fp32", random_unit(rng)), "kept_orders": int(rng.integers(1, 3))}
    return Stages(random_unit(rng), fourier=pick(None, "fp32"), **pick({}, kept)), backend


def taken_by(stages, backend, fields, products):
    """Bytes that a tendency with transforms of so many fields takes from its pool."""
    row, pool = SMALL, Pool()
    transform = StagedTransform(row, stages, backend)
    size = (row.number + 1) * (row.number + 4) // 2
    shape, on_grid = (size, 2 * fields), (products, row.nlon, row.nlat)
    grid, spectrum = pool.array((fields, *on_grid[1:])), pool.array((size, 2 * products))
    transform.synthesize(np.ones(shape), grid, pool)
    transform.analyze(np.ones(on_grid), spectrum, pool)
    for rounded in (grid, spectrum):  # see `round_into`
        pool.array(rounded.shape), pool.array(rounded.shape)
    return pool._taken


def test_random_stages_take_from_their_pool_what_the_plan_says():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        (stages, backend), (fields, products) = random_stages(rng), rng.integers(2, 9, 2).tolist()
        said = StagedRoom(SMALL, stages, resolve_backend(backend)).pool(fields, products)
        taken = taken_by(stages, backend, fields, products)
        assert said == pytest.approx(taken, rel=0.02), (stages, backend)


@pytest.mark.parametrize(
    "stages",
    ["mixed-m0", {"legendre": "matrix:table=int8,field=fp16,scale=group"}],
)
def test_a_forecast_of_stages_is_what_their_steps_take(stages):
    """All arrays of a model and of two steps at once, and up to a quarter more."""

    def stepped():
        model, _ = made("held_suarez", "T21", stages, levels=8)
        state = aligned_zeros(model.shape[0] * model.shape[1], model.request.update.carrier)
        levels = [model.steps.system.addition.level(state)]
        for step in range(2):
            model.steps.advance(levels, step, 1)
        return model

    request = stepped().request  # kernels are compiled
    tracemalloc.start()
    try:
        stepped()
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    forecast = bytes_of_run(replace(request, variables=())) - PROCESS_BYTES
    assert 1.0 <= forecast / most <= 1.25
