"""Other people's files: parts selected, names, units and coordinates made the truth's, folders.

The oracle is the same cut, renamed and converted by hand with NumPy; of units it is UDUNITS.
"""

import json
import re
import sys
from xml.etree import ElementTree

import cf_units
import numpy as np
import pytest
import xarray as xr

from sciprec import InputError, compare
from sciprec.cli.console import GOOD, NOT_MET, USAGE
from sciprec.results.comparison.pointwise.blocks import blocks_of
from sciprec.results.comparison.pointwise.units import (
    Converted,
    _by_udunits,
    conversion,
    same_units,
)

UNITS = (
    "K", "degC", "Pa", "hPa", "kPa", "mbar", "bar", "m", "km", "mm", "cm", "ft", "s", "h", "d",
    "min", "days", "hours", "m s-1", "km/h", "m/s", "knot", "kg m-2 s-1", "mm/d", "g/kg", "kg/kg",
    "1", "%", "ppm", "J", "kJ", "W m-2", "MJ m-2 d-1", "L", "m3", "m2", "ha", "t", "kg", "ug",
    "1e-3 kg", "m2 s-2", "J/kg", "J kg-1 K-1", "mol", "mmol m-3", "V", "dam", "minutes", "weeks",
    "milliseconds", "kilometers", "grams", "kilograms/liter", "watts", "feet", "knots", "tonnes",
    "kelvin", "Celsius", "m s**-1", "m.s^-1", "W/m2", "J/kg/K", "kg/m3", "kg m-3",
)  # fmt: skip


@pytest.mark.parametrize("given", UNITS)
def test_units_are_converted_as_udunits_does(given):
    values = np.array([0.0, 1.0, -3.25, 280.0])
    for wanted in UNITS:
        found = conversion(given, wanted)
        one, other = cf_units.Unit(given), cf_units.Unit(wanted)
        assert (found is not None) == one.is_convertible(other), wanted
        if found is not None:
            expected = one.convert(values, other)
            np.testing.assert_allclose(found(values), expected, rtol=1e-13, atol=1e-10)


OTHERS = [
    ("degF", "K"), ("K", "degF"), ("degF", "degC"), ("inHg", "hPa"), ("DU", "mol m-2"),
    ("year", "d"), ("microns", "m"), ("nautical_mile/h", "m/s"), ("cal", "J"), ("furlong", "m"),
    ("degC s-1", "K/h"), ("kg/(m2 s)", "mm s-1 kg/L"), ("atm", "bar"),
]  # fmt: skip


@pytest.mark.parametrize("given, wanted", OTHERS)
def test_units_beyond_the_tables_are_converted_where_udunits_is_there(given, wanted, monkeypatch):
    values = np.array([0.0, 1.0, -3.25, 280.0])
    one, other = cf_units.Unit(given), cf_units.Unit(wanted)
    found = conversion(given, wanted)
    np.testing.assert_allclose(found(values), one.convert(values, other), rtol=1e-14, atol=1e-13)
    degrees = conversion(given, wanted, {"units_metadata": "temperature: difference"})
    assert degrees.offset == 0 and degrees.factor == found.factor
    monkeypatch.setitem(sys.modules, "cf_units", None)  # as where it is not installed
    _by_udunits.cache_clear()
    assert conversion(given, wanted) is None and conversion("km", "m")(2.0) == 2000.0
    monkeypatch.undo()
    _by_udunits.cache_clear()


@pytest.mark.parametrize("given, wanted", [
    ("dBZ", "mm6 m-3"), ("smoot", "m"), ("degrees_north", "degrees_east"), ("acre", "m"),
    ("days since 2000-01-01", "days"), ("hours since 2000-01-01", "days since 2000-01-01"),
])  # fmt: skip
def test_what_is_no_line_or_no_unit_is_not_converted(given, wanted):
    assert conversion(given, wanted) is None and conversion(wanted, given) is None


@pytest.mark.parametrize("one, other", [
    ("m s-1", "m/s"), ("hPa", "mbar"), ("J/kg", "m2 s-2"), ("g/kg", "1e-3"), ("kg/kg", "1"),
    ("kilometres", "km"), ("msec", "milliseconds"), ("degrees_E", "degree_east"), ("-", "none"),
])  # fmt: skip
def test_spellings_and_equal_products_are_one_unit(one, other):
    assert same_units(one, other) and same_units(other, one)
    assert not same_units(one, f"{other} s") and not same_units("degree", "degrees_east")


def test_what_is_converted_is_read_by_block():
    """Of an array in other units only the part that is asked for is read."""
    read = []

    class Recorded:
        shape, chunks, encoding = (6, 4), None, {}

        def __getitem__(self, place):
            read.append(np.arange(24.0).reshape(6, 4)[place])
            return read[-1]

    there = Converted(Recorded(), conversion("km", "m"))
    assert np.array_equal(np.asarray(there[2:3]), [[8000.0, 9000.0, 10000.0, 11000.0]])
    assert [one.size for one in read] == [4]
    (block,) = blocks_of(np.zeros((6, 4)), there, np.ones(()), None)
    assert block.actual[5, 3] == 23_000.0


def ramp(**coords):
    axes = coords or {"time": np.arange(4.0)}
    shape = [len(v) for v in axes.values()]
    values = np.arange(float(np.prod(shape))).reshape(shape)
    return xr.Dataset({"t": (tuple(axes), values), "u": (tuple(axes), values)}, axes)


@pytest.mark.parametrize(
    ("select", "places"),
    [
        (2.0, [2]), ([1.0, 3.0], [1, 3]), (slice(1.0, 2.0), [1, 2]), ("#1", [1]),
        (["#0", "#-1"], [0, 3]), ("1..3", [1, 2, 3]),
    ],
)  # fmt: skip
def test_what_is_selected_is_compared_in_the_truths_units_and_nothing_else(select, places):
    golden = ramp()
    error = np.array([1e-3, -2e-3, 4e-3, -8e-3])
    run = ((golden["t"] + error) / 1000.0).assign_attrs(units="km")
    golden["t"].attrs["units"] = "m"
    there = xr.Dataset({"n_t": run, "u": golden["u"]})
    found = compare(golden, there, select={"time": select}, rename={"n_t": "t"}, ignore="u")
    (row,) = found.rows
    assert (row.variable, row.points) == ("t", len(places))
    assert row.errors["max_abs"] == pytest.approx(np.abs(error[places]).max(), rel=1e-10)
    assert row.errors["bias"] == pytest.approx(error[places].mean(), rel=1e-9)
    assert any("'t' of the run is converted from 'km'" in note for note in found.notes)
    assert found.as_dict()["notes"] == list(found.notes)


def since(values, units, calendar="standard"):
    made = ramp(time=np.array(values, float))
    made["time"].attrs.update(units=units, calendar=calendar)
    return made


def test_times_since_other_dates_are_the_same_times():
    golden = since([0.0, 0.25, 1.5, 31.0], "days since 2000-01-01")
    actual = since([24.0, 30.0, 60.0, 768.0], "hours since 1999-12-31")
    found = compare(golden, actual)
    assert found.within and found.notes == (
        "the values of 'time' of the run are converted from 'hours since 1999-12-31' into "
        "'days since 2000-01-01'",
    )
    dated = compare(golden, actual, select={"time": "2000-01-02T12:00"})
    assert dated.row("t").points == 1
    assert compare(golden, actual, select={"time": "2000-01-01..2000-01-03"}).row("t").points == 3
    with pytest.raises(InputError, match="in the calendar '360_day', whose days are other ones"):
        compare(golden, since([24.0, 30.0, 60.0, 768.0], "hours since 1999-12-31", "360_day"))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"select": {"tine": 1}}, "select names the axis 'tine', which neither has; there are"),
        ({"select": {"time": 1.25}}, "time=1.25, and 'time' has no such value; the nearest is 1.0"),
        ({"select": {"time": "#4"}}, "select is given time=#4; 'time' has 4 places, #0 to #3"),
        ({"select": {"time": "7..9"}}, "'time' has no value in it; it goes from 0.0 to 3.0"),
        ({"select": {"time": "soon"}}, "select is given time=soon; it takes values, as in"),
        ({"select": {"time": "#x"}}, "select is given time=#x; it takes values"),
        ({"select": {"time": [None]}}, "select['time'] is None; accepted: a number"),
        ({"select": "time"}, "--select is given 'time'; it takes a name and what belongs to it"),
        ({"select": 3}, "select is 3; accepted: a mapping by name, or texts NAME=VALUE"),
        ({"rename": {"v": "t"}}, "rename is given 'v', which the run does not have; it has t"),
        ({"rename": {"t": "u"}}, "and the run has a 'u' already; leave it out, or rename that"),
        ({"rename": {"t": "a", "u": "a"}}, "rename gives several variables the name 'a'"),
        ({"ignore": "v"}, "ignore names the variable 'v', which neither has; there are t, u"),
        ({"coords_atol": -1.0}, "coords-atol is -1.0; accepted: a number from 0 up"),
        ({"coords_rtol": "a"}, "coords-rtol is 'a'; accepted: a number from 0 up"),
    ],
)
def test_bad_adjustments_are_a_sentence(given, words):
    with pytest.raises(InputError, match=re.escape(words)):
        compare(ramp(), ramp(), **given)


def test_other_grids_are_refused_with_advice():
    golden = ramp(lat=np.linspace(-80.0, 80.0, 4))
    for other in (np.linspace(-80.0, 80.0, 5), np.linspace(-79.0, 81.0, 4)):
        with pytest.raises(InputError, match="cdo remapcon,TRUTH RUN .* xesmf.Regridder"):
            compare(golden, ramp(lat=other))
    near = ramp(lat=np.linspace(-80.0, 80.0, 4) + 1e-4)
    assert compare(golden, near, coords_atol=2e-4).within
    assert compare(golden, near, coords_rtol=1e-5).within
    with pytest.raises(InputError, match="or give --coords-atol where"):
        compare(golden, near, coords_atol=5e-5)


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Two folders with a file in both, one in a folder of each, and one in either alone."""
    monkeypatch.chdir(tmp_path)
    for folder in ("then", "now"):
        (tmp_path / folder / "more").mkdir(parents=True)
        ramp().to_netcdf(tmp_path / folder / "a.nc")
        np.savez(tmp_path / folder / "more" / "b.npz", v=np.ones(3) + 1e-3 * (folder == "now"))
    return tmp_path


def test_two_folders_at_once(call, folders):
    assert call("compare", "then", "now", "--ignore", "v")[0] == USAGE  # nothing of b is left
    code, out, _ = call("compare", "then", "now", "--html", "p.html", "--junit-xml", "j.xml")
    assert code == NOT_MET and "more/b.npz: v changed" in out
    assert call("compare", "then", "now", "--rtol", "v=0.01")[0] == GOOD
    first = ("compare", "then", "now", "--rtol", "v=0.01", "--select", "time=0", "--ignore", "u")
    code, out, _ = call(*first)  # what one of the files has, is enough
    assert code == GOOD and "a.nc: of 'time' only 0 is compared" in out
    assert call("compare", "then", "now", "--rtol", "more/b.npz: v=0.01")[0] == GOOD
    suite = ElementTree.parse("j.xml").getroot()[0]
    assert [case.get("name") for case in suite] == ["a.nc: t", "a.nc: u", "more/b.npz: v"]
    page = (folders / "p.html").read_text(encoding="utf-8")
    assert "1 of 3 variables differ: more/b.npz: v" in page
    ramp().to_netcdf(folders / "then" / "c.nc")
    ramp().to_netcdf(folders / "now" / "d.nc")
    code, out, _ = call("compare", "then", "now", "--rtol", "1", "--junit-xml", "j.xml", "--json")
    found = json.loads(out)
    assert code == NOT_MET and found["missing"] == ["c.nc"]
    assert found["notes"] == ["'d.nc' is in the run's folder only"]
    (failed,) = ElementTree.parse("j.xml").getroot().iter("failure")
    assert failed.get("message") == "c.nc: the file is in the truth's folder only"
    (folders / "m.json").write_text(out)
    assert call("compare", "--stored", "m.json", "--rtol", "1")[0] == NOT_MET


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("then", "then/a.nc"), "'then' is a folder, and 'then/a.nc' is none; give two files, or"),
        (("then/more", "now"), "'then/more' and 'now' have no file of the same name (b.npz; a.nc"),
        (("then/a.nc", "now/a.nc", "--select", "time"), "--select is given 'time'; it takes a"),
        (("--stored", "m.json", "--ignore", "t"), "--ignore was given with --stored, whose"),
        (("then", "now", "--ignore", "w"), "select, rename or ignore names 'w', which no file has"),
        (("then", "now", "--rtol", "w=1"), "names the variable 'w', which is not compared"),
    ],
)
def test_bad_folders_and_options_are_a_sentence(call, folders, given, words):
    code, out, err = call("compare", *given)
    assert code == USAGE and words in err and not out


def test_adjusted_from_the_command_line(call, folders):
    other = ramp().rename(t="temperature", time="step").isel(step=slice(1, 4))
    other.to_netcdf(folders / "other.nc")
    names = ("--rename", "temperature=t", "--rename", "step=time")
    there = ("compare", "then/a.nc", "other.nc", *names)
    assert call(*there)[0] == USAGE
    code, out, _ = call(*there, "--select", "time=1..3", "--ignore", "u")
    assert code == GOOD and "'temperature' of the run is compared as 't'" in out
    assert "of 'time' only 1..3 is compared" in out and "'u' is not compared" in out
