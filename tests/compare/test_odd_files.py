"""Files of odd members: every one is compared and read as inputs, or refused in a sentence."""

import signal
import zipfile
from functools import partial
from random import Random

import netCDF4
import numpy as np
import pytest

import sciprec
from sciprec.foundation.errors import InputError
from sciprec.results.comparison import compare
from sciprec.tools.calls.inputs import inputs_of
from tests.compare.odd_files import odd_array, odd_netcdf, odd_npz

SECONDS = 20


def kernel(x, y=0.0, out=None):
    for i in range(x.size):
        out[i] = x[i] + y


def answered(action) -> str:
    """A word for what comes of an action: an answer, or a refusal in one line, in time."""

    def too_long(*_):
        raise AssertionError(f"no answer in {SECONDS} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS)
    try:
        action()
        return "answered"
    except MemoryError:  # the command line says that memory does not suffice
        return "refused"
    except InputError as error:
        assert str(error) and "\u202e" not in str(error)
        return "refused"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcomes(seeds, make, ending, folder) -> set[str]:
    """The words of all files, compared with themselves and the one before, and read as inputs."""
    words, before = set(), None
    for seed in seeds:
        path = folder / f"{seed}{ending}"
        make(path, Random(seed))
        try:
            words.add(f"compare {answered(partial(compare, path, path))}")
            words.add(f"read {answered(partial(inputs_of, kernel, path))}")
            answered(partial(compare, before or path, path))
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
        before = path
    return words


MAKERS = [(odd_npz, ".npz"), (odd_netcdf, ".nc")]
ALL = {"compare answered", "compare refused", "read refused"}
pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no alarms on Windows")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", [0, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("make", "ending"), MAKERS)
def test_odd_files_are_answered_or_refused(make, ending, first, tmp_path):
    seeds = range(first, first + (80 if first else 30))
    assert outcomes(seeds, make, ending, tmp_path) >= ALL


def written(path, add):
    """A netCDF file."""
    with netCDF4.Dataset(path, "w") as file:
        add(file)
    return path


def ragged(file):
    file.createDimension("x", 3)
    lists = file.createVariable("lists", file.createVLType("f8", "ragged"), ("x",))
    for k in range(3):
        lists[k] = np.arange(k + 1.0)
    file.createVariable("t", "f8", ("x",))[:] = 1.0


def never_written(file):
    file.createDimension("x", 10**15)
    file.createVariable("t", "f8", ("x",), chunksizes=(10**6,))


def with_a_huge_coordinate(file):
    file.createDimension("x", 10**15)
    file.createVariable("x", "f8", ("x",), chunksizes=(10**6,))


def with_text_in_place_of_a_scale(file):
    file.createDimension("x", 3)
    file.createVariable("t", "i2", ("x",))[:] = 1
    file["t"].add_offset = "one"


REFUSED = {
    never_written: "declares 8,000,000 GB of values in a file of",
    with_a_huge_coordinate: "cannot be read as netCDF (Unable to allocate",
    with_text_in_place_of_a_scale: "cannot be read as netCDF (add_offset of 't' is text)",
}


@pytest.mark.parametrize("add", REFUSED)
def test_files_whose_numbers_cannot_be_read_are_refused(add, call, tmp_path):
    path = written(tmp_path / "odd.nc", add)
    code, _, err = call("compare", path, path)
    assert code == 2 and REFUSED[add] in err and len(err.splitlines()) == 1


def test_memory_that_does_not_suffice_is_told(call, monkeypatch):
    def fails(*_, **__):
        raise MemoryError("Unable to allocate 7.11 PiB")

    monkeypatch.setattr("sciprec.results.comparison.compare", fails)
    code, _, err = call("compare", "a.nc", "b.nc")
    assert code == 2
    assert err == (
        "sciprec: this machine's memory does not suffice (Unable to allocate 7.11 PiB); give less "
        "at once\n"
    )


def test_kernels_take_numbers_of_odd_arrays_or_refuse_them():
    """Arguments of every type of NumPy's."""
    lifted, words = sciprec.lift(halved, "fp16"), set()
    for seed in range(40):
        x = odd_array(Random(seed))
        words.add(answered(partial(lifted, x, np.zeros(x.size))))
    assert words == {"answered", "refused"}


def halved(x, out):
    for i in range(x.shape[0]):
        out[i] = 0.5 * x[i]


def test_an_archive_with_a_text_is_refused_by_its_name(call, tmp_path):
    np.savez(tmp_path / "run.npz", x=np.ones(3))
    with zipfile.ZipFile(tmp_path / "run.npz", "a") as file:
        file.writestr("readme.txt", "no array")
    code, _, err = call("compare", tmp_path / "run.npz", tmp_path / "run.npz")
    assert code == 2 and "holds 'readme.txt', which is no array; give an .npz file of arrays" in err
