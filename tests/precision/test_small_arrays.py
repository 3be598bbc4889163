"""Arrays of floats of 8 and 16 bits, NumPy's and those of ml_dtypes: elements come in as they are,
and what a kernel stores is rounded to its arithmetic, and then to the array.
"""

import math

import ml_dtypes
import numpy as np
import pytest

from sciprec.precision import LiftError, lift

SMALL = (np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)


def scaled(x, out):
    for i in range(x.size):
        out[i] = x[i] * 1.1 + 0.01


def numbers(dtype, shape=24, seed=0):
    """Numbers of a dtype, subnormal and special ones among them, whose results it may not hold."""
    made = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    made.flat[0] = float(ml_dtypes.finfo(dtype).smallest_subnormal)
    made.flat[1] = -0.0
    return made.astype(dtype)


@pytest.mark.parametrize(
    ("dtype", "backend"),
    list(zip(SMALL, ("fixed32", "fp32", "fp16", "float:p=5,round=sr"), strict=True)),
    ids=lambda value: getattr(value, "__name__", value),
)
def test_elements_come_in_exactly_and_go_out_rounded(dtype, backend):
    """The bits of wide arrays with the same numbers, put into the array by NumPy."""
    x = numbers(dtype)
    expected, out = np.zeros(24), np.zeros(24, dtype)
    lift(scaled, backend)(x.astype(np.float64), expected)
    lift(scaled, backend)(x, out)
    with np.errstate(all="ignore"):
        assert out.tobytes() == expected.astype(dtype).tobytes()
    assert x.tobytes() == numbers(dtype).tobytes()


def test_results_that_the_array_does_not_hold_are_what_numpy_makes_of_them():
    """Of binary64 numbers in one step, not by binary32."""
    x, out = np.array([1 + 2.0**-11 + 2.0**-40, 1e6, -1e-9, np.nan]), np.zeros(4, np.float16)
    lift(copied, "fp64")(x, out)
    expected = [1 + 2.0**-10, math.inf, -0.0, math.nan]
    np.testing.assert_array_equal(out, np.array(expected, np.float16))
    assert math.copysign(1, out[2]) == -1


def copied(x, out):
    for i in range(x.size):
        out[i] = x[i]


def added_up(x, out):
    """Reads what it has written."""
    out[0] = x[0]
    for i in range(1, x.size):
        out[i] = out[i - 1] + x[i]


def in_place(x):
    x *= 1.1


def by_another(x, out):
    scaled(x, out)


def sum_of(x):
    return np.sum(x) + x[1:].max()


def filled(x):
    x.fill(0.1)


def sorted_in_place(x):
    x.sort()


def inside(pair):
    pair[1][0] = pair[0][0] * 1.1


@pytest.mark.parametrize(
    ("kernel", "backend"),
    [(added_up, "fp32"), (in_place, "fixed16"), (by_another, "fp32"), (filled, "fp32"),
     (sorted_in_place, "fp32"), (inside, "fixed16")],
)  # fmt: skip
def test_what_could_not_be_read_again_is_refused(kernel, backend):
    """Not all numbers of the arithmetic are in the array, and loads would find others."""
    x, out = numbers(np.float16), np.zeros(24, np.float16)
    args = ((x, out),) if kernel is inside else (x, out)[: kernel.__code__.co_argcount]
    words = "cannot run in .* it writes an array of float16 that it may read again, .* give it"
    with pytest.raises(LiftError, match=words):
        lift(kernel, backend)(*args)
    assert x.tobytes() == numbers(np.float16).tobytes() and not out.any()


def test_random_views_of_one_array():
    """What a kernel reads and writes through two views is what it would in a wide array."""
    rng = np.random.default_rng(5)
    lifted = lift(added_up, "fp16")
    for _ in range(100):
        views = []
        for _ in range(2):
            step = int(rng.choice([-3, -2, -1, 1, 2, 3]))
            start = int(rng.integers(0, 20)) + (24 if step < 0 else 0)
            views.append(slice(start, start + 8 * step if start + 8 * step >= 0 else None, step))
        whole = numbers(np.float16, 48, seed=int(rng.integers(1000)))
        wide = whole.astype(np.float64)
        for a in (whole, wide):
            lifted(a[views[0]], a[views[1]])
        np.testing.assert_array_equal(whole.astype(np.float64), wide, err_msg=str(views))


def test_shared_memory_that_cannot_be_followed_is_refused():
    whole = numbers(np.float16, 30)
    before = whole.tobytes()
    with pytest.raises(LiftError, match="it writes an array of float16 that it may read again"):
        lift(scaled, "fp32")(whole[:10], whole[5:15])
    with pytest.raises(LiftError, match="arguments share memory"):
        lift(scaled, "fp32")(whole[:10], whole.view(ml_dtypes.bfloat16)[5:15])
    assert whole.tobytes() == before
    whole.flags.writeable = False
    assert lift(sum_of, "fp16")(whole) == lift(sum_of, "fp16")(whole.astype(float))


def by_row(rows):
    rows += 0.1


def test_read_only_arrays_are_not_written_in_place():
    """Whatever their dtype: they were, by `+=` on a whole array."""
    x = np.ones(3)
    x.flags.writeable = False
    with pytest.raises(LiftError, match="Cannot modify readonly array"):
        lift(by_row, "fp32")(x)
    assert x.tolist() == [1.0, 1.0, 1.0]
