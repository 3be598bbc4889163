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


@pytest.mark.parametrize("seed", range(5))
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


def test_what_breaks_in_the_middle_leaves_no_file(large, tmp_path, monkeypatch):
    dataset, made = xr.Dataset({"v": (("time", "x"), np.ones((40, 100)))}), []
    cut = pieces.pieces_of_time

    def breaking(given):
        for piece in cut(given):
            made.append(piece)
            if len(made) == 3:
                raise KeyboardInterrupt
            yield piece

    monkeypatch.setattr("sciprec.results.output.netcdf.pieces_of_time", breaking)
    with pytest.raises(KeyboardInterrupt):
        files.write(dataset, tmp_path / "run.nc")
    assert len(made) == 3 and not list(tmp_path.iterdir())


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
    assert compare(*seen).rows == found.rows
    np.testing.assert_array_equal(growth(*seen, "u")[1], growth(*runs, "u")[1])
    times = slice(10, 37)
    np.testing.assert_array_equal(mean_spectrum(seen[0], times), mean_spectrum(runs[0], times))
    _, again = peak(lambda: growth(*seen, "height"))
    assert again < runs[0]["height"].nbytes / 2
