"""Published norms of cases 5 and 6 in other arithmetics: every operation rounded, T42."""

import functools

import numpy as np
import pytest

from tests.climate.published import integrated, norms

NAMES = "height_l1", "height_l2", "height_linf", "wind_l2"
CASES = {"williamson_5": (15, 360.0, 5.0e15), "williamson_6": (14, 600.0, 0.0)}


@functools.cache
def run_of(case, backend, compensation=None, days=None, **options):
    """A case with its step and diffusion, to its last day; run once for all that look at it."""
    day, step, diffusion = CASES[case]
    return integrated(
        case, "T42", float(days or day), step, diffusion, backend=backend,
        compensation=compensation, **options,
    )  # fmt: skip


def norms_in(case, backend, compensation=None, **options):
    """The four norms of a case at its last day."""
    run = run_of(case, backend, compensation, **options)
    assert run.blow_up is None
    found = norms(case, run, "T42", CASES[case][0])
    return np.array([found[name] for name in NAMES])


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    ("backend", "compensation", "digits"), [("fp32", None, 3), ("mlu370", "carry", 2)]
)
def test_norms_to_some_digits(case, backend, compensation, digits):
    """fp32 to three digits, mlu370 with its residual to two."""
    found, truth = norms_in(case, backend, compensation), norms_in(case, "fp64")
    np.testing.assert_allclose(found, truth, rtol=0.5 / 10**digits)


@pytest.mark.slow
def test_fixed32_is_at_least_as_near_to_binary64_as_fp32():
    """Height and wind at day 7 of case 6, relative l2."""
    truth, fp32 = (run_of("williamson_6", backend, None) for backend in ("fp64", "fp32"))
    fixed32 = run_of("williamson_6", "fixed32", days=7)
    for name in ("height", "u", "v"):
        runs = [run.fields[name][run.time_days == 7.0] for run in (truth, fixed32, fp32)]
        assert all(len(values) == 1 for values in runs)
        distance = [np.linalg.norm(values - runs[0]) for values in runs[1:]]
        assert distance[0] <= distance[1], name


@pytest.mark.slow
def test_half_precision_finds_the_mountain_wave_only_with_its_residual():
    """Case 5 in fp16: without its residual ten times T42's own error, with it within 5 per cent.

    Depth in l2 and linf, wind in l2.
    """
    truth, plain, carried = (
        norms_in("williamson_5", *how) for how in (("fp64",), ("fp16",), ("fp16", "carry"))
    )
    assert (plain[[1, 3]] > 10 * truth[[1, 3]]).all()
    np.testing.assert_allclose(carried[1:], truth[1:], rtol=0.05)


@pytest.mark.slow
def test_eight_bits_are_within_a_factor_of_two_with_their_residuals():
    """Case 5 in bf16, state and sums compensated: depth in l2 and linf, wind in l2."""
    ways = ("fp64",), ("bf16", "carry-sums"), ("bf16", "carry")
    truth, whole, state = (norms_in("williamson_5", *how) for how in ways)
    assert (whole[1:] < 2 * truth[1:]).all() and (whole <= state).all()
    assert (state[1:3] < 2 * truth[1:3]).all()
    assert state[3] < 2.2 * truth[3]  # the state alone leaves the wind at the edge


@pytest.mark.slow
@pytest.mark.parametrize(("stored", "largest"), [("fp16", 1.05), ("bf16", 2.0)])
def test_few_bits_are_enough_for_the_state_if_its_residual_is_carried(stored, largest):
    """Case 5, tendencies in fp32: fp16's state within 5 per cent, bf16's within a factor of two."""
    truth = norms_in("williamson_5", "fp64")
    ratio = norms_in("williamson_5", "fp32", "carry", stored=stored) / truth
    assert (ratio < largest).all() and (ratio > 1 / largest).all()
