"""Datasets and files: CF metadata, areas, and files that are complete or absent."""

import json
import math

import numpy as np
import pytest
import xarray as xr

from sciprec.batch.perform import properties
from sciprec.errors import InputError
from sciprec.output import netcdf
from sciprec.output.dataset import EARTH_RADIUS_M, cell_areas, latitude_bounds, longitude_bounds
from sciprec.output.variables import VARIABLES, describe
from sciprec.precision.formats.backend import backends
from sciprec.provenance.origin import provenance


def test_file_round_trip_keeps_every_bit_and_attribute(models, tmp_path):
    dataset = models["climate"](None, "fp16")
    again = netcdf.read(netcdf.write(dataset, tmp_path / "run.nc"))
    xr.testing.assert_identical(again, dataset)


def test_plain_xarray_opens_the_files_and_decodes_time(models, tmp_path):
    path = netcdf.write(models["climate"](None, "fp64"), tmp_path / "run.nc")
    with xr.open_dataset(path) as plain:
        assert str(plain["time"].values[1]).startswith("2000-01-02T00:00:00")
        assert plain["u"].attrs["standard_name"] == "eastward_wind"
        assert plain["lat"].attrs["bounds"] == "lat_bnds"


def test_nonfinite_values_survive(models, tmp_path):
    dataset = models["climate"](None, "fp64")
    dataset["height"][1, 2, 3] = math.inf
    dataset["height"][1, 2, 4] = math.nan
    again = netcdf.read(netcdf.write(dataset, tmp_path / "run.nc"))
    np.testing.assert_array_equal(again["height"], dataset["height"])


def test_every_variable_has_units_and_a_name():
    for name, row in VARIABLES.items():
        assert row.units and row.long_name, name
        assert describe(name).as_attributes()["units"] == row.units
    with pytest.raises(KeyError, match="no row for the variable 'colour'"):
        describe("colour")


@pytest.mark.parametrize("southward", [False, True])
def test_cell_areas_cover_the_sphere(southward):
    lat = np.degrees(np.arcsin(np.polynomial.legendre.leggauss(16)[0]))
    lat = lat[::-1] if southward else lat
    areas = cell_areas(latitude_bounds(lat), longitude_bounds(np.arange(32) * 11.25))
    sphere = 4 * math.pi * EARTH_RADIUS_M**2
    assert (areas > 0).all()
    assert abs(areas.sum() / sphere - 1) < 512 * np.finfo(float).eps


def test_failed_write_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(netcdf, "_write_at_once", _write_half)
    with pytest.raises(OSError, match="disk full"):
        netcdf.write(xr.Dataset(), tmp_path / "run.nc")
    assert list(tmp_path.iterdir()) == []


def _write_half(dataset, path, **_):
    """Leaves a beginning and fails, as a full disk does."""
    path.write_bytes(b"CDF")
    raise OSError("disk full")


def test_messages(tmp_path):
    with pytest.raises(InputError, match="does not exist; give a file"):
        netcdf.read(tmp_path / "none.nc")
    with pytest.raises(InputError, match="is a folder"):
        netcdf.read(tmp_path)
    (tmp_path / "text.nc").write_text("no netCDF")
    with pytest.raises(InputError, match="cannot be read as netCDF"):
        netcdf.read(tmp_path / "text.nc")


def test_truncated_files_are_refused(models, tmp_path):
    whole = netcdf.write(models["climate"](None, "fp64"), tmp_path / "run.nc").read_bytes()
    for part in (0, 1, 100, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.nc").write_bytes(whole[:part])
        with pytest.raises(InputError, match="cannot be read as netCDF"):
            netcdf.read(tmp_path / "cut.nc")


def test_provenance_and_properties_are_plain_data():
    made_by = provenance()
    assert made_by["sciprec"] and made_by["processor"] and made_by["numba"] != "not installed"
    assert all(isinstance(value, str) for value in made_by.values())
    for backend in backends().values():
        stored = json.loads(json.dumps(properties(backend)))
        bits = backend.compute.format.significand_bits
        assert stored["compute"]["significand_bits"] == bits
