"""Drift of budgets in runs of the model: mass never, energy far less with compensation."""

import pytest

from sciprec.batch import workflow
from sciprec.climate.equations import shallow_water
from sciprec.climate.running.integration import integrate
from sciprec.climate.transform.grid import Truncation
from sciprec.kinds import parse_scenario

SMALL = Truncation(10, 16, 32, 1200.0)


@pytest.mark.parametrize("mean_included", [False, True])
@pytest.mark.parametrize("case", ["williamson_2", "williamson_5"])
def test_mass_cannot_drift_whether_the_mean_is_in_the_state_or_not(
    case, mean_included, monkeypatch
):
    """The tendency of the mean's coefficient is made of products with zero alone.

    Budgets are means in binary64 of fields that come back from coefficients: 8 of its roundings.
    """
    if mean_included:
        monkeypatch.setattr(shallow_water, "few_bits", lambda mean: 0.0)
    for backend in ("mlu370", "bf16"):
        mass = integrate(case, SMALL, 0.5, backend=backend, output_hours=6.0).budgets["mass"]
        assert abs(mass / mass[0] - 1.0).max() <= 8 * 2.0**-52


def test_floats_have_nothing_to_say_about_fixed_point():
    assert integrate("williamson_2", SMALL, 0.05, backend="mlu370").fixed_point is None


@pytest.mark.slow
def test_a_run_in_fixed_point_says_what_it_did():
    done = integrate("williamson_6", SMALL, 0.05, step_seconds=1080.0, backend="fixed32")
    assert done.fixed_point["calls"] >= 2 * (4 + 3 + 1 + 1)  # tendencies, stages, sum, addition
    assert done.fixed_point["saturations"] == done.fixed_point["invalid"] == 0
    assert done.fixed_point["places_short_of_bits"] >= len(done.fixed_point["short"])


@pytest.mark.slow
def test_the_goals_are_met_by_a_scenario_and_said_on_its_page(tmp_path, blank_figures):
    """Ten times less error at day 5 of a steady flow, a hundred times less drift of energy."""
    scenario = parse_scenario(
        {
            "name": "gates", "title": "Steady flow", "source": "Williamson et al. (1992), case 2",
            "kind": "climate", "backends": ["mlu370"], "compensation": ["none", "carry-sums"],
            "climate": {
                "case": "williamson_2", "truncation": 21, "days": 5.0, "output_hours": 12.0,
                "step_seconds": 600.0,
            },
        }
    )  # fmt: skip
    result = workflow.run(scenario, out=tmp_path)
    plain, carried = (row["drift"] for row in result.table[1:])
    assert carried["error_gain"] >= 10 and carried["energy_gain"] >= 100
    assert plain["mass"] == carried["mass"] == 0.0
    assert "The mass drifts in no run" in result.page.read_text(encoding="utf-8")
