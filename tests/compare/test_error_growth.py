"""Growth of errors, its laws and drift of budgets, from data made with known ones."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from sciprec import compare, quantize
from sciprec.foundation.errors import InputError
from sciprec.precision import lift
from sciprec.report.sections.growth import formula, growth_section
from sciprec.results.comparison.evidence.drift import drifts, gain
from sciprec.results.comparison.evidence.error_growth import (
    error_growth,
    growth_as_dict,
    law_of,
    law_sentences,
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


def test_sentences_name_every_run_once():
    made = {name: growth_laws(STEPS, law(STEPS), U) for name, law in GROWTHS.items()}
    for kept in (made, {k: v for k, v in made.items() if k != "exponential"}):
        text = " ".join(law_sentences(list(kept.items())))
        for name in kept:
            assert text.count(f": {name}") == 1
    assert "Between √n and n, by the fitted power of n: between (0.75)." in text
    assert law_sentences([]) == []


def test_growth_is_part_of_a_comparison_and_of_its_json():
    found = compare(run(), run(GROWTHS["linear"](STEPS)))
    assert found.growth.best.name == "linear"
    plain = json.loads(json.dumps(found.as_dict()))["growth"]
    assert plain["described_by"] == "linear" and plain["laws"][0]["name"] == "linear"
    assert plain["laws"][0]["coefficients"]["c"] == pytest.approx(0.5)
    assert compare(run(), run()).growth is None
    assert growth_as_dict(None) is None


@pytest.mark.parametrize("missing", ["step_seconds", "sciprec_backend_properties"])
def test_without_steps_or_arithmetic_there_is_no_law(missing):
    attributes = {k: v for k, v in run().attrs.items() if k != missing}
    wrong = run(GROWTHS["linear"](STEPS), attributes=attributes)
    assert error_growth(run(), wrong, "height") is None


def test_updates_are_steps():
    errors = np.concatenate([[0.0], 0.5 * np.arange(1, 9) * 100 * U])
    one, other = (
        xr.Dataset(
            {"parameter": (("update", "member"), np.ones((9, 2)) * (1.0 + e)[:, None])},
            coords={"update": np.arange(9) * 100.0},
            attrs={"sciprec_backend_properties": PROPERTIES},
        )
        for e in (0.0 * errors, errors)
    )
    found = error_growth(one, other, "parameter")
    assert found.best.name == "linear"
    assert found.best.coefficients["c"] == pytest.approx(0.5)


def test_drift_is_that_of_the_arithmetic_alone():
    """The fp64 run loses 1 % of its energy per day itself; that is not counted."""
    found = drifts(run(), run(energy=-1e-6))
    assert found["energy"].per_day == pytest.approx(-1e-6, rel=1e-9)
    assert found["energy"].resolved and found["energy"].days == 5.0
    assert found["mass"].per_day == 0.0 and not found["mass"].resolved


def test_drift_of_a_run_that_stopped_early_is_up_to_there():
    found = drifts(run(), run(energy=2e-6).isel(time=slice(0, 9)))
    assert found["energy"].days == 2.0
    assert found["energy"].per_day == pytest.approx(2e-6, rel=1e-9)
    assert drifts(run(), run().isel(time=slice(0, 1))) == {}
    assert drifts(run(), run().drop_vars(["mass", "energy"])) == {}


def test_gains():
    assert gain(-4e-6, 1e-8) == pytest.approx(400.0)
    assert gain(1e-6, 0.0) == np.inf
    assert np.isnan(gain(0.0, 0.0)) and np.isnan(gain(np.nan, 1.0))


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


def test_what_cannot_be_used_is_left_out():
    errors = MADE["linear"](UPDATES)
    errors[[3, 5, 7]] = 0.0, np.nan, np.inf
    found = growth_laws(UPDATES, errors, U)
    assert found.points == UPDATES.size - 4 and found.best.name == "linear"
    assert growth_laws([0, 1, 2, 3], [0.0, 1e-7, 2e-7, 3e-7], U) is None
    assert growth_laws([4, 4, 4, 4], [1e-7, 2e-7, 2e-7, 3e-7], U) is None


def test_wrong_sequences_are_a_sentence():
    with pytest.raises(InputError, match="accepted: two sequences of one length"):
        growth_laws([1, 2], [1.0], U)
    with pytest.raises(InputError, match="accepted: a number above zero"):
        growth_laws(UPDATES, MADE["linear"](UPDATES), 0.0)
