"""Steps of a run make no arrays: what they work in is there before the first."""

import tracemalloc

import numpy as np
import pytest

from sciprec.climate.catalogue import CASES, EQUATIONS, TIME_SCHEMES
from sciprec.climate.running.dynamic_scales import scaled_model
from sciprec.climate.running.lifted_model import Model, conversion_of
from sciprec.climate.running.request import check_request
from sciprec.climate.transform.aligned import LINE_BYTES, Pool
from sciprec.climate.transform.grid import GaussianGrid, Truncation
from sciprec.precision.assigning.scaling import ScaledBackend, with_scaling
from sciprec.precision.sums.compensation import Compensation

SMALL = Truncation(31, 48, 96, 900.0)
NOISE_BYTES = 6000
"""Of numbers and other objects of Python's in a step; the smallest state here has more."""
STEPS = 4


def model_of(case, **given):
    scaling = given.pop("scaling", None)
    if scaling:
        given["backend"] = with_scaling(given["backend"], scaling, None)
    request = check_request(case, SMALL, 1.0, step_seconds=600.0, **given)
    grid = GaussianGrid(request.truncation)
    places = grid.lon_radians[:, None], grid.lat_radians[None, :]
    initial = request.case.initial(*places, **request.parameters.case)
    convert = conversion_of(request, initial)
    exact = convert.to_state(initial)
    is_scaled = isinstance(request.backend, ScaledBackend)
    model = scaled_model(request, convert, exact) if is_scaled else Model(request, convert)
    return model, model.stored(exact)


def made_by_steps(stepping, levels):
    """Bytes that some steps take at once beyond those that are there before and after them."""
    stepping.advance(levels, 0, STEPS)
    stepping.advance(levels, STEPS, STEPS)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        stepping.advance(levels, 2 * STEPS, STEPS)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def assert_makes_nothing(case, threads=1, **given):
    model, state = model_of(case, **given)
    levels = [model.steps.system.addition.level(state)]
    assert state.nbytes > NOISE_BYTES
    team = model.team(threads)
    try:
        model.steps.advance([level.copy() for level in levels], 0, STEPS)
        found = made_by_steps(team or model.steps, levels)
    finally:
        if team is not None:
            team.close()
    assert np.isfinite(levels[0].values).all()
    most = NOISE_BYTES if threads == 1 else state.nbytes - NOISE_BYTES  # threads have messages
    assert found < most, found


OF_EQUATIONS = {
    name: next(case for case in CASES.values() if case.equations == name).name
    for name in EQUATIONS
}


@pytest.mark.parametrize(
    "equations",
    [pytest.param(e, marks=[pytest.mark.slow] * EQUATIONS[e].in_place) for e in EQUATIONS],
)
def test_no_set_of_equations(equations):
    case = OF_EQUATIONS[equations]
    levels = {"levels": 3} if EQUATIONS[equations].parameters.get("levels") else {}
    assert_makes_nothing(case, parameters=levels)


@pytest.mark.parametrize("compensation", [None, "carry"])
@pytest.mark.parametrize("scheme", TIME_SCHEMES)
def test_no_time_scheme(scheme, compensation):
    assert_makes_nothing("williamson_5", time_scheme=scheme, compensation=compensation)


GIVEN = {
    "coefficients": {"compensation": {"vorticity": Compensation(0.9, 0.1, reset_every=3)}},
    "stages in fp16": {"stages": "fp16-legendre"},
    "stages mixed": {"stages": "mixed-m0", "backend": "fp32"},
    "a master copy": {"stored": "fp32", "backend": "fp16"},
    "formats by scale": {"stored": "scales:0-10 40;11- 30"},
    "matrix": {"parameters": {"fourier": "matrix"}},
    "threads": {"threads": 2, "compensation": "carry"},
    "random bits": {"backend": "mlu370-noise"},
}


@pytest.mark.parametrize("name", GIVEN)
def test_no_way_to_run(name):
    case = "williamson_5"
    assert_makes_nothing(case, time_scheme="semi_implicit_leapfrog", **GIVEN[name])


@pytest.mark.parametrize("seed", range(5))
def test_a_pool_gives_the_same_arrays_again_and_makes_none(seed):
    rng, pool = np.random.default_rng(seed), Pool()
    wanted = [
        (tuple(rng.integers(0, 9, rng.integers(1, 4)).tolist()), rng.choice(["f8", "f4", "i8"]))
        for _ in range(12)
    ]
    for turn in range(3):
        pool.reset()
        taken = [pool.zeros(*each) if k % 2 else pool.array(*each)
                 for k, each in enumerate(wanted)]  # fmt: skip
        for k, (array, (shape, dtype)) in enumerate(zip(taken, wanted, strict=True)):
            assert (array.shape, array.dtype) == (shape, np.dtype(dtype))
            assert not array.size or array.ctypes.data % LINE_BYTES == 0
            assert not (k % 2 and array.any())
            array[...] = k + 1
        assert all((array == k + 1).all() for k, array in enumerate(taken))
        if turn:
            assert all(not a.size or np.shares_memory(a, pool._memory) for a in taken)
