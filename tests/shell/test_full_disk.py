"""Disks that are full: finished runs are kept, sentences are said."""

import contextlib
import errno
import gc
import json
import sys

import numpy as np
import pytest

from sciprec.cli.console import NOT_MET, USAGE
from sciprec.results.output import netcdf, pieces
from sciprec.results.output.dataset import trajectory_dataset
from tests.shell.conftest import little_climate, little_trajectory


def no_room(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


@contextlib.contextmanager
def files_up_to(size):
    """No file of this process grows beyond so many bytes meanwhile."""
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of file sizes are those of Linux")
def test_a_file_that_finds_no_room_is_one_red_row(models, undrawn, scenario_files, call, tmp_path):
    def growing(given, backend, compensation=None):
        if backend != "fp32":
            return little_climate(given, backend)
        large = little_trajectory(nlat=128, nlon=1024)
        large.fields["height"] = np.random.default_rng(1).random(large.fields["height"].shape)
        return trajectory_dataset(large)

    models["climate"] = growing
    with files_up_to(2_000_000):
        code, out, _ = call("run", scenario_files[0], "--out", tmp_path / "out", "--json")
    rows = {row["label"]: row for row in json.loads(out)["runs"]}
    assert code == NOT_MET
    assert {label: row["status"] for label, row in rows.items()} == {
        "fp64": "truth", "fp32": "failed", "fp16": "beyond",
    }  # fmt: skip
    assert "could not write or read a file: File too large" in rows["fp32"]["reason"]
    assert "what is done is kept" in rows["fp32"]["reason"]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "little_climate__fp64.nc", "little_climate__fp16.nc", "batch.json",
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of file sizes are those of Linux")
def test_a_file_that_finds_no_room_is_given_up_at_once(tmp_path, monkeypatch):
    """Not when what has gone wrong is forgotten: one run in a hundred ended in the library then,
    called by two threads. The library itself has found no room, and cannot close the file.
    """
    import netCDF4

    large = little_trajectory(times=300)
    large.fields["height"] = np.random.default_rng(1).random(large.fields["height"].shape)
    dataset = trajectory_dataset(large)
    monkeypatch.setattr(pieces, "WHOLE_BYTES", 0)
    gc.collect()  # of other tests' files
    before = sum(type(one) is netCDF4.Dataset for one in gc.get_objects())
    with files_up_to(200_000), pytest.raises(OSError, match="File too large") as caught:
        netcdf.write(dataset, tmp_path / "run.nc")
    assert "HDF error" in str(caught.value.__context__)
    assert sum(type(one) is netCDF4.Dataset for one in gc.get_objects()) == before


def test_a_full_disk_anywhere_in_a_command_is_no_internal_error(call, monkeypatch):
    monkeypatch.setattr("sciprec.precision.formats.backend.table", no_room)
    code, _, said = call("list", "backends")
    assert code == USAGE and "internal" not in said
    assert said.startswith("sciprec: could not write or read a file: No space left on device; make")
