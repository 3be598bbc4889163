"""Pairs of netCDF files as other people write them, with a difference that is known.

A truth is drawn, and a run that is the same but for rounding, or but for one planted fault. Then
both are written as different tools would: other orders of axes and points, names, units, dates,
calendars, longitudes, packed integers, fill values, float32, groups of texts beside numbers. The
values that a file holds afterwards are worked out here by hand, and read by the netCDF4 library.

    python -m tests.compare.foreign_files FIRST LAST
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cf_units
import cftime
import netCDF4
import numpy as np
import xarray as xr

from sciprec import InputError, compare

UNITS = (("K", "degC"), ("Pa", "hPa"), ("m", "km"), ("m s-1", "km/h"), ("1", "%"), ("m", "m"))
CALENDARS = (("standard", "proleptic_gregorian"), ("noleap", "365_day"), ("360_day", "360_day"),
             ("gregorian", "standard"), (None, "standard"), ("julian", "julian"))  # fmt: skip
FAULTS = {
    "a value": "", "a NaN": "", "a truth value": "", "an integer": "", "a date": "",
    "the grid": "xesmf.Regridder", "the calendar": "whose days are other ones",
    "an axis": "the values of axis", "points": "points", "a variable": "missing from the run",
    "texts": "holds no numbers", "no times": "points", "an unknown unit": "convert one of them",
}  # fmt: skip
"""The faults, and words of the refusal; of differences in values none."""


@dataclass
class Foreign:
    """A pair of files.

    Args:
        golden, actual: the files.
        options: for `compare`.
        fault: what was planted; empty for nothing.
        errors: by variable the largest error that is known, and by how much it may be off.
        place: of a planted value, by axis of the truth, and its variable.
    """

    golden: Path
    actual: Path
    options: dict[str, Any]
    fault: str
    errors: dict[str, tuple[float, float]] = field(default_factory=dict)
    place: tuple[str, dict[str, Any]] | None = None


def _of_a_grid(rng: np.random.Generator) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Coordinates of a truth by name, as (axes, values, attributes), and its axes."""
    n, y, x = (int(rng.integers(2, 6)) for _ in range(3))
    start = rng.choice(["1850-01-01", "2000-01-01", "2016-02-29 12:00:00"])
    start = start.replace("02-29", "02-20")
    found: dict[str, Any] = {
        "time": (("time",), np.cumsum(rng.choice([0.25, 1.0, 30.5], n)),
                 {"units": f"days since {start}"}),
    }  # fmt: skip
    if rng.random() < 0.4:  # curvilinear
        j, i = np.mgrid[0:y, 0:x]
        found["lat"] = ("y", "x"), 40.0 + j * 1.3 + 0.1 * i, {"units": "degrees_north"}
        found["lon"] = ("y", "x"), 350.0 + i * 2.1 - 0.2 * j, {"units": "degrees_east"}
        return found, ("time", "y", "x")
    lat = np.sort(rng.uniform(-89.0, 89.0, y))
    lon = np.sort(rng.choice(3600, x, replace=False)) / 10.0
    found["lat"] = ("lat",), lat, {"units": "degrees_north"}
    found["lon"] = ("lon",), lon, {"units": "degrees_east"}
    return found, ("time", "lat", "lon")


def _calendar_times(
    rng: np.random.Generator, times: Any, calendars: tuple[str | None, str], fault: str
) -> tuple[Any, Any]:
    """Times of truth and run, in units, dates and calendars of their own."""
    axes, values, about = times
    mine, theirs = calendars
    truth = axes, values, about | ({"calendar": mine} if mine else {})
    dates = cftime.num2date(values, about["units"], mine or "standard")
    if fault == "the calendar":
        theirs = "noleap" if mine == "360_day" else "360_day"
        return truth, (axes, values, about | {"calendar": theirs})
    unit = rng.choice(["days", "hours", "seconds", "minutes"])
    day = rng.choice(["1900-01-01", "2000-01-01", "1970-01-01T00:00:00"])
    moved = [
        cftime.datetime(*d.timetuple()[:6], d.microsecond, calendar=theirs) for d in dates
    ]
    units = f"{unit} since {day}"
    return truth, (axes, np.asarray(cftime.date2num(moved, units, theirs), float),
                   {"units": units, "calendar": theirs})  # fmt: skip


def foreign(seed: int, folder: Path, fault: str | None = None) -> Foreign:
    """The pair of a seed, with a fault, which may be none at all; left out, it is drawn."""
    rng = np.random.default_rng((20261125, seed))
    drawn = str(rng.choice([*FAULTS])) if rng.random() < 0.6 else ""
    fault = drawn if fault is None else fault
    grid, axes = _of_a_grid(rng)
    truth_times, run_times = _calendar_times(
        rng, grid["time"], CALENDARS[rng.integers(len(CALENDARS))], fault
    )
    golden, actual = dict(grid) | {"time": truth_times}, dict(grid) | {"time": run_times}
    made = Foreign(folder / f"{seed}_golden.nc", folder / f"{seed}_actual.nc", {}, fault)
    sizes = {a: n for d, v, _ in grid.values() for a, n in zip(d, v.shape, strict=True)}
    encoding: dict[str, dict[str, Any]] = {}
    truths, runs = {}, {}
    for k, number in enumerate(rng.choice(len(UNITS), 2, replace=False)):
        name, (wanted, unit) = f"v{k}", UNITS[number]
        values = 300.0 + 9.0 * rng.standard_normal([sizes[a] for a in axes])
        values[rng.random(values.shape) < 0.1] = np.nan
        run = values + 1e-3 * rng.standard_normal(values.shape)
        if fault == "an unknown unit" and not k:
            unit = "smoot"
        if fault == "a NaN" and not k:
            place = tuple(int(rng.integers(n)) for n in values.shape)
            values[place], run[place] = 7.0, np.nan
        if fault == "a value" and not k:
            place = tuple(int(rng.integers(n)) for n in values.shape)
            values[place], run[place] = 310.0, 400.0
            made.place = name, dict(zip(axes, place, strict=True))
        stored, slack, encoding[name] = _stored(rng, run, wanted, unit)
        truths[name] = axes, values, {"units": wanted}
        runs[name] = axes, stored, {"units": unit}
        if unit != "smoot":
            back = cf_units.Unit(unit).convert(_kept(stored, encoding[name]), cf_units.Unit(wanted))
            apart = np.abs(back - values)
            made.errors[name] = float(np.nanmax(apart)), slack
    _beside(rng, truths, runs, made, sizes, fault)
    _with_fault(rng, fault, axes, actual, runs)
    g, a = (_dataset(c, v) for c, v in ((golden, truths), (actual, runs)))
    if fault == "no times":
        a = a.isel(time=slice(0, 0))
    if fault == "points":
        a = a.isel({axes[2]: slice(0, -1)})
    a = _rearranged(rng, a, axes, made, fault)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        g.to_netcdf(made.golden)
        encoding = {made.options["renamed"].get(n, n): e for n, e in encoding.items()}
        a.to_netcdf(made.actual, encoding={
            n: e for n, e in encoding.items() if n in a and a[n].dtype.kind == "f"
        })
    made.options["rename"] = {new: n for n, new in made.options.pop("renamed").items()}
    return made


def _stored(
    rng: np.random.Generator, run: np.ndarray, wanted: str, unit: str
) -> tuple[np.ndarray, float, dict[str, Any]]:
    """A run's values in its units, how far conversions may move them, and how they are kept."""
    values = run if unit == "smoot" else cf_units.Unit(wanted).convert(run, cf_units.Unit(unit))
    kind = rng.choice(["double", "float", "packed", "filled"])
    how: dict[str, Any] = {
        "double": {}, "float": {"dtype": "f4"}, "filled": {"_FillValue": 1e20},
        "packed": {"dtype": "i2", "scale_factor": 2.0**-6, "add_offset": 64.0,
                   "_FillValue": -32768},
    }[kind]  # fmt: skip
    if kind == "packed" and np.nanmax(np.abs(values - 64.0)) > 500.0:
        how = {}
    return values, 1e-10 * float(np.nanmax(np.abs(run))), how


def _kept(values: np.ndarray, how: dict[str, Any]) -> np.ndarray:
    """The values of a file."""
    if how.get("dtype") == "f4":
        return values.astype(np.float32).astype(float)
    if "scale_factor" in how:
        words = np.round((values - how["add_offset"]) / how["scale_factor"])
        return words * how["scale_factor"] + how["add_offset"]
    return values


def _beside(
    rng: np.random.Generator, truths: dict[str, Any], runs: dict[str, Any], made: Foreign,
    sizes: dict[str, int], fault: str,
) -> None:  # fmt: skip
    """Variables of other kinds: truth values, integers, dates; texts, which are not compared."""
    n = sizes["time"]
    flags, counts = rng.random(n) < 0.5, 2**60 + np.arange(n)
    dates = np.arange(n) * 5 + 3
    others: dict[str, tuple[np.ndarray, np.ndarray, dict[str, Any], dict[str, Any]]] = {
        "flag": (flags, flags.copy(), {}, {}), "count": (counts, counts.copy(), {}, {}),
        "when": (dates, dates * 24 + 24, {"units": "days since 2001-01-02"},
                 {"units": "hours since 2001-01-01"}),
    }  # fmt: skip
    planted = {"a truth value": "flag", "an integer": "count", "a date": "when"}.get(fault)
    place = int(rng.integers(n))
    for name, (mine, theirs, one, other) in others.items():
        if name == planted:
            theirs[place] = not theirs[place] if name == "flag" else theirs[place] + 1
            made.place = name, {"time": place}
        truths[name], runs[name] = (("time",), mine, one), (("time",), theirs, other)
        least = {"flag": 1.0, "count": 1.0, "when": 1.0 / 24.0}[name] * (name == planted)
        made.errors[name] = least, 512.0 * (name == planted == "count")
    if rng.random() < 0.5:
        truths["station"] = ("time",), np.array([f"s{k}" for k in range(n)]), {}
    if rng.random() < 0.5:
        runs["only_here"] = ("time",), np.ones(n), {}


def _with_fault(
    rng: np.random.Generator, fault: str, axes: tuple[str, ...], actual: dict[str, Any],
    runs: dict[str, Any],
) -> None:  # fmt: skip
    """Plant what is wrong with the points, or with what there is."""
    if fault == "the grid":
        name = str(rng.choice(["lat", "lon"]))
        dims, values, about = actual[name]
        far = rng.choice([1e-3, 0.7]) * (1.0 + np.arange(values.size).reshape(values.shape))
        actual[name] = dims, values + far, about
    if fault == "an axis":
        dims, values, about = actual["time"]
        moved = values.astype(float).copy()
        moved[int(rng.integers(moved.size))] += 1e-2 * max(1.0, abs(moved).max())
        actual["time"] = dims, moved, about
    if fault == "a variable":
        del runs["v1"]
    if fault == "texts":
        runs["v1"] = axes, np.full(runs["v0"][1].shape, "a"), {}


def _dataset(coordinates: dict[str, Any], variables: dict[str, Any]) -> xr.Dataset:
    return xr.Dataset(variables, coordinates)


def _rearranged(
    rng: np.random.Generator, run: xr.Dataset, axes: tuple[str, ...], made: Foreign, fault: str
) -> xr.Dataset:
    """The run with other names and orders, and coordinates that are a little off."""
    if run["lon"].ndim == 1 and rng.random() < 0.5:  # from -180 on
        run = run.assign_coords(lon=("lon", (run["lon"].values + 180.0) % 360.0 - 180.0,
                                     run["lon"].attrs))  # fmt: skip
        run = run.sortby("lon")
    elif run["lon"].ndim == 2 and rng.random() < 0.5:
        run = run.assign_coords(lon=(("y", "x"), run["lon"].values - 360.0, run["lon"].attrs))
    if run["lat"].ndim == 1 and rng.random() < 0.5:
        run = run.isel(lat=slice(None, None, -1))
    if rng.random() < 0.3:
        made.options["coords_atol"] = 1e-4
        run = run.assign_coords(lat=run["lat"].astype(np.float32))
    run = run.transpose(*rng.permutation(axes))
    names = ["v0", *(["lat"] if run["lat"].ndim == 1 else [])]
    renamed = {n: f"their_{n}" for n in names if n in run.variables and rng.random() < 0.3}
    made.options["renamed"] = renamed
    return run.rename(renamed)


def wrong(pair: Foreign) -> str:
    """The faults of the comparison of a pair; empty where nothing is."""
    words = FAULTS.get(pair.fault, "")
    try:
        found = compare(pair.golden, pair.actual, atol=1.0, **pair.options)
    except InputError as error:
        return "" if words and words in str(error) else f"refused: {error}"
    if words:
        return f"not refused, with {pair.fault}"
    planted = pair.fault != ""
    if found.within and pair.fault in ("a value", "a NaN"):
        return f"within, with {pair.fault}"
    exact = compare(pair.golden, pair.actual, **pair.options)
    if planted and exact.within:
        return f"within, with {pair.fault}"
    if {row.variable for row in found.rows} != set(pair.errors):
        return f"compared {[row.variable for row in found.rows]}, not {list(pair.errors)}"
    for row in found.rows:
        known, slack = pair.errors[row.variable]
        if not abs(row.errors["max_abs"] - known) <= slack + 1e-12:
            return f"{row.variable}: {row.errors['max_abs']}, not {known}"
        broken = pair.fault == "a NaN" and row.variable == "v0"
        if broken != (row.verdict == "broken"):
            return f"{row.variable} is {row.verdict}"
    if pair.place is not None:
        name, at = pair.place
        with netCDF4.Dataset(pair.golden) as file:
            there = {a: file[a][p] for a, p in at.items() if a in file.variables
                     and file[a].ndim == 1}  # fmt: skip
        said = found.row(name).statistics.worst[0]["at"]
        if any(abs(said[a] - v) > 1e-9 for a, v in there.items()):
            return f"{name}: said {said}, planted at {there}"
    return ""


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        counted = {}
        for seed in range(int(sys.argv[1]), int(sys.argv[2])):
            pair = foreign(seed, Path(place))
            words = wrong(pair)
            done = counted.setdefault(pair.fault or "nothing", [0, 0])
            done[0], done[1] = done[0] + 1, done[1] + (not words)
            if words:
                print(f"{seed}: {pair.fault or 'nothing'}: {words:.300}", flush=True)
            if not words or "--keep" not in sys.argv:
                pair.golden.unlink(), pair.actual.unlink()
        for fault, (total, right) in sorted(counted.items()):
            print(f"{fault}: {right} of {total} right")
