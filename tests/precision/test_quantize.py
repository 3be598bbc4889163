"""`quantize` equals the exact reference, on arrays, scalars and labelled data, and keeps them."""

import math

import ml_dtypes
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import sciprec
from sciprec import quantize
from sciprec.foundation.errors import InputError
from sciprec.precision import backends
from tests.oracles import exact, vector
from tests.precision import comparison

DETERMINISTIC = [b for b in backends().values() if not (b.random or b.fixed)]
NUMPY = {
    "fp32": np.float32,
    "fp16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "e4m3fn": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
}


def assert_bits(found, expected) -> None:
    """Equal bits, any NaN equal to any other."""
    with np.errstate(invalid="ignore"):  # a signalling NaN may be on its way
        comparison.assert_bits(found, expected, (), "quantize")


@pytest.mark.parametrize("backend", DETERMINISTIC, ids=lambda b: b.name)
def test_quantize_equals_the_reference(backend):
    """On arrays many numbers; of more than 24 bits fewer, one by one."""
    fmt, rng = backend.storage.format, np.random.default_rng(1)
    narrow = fmt.significand_bits <= 24
    size, most = (100_000, fmt.emax + 4) if narrow else (500, min(fmt.emax + 4, 1020))
    x = rng.standard_normal(size) * 2.0 ** rng.integers(fmt.emin - 30, most, size)
    x = np.concatenate([x, [0.0, -0.0, math.inf, -math.inf, math.nan]])
    x = np.concatenate([x, [fmt.max_finite * (1 + fmt.unit_roundoff / 2), fmt.min_positive / 2]])
    if narrow:
        assert_bits(quantize(x, backend), vector.round_values(x, backend.storage))
    x = x[-500:]
    assert_bits(quantize(x, backend), [exact.round_exact(v, backend.storage) for v in x.tolist()])


@pytest.mark.parametrize("name", NUMPY)
def test_quantize_equals_numpy_and_ml_dtypes(name):
    """A third of the binary32 numbers whose last 12 bits are zero, where such casts start from."""
    words = (np.arange(2**20, dtype=np.uint32) << 12)[::3]
    x = words.view(np.float32)
    with np.errstate(all="ignore"):
        expected = x.astype(NUMPY[name]).astype(np.float32)
    assert_bits(quantize(x, name), expected)


@given(st.floats(width=64))
@settings(max_examples=100, deadline=None)
def test_quantizing_twice_changes_nothing_and_order_is_kept(x):
    for name in ("fp16", "mlu370"):
        once = quantize(np.array([x, x / 2, -x]), name)
        assert_bits(quantize(once, name), once)
        if x > 0:
            assert once[0] >= once[1]


def test_kind_shape_and_dtype_are_kept():
    x = np.linspace(0, 1, 24).reshape(2, 3, 4)
    assert quantize(x, "fp16").shape == x.shape
    assert quantize(x, "fp16").dtype == np.float64
    assert quantize(x.astype(np.float32), "fp16").dtype == np.float32
    assert quantize(x[:, ::2, ::-1], "fp16").tolist() == quantize(x, "fp16")[:, ::2, ::-1].tolist()
    assert float(quantize(0.1, "bf16")) == float(ml_dtypes.bfloat16(0.1))
    assert quantize(np.arange(2049, 2052), "fp16").tolist() == [2048.0, 2050.0, 2052.0]
    assert x[0, 0, 1] == 1 / 23, "the argument is left as it was"


def test_labelled_data_keep_coordinates_and_attributes():
    x = xr.DataArray(
        [0.1, 0.2], dims="lat", coords={"lat": [0.1, 0.3]}, attrs={"units": "m"}, name="height"
    )
    rounded = sciprec.quantize(x, "fp16")
    assert isinstance(rounded, xr.DataArray)
    assert_bits(rounded.values, quantize(x.values, "fp16"))
    assert rounded.attrs == x.attrs and rounded.lat.equals(x.lat)
    both = quantize(xr.Dataset({"height": x, "count": ("lat", [1, 2])}), "fp16")
    assert_bits(both["height"].values, rounded.values)
    assert both["count"].dtype == np.int64


def test_stochastic_rounding_is_reproducible_and_unbiased():
    spec = "float:p=8,round=sr"
    x = np.full(50_000, 1.0 + 2.0**-9)  # a quarter of the way from 1 to 1 + 2^-7
    once = quantize(x, spec, seed=1)
    assert np.array_equal(once, quantize(x, spec, seed=1))
    assert not np.array_equal(once, quantize(x, spec, seed=2))
    assert set(np.unique(once)) == {1.0, 1.0 + 2.0**-7}
    ups = np.count_nonzero(once > 1.0)
    assert abs(ups - x.size / 4) < 5 * math.sqrt(x.size * 3 / 16)


@pytest.mark.parametrize("x", [np.array([1j]), np.array(["a"]), [object()]])
def test_data_that_are_no_real_numbers_are_refused(x):
    with pytest.raises(
        InputError, match="quantize is given data of dtype .*; it takes real numbers"
    ):
        quantize(x, "fp16")
