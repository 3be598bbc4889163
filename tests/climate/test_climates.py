"""Stored climates meet the published gates, and today's code makes them; those in several
arithmetics are held against the ensemble in binary64, as far as chance allows.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from data.climate.sampling import (
    departure,
    is_within,
)
from sciprec.climate.diagnostics.derived import CLIMATE_VARIABLES, ZONAL_MEAN, gates
from sciprec.climate.running.integration import integrate
from sciprec.climate.transform.grid import GaussianGrid, resolve_truncation

FOLDER = Path(__file__).parents[2] / "data" / "climate"
STORED = sorted(FOLDER.glob("held_suarez_t*.json"))


def climate(path):
    """The stored climate, and its means as arrays."""
    stored = json.loads(path.read_text())
    return stored, {name: np.array(values) for name, values in stored["means"].items()}


@pytest.mark.parametrize("path", STORED, ids=lambda p: p.stem)
def test_gates_are_those_of_the_stored_means(path):
    stored, means = climate(path)
    found = gates(means, np.array(stored["lat"]), np.array(stored["sigma"]))
    assert found == pytest.approx(stored["gates"], rel=1e-5)
    assert stored["samples"] == stored["days"] - stored["first_day"] >= 500


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


ARITHMETICS = json.loads((FOLDER / "held_suarez_arithmetics.json").read_text())
ROWS = {row["name"]: row for row in ARITHMETICS["arithmetics"]}
SHARES = np.outer(
    np.full(ARITHMETICS["levels"], 1 / ARITHMETICS["levels"]),
    GaussianGrid(resolve_truncation(ARITHMETICS["truncation"])).weights,
)


@pytest.mark.parametrize("name", ROWS)
def test_departures_are_those_of_the_stored_bias(name):
    row = ROWS[name]
    for field in ("temperature", "u") if row["days"] else ():
        bias, stored = np.array(row[field]["bias"]), row[field]["departure"]
        found = departure(bias, np.zeros_like(bias), SHARES)
        assert found == pytest.approx(stored, rel=1e-3, abs=1e-3)  # of numbers with four digits
        assert row[field]["within"] == is_within(stored, row[field]["limits"])


def test_half_precision_needs_its_residual_or_stochastic_rounding_to_have_a_climate():
    """Ten bits stop 15 K too warm; with it, rounded stochastically or in more bits, they do not."""
    half = "fp16+carry", "fp16, sums in fp32+carry", "fp16, stochastic"
    shares = np.array(
        [
            abs(ROWS[name][field]["departure"][k]) / limit
            for name in ("fp32", "mlu370", "mlu370+carry", "fixed32", *half)
            for field in ("temperature", "u")
            for k, limit in ROWS[name][field]["limits"].items()
        ]
    )
    assert np.sum(shares > 1) <= 3 and shares.max() < 1.3  # of 42 numbers at 99 per cent
    for name in ("fp32", "mlu370", "mlu370+carry"):
        assert ROWS[name]["temperature"]["within"] and ROWS[name]["u"]["within"], name
    for name in ("fp16", "fp16, sums in fp32", "bf16"):
        assert ROWS[name]["temperature"]["departure"]["mean"] > 10.0
    assert ROWS["fp32"]["temperature"]["limits"]["mean"] < 0.2
    assert all(row["blow_up"] is None for row in ROWS.values())


def test_the_ensemble_is_the_climate_that_is_stored():
    """Means of five members, and the one whose climate has a file of its own: as far as chance."""
    means = json.loads((FOLDER / "held_suarez_t21l10.json").read_text())["means"]
    for field in ("temperature", "u"):
        found = departure(np.array(means[field]), np.array(ARITHMETICS["ensemble"][field]), SHARES)
        assert is_within(found, ROWS["fp32"][field]["limits"])


WAVE = json.loads((FOLDER / "baroclinic_wave_arithmetics.json").read_text())
WAVES = {row["name"]: row for row in WAVE["arithmetics"]}
ISCA = {"6": 993.54, "7": 986.50, "8": 972.34, "9": 949.30, "10": 928.04}
"""Lowest surface pressure, hPa, of GFDL's core at T42L24, as in `test_baroclinic`."""
TWO_MODELS = 1.85
"""hPa at day 9 between GFDL's core and dinosaur, both in binary64."""


@pytest.mark.parametrize(("name", "margin"), [("fp64", 0.4), ("fp32", 0.4), ("mlu370", TWO_MODELS)])
def test_the_stored_wave_is_the_published_one(name, margin):
    row = WAVES[name]
    assert {day: abs(x - ISCA[day]) < margin for day, x in row["lowest"].items()} == dict.fromkeys(
        ISCA, True
    )
    assert abs(row["lon"]["9"] - 213.8) < 2.82 and abs(row["lat"]["9"] - 60.0) < 2.8
    assert row["steady"] < 0.5


def test_carried_residuals_bring_the_truncated_wave_back():
    """Not so in half precision, where what is lost is lost inside the tendency."""
    truncated = [WAVES[f"mlu370{name}"]["rms"]["9"] for name in ("", "+carry", "+carry-sums")]
    assert truncated[0] > 10 * truncated[1] > 10 * truncated[2]
    half = [WAVES[f"fp16{name}"]["rms"]["9"] for name in ("", "+carry")]
    assert half[1] > 0.9 * half[0]
