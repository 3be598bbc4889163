"""Values that files keep as scaled integers: errors in steps, and numbers that wrapped around."""

import math
from fractions import Fraction

import numpy as np
import pytest
import xarray as xr

import sciprec

DTYPES = ("int8", "int16", "int32", "uint8", "uint16")


def packed(path, values, dtype, step, offset, *, unsigned=False):
    """A file of the values as integers, which wrap around as a cast does; which of them did."""
    held, integers, turned = np.iinfo(dtype), [], []
    for value in values:
        wanted = round((Fraction(float(value)) - Fraction(offset)) / Fraction(step))
        kept = (wanted - held.min) % 2**held.bits + held.min
        integers.append(kept)
        turned.append(kept != wanted)
    array = np.array(integers, dtype)
    about = {"scale_factor": step, "add_offset": offset, "units": "m"}
    if unsigned:
        array, about["_Unsigned"] = array.view(dtype.removeprefix("u")), "true"
    xr.Dataset({"height": ("x", array, about)}).to_netcdf(path)
    return turned


@pytest.mark.parametrize("seed", range(5))
def test_random_packings_are_told_in_steps_and_wrapped_values_are_named(tmp_path, seed):
    """The oracle packs by exact fractions; half of the files hold values beyond their range."""
    rng = np.random.default_rng(seed)
    dtype, beyond = DTYPES[seed % len(DTYPES)], seed % 2 == 0
    step = float(2.0 ** rng.integers(-8, 3) * rng.uniform(1.0, 2.0))
    offset = float(rng.normal() * 100.0)
    held = np.iinfo(dtype)
    least, largest = held.min * step + offset, held.max * step + offset
    values = rng.uniform(least, largest, 50)
    if beyond:
        values[7] = largest + 0.3 * (largest - least)
    xr.Dataset({"height": ("x", values, {"units": "m"})}).to_netcdf(tmp_path / "truth.nc")
    unsigned = dtype.startswith("u") and bool(rng.integers(2))
    turned = packed(tmp_path / "run.nc", values, dtype, step, offset, unsigned=unsigned)
    assert any(turned) == beyond
    found = sciprec.compare(tmp_path / "truth.nc", tmp_path / "run.nc")
    assert math.isnan(found.rows[0].errors["max_ulp"])
    (note,) = found.notes
    assert f"'height' is packed in the run as {dtype}, in steps of " in note
    assert ("wrapped around" in note) == beyond
    if not beyond:
        assert float(note.split("largest error is ")[1].split(" steps")[0]) <= 0.5001
