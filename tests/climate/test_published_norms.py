"""Cases 5 and 6 of Williamson et al. (1992) at equal truncation, step and diffusion as published.

Published: NCAR's STSWM 2.0 (spectral, semi-implicit leapfrog without a filter) against its own
T213, whose solution was kept to degree 106. Ours: against a T213 of an independent model, kept to
degree 106 too, with the usual filter: at equal steps runs have that filter, too.
"""

import numpy as np
import pytest

from sciprec.climate.running.integration import integrate
from tests.climate.published import integrated, norms


def mountain_norms(truncation, step, diffusion, parameters=None):
    """l1, l2, linf of the depth and l2 of the wind of case 5 at day 15."""
    run = integrated("williamson_5", truncation, 15.0, step, diffusion, parameters)
    found = norms("williamson_5", run, truncation, 15)
    return np.array([found[n] for n in ("height_l1", "height_l2", "height_linf", "wind_l2")])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("truncation", "step", "diffusion", "published"),
    [
        ("T42", 360.0, 5.0e15, (2.84e-4, 6.17e-4, 1.31e-2, 1.28e-2)),
        ("T63", 360.0, 1.0e15, (1.16e-4, 2.84e-4, 5.39e-3, 4.07e-3)),
        ("T42", 1200.0, 5.0e15, (9.48e-4, 1.307e-3, 1.258e-2, 2.11e-2)),
        ("T42", 1200.0, 0.0, (9.31e-4, 1.295e-3, 1.238e-2, 1.82e-2)),
        ("T63", 900.0, 1.0e15, (9.03e-4, 1.202e-3, 5.02e-3, 1.57e-2)),
    ],
)
def test_flow_over_a_mountain_after_15_days(truncation, step, diffusion, published):
    """l1, l2, linf of the depth and l2 of the wind within 5 per cent; longer steps unfiltered."""
    parameters = {} if step == 360.0 else {"filter_nu": 0.0}
    found = mountain_norms(truncation, step, diffusion, parameters)
    np.testing.assert_allclose(found, published, rtol=0.05)


@pytest.mark.slow
def test_flow_over_a_mountain_at_t106_is_no_further_from_the_truth_than_published():
    published = np.array([1.40e-5, 2.66e-5, 1.08e-3, 1.10e-3])
    found = mountain_norms("T106", 360.0, 1.29e14)
    assert (found < 1.05 * published).all()
    np.testing.assert_allclose(found[2:], published[2:], rtol=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("truncation", "step", "diffusion", "published"),
    [
        ("T42", 600.0, 0.0, (1.79e-3, 3.38e-3, 8.13e-3, 4.87e-2)),
        ("T42", 180.0, 5.0e15, (9.65e-4, 5.27e-3, 1.24e-2, 6.48e-2)),
        ("T63", 180.0, 1.0e15, (3.55e-4, 2.52e-3, 6.06e-3, 3.10e-2)),
    ],
)
def test_rossby_haurwitz_wave_after_7_and_14_days(truncation, step, diffusion, published):
    """l2 of the depth at day 7, l2 and linf of the depth and l2 of the wind at day 14."""
    run = integrated("williamson_6", truncation, 14.0, step, diffusion)
    seventh, last = (norms("williamson_6", run, truncation, day) for day in (7, 14))
    found = seventh["height_l2"], last["height_l2"], last["height_linf"], last["wind_l2"]
    np.testing.assert_allclose(found, published, rtol=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "days", "step", "diffusion", "energy", "enstrophy"),
    [
        ("williamson_5", 15.0, 360.0, 5.0e15, -2.1e-5, -3.3e-4),
        ("williamson_5", 15.0, 600.0, 0.0, 2.5e-7, -1.7e-6),
        ("williamson_6", 14.0, 360.0, 0.0, 3.5e-8, -1.3e-5),
    ],
)
def test_conservation_is_as_published(case, days, step, diffusion, energy, enstrophy):
    """T42: mass exact; energy and potential enstrophy within a tenth of what diffusion takes, and
    no further from zero than published without it, Runge and Kutta's scheme in place of leapfrog,
    with twice the published step for the wave.
    """
    run = integrate(
        case, "T42", days, step_seconds=step, output_hours=24 * days,
        time_scheme="semi_implicit_leapfrog" if diffusion else "rk4",
        parameters={"diffusion_m4_per_s": diffusion},
    )  # fmt: skip
    drift = {name: values[-1] / values[0] - 1 for name, values in run.budgets.items()}
    assert abs(drift["mass"]) < 1e-14
    if diffusion:
        assert drift["energy"] == pytest.approx(energy, rel=0.1)
        assert drift["potential_enstrophy"] == pytest.approx(enstrophy, rel=0.1)
    else:
        assert abs(drift["energy"]) <= abs(energy)
        assert abs(drift["potential_enstrophy"]) <= 1.1 * abs(enstrophy)
