"""Files of other people: a net of random pairs with a known difference, and what it has found."""


import numpy as np
import pandas as pd
import pytest
import xarray as xr

from sciprec import InputError, compare
from sciprec.cli.console import GOOD, NOT_MET, USAGE
from tests.compare.foreign_files import FAULTS, foreign, wrong


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["", *FAULTS])
def test_what_was_planted_is_found_and_nothing_else(fault, tmp_path):
    assert not wrong(foreign(len(fault), tmp_path, fault))


def field(**coordinates):
    """A field of time and x, with coordinates."""
    values = np.arange(12.0).reshape(3, 4)
    return xr.Dataset({"t": (("time", "x"), values, {"units": "K"})}, coordinates)


def times(calendar=None, units="days since 2000-02-27", values=(0.0, 1.0, 2.5)):
    about = {"units": units} | ({"calendar": calendar} if calendar else {})
    return ("time", np.array(values), about)


def test_times_of_other_calendars_are_not_the_same_numbers():
    """They were called identical where units and numbers were the same."""
    for one, other in ((None, "noleap"), ("standard", "360_day"), ("noleap", "all_leap")):
        with pytest.raises(InputError, match=f"calendar '{other}', whose days are other ones"):
            compare(field(time=times(one)), field(time=times(other)))
    for one, other in (("noleap", "365_DAY"), (None, "gregorian"), ("366_day", "all_leap"),
                       ("standard", "proleptic_gregorian")):  # fmt: skip
        found = compare(field(time=times(one)), field(time=times(other)))
        assert found.within and not found.notes


def test_calendars_that_part_before_1582_are_the_same_after_it():
    """As xarray writes times, and as cdo does."""
    standard = times("standard", "hours since 1900-01-01", 24.0 * 36_581 + np.array([0.0, 24, 60]))
    assert compare(field(time=times("proleptic_gregorian")), field(time=standard)).within
    early = [-160_000.0, -159_999.0, -159_997.5]
    with pytest.raises(InputError, match="whose days are other ones"):
        compare(field(time=times("standard", values=early)),
                field(time=times("proleptic_gregorian", values=early)))  # fmt: skip


def test_dates_and_durations_in_memory_are_those_of_files(tmp_path):
    days = pd.date_range("2000-01-01", periods=3, freq="6h")
    golden = field(time=days).assign(when=("x", pd.date_range("2001-01-01", periods=4)))
    later = golden.assign(when=golden["when"] + np.timedelta64(1, "h"))
    for dataset, name in ((golden, "golden"), (later, "later")):
        dataset.to_netcdf(tmp_path / f"{name}.nc")
    for one in (golden, tmp_path / "golden.nc"):
        assert compare(one, golden).within and compare(golden, one).within
        for other in (later, tmp_path / "later.nc"):
            found = compare(one, other)
            assert found.row("when").errors["max_abs"] * 24.0 == pytest.approx(1.0)
            assert found.row("when").units == "days"
        part = compare(one, golden, select={"time": "2000-01-01T06:00"})
        assert part.row("t").points == 4
    spans = field().assign(span=("time", np.array([1, 2, 3], "m8[h]")))
    longer = spans.assign(span=spans["span"] + np.timedelta64(1, "h"))
    assert not compare(spans, longer).within and compare(spans, spans).within
    decoded = xr.open_dataset(tmp_path / "golden.nc").assign_coords(
        time=xr.date_range("2000-01-01", periods=3, freq="6h", calendar="noleap", use_cftime=True)
    )
    with pytest.raises(InputError, match="'noleap', whose days are other ones"):
        compare(golden, decoded)


def curvilinear(shift=0.0, turn=0.0):
    j, i = np.mgrid[0:3, 0:4]
    lat = (("time", "x"), j * 2.0 + 0.1 * i + shift, {"units": "degrees_north"})
    lon = (("time", "x"), 350.0 + i * 3.0 - 0.1 * j + turn, {"units": "degrees_east"})
    return field(lat=lat, lon=lon)


def test_other_curvilinear_grids_are_refused():
    """Coordinates of two axes did not count."""
    golden = curvilinear()
    with pytest.raises(InputError, match="coordinate 'lat' differ by up to 0.5; .*xesmf.Regridder"):
        compare(golden, curvilinear(0.5))
    with pytest.raises(InputError, match="'lat' differ by up to 1e-07.*--ignore lat leaves"):
        compare(golden, curvilinear(1e-7))
    assert compare(golden, curvilinear(0.5), ignore="lat").within
    assert compare(golden, curvilinear(turn=-360.0).transpose("x", "time")).within
    radians = golden.copy()
    radians["lat"] = (("time", "x"), np.deg2rad(golden["lat"].values), {"units": "radians"})
    golden["lat"].attrs["units"] = "degrees"
    found = compare(golden, radians)
    assert found.within and "the values of 'lat' of the run are converted" in found.notes[0]
    radians["lat"].attrs["units"] = "smoots"
    with pytest.raises(InputError, match="'lat' is in 'degrees' and in 'smoots'"):
        compare(golden, radians)
    high, low = (field(height=h) for h in (2.0, 10.0))
    assert compare(high, low).notes == (
        "the coordinate 'height' is 2.0 in the truth and 10.0 in the run",
    )


def test_longitudes_of_either_convention_are_the_same():
    lon = np.array([0.0, 90.5, 180.0, 270.25])
    about = {"units": "degrees_east"}
    golden = field(x=("x", lon, about))
    other = golden.assign_coords(x=("x", (lon + 180.0) % 360.0 - 180.0, about)).sortby("x")
    for one, two in ((golden, other), (other, golden)):
        found = compare(one, two)
        assert found.within and "turns of 360 degrees away" in found.notes[0]
    x = other["x"].values.copy()
    x[1] += 0.5
    with pytest.raises(InputError, match="the values of axis 'x' differ"):
        compare(golden, other.assign_coords(x=("x", x, about)))
    plain = [one.assign_coords(x=("x", one["x"].values)) for one in (golden, other)]
    with pytest.raises(InputError, match="the values of axis 'x' differ"):
        compare(*plain)  # numbers that are not in degrees


def test_what_has_no_order_and_no_date_is_a_sentence_or_compared():
    """Found by random datasets: each ended in an error of a library."""
    mixed = field(x=np.array([None, "a", 2.0, "b"], object))
    assert compare(mixed, mixed).within
    with pytest.raises(InputError, match="the values of axis 'x' differ;"):
        compare(mixed, mixed.isel(x=[1, 0, 2, 3]))
    days = pd.date_range("2000-01-01", periods=3)
    dated = field().assign_coords(time=("time", days, {"units": "K", "calendar": "noleap"}))
    assert compare(dated, field(time=days)).within
    far = times("proleptic_gregorian", "hours since 2000-01-01", (1e300, 2e300, 3e300))
    with pytest.raises(InputError, match="'time' is in 'days since 2000-02-27' and in 'hours si"):
        compare(field(time=times()), field(time=far))
    texts = field().assign_coords(time=("time", list("abc"), {"units": "days since 2000-01-01"}))
    with pytest.raises(InputError, match="the values of axis 'time' differ"):
        compare(field(time=times()), texts)


def test_a_file_of_two_folders_is_left_out(call, tmp_path):
    for folder in ("then", "now"):
        (tmp_path / folder).mkdir()
        for name in ("a.npy", "b.npy"):
            np.save(tmp_path / folder / name, np.ones(3) + (folder == "now" and name == "b.npy"))
    np.save(tmp_path / "then" / "c.npy", np.ones(3))
    np.save(tmp_path / "then" / "d.npy", np.ones(3))
    (tmp_path / "now" / "d.npy").write_text("no array")
    there = ("compare", tmp_path / "then", tmp_path / "now")
    code, _, err = call(*there)
    assert code == USAGE and "(--ignore d.npy leaves the file out)" in err
    there = (*there, "--ignore", "d.npy")
    assert call(*there)[0] == NOT_MET
    code, out, _ = call(*there, "--ignore", "b.npy", "--ignore", "c.npy")
    assert code == GOOD and "'b.npy' is not compared" in out
    code, _, err = call(*there, "--ignore", "a.npy", "--ignore", "b.npy")
    assert code == USAGE
    assert "ignore names all files that are in both folders, a.npy, b.npy, d.npy; leave" in err
