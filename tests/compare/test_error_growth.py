"""Growth of errors, its laws and drift of budgets, from data made with known ones."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from sciprec import quantize
from sciprec.precision import lift
from sciprec.report.sections.growth import formula, growth_section
from sciprec.results.comparison.evidence.drift import drifts
from sciprec.results.comparison.evidence.error_growth import (
    error_growth,
    law_of,
)
from sciprec.results.comparison.evidence.growth_laws import growth_laws

U = 2.0**-24
DAYS = np.arange(21) * 0.25
STEPS = DAYS * 144  # of 600 s
PROPERTIES = json.dumps({"storage": {"significand_bits": 24}})
GROWTHS = {
    "exponential": lambda n: 1e-9 * np.exp(0.01 * n),
    "fast": lambda n: 1e-3 * n**2 * U,
    "linear": lambda n: 0.5 * n * U,
    "between": lambda n: 0.5 * n**0.75 * U,
    "square root": lambda n: 2.0 * np.sqrt(n) * U,
    "slow": lambda n: 4.0 * n**0.2 * U,
    "level": lambda n: 4.0 * n**0.02 * U,
    "none": lambda n: 1e-7 * np.exp(3.0 * np.sin(n)),
}


def run(error=0.0, *, energy=0.0, attributes=None):
    """Three places over five days whose height is wrong by a share, and whose energy drains."""
    height = 100.0 * (1.0 + np.broadcast_to(np.asarray(error)[..., None], (DAYS.size, 3)))
    usual = {"step_seconds": 600.0, "sciprec_backend_properties": PROPERTIES}
    return xr.Dataset(
        {
            "height": (("time", "lat"), height),
            "mass": (("time",), np.full(DAYS.size, 2500.0)),
            "energy": (("time",), 4e7 * (1.0 - 0.01 * DAYS + energy * DAYS)),
        },
        coords={"time": DAYS, "lat": [-60.0, 0.0, 60.0]},
        attrs=usual if attributes is None else attributes,
    )


@pytest.mark.parametrize("name", GROWTHS)
def test_each_growth_gets_its_name_through_scatter(name):
    scatter = np.exp(np.random.default_rng(5).normal(0.0, 0.05, STEPS.size))
    found = error_growth(run(), run(GROWTHS[name](STEPS) * scatter), "height")
    assert law_of(found) == name, str(found)
    assert found.points == 20 and found.span == 19 * 36


@pytest.mark.parametrize("formats, law", [(("fp16",), "2 √n u"), (("fp16", "fp32"), "0.02 √n")])
def test_laws_of_several_formats_are_without_a_unit_roundoff(formats, law):
    about = {
        "storage": {"significand_bits": 53},
        "assignment": {"default": formats[0], "format": [{"format": f} for f in formats]},
    }
    properties = {"step_seconds": 600.0, "sciprec_backend_properties": json.dumps(about)}
    error = np.sqrt(STEPS) * (2.0 * 2.0**-11 if len(formats) == 1 else 0.02)
    found = error_growth(run(), run(error, attributes=properties), "height")
    assert formula(found.best) == law


@pytest.mark.parametrize("name", GROWTHS)
def test_the_best_of_three_laws_is_said_to_be_followed_where_the_sentence_names_it(name):
    """Not "faster than n" above a table that has "linear"."""
    made = growth_laws(STEPS, GROWTHS[name](STEPS), U)
    section = growth_section([SimpleNamespace(label="x", comparison=SimpleNamespace(growth=made))])
    followed = name in ("exponential", "linear", "square root")
    assert section.rows[0]["law"].endswith(", not followed") != followed
    assert section.followed == followed


def test_an_error_that_hardly_grows_is_not_called_exponential():
    """A constant with a drift upon it fits an exponential best, but does not grow tenfold."""
    found = growth_laws(STEPS, 1e-8 * (1.0 + STEPS / 720), U)
    assert found.best.name == "exponential" and found.increase < 10
    assert law_of(found) == "slow"


def test_drift_is_that_of_the_arithmetic_alone():
    """The fp64 run loses 1 % of its energy per day itself; that is not counted."""
    found = drifts(run(), run(energy=-1e-6))
    assert found["energy"].per_day == pytest.approx(-1e-6, rel=1e-9)
    assert found["energy"].resolved and found["energy"].days == 5.0
    assert found["mass"].per_day == 0.0 and not found["mass"].resolved


# ---- laws and their coefficients, without datasets ----------------------------------------------

UPDATES = np.arange(0, 400, 8)
MADE = {
    "exponential": lambda n: 3e-9 * np.exp(0.02 * n),
    "square root": lambda n: 2.0 * np.sqrt(n) * U,
    "linear": lambda n: 0.5 * n * U,
}


@pytest.mark.parametrize("name", MADE)
def test_a_law_is_recognised_with_its_coefficients_through_scatter(name):
    scatter = np.exp(np.random.default_rng(3).normal(0, 0.1, UPDATES.size))
    found = growth_laws(UPDATES, MADE[name](UPDATES) * scatter, U)
    assert found.best.name == name and found.best.weight > 0.9
    expected = {"exponential": {"delta_0": 3e-9, "eps": 0.02}, "square root": {"c": 2.0},
                "linear": {"c": 0.5}}[name]  # fmt: skip
    assert found.best.coefficients == pytest.approx(expected, rel=0.1)
    assert found.best.scatter == pytest.approx(0.1 / np.log(10), rel=0.3)
    assert sum(law.weight for law in found.laws) == pytest.approx(1.0)
    assert found.span == UPDATES[-1] - UPDATES[1]
    if name == "exponential":
        assert found.increase == pytest.approx(np.exp(0.02 * found.span), rel=0.2)
    else:
        power = {"square root": 0.5, "linear": 1.0}[name]
        assert abs(found.power - power) < 4 * found.power_error
    assert name in str(found)


def sequential_sum(x, out):
    total = 0.0
    for i in range(x.size):
        total = total + x[i]
        out[i] = total


def test_sums_follow_the_laws_of_theory():
    """Sums to nearest of random signs: sqrt(n) u; truncated sums of one sign: a bias, n u."""
    rng = np.random.default_rng(0)
    steps = np.unique(np.geomspace(10, 20000, 30).astype(int))
    for spec, name, power in (("fp16", "square root", 0.5), ("mlu370", "linear", 1.0)):
        errors = np.zeros(steps.size)
        for _ in range(40):
            x = rng.uniform(0.5, 1.0, steps[-1])
            x = x * rng.choice([-1.0, 1.0], x.size) if spec == "fp16" else x
            x = quantize(x, spec)
            out, true = np.zeros(x.size), np.cumsum(x)
            lift(sequential_sum, spec)(x, out)
            scale = np.sqrt(steps) if spec == "fp16" else true[steps - 1]
            errors += (np.abs(out - true)[steps - 1] / scale) ** 2
        found = growth_laws(steps, np.sqrt(errors / 40), U)
        assert found.best.name == name, str(found)
        assert abs(found.power - power) < 0.25
