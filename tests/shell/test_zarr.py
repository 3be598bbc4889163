"""Zarr stores hold what netCDF files hold, and are read by the same functions."""

import json
import shutil

import numpy as np
import pytest

from sciprec.cli.console import USAGE
from sciprec.foundation.errors import InputError
from sciprec.report.stored.batch import read_batch
from sciprec.results.comparison import compare
from sciprec.results.output import files, netcdf, zarr_store
from sciprec.workbench.batch import workflow


def test_a_missing_package_is_one_sentence(models, scenario_files, call, tmp_path, monkeypatch):
    monkeypatch.setattr(zarr_store.importlib.util, "find_spec", lambda name: None)
    command = "run", scenario_files[0], "--out", tmp_path / "out", "--format", "zarr"
    code, _, said = call(*command)
    assert code == USAGE and "the package zarr is not installed; install it with" in said
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="package zarr is not installed"):
        files.read(tmp_path / "run.zarr")


@pytest.mark.slow
def test_a_batch_in_zarr_is_kept_and_compared(models, scenario_files, call, tmp_path, undrawn):
    pytest.importorskip("zarr", reason="the optional package zarr is not installed")
    result = workflow.run(scenario_files, out=tmp_path / "zarr", format="zarr")
    plain = workflow.run(scenario_files, out=tmp_path / "netcdf")
    assert [p.name.removesuffix(".zarr") for p in result.files] == [p.stem for p in plain.files]
    for one, two in zip(result.files, plain.files, strict=True):
        store, file = files.read(one), files.read(two)
        assert list(store.variables) and set(store.variables) == set(file.variables)
        for name in file.variables:
            assert store[name].dtype == file[name].dtype
            np.testing.assert_array_equal(store[name].values, file[name].values)
            assert set(store[name].attrs) == set(file[name].attrs)
        assert store.attrs["sciprec_backend"] == file.attrs["sciprec_backend"]
    for one, two in zip(result.table, plain.table, strict=True):
        assert (one["status"], one["errors"]) == (two["status"], two["errors"])
    assert compare(result.files[1], plain.files[1]).within
    again = workflow.run(scenario_files, out=tmp_path / "zarr", format="zarr")
    stored = read_batch(again.folder)
    assert all(run.dataset is not None for run in stored.runs)
    assert stored.command.endswith(f"--format zarr --out {tmp_path / 'zarr'}")
    code, _, said = call("run", *scenario_files, "--out", tmp_path / "zarr", "--format", "zarr")
    assert said == "6 of 6 runs kept, computed before\n"


def test_a_page_that_would_disagree_with_the_result_is_not_written(
    models, scenario_files, tmp_path, undrawn
):
    """A disk that did not give a file for a moment made a page of failed runs, with exit code 0."""
    result = workflow.run(scenario_files[:1], out=tmp_path / "out")
    assert result.html(tmp_path / "page.html").exists()
    result.files[0].write_bytes(b"")
    with pytest.raises(InputError, match="'.*again.html' is not written: .* cannot be read as net"):
        result.html(tmp_path / "again.html")
    assert not (tmp_path / "again.html").exists()


def test_what_is_no_store_is_one_sentence(models, tmp_path):
    pytest.importorskip("zarr", reason="the optional package zarr is not installed")
    with pytest.raises(InputError, match="Zarr store '.*' does not exist; give a folder"):
        files.read(tmp_path / "nothing.zarr")
    (tmp_path / "empty.zarr").mkdir()
    with pytest.raises(InputError, match="cannot be read as a Zarr store"):
        files.read(tmp_path / "empty.zarr")
    path = files.write(models["climate"](None, "fp64"), tmp_path / "run.zarr")
    shutil.rmtree(path / "height")
    meta = json.loads((path / ".zmetadata").read_text())
    (path / ".zmetadata").write_text(json.dumps(meta)[:200])
    with pytest.raises(InputError, match="cannot be read as a Zarr store"):
        files.attributes(path)


def test_a_small_file_that_declares_more_than_the_memory_is_refused(tmp_path):
    import netCDF4

    with netCDF4.Dataset(tmp_path / "large.nc", "w") as file:
        for axis in "xyz":
            file.createDimension(axis, 50_000)
        file.createVariable("height", "f8", ("x", "y", "z"), zlib=True, chunksizes=(1, 1000, 1000))
    assert (tmp_path / "large.nc").stat().st_size < 10_000_000
    with pytest.raises(InputError, match=r"declares 1,000,000 GB of values, and this machine has"):
        netcdf.read(tmp_path / "large.nc")
