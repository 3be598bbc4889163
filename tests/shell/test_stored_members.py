"""Members of stored ensembles: read when asked for, small ones kept, never out of date."""

from types import SimpleNamespace

import pytest
import xarray as xr

from sciprec.report.stored import batch as stored
from sciprec.report.stored.batch import StoredMembers
from sciprec.results.output import netcdf


@pytest.fixture
def reads(monkeypatch):
    """The names of the files that were read."""
    names, real = [], stored.proven.available

    def available(path, digest):
        names.append(path.name)
        return real(path, digest)

    monkeypatch.setattr(stored.proven, "available", available)
    return names


def written(folder, name, value):
    """A file with one number."""
    return netcdf.write(xr.Dataset({"mass": (("time",), [value])}, {"time": [0.0]}), folder / name)


def test_files_are_read_once_where_they_fit(tmp_path, reads, monkeypatch):
    paths = [written(tmp_path, f"{k}.nc", float(k)) for k in range(3)]
    members = StoredMembers(paths, [""] * 3)
    assert len(members) == 3 and reads == []
    for _ in range(2):
        assert [float(m["mass"][0]) for m in members] == [0.0, 1.0, 2.0]
    assert reads == ["0.nc", "1.nc", "2.nc"]
    reads.clear()
    monkeypatch.setattr(stored, "MOST_BYTES_KEPT", 40)  # two numbers of eight bytes fit twice
    small = StoredMembers(paths, [""] * 3)
    for _ in range(2):
        assert [float(m["mass"][0]) for m in small] == [0.0, 1.0, 2.0]
    assert reads == ["0.nc", "1.nc", "2.nc", "2.nc"]


def test_a_file_that_was_written_again_is_read_again(tmp_path):
    runs = (("fp64", "a.nc", 1, ""), ("fp64", "b.nc", 2, "failed"), ("fp32", "c.nc", 1, ""))
    further = [
        SimpleNamespace(
            scenario="s", label=label, file=file, member=member, has_file=not failure, entry={}
        )
        for label, file, member, failure in runs
    ]
    batch = SimpleNamespace(folder=tmp_path, further=further)
    for value in (1.0, 2.0):
        written(tmp_path, "a.nc", value)
        (member,) = stored._members(batch, "s", "fp64")
        assert float(member["mass"][0]) == value
