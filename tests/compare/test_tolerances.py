"""Tolerances that know the number format, and metrics judged again without the data."""

import json
import math

import numpy as np
import pytest
import xarray as xr

from sciprec.foundation.errors import InputError
from sciprec.precision.formats.backend import resolve_backend
from sciprec.results.comparison import compare
from sciprec.results.comparison.pointwise.number_format import NumberFormat, number_format
from sciprec.results.comparison.stored_metrics import judge_again
from sciprec.results.comparison.tolerances import Tolerances, automatic

FP32 = NumberFormat("binary32", 24, -126, 3.4028234663852886e38)
MLU = NumberFormat("mlu370", 21, -126, 3.4e38, "rz")


def field(dtype=float):
    """Positive numbers around 300."""
    return (300.0 + 10.0 * np.random.default_rng(3).normal(size=(40, 50))).astype(dtype)


def verdict(golden, actual, **tolerances):
    """The verdict of one array against another."""
    return compare(golden, actual, **tolerances).rows[0].verdict


def test_unit_roundoffs_are_those_of_the_runs_format():
    golden = field()
    rounded = golden.astype(np.float32)
    assert verdict(golden, rounded) == "changed"
    assert verdict(golden, rounded, rtol="1u") == "noise"
    assert verdict(golden, rounded, rtol="0.01u") == "changed"
    assert verdict(golden, golden.astype(np.float16), rtol="1u") == "noise"
    assert verdict(golden, golden.astype(np.float16).astype(float), rtol="1u") == "changed"
    limits = Tolerances.read(rtol=["8u", "t=1e-3"]).limits("x", FP32, 1)
    assert (limits.rtol, limits.atol) == (8 * 2.0**-24, 0.0)
    assert Tolerances.read(rtol=["8u", "t=1e-3"]).limits("t", FP32, 1).rtol == 1e-3


def test_ulps_are_those_of_the_runs_format():
    golden = field(np.float32)
    actual = golden.copy()
    actual[3, 4] = np.nextafter(actual[3, 4], np.float32(np.inf))
    row = compare(golden, actual).rows[0]
    assert row.errors["max_ulp"] == 1.0 and row.verdict == "changed"
    assert verdict(golden, actual, max_ulp=1) == "noise"
    assert verdict(golden, actual, max_ulp="0.5") == "changed"
    assert verdict(golden, actual, max_ulp=1, rtol=1e-12) == "changed"
    assert verdict(golden, field().astype(np.float16).astype(float), max_ulp={"values": 1}) == (
        "changed"
    )


def assigned(*formats, **attributes):
    """The attributes of a run by an assignment, whose numbers are handed on in binary64."""
    about = {
        "storage": {"format": "binary64", "significand_bits": 53, "emin": -1022, "emax": 1023},
        "assignment": {"default": formats[0], "format": [{"format": f} for f in formats[1:]]},
    }
    return {"sciprec_backend_properties": json.dumps(about), **attributes}


@pytest.mark.parametrize("name", ["fp32", "fp16", "bf16", "float:p=12"])
def test_ulps_of_an_assignment_in_one_format_are_those_of_this_format(name):
    bits = resolve_backend(name).storage.format.significand_bits
    for formats in ((name,), (name, name)):
        assert number_format(assigned(*formats)).unit_roundoff == 2.0**-bits
        (row,) = compare([1.0], xr.Dataset({"values": ("x", [1.5])}, attrs=assigned(*formats))).rows
        assert row.errors["max_ulp"] == 2.0 ** (bits - 2)


@pytest.mark.parametrize("attributes", [
    assigned("fp32", "fp16"), assigned("of a plugin that is not here"), {
        "sciprec_backend_properties": json.dumps({"storage": {"significand_bits": 11}}),
        "stored_state": "state and its update in binary32, a master copy",
    },
])  # fmt: skip
def test_a_run_of_several_formats_has_no_ulps(attributes):
    (row,) = compare([1.0], xr.Dataset({"values": ("x", [1.5])}, attrs=attributes)).rows
    assert math.isnan(row.errors["max_ulp"]) and row.statistics.ulp == {}


@pytest.mark.parametrize("name", ["rtol", "atol", "max_ulp"])
def test_an_error_as_large_as_the_tolerance_meets_it(name):
    """Relative l2 error 1/2, largest error 2, 2^51 units in the last place of 4."""
    golden, actual = np.array([4.0, 0.0]), np.array([2.0, 0.0])
    limit = {"rtol": 0.5, "atol": 2.0, "max_ulp": 2.0**51}[name]
    assert verdict(golden, actual, **{name: limit}) == "noise"
    assert verdict(golden, actual, **{name: limit * (1 - 2.0**-52)}) == "changed"


@pytest.mark.parametrize("side", [0, 1])
def test_a_changed_pattern_of_nan_is_beyond_every_tolerance(side):
    pair = [field(), field()]
    pair[side][0, 7] = math.nan
    pair[1][5, 5] += 1.0
    found = compare(*pair, rtol=1e9, atol=1e9, max_ulp=1e300).rows[0]
    assert found.verdict == "broken"
    assert found.errors["max_abs"] == pytest.approx(1.0)
    assert "1 of 2000 values are finite in one and not in the other" in found.reason()
    assert "first at values_axis_0 0, values_axis_1 7" in found.reason()
    both = compare(*(np.where(np.isnan(pair[side]), math.nan, x) for x in pair), atol=2.0)
    assert both.within


def test_automatic_tolerances_follow_the_laws_of_rounding():
    assert automatic(FP32, 400) == 4 * 20 * 2.0**-24
    assert automatic(MLU, 400) == 2 * 400 * 2.0**-21
    assert automatic(number_format({}), 0) == 4 * 2.0**-53
    rng = np.random.default_rng(8)
    golden, run = np.ones(5000), np.ones(5000)
    for _ in range(400):
        factor = 1.0 + 1e-3 * rng.normal(size=5000)
        golden, run = golden * factor, (run * factor).astype(np.float32).astype(float)
    assert verdict(golden, run.astype(np.float32), rtol=automatic(FP32, 400)) == "noise"
    assert verdict(golden, run.astype(np.float32), rtol=automatic(FP32, 1) / 4) == "changed"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rtol": "8 u u"}, "--rtol is given '8 u u'; it takes a number from 0 up, per cent, mult"),
        ({"rtol": -1.0}, "--rtol is given '-1.0'"),
        ({"rtol": "nan"}, "--rtol is given 'nan'"),
        ({"atol": "8u"}, "--atol is given '8u'; it takes a number from 0 up, for every variable"),
        ({"max_ulp": "auto"}, "--max-ulp is given 'auto'"),
        ({"rtol": "valuse=1"}, "which is not compared; compared: values; did you mean 'values'"),
    ],
)
def test_what_is_no_tolerance_is_refused(given, words):
    with pytest.raises(InputError) as caught:
        compare(field(), field() + 1.0, **given)
    assert words in str(caught.value)


def test_stored_metrics_are_judged_as_the_data_would_be(tmp_path):
    golden, actual = field(), field(np.float32)
    path = tmp_path / "metrics.json"
    path.write_text(json.dumps(compare(golden, actual).as_dict()))
    zero = tmp_path / "zero.json"
    zero.write_text(json.dumps(compare(0 * golden, actual).as_dict()))
    for given in ({}, {"rtol": "1u"}, {"rtol": "auto"}, {"atol": 1e-9}, {"max_ulp": 0.5}):
        again, first = judge_again(path, **given), compare(golden, actual, **given)
        assert [r.verdict for r in again.rows] == [r.verdict for r in first.rows]
        assert (again.within, again.rows[0].errors) == (first.within, first.rows[0].errors)
        assert judge_again(zero, **given).within is False


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "does not exist; give a file with what `sciprec compare --json` printed"),
        ("{", "holds no stored metrics"),
        ('{"metrics_version": 1, "steps": 1, "variables": [{"variable": "x"}]}', "holds no stored"),
        ('{"metrics_version": 9, "variables": []}', "holds metrics of version 9"),
    ],
)
def test_what_holds_no_metrics_is_refused(tmp_path, text, words):
    path = tmp_path / "metrics.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=words):
        judge_again(path)
