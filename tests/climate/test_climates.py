"""Stored climates of Held and Suarez (1994) meet the published gates; today's code makes them."""

import json
from pathlib import Path

import numpy as np
import pytest

from sciprec.climate.diagnostics.climatology import CLIMATE_VARIABLES, ZONAL_MEAN, gates
from sciprec.climate.running.integration import integrate

FOLDER = Path(__file__).parents[2] / "data" / "climate"
STORED = sorted(FOLDER.glob("held_suarez_t*.json"))


def climate(path):
    """What is stored, and its means as arrays."""
    stored = json.loads(path.read_text())
    return stored, {name: np.array(values) for name, values in stored["means"].items()}


@pytest.mark.parametrize("path", STORED, ids=lambda p: p.stem)
def test_gates_are_those_of_the_stored_means(path):
    stored, means = climate(path)
    found = gates(means, np.array(stored["lat"]), np.array(stored["sigma"]))
    assert found == pytest.approx(stored["gates"], rel=1e-5)
    assert stored["samples"] == stored["days"] - stored["first_day"] >= 500


@pytest.mark.parametrize("path", STORED, ids=lambda p: p.stem)
def test_hemispheres_differ_by_no_more_than_two_standard_deviations_of_blocks(path):
    stored, means = climate(path)
    half = len(stored["lat"]) // 2
    for name, values in means.items():
        sign = -1.0 if name in ("eddy_momentum_flux", "eddy_heat_flux") else 1.0
        apart = values[:, half:] - sign * values[:, :half][:, ::-1]
        spread = np.array(stored["block_std"][name])
        spread = np.hypot(spread[:, half:], spread[:, :half][:, ::-1])
        assert np.mean(np.abs(apart) <= 2 * spread) > 0.95, name


GATES = {  # around GFDL's core (Isca, 500 days) and dinosaur (1000 days), with their margins
    "jet": (31.0, 34.0), "jet_lat": (40.5, 46.1), "jet_sigma": (0.2, 0.275),
    "lowest_westerly": (7.19, 10.19), "lowest_easterly": (-10.47, -7.47), "coldest": (187.0, 192.0),
    "lowest_equator": (304.5, 307.7), "lowest_pole": (264.0, 266.1),
    "temperature_variance": (37.0, 46.0), "eddy_heat_flux": (19.5, 23.0),
    "eddy_momentum_flux": (65.0, 80.0),
}  # fmt: skip


@pytest.mark.parametrize("name", GATES)
def test_the_usual_climate_is_that_of_other_models(name):
    """T42 with 20 levels, 1,000 days; the margins are those of the models' own fluctuations, 2 K
    from either of them near the ground.
    """
    stored, _ = climate(FOLDER / "held_suarez_t42l20.json")
    assert stored["samples"] == 1000
    low, high = GATES[name]
    assert low <= stored["gates"][name] <= high


FIRST_DAYS = np.load(FOLDER / "held_suarez_first_days.npz")


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("T21L10", 2),
        pytest.param("T21L10", 10, marks=pytest.mark.slow),
        pytest.param("T31L8", 5, marks=pytest.mark.slow),
        pytest.param("T42L20", 1, marks=pytest.mark.slow),
    ],
)
def test_todays_code_makes_the_first_days_of_the_stored_climates(name, last):
    """Within 1e-9 of each field's largest value: another processor may differ in the last bits."""
    stored, _ = climate(FOLDER / f"held_suarez_{name.lower()}.json")
    made = integrate(
        "held_suarez", stored["truncation"], last, step_seconds=stored["step_seconds"],
        variables=CLIMATE_VARIABLES,
        parameters={key: stored[key] for key in ("levels", "seed", "diffusion_hours")},
    )  # fmt: skip
    days = [day for day in FIRST_DAYS["days"] if day <= last]
    for variable in CLIMATE_VARIABLES:
        kept = FIRST_DAYS[f"{name}/{variable.removeprefix(ZONAL_MEAN)}"]
        for day, values in zip(days, kept, strict=False):
            apart = np.abs(made.fields[variable][day] - values).max()
            assert apart <= 1e-9 * np.abs(values).max(), (variable, day)
