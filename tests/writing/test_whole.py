"""Writes that are killed, what they leave, and temporary folders."""

import json
import os
import subprocess
import sys
import tempfile

import netCDF4
import numpy as np
import pytest
import xarray as xr

from sciprec.foundation import whole
from sciprec.results.output import netcdf


@pytest.fixture
def gone():
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on Windows")
def test_what_is_killed_at_any_step_is_what_it_was_or_what_it_is_to_be(tmp_path):
    program = [sys.executable, "-m", "tests.writing.killed", str(tmp_path)]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert min(json.loads(done.stdout)) > 3


def test_parts_of_killed_processes_go_and_nothing_else(gone, tmp_path):
    others = [
        f".a.nc.{os.getppid()}-1.part", f".a.nc.{gone}.part", f"a.nc.{gone}-1.part", ".-1.part",
        ".part", f".a.{gone}-x.part", f".a.nc.{gone}-1.partly", f".{gone}-1.part",
        f".a.{10**30}-1.part", f".a.nc.-{gone}.part",
    ]  # fmt: skip
    for name in (*others, f".a.nc.{gone}-1.part", f".b.{gone}-22.part", f".b.{gone}-1-old.part"):
        (tmp_path / name).touch()
    (tmp_path / "b").touch()
    (tmp_path / f".c.{gone}-7.part").mkdir()
    (tmp_path / f".c.{gone}-7.part" / "in it").touch()
    whole.tidy(tmp_path, "a.nc")
    assert f".b.{gone}-22.part" in os.listdir(tmp_path)
    whole.tidy(tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "b"])


def test_a_folder_that_was_moved_aside_gets_its_name_back_once_it_is_free(gone, tmp_path):
    old, own = tmp_path / f".mine.{gone}-3-old.part", tmp_path / f".a.{os.getppid()}-3-old.part"
    old.mkdir()
    own.mkdir()
    (tmp_path / "mine").symlink_to("nowhere")
    whole.put_back(tmp_path)
    assert old.is_dir() and (tmp_path / "mine").is_symlink()
    (tmp_path / "mine").unlink()
    whole.put_back(tmp_path)
    assert sorted(os.listdir(tmp_path)) == [own.name, "mine"]
    whole.put_back(tmp_path / "missing")


def test_temporary_folders_of_killed_processes_go_with_the_next_of_their_purpose(
    gone, tmp_path, monkeypatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    stay = [f"sciprec-other-{gone}-a", f"sciprec-mine-{os.getppid()}-a", "sciprec-mine-me", "b"]
    for name in (*stay, f"sciprec-mine-{gone}-abc_1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "in it").touch()
    with whole.temporary_folder("mine") as place:
        (place / "mine").touch()
        assert sorted(os.listdir(tmp_path)) == sorted([*stay, place.name])
    assert sorted(os.listdir(tmp_path)) == sorted(stay)


def test_a_file_formed_in_memory_has_the_bytes_that_the_library_writes_itself(
    tmp_path, monkeypatch
):
    dataset = xr.Dataset({"b": ("x", np.arange(9) / 7.0), "a": 1.5}, attrs={"seed": 3})
    (tmp_path / "memory").mkdir()
    monkeypatch.setattr(netcdf, "_MEMORY", tmp_path / "memory")
    netcdf.write(dataset, tmp_path / "a.nc")
    monkeypatch.setattr(netcdf, "_MEMORY", tmp_path / "missing")
    netcdf.write(dataset, tmp_path / "b.nc")
    assert (tmp_path / "a.nc").read_bytes() == (tmp_path / "b.nc").read_bytes()
    assert not os.listdir(tmp_path / "memory")
    with netCDF4.Dataset(tmp_path / "a.nc", "a") as file:  # which needs the order of variables
        assert list(file.variables) == ["b", "a"]


@pytest.mark.slow
def test_a_file_that_finds_no_room_in_memory_is_written_by_the_library_itself(
    tmp_path, monkeypatch
):
    def full(dataset, path):
        if path.parent != tmp_path:
            raise RuntimeError("NetCDF: HDF error")
        usual(dataset, path)

    usual = netcdf._write_whole
    monkeypatch.setattr(netcdf, "_MEMORY", tmp_path)
    monkeypatch.setattr(netcdf, "_write_whole", full)
    netcdf.write(xr.Dataset({"a": ("x", np.zeros(9))}), tmp_path / "a.nc")
    assert os.listdir(tmp_path) == ["a.nc"] and netcdf.read(tmp_path / "a.nc").sizes["x"] == 9
