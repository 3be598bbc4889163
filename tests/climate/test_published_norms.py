"""Cases 5 and 6 of Williamson et al. (1992) at equal truncation, step and diffusion as published,
in binary64 and with every operation rounded in other arithmetics.

Published: NCAR's STSWM 2.0 (spectral, semi-implicit leapfrog without a filter) against its own
T213, whose solution was kept to degree 106. Ours: against a T213 of an independent model, kept to
degree 106 too, with the usual filter: at equal steps runs have that filter, too.
"""

import functools

import numpy as np
import pytest

from sciprec.climate.running.integration import integrate
from tests.climate.published import integrated, norms

pytestmark = pytest.mark.slow
NAMES = "height_l1", "height_l2", "height_linf", "wind_l2"
LAST_DAY = {"williamson_5": 15, "williamson_6": 14}
USUAL = {"williamson_5": ("T42", 360.0, 5.0e15), "williamson_6": ("T42", 600.0, 0.0)}
"""Truncation, step and diffusion of runs in other arithmetics."""


@functools.cache
def run_of(case, truncation, step, diffusion, filtered=True, **options):
    """A case to its last day; run once for all that look at it."""
    parameters = {} if filtered else {"filter_nu": 0.0}
    days = float(LAST_DAY[case])
    run = integrated(case, truncation, days, step, diffusion, parameters, **options)
    assert run.blow_up is None
    return run


def norms_of(case, truncation, *how, day=None, **options):
    """The four norms of a run, in the order of NAMES."""
    run = run_of(case, truncation, *how, **options)
    found = norms(case, run, truncation, day or LAST_DAY[case])
    return np.array([found[name] for name in NAMES])


def norms_in(case, backend, compensation=None, **options):
    """Norms of a case in an arithmetic."""
    how = options | {"backend": backend, "compensation": compensation}
    return norms_of(case, *USUAL[case], **how)


@pytest.mark.parametrize(
    ("how", "published"),
    [
        (("T42", 360.0, 5.0e15), (2.84e-4, 6.17e-4, 1.31e-2, 1.28e-2)),
        (("T42", 1200.0, 0.0, False), (9.31e-4, 1.295e-3, 1.238e-2, 1.82e-2)),
    ],
)
def test_flow_over_a_mountain_after_15_days(how, published):
    """l1, l2, linf of the depth and l2 of the wind within 5 per cent; longer steps unfiltered."""
    np.testing.assert_allclose(norms_of("williamson_5", *how), published, rtol=0.05)


def test_rossby_haurwitz_wave_after_7_and_14_days():
    """l2 of the depth at day 7, l2 and linf of the depth and l2 of the wind at day 14."""
    seventh, last = (norms_of("williamson_6", "T42", 600.0, 0.0, day=day) for day in (7, 14))
    published = 1.79e-3, 3.38e-3, 8.13e-3, 4.87e-2
    np.testing.assert_allclose([seventh[1], *last[1:]], published, rtol=0.02)


def test_conservation_is_as_published():
    """Case 5 at T42: mass exact; energy and potential enstrophy within a tenth of what diffusion
    takes, and no further from zero than published without it, Runge and Kutta's scheme in place of
    leapfrog.
    """
    free = integrate("williamson_5", "T42", 15.0, step_seconds=600.0, output_hours=360.0,
                     time_scheme="rk4", variables=["height"])  # fmt: skip
    mass, energy, enstrophy = zip(
        *([run.budgets[name][-1] / run.budgets[name][0] - 1
           for name in ("mass", "energy", "potential_enstrophy")]
          for run in (run_of("williamson_5", *USUAL["williamson_5"]), free)), strict=True,
    )  # fmt: skip
    assert np.abs(mass).max() < 1e-14
    assert (energy[0], enstrophy[0]) == pytest.approx((-2.1e-5, -3.3e-4), rel=0.1)
    assert abs(energy[1]) <= 2.5e-7 and abs(enstrophy[1]) <= 1.1 * 1.7e-6


@pytest.mark.parametrize(
    ("case", "backend", "compensation", "digits"),
    [("williamson_5", "fp32", None, 3), ("williamson_6", "mlu370", "carry", 2)],
)
def test_norms_to_some_digits(case, backend, compensation, digits):
    """fp32 to three digits, mlu370 with its residual to two."""
    found, truth = norms_in(case, backend, compensation), norms_in(case, "fp64")
    last_digit = 10.0 ** (np.floor(np.log10(truth)) + 1 - digits)
    assert (np.abs(found - truth) <= last_digit / 2).all(), (found, truth)


def test_half_precision_finds_the_mountain_wave_only_with_its_residual():
    """Case 5 in fp16: without its residual ten times T42's own error, with it within 5 per cent.

    Depth in l2 and linf, wind in l2.
    """
    truth, plain, carried = (
        norms_in("williamson_5", *how) for how in (("fp64",), ("fp16",), ("fp16", "carry"))
    )
    assert (plain[[1, 3]] > 10 * truth[[1, 3]]).all()
    np.testing.assert_allclose(carried[1:], truth[1:], rtol=0.05)


@pytest.mark.survey
def test_eight_bits_are_within_a_factor_of_two_with_their_residuals():
    """Case 5 in bf16, state and sums compensated: depth in l2 and linf, wind in l2."""
    truth, found = (
        norms_in("williamson_5", *how) for how in (("fp64",), ("bf16", "carry-sums"))
    )
    assert (found[1:] < 2 * truth[1:]).all()


@pytest.mark.survey
def test_few_bits_are_enough_for_the_state_if_its_residual_is_carried():
    """Case 5, tendencies in fp32: bf16's state within a factor of two."""
    truth = norms_in("williamson_5", "fp64")
    ratio = norms_in("williamson_5", "fp32", "carry", stored="bf16") / truth
    assert (ratio < 2.0).all() and (ratio > 0.5).all()
