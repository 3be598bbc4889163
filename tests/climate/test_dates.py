"""Dates of runs: any calendar, in memory as in files."""

import json
from datetime import timedelta

import cftime
import numpy as np
import pytest
import xarray as xr

from sciprec import InputError, climate
from sciprec.foundation.dates import CALENDARS, start_date
from sciprec.results.output import files
from sciprec.results.output.dates import in_numbers, with_dates
from tests.climate.small_models import SMALL

SHORT = {"truncation": SMALL, "days": 0.05, "step_seconds": 1080.0}


def random_start(rng):
    """A date of a random calendar that has it, as cftime knows it, and as text."""
    calendar = str(rng.choice(list(CALENDARS)))
    while True:
        parts = rng.integers([1, 1, 1, 0, 0, 0], [9999, 13, 32, 24, 60, 60]).tolist()
        try:
            return calendar, parts, cftime.datetime(*parts, calendar=calendar)
        except ValueError:  # of a day that the month does not have
            with pytest.raises(InputError, match="does not have"):
                start_date("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}".format(*parts), calendar)


@pytest.mark.filterwarnings("ignore:Unable to decode time axis")
@pytest.mark.parametrize("seed", range(16))
def test_dates_of_any_calendar_are_those_of_cftime_in_memory_and_in_files(seed, tmp_path):
    rng = np.random.default_rng(seed)
    calendar, parts, first = random_start(rng)
    since = start_date("{:04}-{:02}-{:02} {:02}:{:02}:{:02}".format(*parts), calendar)
    assert since.calendar == CALENDARS[calendar]
    step = int(rng.integers(1, 86_400)) * int(rng.choice([1, 1000]))  # seconds
    days = np.arange(8) * step / 86_400.0
    about = {"units": since.units, "calendar": since.calendar}
    plain = xr.Dataset({"v": ("time", days)}, {"time": ("time", days, about)})
    dated = with_dates(plain)
    expected = [first + timedelta(seconds=k * step) for k in range(8)]
    texts = [np.datetime_as_string(x, "us") if dated["time"].dtype.kind == "M" else
             x.isoformat(timespec="microseconds") for x in dated["time"].values]  # fmt: skip
    assert texts == [x.isoformat(timespec="microseconds") for x in expected]
    np.testing.assert_allclose(in_numbers(dated)["time"], days, rtol=0, atol=1e-9)
    files.write(dated, tmp_path / "dated.nc")
    file = xr.open_dataset(tmp_path / "dated.nc").load()
    assert file["time"].dtype.kind == dated["time"].dtype.kind
    apart = file["time"].values - dated["time"].values
    assert all(abs(x) <= type(x)(1000 if isinstance(x, np.timedelta64) else 0) for x in apart)


def test_a_run_has_dates_that_group_and_resample_and_its_file_is_the_same(tmp_path):
    run = climate.run("williamson_2", SMALL, 2, output_hours=6, start_date="1999-12-31")
    assert run["height"].resample(time="1D").mean().sizes["time"] == 3
    assert run.sel(time="2000-01-01").sizes["time"] == 4
    assert run["height"].groupby("time.year").mean()["year"].values.tolist() == [1999, 2000]
    files.write(run, tmp_path / "run.nc")
    with xr.open_dataset(tmp_path / "run.nc") as file:
        assert file["time"].identical(run["time"])
        for name in ("Conventions", "case", "truncation", "arithmetic", "compensation",
                     "time_scheme"):  # fmt: skip
            assert file.attrs[name] == run.attrs[name] != ""
        assert json.loads(file.attrs["parameters"])["angle_degrees"] == 0.0


def test_other_calendars_and_late_dates_are_of_cftime():
    run = climate.run("williamson_2", start_date=cftime.DatetimeNoLeap(1999, 2, 28, 23), **SHORT)
    assert str(run["time"].values[-1]) == "1999-03-01 00:12:00"
    assert run["height"].resample(time="1D").mean().sizes["time"] == 2
    late = with_dates(xr.Dataset(coords={"time": ("time", [0.0, 1e6], {
        "units": "days since 2000-01-01", "calendar": "standard"})}))  # fmt: skip
    assert str(late["time"].values[-1]) == "4737-11-28 00:00:00"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"start_date": "2001-02-29"}, "'2001-02-29', which the calendar 'standard' does not have, "
         "whose month 2001-02 has 28 days"),
        ({"start_date": "1582-10-10"}, "which the calendar 'standard' does not have; accepted"),
        ({"start_date": "tomorrow"}, "start_date is 'tomorrow'; accepted: a date of the years 1"),
        ({"calendar": "no_leap"}, "unknown calendar 'no_leap'; .*did you mean 'noleap'"),
        ({"days": 1_000_001}, "accepted: a number of days > 0, from 0.001 to 1000000"),
    ],
)  # fmt: skip
def test_dates_that_are_none_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        climate.run("williamson_2", **{**SHORT, **options})
