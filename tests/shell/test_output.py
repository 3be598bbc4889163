"""Datasets and files: CF metadata, areas, and files that are complete or absent."""

import contextlib
import gc
import math
import tempfile
import unicodedata
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from sciprec.foundation.errors import InputError
from sciprec.results.output import netcdf
from sciprec.results.output.dataset import (
    EARTH_RADIUS_M,
    cell_areas,
    latitude_bounds,
    longitude_bounds,
)
from sciprec.results.output.variables import VARIABLES, describe


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


NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.booleans()
TEXTS = st.text(st.characters(), max_size=6) | st.text("ab /.-_é", max_size=4)
ODD = st.none() | st.sampled_from([b"", b"a", b"\xff"]) | st.complex_numbers() | st.dates()
THINGS = NUMBERS | TEXTS | ODD
KINDS = "f2 f4 f8 >f8 >i4 i1 i8 u8 ? c8 M8[s] S3 U3 O longdouble".split()


@st.composite
def arrays(draw):
    kind = draw(st.sampled_from(KINDS))
    return np.ones(draw(st.sampled_from([(), (2,), (1, 2)]))).astype(kind)


ATTRIBUTES = THINGS | st.lists(THINGS, max_size=3) | arrays() | st.lists(st.lists(NUMBERS))
ATTRIBUTES |= st.sampled_from([{"a": 1}, {1}, object(), float, range(2), np.float32(0.5)])


TAKEN = (
    "_FillValue missing_value scale_factor add_offset units calendar coordinates bounds dtype "
    "_Unsigned CLASS NAME DIMENSION_LIST REFERENCE_LIST _Netcdf4Dimid _NCProperties grid_mapping"
).split()
"""Names of attributes that mean something to the libraries."""
NAMES = TEXTS | st.sampled_from([None, 1, ("a", 1), "_a", "1", "\u20ac", "e\u0301", "x" * 300])


def _held_or_refused(dataset, begins):
    """What a file gives back of a dataset; None where it is refused, at last in reading."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.nc"
        gc.freeze()  # a refusal looks for garbage, which takes long among what is there already
        try:
            with np.errstate(all="ignore"):
                netcdf.write(dataset, path)
        except InputError as error:
            assert str(error).startswith(f"a netCDF file cannot hold {begins}"), error
            assert list(Path(folder).iterdir()) == []
            return None
        finally:
            gc.unfreeze()
        with contextlib.suppress(InputError), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # xarray's, of attributes that it cannot follow
            return netcdf.read(path)


@pytest.mark.slow
@given(st.just("told") | NAMES | st.sampled_from(TAKEN), ATTRIBUTES, st.sampled_from(KINDS))
@settings(max_examples=50)
def test_any_attribute_is_held_or_refused_with_a_sentence(name, value, kind):
    """Of a dataset and of a variable, one that can be held itself."""
    held = _held_or_refused(xr.Dataset(attrs={name: value}), "the attribute ")
    if held is not None and name == "told" and "\0" not in str(value):
        found = np.ravel(held.attrs[name])
        changed = isinstance(value, list) or "b'" in repr(value)  # into texts
        assert changed or found.tolist() == np.ravel(value).tolist()
    usual = xr.Dataset({"a": ("x", np.ones(2).astype(kind))})
    if _held_or_refused(usual, "the variable 'a', ") is not None:
        _held_or_refused(usual.assign(a=usual["a"].assign_attrs({name: value})), "the attribute ")


@given(NAMES)
@settings(max_examples=20)
def test_any_name_is_held_or_refused_with_a_sentence(name):
    for dataset in (xr.Dataset({name: 0.0}), xr.Dataset({"a": ([name], [0.0])})):
        held = _held_or_refused(dataset, "a variable or axis named ")
        if held is not None:  # names are composed, and end at a null
            known = [unicodedata.normalize("NFC", n) for n in (*dataset.variables, *dataset.dims)]
            assert [*held.variables, *held.dims] == [n.partition("\0")[0] for n in known]


@settings(max_examples=20)
@given(arrays())
def test_any_variable_is_held_or_refused_with_a_sentence(values):
    dataset = xr.Dataset({"a": ([f"x{n}" for n in range(values.ndim)], values)})
    held = _held_or_refused(dataset, "the variable 'a', an array of ")
    assert held is None or values.dtype.kind == "M" or (held["a"].values == values).all()


def test_truncated_files_are_refused(models, tmp_path):
    whole = netcdf.write(models["climate"](None, "fp64"), tmp_path / "run.nc").read_bytes()
    for part in (0, 1, 100, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.nc").write_bytes(whole[:part])
        with pytest.raises(InputError, match="cannot be read as netCDF"):
            netcdf.read(tmp_path / "cut.nc")
