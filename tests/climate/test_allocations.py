"""Steps of a run make no arrays: what they work in is there before the first.

Left out is what no step of every kind does: fixed point finds units anew, and dynamic scales a step
again without ranges, where numbers have outgrown theirs; a monitor keeps rows of what it has seen.

The arrays begin on a cache line.
"""

import tracemalloc

import numpy as np
import pytest

from sciprec.arrays.aligned import LINE_BYTES, Pool, aligned_zeros
from sciprec.arrays.sums.compensation import Compensation
from sciprec.climate.catalogue import CASES, EQUATIONS, TIME_SCHEMES
from sciprec.climate.running.observing import observer_of
from sciprec.climate.running.request import check_request
from sciprec.climate.transform.grid import Truncation
from sciprec.instruments.assigning.scaling import with_scaling
from sciprec.tools.monitor.plan import checked_plan, with_changes
from sciprec.tools.monitor.summaries import BINS
from tests.climate.small_models import model_of

MEDIUM = Truncation(31, 48, 96, 900.0)
LARGER = Truncation(85, 128, 256, 300.0)
MIDDLE = Truncation(42, 64, 128, 600.0)
NOISE_BYTES = 6000
"""Of numbers and other objects of Python's in a step; the smallest state here has more."""
STEPS = 4


def request_of(case, truncation=MEDIUM, scaling=None, **given):
    if scaling:
        given["backend"] = with_scaling(given["backend"], scaling, None)
    return check_request(case, truncation, 1.0, **{"step_seconds": 600.0} | given)


def made_by_steps(stepping, levels):
    """Bytes that some steps take at once beyond those that are there before them."""
    stepping.advance(levels, 0, STEPS)
    stepping.advance(levels, STEPS, STEPS)
    return most_of(lambda: stepping.advance(levels, 2 * STEPS, STEPS))[0]


def most_of(function):
    """Bytes that a call takes at once beyond those that are there before it, and after it."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        function()
        after, most = tracemalloc.get_traced_memory()
        return most - before, most - after
    finally:
        tracemalloc.stop()


def assert_makes_nothing(case, threads=1, **given):
    model, _, state = model_of(request_of(case, **given))
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
    name: next(case for case in CASES.values() if case.equations == name).name for name in EQUATIONS
}


@pytest.mark.parametrize(
    "equations",
    [pytest.param(e, marks=[pytest.mark.slow] * EQUATIONS[e].in_place) for e in EQUATIONS],
)
def test_no_set_of_equations(equations):
    case = OF_EQUATIONS[equations]
    levels = {"levels": 3} if EQUATIONS[equations].parameters.get("levels") else {}
    assert_makes_nothing(case, parameters=levels)


@pytest.mark.parametrize("scheme", TIME_SCHEMES)
def test_no_time_scheme(scheme):
    assert_makes_nothing("williamson_5", time_scheme=scheme, compensation="carry")


GIVEN = {
    "coefficients": {"compensation": {"vorticity": Compensation(0.9, 0.1, reset_every=3)}},
    "formats by scale": {"stored": "scales:0-10 40;11- 30"},
    "matrix": {"parameters": {"fourier": "matrix"}},
    "a master copy": {"stored": "fp32", "backend": "fp16"},
    "threads": {"threads": 2, "compensation": "carry"},
    "random bits": {"backend": "mlu370-noise"},
}


FEW_WAYS = ("coefficients", "formats by scale", "threads")
ONE_VARIABLE = ("a master copy", "random bits")
"""Ways whose kernels few other runs have: those of transport compile fastest."""


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in FEW_WAYS)) for n in GIVEN]
)
def test_no_way_to_run(name):
    case, truncation = "williamson_5", MEDIUM
    if name in ONE_VARIABLE:
        case, truncation = "williamson_1", MIDDLE
    how = {"truncation": truncation, "time_scheme": "semi_implicit_leapfrog", **GIVEN[name]}
    assert_makes_nothing(case, **how)


def unit(**keys):
    return {"legendre": "matrix:" + ",".join(f"{key}={value}" for key, value in keys.items())}


STAGED = {
    "fp16": "fp16",
    "slices, two of four, one scale": unit(
        table="int8", field="int8", slices=2, sparsity="2:4", scale="tensor"),
    "groups, lowest orders kept": unit(table="int4", field="fp16", scale="group") | {
        "kept": "fp32", "kept_orders": 1},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", STAGED)
def test_no_stages_of_transforms(name):
    assert_makes_nothing("williamson_5", time_scheme="rk4", stages=STAGED[name])


@pytest.mark.slow
def test_no_scales():
    """Scales that follow the numbers."""
    how = {"time_scheme": "rk4", "backend": "fp16", "scaling": "dynamic"}
    assert_makes_nothing("rossby_haurwitz", truncation=MIDDLE, **how)


WATCHED = with_changes(("vorticity", "divergence", "geopotential"))


@pytest.mark.slow
def test_no_look_of_a_monitor_but_rows_of_what_it_has_seen():
    plan = checked_plan(WATCHED, every=1, drift_every=1)
    how = {"time_scheme": "semi_implicit_leapfrog", "monitor": plan, "backend": "fp32",
           "step_seconds": 300.0, "compensation": "carry"}  # fmt: skip
    request = request_of("williamson_5", LARGER, **how)
    model, convert, state = model_of(request)
    levels = [model.steps.system.addition.level(state)]
    observer = observer_of(request, convert, model.columns)
    observer.start(state, state.astype(np.float64))
    both = model.steps, model.steps
    observer.advance(*both, levels, 0, STEPS)
    _, passing = most_of(lambda: observer.advance(*both, levels, STEPS, STEPS))
    rows = 2 * len(WATCHED) * BINS * 8  # how many numbers have each exponent, in a list and stacked
    assert passing < rows + NOISE_BYTES < 2 * state.nbytes // 3, passing  # a variable in binary64
    assert observer.history.steps.size == 2 * STEPS


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


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("shape", [0, 1, 7, (3, 5), (2, 0, 4), (3, 1000, 7)])
def test_arrays_begin_on_a_line_and_are_their_own(shape, dtype):
    kept = [aligned_zeros(shape, dtype) for _ in range(4)]
    like = np.zeros(shape, dtype)
    for n, array in enumerate(kept):
        assert array.size == 0 or array.ctypes.data % LINE_BYTES == 0
        assert array.flags.c_contiguous and array.flags.writeable
        assert array.dtype == dtype and array.shape == like.shape
        assert not array.any()
        array[...] = n + 1
    for n, array in enumerate(kept):
        assert np.all(array == n + 1)
