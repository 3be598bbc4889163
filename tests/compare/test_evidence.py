"""Evidence beside pointwise errors as plain data, and the verdicts that take it into account."""

import functools
import json
import math

import numpy as np
import pytest
import xarray as xr

from sciprec import compare
from sciprec.results.comparison.evidence.error_budget import error_budget
from sciprec.results.comparison.evidence.gathering import (
    Members,
    evidence,
)
from sciprec.results.comparison.verdicts import judge

DAYS = np.arange(0.0, 5.5, 0.5)
NLAT, NLON = 16, 32
SINE, WEIGHTS = np.polynomial.legendre.leggauss(NLAT)
GROWTH = np.exp(1.2 * DAYS)
FIELDS = ("height", "u", "vorticity")


def scenario(perturbation, tolerance=()):
    given = {"kind": "climate", "tolerance": list(tolerance)}
    given["ensemble"] = {"members": 60, "perturbation": perturbation}
    return json.dumps(given)


def run(*given, **more):
    """A flow in which differences grow; its fields are waves whose amplitudes the member draws."""
    return made(*given, tolerance=json.dumps(more.pop("tolerance", ())), **more).copy(deep=True)


@functools.cache
def made(member=0, *, tolerance, bias=0.0, perturbation=1e-4, backend="fp64", seed=0):
    rng = np.random.default_rng([seed, member])
    lat, lon = np.arcsin(SINE)[:, None], 2 * np.pi * np.arange(NLON) / NLON
    size = 0.0 if member == 0 else perturbation
    values = {}
    for name in FIELDS:
        waves = [np.cos(m * lon) * np.cos(lat) ** m for m in range(1, 4)]
        drawn = 1.0 + rng.uniform(-1, 1, 3)[:, None] * size * GROWTH + bias * GROWTH
        values[name] = 5.0 + sum(
            a[:, None, None] * w for a, w in zip(drawn, waves, strict=True)
        )  # fmt: skip
    area = np.repeat(WEIGHTS[:, None], NLON, axis=1)
    properties = json.dumps({"storage": {"significand_bits": 24}})
    return xr.Dataset(
        {k: (("time", "lat", "lon"), v) for k, v in values.items()}
        | {"cell_area": (("lat", "lon"), area), "mass": (("time",), np.full(DAYS.size, 3.0))},
        coords={"time": DAYS, "lat": np.degrees(np.arcsin(SINE)), "lon": np.degrees(lon)},
        attrs={
            "sciprec_scenario": scenario(perturbation, json.loads(tolerance)),
            "sciprec_member": member, "sciprec_backend": backend,
            "sciprec_backend_properties": properties, "step_seconds": 600.0,
        },
    )  # fmt: skip


def ensemble(bias=0.0, count=40, **more):
    """The undisturbed run in another arithmetic and both ensembles' other members."""
    more = {"backend": "fp16"} | more
    truth = [run(m, perturbation=more.get("perturbation", 1e-4)) for m in range(1, count)]
    others = [run(m, bias=bias, seed=9, **more) for m in range(1, count)]
    return run(0, bias=bias, **more), Members(truth, others)


def judged(golden, actual, members):
    found = evidence(golden, actual, members)
    return judge(golden, actual, compare(golden, actual), found), found


@pytest.mark.slow
def test_a_small_error_is_indistinguishable_and_a_bias_is_not():
    """Members of the truth that begin as the test runs do take no part in the consistency."""
    small, members = ensemble(1e-7)
    verdict, found = judged(run(), small, members)
    assert found["consistency"]["members"] == 40 - 3
    assert found["distributions"]["members"] == [40, 40]
    assert found["consistency"]["answer"] == found["distributions"]["answer"] == "yes"
    assert verdict.status == "good"
    assert "; statistically indistinguishable from fp64: " in verdict.sentence
    assert "the rounding error of height is 0.1" in verdict.sentence
    large, members = ensemble(1e-3)
    verdict, found = judged(run(), large, members)
    assert found["consistency"]["answer"] == found["distributions"]["answer"] == "no"
    assert verdict.status == "beyond"
    assert "; statistically distinguishable from fp64: " in verdict.sentence
    assert found["variability"]["share"] > 1 and found["variability"]["applies"]


def test_evidence_is_plain_data_without_what_is_not_finite():
    actual, members = ensemble(1e-6)
    actual["mass"] = actual["mass"] * (1.0 - 1e-6 * DAYS)
    found = evidence(run(), actual, members)
    again = json.loads(json.dumps(found, allow_nan=False))
    assert again == found
    assert set(found) == {
        "perturbation", "drift", "variability", "consistency", "distributions", "spectrum",
        "scales", "budget", "not_measured",
    }  # fmt: skip
    assert found["not_measured"] == [] and found["perturbation"] == 1e-4
    assert len(found["variability"]["days"]) == DAYS.size
    assert found["budget"]["parts"]["initial state"] > 0.0
    assert found["variability"]["ulp"] == [None] * DAYS.size
    assert found["drift"]["mass"]["per_day"] == pytest.approx(-1e-6)
    assert found["spectrum"]["wavenumber"] == found["scales"]["wavenumber"] == [1, 2, 3]


def test_members_that_differ_by_an_ulp_decide_nothing():
    tolerance = {
        "variable": "height", "metric": "relative_l2", "at_most": 1.0, "reason": "a test",
    }  # fmt: skip
    more = {"perturbation": 2.0**-52, "tolerance": [tolerance]}
    actual, members = ensemble(1e-6, **more)
    verdict, found = judged(run(**more), actual, members)
    assert "one ulp of fp64 at first" in found["consistency"]["note"]
    assert verdict.status == "good"
    assert found["variability"]["ulps"] > 1e6
    assert "times what a perturbation of one ulp of fp64 has grown to" in verdict.sentence


@pytest.mark.slow
def test_only_a_wider_ensemble_decides():
    """Equal differences, as members that began an ulp apart and as members that did not."""
    actual, members = ensemble(1e-3)
    for perturbation, status in ((None, "unjudged"), (1e-4, "beyond")):
        attributes = {"sciprec_scenario": scenario(perturbation)}
        golden, actual = run().assign_attrs(attributes), actual.assign_attrs(attributes)
        verdict = judge(golden, actual, compare(golden, actual), evidence(golden, actual, members))
        assert verdict.status == status
        assert "statistically distinguishable from fp64" in verdict.sentence


def test_budget_of_a_flow_knows_input_operations_and_discretisation():
    golden, actual = run(), run(bias=1e-6)
    finer = golden.isel(time=-1)[["height"]] * 1.01
    found = error_budget(golden, actual, "height", reference=finer)
    assert found.parts["discretisation"] == pytest.approx(0.01 / 1.01, rel=1e-9)
    ratio = found.parts["input rounding and operations"] / found.parts["input rounding"]
    assert ratio == pytest.approx(GROWTH[-1], rel=1e-6)
    assert found.below_by == pytest.approx(0.01 / 1.01 / found.rounding)
    assert "times below the error of the discretisation" in found.sentence
    golden["reference_height"] = finer["height"]
    assert error_budget(golden, actual, "height") == found
    alone = error_budget(run(), actual, "height")
    assert math.isnan(alone.below_by) and alone.missing == ("discretisation", "initial state")
    assert "other errors are not known" in alone.sentence
    assert error_budget(run(), run(), "height").sentence == "there is no rounding error in height"
