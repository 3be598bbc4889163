"""Long runs: stored states go to a file as they are made, and from there into the run's file."""

import os
import random
import tracemalloc

import numpy as np
import pytest
import xarray as xr

from sciprec import climate
from sciprec.climate.running.integration import integrate
from sciprec.climate.running.records import InMemory, Records
from sciprec.climate.running.request import Restart
from sciprec.climate.transform.grid import Truncation
from sciprec.foundation.errors import InputError
from sciprec.foundation.memory import PEAK_MEMORY, peak_bytes
from sciprec.results.output import files, pieces
from sciprec.results.output.dataset import trajectory_dataset
from sciprec.results.output.dates import with_dates
from sciprec.results.output.pieces import read_later
from sciprec.workbench.batch import workflow

SMALL = Truncation(10, 16, 32, 1200.0)
LAYOUT = {"u": (3, 4, 5), "spectrum": (7,), "p": (4, 5), "nothing": (0, 5), "one": ()}


@pytest.fixture
def large(monkeypatch):
    """Every dataset counts as large."""
    monkeypatch.setattr(pieces, "WHOLE_BYTES", 0)
    monkeypatch.setattr(pieces, "PIECE_BYTES", 700)


def states(count, seed=0):
    rng = np.random.default_rng(seed)
    return [{name: rng.normal(size=shape) for name, shape in LAYOUT.items()} for _ in range(count)]


def key_of(rng, length):
    """An index of an axis: an integer, a slice of any step, or all of it."""
    if length and rng.random() < 0.3:
        return rng.randrange(-length, length)
    ends = [None, *range(-length - 1, length + 2)]
    return slice(rng.choice(ends), rng.choice(ends), rng.choice([None, 1, 2, -1, -3]))


@pytest.mark.parametrize("seed", range(3))
def test_records_are_indexed_as_arrays_are(seed, tmp_path):
    rng, given = random.Random(seed), states(6, seed)
    records, held = Records(tmp_path / "a.states"), InMemory(9)
    for one in given:
        records.append(one)
        held.append(one)
    for name, array in held.arrays().items():
        recorded = records.arrays()[name]
        assert (recorded.shape, recorded.ndim, recorded.dtype) == (array.shape, array.ndim, float)
        np.testing.assert_array_equal(np.asarray(recorded), array)
        variable = xr.Variable([f"axis_{k}" for k in range(array.ndim)], read_later(recorded))
        for _ in range(30):
            key = tuple(key_of(rng, n) for n in array.shape[: rng.randint(1, array.ndim)])
            key = (*key, Ellipsis) if rng.random() < 0.3 else key
            np.testing.assert_array_equal(recorded[key], array[key], err_msg=f"{name}{key}")
            if not any(isinstance(k, slice) and (k.step or 1) < 0 for k in key):  # xarray's own
                np.testing.assert_array_equal(variable[key].values, array[key])
    with pytest.raises(ValueError, match="other fields than those before"):
        records.append(given[0] | {"u": np.zeros(2)})


def test_records_go_on_behind_those_that_a_checkpoint_speaks_of(tmp_path):
    first, given = Records(tmp_path / "a.states"), states(5)
    for one in given[:3]:
        first.append(one)
    saved = first.state()
    first.append(given[0])  # written after the checkpoint: as if the process were killed now
    second = Records(tmp_path / "a.states")
    second.restore(saved)
    second.require_whole()
    second.keep([True, False, True])
    for one in given[3:]:
        second.append(one)
    expected = [given[k]["u"] for k in (0, 2, 3, 4)]
    np.testing.assert_array_equal(second.arrays()["u"], expected)
    third = Records(tmp_path / "a.states")
    third.restore(saved)
    third.require_whole()  # what the first checkpoint speaks of is still there
    with open(tmp_path / "a.states", "r+b") as stream:
        stream.seek(40)
        stream.write(b"\0" * 8)
    with pytest.raises(OSError, match="a stored state was changed in the file"):
        third.require_whole()
    os.truncate(tmp_path / "a.states", 100)
    with pytest.raises(OSError, match="a stored state is gone from the file"):
        np.asarray(second.arrays()["u"])


GIVEN = {"step_seconds": 1200.0, "output_hours": 2 / 3}


def peak(function):
    tracemalloc.start()
    try:
        result = function()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_stored_states(large, tmp_path, monkeypatch):
    """A run of 73 stored states of 20 kB takes hardly more memory than one of 10."""

    def stored(days):
        folder = tmp_path / str(days)
        run = integrate("williamson_5", SMALL, days, checkpoints=Restart(folder), **GIVEN)
        return files.write(trajectory_dataset(run), tmp_path / f"{days}.nc")

    stored(0.25)
    peaks = [peak(lambda days=days: stored(days))[1] for days in (0.25, 2.0)]
    whole, read = climate.run("williamson_5", SMALL, 2.0, **GIVEN), files.read(tmp_path / "2.0.nc")
    assert read.attrs.keys() < whole.attrs.keys()  # which say the case and the arithmetic, too
    whole.attrs = dict(read.attrs)
    assert with_dates(read).identical(whole) and whole.nbytes > 73 * 20_000
    assert peaks[1] - peaks[0] < 0.1 * whole.nbytes, peaks


TIMES = ("processor_seconds", "processor_seconds_range")


def asked(draw):
    """Random arguments of a run, few of which fit the pieces in which files are written."""
    names = ["u", "height", "zonal_mean_v", "kinetic_energy_spectrum"]
    names += ["time_mean_u", "time_maximum_height", "time_sum_zonal_mean_v"]
    every = draw.choice([1, 2, 5])
    return {
        "truncation": SMALL, "days": draw.randint(6, 40) / 72, "step_seconds": 1200.0,
        "output_hours": every / 3, "backend": draw.choice(["fp64", "fp32"]),
        "variables": draw.sample(names, draw.randint(1, 4)),
        "output_type": draw.choice(["float64", "float32"]), "threads": draw.choice([1, 2]),
        "calendar": draw.choice(["standard", "noleap", "360_day"]),
        "start_date": draw.choice(["2000-01-01", "1583-02-28T23:00", "0042-12-30"]),
    }  # fmt: skip


def without_times(dataset):
    return dataset.load().assign_attrs(dict.fromkeys(TIMES, 0))


class Killed(Exception):
    """In the middle of a run."""


def dying(at):
    def progress(now):
        if now >= at:
            raise Killed

    return progress


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_run_into_a_file_is_the_run_in_memory(seed, tmp_path, monkeypatch):
    """Values, dates, bounds and attributes, whatever format, pieces, type of numbers and threads;
    also where it was killed at random moments and goes on from its checkpoints. A run that is
    killed leaves the earlier file as it was, and nothing else.
    """
    pytest.importorskip("zarr")
    draw = random.Random(seed)
    monkeypatch.setattr(pieces, "WHOLE_BYTES", draw.choice([0, 2**26]))
    monkeypatch.setattr(pieces, "PIECE_BYTES", draw.choice([700, 30_000, 2**24]))
    monkeypatch.setattr("sciprec.climate.running.checkpoint._MOST_SHARE_OF_TIME", np.inf)
    given, file = asked(draw), tmp_path / draw.choice(["run.nc", "run.zarr"])
    expected = climate.run("williamson_5", **given)
    files.write(xr.Dataset({"earlier": 1}), file)
    checkpoints = draw.choice([None, tmp_path / "kept", Restart(tmp_path / "kept", lasting=True)])
    for _ in range(2):
        with pytest.raises(Killed):
            when = draw.uniform(0, given["days"] - 0.01)
            climate.run("williamson_5", **given, file=file, checkpoints=checkpoints,
                        progress=dying(when))  # fmt: skip
        with xr.open_dataset(file, engine="zarr" if file.suffix == ".zarr" else None) as earlier:
            assert list(earlier) == ["earlier"]
    run = climate.run("williamson_5", **given, file=file, checkpoints=checkpoints)
    assert run[given["variables"][0]].dtype == given["output_type"]
    xr.testing.assert_identical(without_times(run), without_times(expected))
    run.close()
    xr.testing.assert_identical(without_times(with_dates(files.read(file))), without_times(run))
    assert {path.name for path in tmp_path.iterdir()} <= {file.name, "kept"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("run.grib", "accepted: a name that ends with .nc, for netCDF, or with .zarr"),
        ("none/run.nc", "cannot be written .its folder does not exist.; give another one"),
        ("folder.nc", "cannot be written .it is a folder."),
        ("folder.zarr", "cannot be written .it is there already, and is no Zarr store."),
        ("link.nc", "cannot be written .it is a link, and links are not followed."),
        (3, "the file of a run is 3"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_the_run(name, words, tmp_path):
    pytest.importorskip("zarr")
    (tmp_path / "folder.nc").mkdir()
    (tmp_path / "folder.zarr").mkdir()
    (tmp_path / "link.nc").symlink_to(tmp_path / "folder.nc")

    def never(days):
        raise AssertionError("the run began")

    file = tmp_path / name if isinstance(name, str) else name
    with pytest.raises(InputError, match=words):
        climate.run("williamson_5", SMALL, 1.0, file=file, progress=never)
    with pytest.raises(InputError, match="unknown output_type 'float16'; known: float64, float32"):
        climate.run("williamson_5", SMALL, 1.0, output_type="float16")


def test_a_full_disk_is_a_sentence_and_leaves_nothing(tmp_path, monkeypatch):
    def full(self, fields):
        raise OSError(28, "No space left on device", str(self.path))

    monkeypatch.setattr(Records, "append", full)
    with pytest.raises(InputError, match=r"run\.nc': could not write .*: No space left on device"):
        climate.run("williamson_5", SMALL, 1.0, file=tmp_path / "run.nc")
    assert not list(tmp_path.iterdir())


def test_plan_file_and_page_say_how_much_memory_a_run_takes(
    models, blank_figures, scenario_files, tmp_path
):
    (row, *_) = workflow.forecast(scenario_files[0], out=tmp_path / "out")
    assert row["memory_megabytes"] > 300
    before = peak_bytes()
    result = workflow.run(scenario_files[0], out=tmp_path / "out")
    told = [float(files.attributes(path)[PEAK_MEMORY]) for path in result.files]
    assert len(told) == 3 and all(before <= one <= peak_bytes() for one in told)
    page = result.page.read_text(encoding="utf-8")
    assert f"Memory: {max(told) / 1e6:.0f} MB at most in a process that made a run" in page


@pytest.mark.slow
def test_comparing_does_not_hold_what_it_compares(large, tmp_path):
    from sciprec.results.comparison.evidence.spectra import mean_spectrum
    from sciprec.results.comparison.rows import compare, growth

    runs = [
        climate.run("williamson_5", SMALL, 1.0, backend, **GIVEN) for backend in ("fp64", "fp32")
    ]
    paths = [files.write(run, tmp_path / f"{k}.nc") for k, run in enumerate(runs)]
    seen = [files.available(path) for path in paths]
    found = compare(*runs)
    assert repr(compare(*seen).rows) == repr(found.rows)
    np.testing.assert_array_equal(growth(*seen, "u")[1], growth(*runs, "u")[1])
    times = slice(10, 37)
    np.testing.assert_array_equal(mean_spectrum(seen[0], times), mean_spectrum(runs[0], times))
    _, again = peak(lambda: growth(*seen, "height"))
    assert again < runs[0]["height"].nbytes / 2
