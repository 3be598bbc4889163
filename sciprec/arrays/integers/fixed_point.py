"""Adaptive fixed point: two's complement integers with a scale chosen from the data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from sciprec.arrays.integers.scale_groups import ScaleTiles
from sciprec.foundation.arguments import integer, reals, refused, word
from sciprec.foundation.errors import InputError
from sciprec.precision.compiled.disk_cache import kept
from sciprec.precision.elementary.bits import fma

ROUNDINGS = {"rn": np.rint, "rz": np.trunc, "ru": np.ceil, "rd": np.floor}
"""name -> rounding to an integer: to nearest with ties to even, toward zero, up, down."""

SMALLEST_EXPONENT, LARGEST_EXPONENT = -1074, 1023  # of a power of two that binary64 holds
_SIGN = -(1 << 63)  # the bits of -0.0
_INFINITY, _NAN = 0x7FF0_0000_0000_0000, 0x7FF8_0000_0000_0000
_TINY = 2.0**-900


@dataclass(frozen=True)
class Quantized:
    """Integers and their scale: value = integers * scale. Unpacks as (integers, scale).

    Attributes:
        integers: int8, int16 or int32 array of the data's shape.
        scale: float64 number, or array that broadcasts against the integers.
        bits: of the integers, sign included.
        saturated: how many elements were beyond the ends of the range and were set to them.
        nans: how many elements were NaN and became 0.
    """

    integers: np.ndarray
    scale: np.ndarray
    bits: int
    saturated: int = 0
    nans: int = 0

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter((self.integers, self.scale))


def integer_dtype(bits: int) -> np.dtype:
    """The narrowest of int8, int16 and int32 that holds `bits` bits."""
    return np.dtype(np.int8 if bits <= 8 else np.int16 if bits <= 16 else np.int32)


def adaptive_quantize(
    x: ArrayLike,
    bits: int = 32,
    *,
    headroom: int = 0,
    axis: int | None = None,
    block: int | tuple[int, ...] | None = None,
    round: str = "rn",
    scale: str | ArrayLike = "power_of_two",
    saturate: bool = True,
    nonfinite: str = "refuse",
) -> Quantized:
    """Write numbers as integers times a scale that the data choose.

    integers = round(x / scale), within [-2^(b-1), 2^(b-1) - 1] with b = bits - headroom

    A power-of-two scale is the smallest for which every element, rounded, lies in that range: an
    element that would round up to 2^(b-1) takes the next scale. Smaller than 2^-1074 and larger
    than 2^1023 it cannot be. Where all elements are zero, or there is none, the scale is 1.

    Args:
        x: real numbers of any shape (float64, float32, float16; integers are taken as float64).
        bits: of the integers, 2 to 32; they are stored as int8, int16 or int32.
        headroom: leading bits kept free for later sums, 0 to bits - 2.
        axis: an axis whose every index gets a scale of its own (rows of a matrix: 0); one scale
            for the whole array otherwise.
        block: length of pieces of the last axis, or shape of tiles of the last axes, each with a
            scale of its own. The last pieces may be shorter.
        round: "rn" (ties to even), "rz", "ru", "rd".
        scale: "power_of_two"; "arbitrary": the smallest binary64 number for which the largest
            magnitude gives 2^(b-1) - 1; or the scale itself, a number or one for each
            index or block.
        saturate: elements beyond the range are set to its ends and counted; if False, refused.
            Only a given scale, infinities, and binary64's end with few bits lead there.
        nonfinite: "refuse"; "saturate": infinities are set to the ends and counted, NaN becomes 0
            and is counted; the scale is that of the finite elements.

    Returns:
        The integers, the scale and the counts; it unpacks as (integers, scale).

    Raises:
        InputError: data that are no real numbers, NaN or infinities (unless "saturate"), elements
            out of range with saturate=False, an argument out of its range.

    Precision:
        One rounding of the exact quotient, whatever the scale: |x - integers * scale| is at most
        scale / 2 in "rn" and below scale otherwise, where nothing saturates. A power-of-two scale
        makes integers * scale exact in binary64 (beyond its largest number it is infinite).

    Differs from the source:
        The published description of the MLU370 takes integers = x * 2^31 / (max + 1e-7). That
        scale is no power of two, so that rescaling rounds; it gives 2^31, which int32 does not
        hold, at the maximum wherever max is about 430 or more; and where max is far below 1e-7
        most of the bits stay unused.
    """
    values = _real(x)
    span = checked_span(bits, headroom)
    word("rounding", round, ROUNDINGS)
    if not isinstance(nonfinite, str) or nonfinite not in ("refuse", "saturate"):
        raise refused("nonfinite", nonfinite, "'refuse' or 'saturate'")
    layout = ScaleTiles.of(values.shape, axis, block)
    groups = layout.grouped(values)
    ends = np.empty((2, groups.shape[0]))
    bad = ends_of_rows(groups, ends)
    if bad and nonfinite == "refuse":
        raise InputError(_nonfinite_sentence(values))
    scales = _chosen_scales(scale, ends, span, round)
    out = np.empty(groups.shape, integer_dtype(bits))
    saturated, nans = round_rows(groups, scales, span, out, round)
    if saturated and not saturate:
        raise InputError(
            f"{saturated} of {values.size} elements do not fit in {bits} bits with {headroom} of "
            "headroom at this scale; give a larger scale, or saturate=True"
        )
    return Quantized(layout.restored(out), layout.broadcast(scales), bits, saturated, nans)


def dequantize(
    integers: ArrayLike | Quantized | tuple[ArrayLike, ArrayLike], scale: ArrayLike | None = None
) -> np.ndarray:
    """The numbers that integers and their scale stand for: integers * scale.

    Args:
        integers: a result of `adaptive_quantize`, an (integers, scale) pair, or the integers.
        scale: the scale, where `integers` are the integers alone.

    Returns:
        float64 array, each element rounded once (exact for power-of-two scales, infinite where
        the product is beyond binary64's largest number).
    """
    if scale is None:
        pair = isinstance(integers, Quantized) or isinstance(integers, tuple) and len(integers) == 2
        if not pair:
            raise refused("scale", None, "a number above zero, or several, beside the integers")
        integers, scale = cast(tuple[ArrayLike, ArrayLike], integers)
    factors = reals("scale", scale).astype(np.float64)
    whole_numbers = reals("integers", integers)
    try:
        with np.errstate(over="ignore"):
            return np.asarray(whole_numbers * factors)
    except ValueError:
        words = f"a number, or as many as fit integers of shape {whole_numbers.shape}"
        raise refused("scale", scale, words) from None


def _real(x) -> np.ndarray:
    values = reals(
        "what adaptive_quantize is given", x,
        "real numbers (float64, float32, float16, integers): convert first",
    )  # fmt: skip
    return values.astype(np.float64, copy=False)


def checked_span(bits: int, headroom: int) -> int:
    """2^(bits - headroom - 1), the number of integers below zero."""
    integer("bits", bits, 2, 32)
    most = bits - 2
    integer("headroom", headroom, 0, most, f"with {bits} bits an integer from 0 to {most}")
    return 1 << (bits - headroom - 1)


def _nonfinite_sentence(values: np.ndarray) -> str:
    nan, infinite = np.isnan(values), np.isinf(values)
    where = np.unravel_index(int(np.argmax(nan | infinite)), values.shape)
    return (
        f"adaptive_quantize is given {nan.sum()} NaN and {infinite.sum()} infinities among "
        f"{values.size} elements, the first at index {tuple(int(i) for i in where)}; remove them, "
        "or give nonfinite='saturate'"
    )


def _chosen_scales(scale, ends: np.ndarray, span: int, rounding: str) -> np.ndarray:
    """Choose one scale for each group from its ends, as `ends_of_rows` gives them."""
    if isinstance(scale, str):
        if scale not in ("power_of_two", "arbitrary"):
            raise InputError(
                f"unknown scale '{scale}'; known: power_of_two, arbitrary, or a number"
            )
        if scale == "arbitrary":
            return _arbitrary(ends.max(axis=0), span)
        scales = np.empty(ends.shape[1])
        powers_of_two(ends, float(span), scales, tuple(ROUNDINGS).index(rounding))
        return scales
    words = "power_of_two, arbitrary, or numbers above zero"
    scales = reals("scale", scale, words).astype(np.float64)
    if scales.size not in (1, ends.shape[1]):
        raise InputError(f"scale has {scales.size} numbers; there are {ends.shape[1]} groups")
    if not (np.isfinite(scales) & (scales > 0)).all():
        raise InputError("a scale is not a finite number above zero; each one has to be")
    return np.array(np.broadcast_to(scales.reshape(-1), ends.shape[1]))


@kept(nogil=True, error_model="numpy")
def powers_of_two(ends, span, scales, mode=0):
    """scales = the smallest 2^e with both ends, rounded, in [-span, span - 1]; 1 where both are 0,
    NaN where they are.

    With the larger magnitude m * 2^k, 1/2 <= m < 1, and span = 2^s: the quotient by 2^(k-s) is
    below span, by 2^(k-s-1) it is span at least, by 2^(k-s+1) it rounds to span / 2 at most.
    """
    bits = math.frexp(span)[1] - 1
    for g in range(scales.size):
        above, below = ends[0, g], ends[1, g]
        largest = max(above, below)
        if not largest > 0.0:
            scales[g] = np.nan if above != above else 1.0
            continue
        start = math.frexp(largest)[1] - bits
        power = start + 1
        for candidate in (start, start - 1):
            inside = _rounded(math.ldexp(above, -candidate), mode) <= span - 1.0
            if inside and _rounded(math.ldexp(-below, -candidate), mode) >= -span:
                power = candidate
        scales[g] = math.ldexp(1.0, min(max(power, SMALLEST_EXPONENT), LARGEST_EXPONENT))


def _arbitrary(largest: np.ndarray, span: int) -> np.ndarray:
    """The smallest binary64 number that, times (span - 1), is not below the largest magnitude; 1
    where that is 0.

    The rounded quotient is that number or the one before it.
    """
    quotient = largest / (span - 1)
    short = _short_of(quotient, float(span - 1), largest)
    nearest = np.nextafter(quotient, np.where(short, np.inf, quotient))
    return np.where(largest > 0, nearest, 1.0)


@kept(nogil=True, error_model="numpy")
def _short_of(factor, whole, x):
    """factor * whole < x, exactly."""
    short = np.zeros(x.size, np.bool_)
    for i in range(x.size):
        short[i] = fma(factor[i], whole, -x[i]) < 0.0
    return short


def ends_of_rows(x: np.ndarray, ends: np.ndarray, spoil: bool = False) -> int:
    """The distances of each row's ends from zero; returns how many values are not finite.

    Args:
        x: (rows, n), contiguous.
        ends: (2, rows), written: the largest finite number, and minus the smallest, or 0.
        spoil: write NaN where a value of the row is not finite.
    """
    return _extremes(x.view(np.int64), ends.view(np.int64), spoil)


@kept(nogil=True)
def _extremes(bits, ends, spoil):
    """Numbers above zero are ordered as their bits are. Integers, unlike numbers, may be NaN
    without spoiling a maximum that is taken in any order.
    """
    total = 0
    for g in range(bits.shape[0]):
        top, bottom, bad = np.int64(0), np.int64(0), 0
        for i in range(bits.shape[1]):
            word = bits[g, i]
            finite = (word & ~_SIGN) < _INFINITY
            bad += not finite
            top = max(top, word if finite else 0)
            bottom = max(bottom, (word ^ _SIGN) if finite else 0)
        nan = spoil and bad > 0
        ends[0, g], ends[1, g] = _NAN if nan else top, _NAN if nan else bottom
        total += bad
    return total


def round_rows(
    x: np.ndarray, scales: np.ndarray, span: int, out: np.ndarray, rounding: str = "rn"
) -> tuple[int, int]:
    """out = the integers of rows over their scales; returns how many were saturated and how many
    NaN.

    Args:
        x: (rows, n); what is not finite becomes an end of the range, or 0.
        scales: (rows,); where one is NaN, all integers are 0.
        span: 2^(bits - 1).
        out: (rows, n), written.
        rounding: of `ROUNDINGS`.
    """
    return _round_rows(x, scales, tuple(ROUNDINGS).index(rounding), float(span), out)


@kept(nogil=True, error_model="numpy")
def _round_rows(x, scales, mode, span, out):
    """The scale is m * 2^e: numbers are multiplied by 2^-e in two steps, and divided by m unless it
    is 1.
    """
    saturated, nans = 0, 0
    for g in range(x.shape[0]):
        mantissa, exponent = math.frexp(scales[g])
        exponent = 1 - exponent
        half = exponent >> 1
        first, second = math.ldexp(1.0, half), math.ldexp(1.0, exponent - half)
        divisor = 2.0 * mantissa
        exact = divisor == 1.0
        for i in range(x.shape[1]):
            value = x[g, i] * first * second
            if value == 0.0 and x[g, i] != 0.0:
                value = math.copysign(_TINY, x[g, i])  # underflow: above or below zero still
            whole = _rounded(value, mode) if exact else _rounded_quotient(value, divisor, mode)
            saturated += whole > span - 1.0 or whole < -span
            nans += value != value
            whole = min(max(whole, -span), span - 1.0)
            out[g, i] = np.int32(whole if value == value else 0.0)
    return saturated, nans


@kept(nogil=True, error_model="numpy")
def _rounded(value, mode):
    """The integer by the rounding at this place of `ROUNDINGS`."""
    if mode == 0:
        return np.rint(value)
    if mode == 1:
        return np.trunc(value)
    return np.ceil(value) if mode == 2 else np.floor(value)


@kept(nogil=True, error_model="numpy")
def _rounded_quotient(value, divisor, mode):
    """The exact quotient, rounded to an integer.

    The rounded quotient falls on the exact one's side of every integer and every half, or on the
    integer or half itself; there the sign of the remainder tells the side, and a step that is
    smaller than the distance to the next half is taken to it.
    """
    quotient = value / divisor
    if abs(quotient) < 4503599627370496.0 and 2.0 * quotient == np.floor(2.0 * quotient):
        remainder = fma(-quotient, divisor, value)
        if remainder > 0.0:
            return _rounded(quotient + 2.0**-12, mode)
        if remainder < 0.0:
            return _rounded(quotient - 2.0**-12, mode)
    return _rounded(quotient, mode)
