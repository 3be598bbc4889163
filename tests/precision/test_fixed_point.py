"""`adaptive_quantize` equals the big-integer reference bit for bit, and treats every odd input."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciprec.arrays.integers.fixed_point import ROUNDINGS, adaptive_quantize
from sciprec.foundation.errors import InputError
from tests.oracles import integers

TINY, HUGE = 5e-324, 1.7976931348623157e308
EXTREMES = [
    [1.0], [-1.0], [1.0, -1.0], [-1.0, 0.9999], [127.5, 3.0], [127.4999, -1.5], [-128.5, 0.5],
    [-127.5], [126.5], [2.0**31 - 0.5, 1.5], [2.0**31 - 0.75, 2.5], [-(2.0**31) - 0.5, -0.5],
    [TINY], [-TINY, 3 * TINY], [1e-320, -TINY], [2.0**-1022, TINY], [HUGE], [-HUGE], [HUGE, TINY],
    [-HUGE, TINY, -TINY], [2.0**1023, -1.0], [0.0, -0.0, 1e-200], [1e300, 1e-300, -1e-300],
    [math.nextafter(1.0, 0.0), math.nextafter(0.5, 1.0), -math.nextafter(1.0, 2.0)],
]  # fmt: skip


def assert_equals_reference(values, bits, headroom, rounding):
    """Integers, scale and count are those of the reference."""
    found = adaptive_quantize(values, bits, headroom=headroom, round=rounding)
    scale = integers.smallest_power(values, bits - headroom, rounding)
    whole, saturated = integers.quantized(values, scale, bits - headroom, rounding)
    assert Fraction(float(found.scale)) == scale
    assert found.integers.tolist() == whole
    assert (found.saturated, found.nans) == (saturated, 0)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("bits", [2, 3, 16, 32])
def test_extremes_equal_the_reference(bits, rounding):
    for values in EXTREMES:
        assert_equals_reference(values, bits, 0, rounding)
        assert_equals_reference([-x for x in values], bits, min(bits - 2, 3), rounding)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6),
    st.integers(2, 32),
    st.sampled_from(list(ROUNDINGS)),
    st.data(),
)
def test_any_numbers_equal_the_reference(values, bits, rounding, data):
    assert_equals_reference(values, bits, data.draw(st.integers(0, bits - 2)), rounding)


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_halves_and_their_neighbours_equal_the_reference(rounding):
    """Ties and the numbers beside them, at a scale that is known: 1 for the largest, 100."""
    halves = [n + 0.5 for n in range(-100, 100)]
    beside = [math.nextafter(x, side) for x in halves for side in (-math.inf, math.inf)]
    found = adaptive_quantize([*halves, *beside, 0.0], 8, round=rounding)
    assert found.scale == 1.0
    assert_equals_reference([*halves, *beside, 0.0], 8, 0, rounding)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("bits", [2, 16, 32])
def test_arbitrary_scale_is_the_smallest_and_its_quotients_are_rounded_once(bits, rounding):
    rng = np.random.default_rng(bits)
    top = 2 ** (bits - 1) - 1
    samples = [*EXTREMES, *(rng.standard_normal((20, 30)) * 10.0 ** rng.integers(-300, 300))]
    samples += [[k / 2 * (TINY * top) for k in range(-5, 6)]]
    for values in map(list, samples):
        found = adaptive_quantize(values, bits, scale="arbitrary", round=rounding)
        scale, largest = float(found.scale), max(abs(Fraction(x)) for x in values)
        assert Fraction(scale) * top >= largest
        assert Fraction(math.nextafter(scale, 0.0)) * top < largest
        whole, saturated = integers.quantized(values, Fraction(scale), bits, rounding)
        assert found.integers.tolist() == whole and saturated == found.saturated == 0
        if rounding == "rn" and scale > 2.0**-1000:
            assert np.abs(found.integers.astype(int)).max() == top


def test_given_scale_saturates_at_both_ends_and_counts():
    values = [127.0, 127.5, 128.0, 1e300, -128.0, -128.5, -128.75, -math.ldexp(1, 1000), 3.4]
    found = adaptive_quantize(values, 8, scale=1.0)
    assert found.integers.tolist() == [127, 127, 127, 127, -128, -128, -128, -128, 3]
    assert found.saturated == 5
    words = "5 of 9 elements do not fit in 8 bits with 0 of headroom at this scale; give a larger"
    with pytest.raises(InputError, match=words):
        adaptive_quantize(values, 8, scale=1.0, saturate=False)
    assert adaptive_quantize([1e-300, -1e-300], 8, scale=1e300, round="ru").integers.tolist() == [
        1, 0,
    ]  # fmt: skip
    assert adaptive_quantize([HUGE, -HUGE], 8, scale=TINY).integers.tolist() == [127, -128]


def test_nan_and_infinities_are_refused_or_counted():
    x = np.array([[1.0, 2.0, 3.0], [4.0, math.nan, -math.inf], [math.inf, math.nan, 0.5]])
    words = r"2 NaN and 2 infinities among 9 elements, the first at index \(1, 1\); remove them"
    with pytest.raises(InputError, match=words):
        adaptive_quantize(x, 8)
    found = adaptive_quantize(x, 8, nonfinite="saturate")
    assert found.scale == 2.0**-4
    assert found.integers.tolist() == [[16, 32, 48], [64, 0, -128], [127, 0, 8]]
    assert (found.saturated, found.nans) == (2, 2)
    signalling = np.array([0x7FF0_0000_0000_0001, 0], np.uint64).view(float)
    assert adaptive_quantize(signalling, 8, nonfinite="saturate").nans == 1


def test_scales_by_row_column_and_tile_are_those_of_each_alone():
    x = np.random.default_rng(0).standard_normal((5, 7, 4)) * 10.0 ** np.arange(-3, 4)[:, None]
    rows = adaptive_quantize(x, 12, axis=-2, round="rd")
    assert rows.scale.shape == (1, 7, 1)
    for i in range(7):
        alone = adaptive_quantize(x[:, i], 12, round="rd")
        assert np.array_equal(rows.integers[:, i], alone.integers)
        assert rows.scale[0, i, 0] == alone.scale
    tiles = adaptive_quantize(x, 12, block=(3, 3))
    pieces = adaptive_quantize(x[1], 12, block=3)
    for i in range(5):
        for j in range(0, 7, 3):
            for k in range(0, 4, 3):
                alone = adaptive_quantize(x[i, j : j + 3, k : k + 3], 12)
                here = np.s_[i, j : j + 3, k : k + 3]
                assert np.array_equal(tiles.integers[here], alone.integers)
                assert (np.broadcast_to(tiles.scale, x.shape)[here] == alone.scale).all()
    assert np.array_equal(pieces.integers[2, 3:4], adaptive_quantize(x[1, 2, 3:4], 12).integers)
    given = adaptive_quantize(x, 12, axis=1, scale=rows.scale, round="rd")
    assert np.array_equal(given.integers, rows.integers)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"bits": 33}, "bits is 33; accepted: an integer from 2 to 32"),
        ({"bits": 1}, "bits is 1; accepted: an integer"),
        ({"bits": 8.0}, "bits is 8.0; accepted: an integer"),
        ({"bits": 8, "headroom": 7}, "headroom is 7; accepted: with 8 bits an integer from 0 to 6"),
        ({"round": "up"}, "unknown rounding 'up'; known: rn, rz, ru, rd"),
        ({"nonfinite": "keep"}, "nonfinite is 'keep'; accepted: 'refuse' or 'saturate'"),
        ({"scale": "best"}, "unknown scale 'best'; known: power_of_two, arbitrary, or a number"),
        ({"scale": 0.0}, "not a finite number above zero"),
        ({"scale": [1.0, 2.0]}, "scale has 2 numbers; there are 1 groups"),
        ({"axis": 1}, "axis is 1; accepted: an axis of an array of 1 dimensions"),
        ({"axis": 0, "block": 2}, "axis and block are both given"),
        ({"block": 0}, "block is 0; accepted: a length, or a tuple of at most 1 lengths"),
        ({"block": (1, 2)}, r"block is \(1, 2\); accepted: a length"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        adaptive_quantize([1.0, 2.0], **arguments)


@pytest.mark.parametrize("x", [[1j], ["a"], [None], np.zeros(2, np.longdouble)])
def test_data_that_are_no_real_numbers_are_refused(x):
    with pytest.raises(InputError, match="quantize is given is .*; accepted: real numbers"):
        adaptive_quantize(x)
