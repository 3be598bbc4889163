"""Three instructions of the MLU370 for compensated arithmetic, bit for bit.

| instruction | result | registers |
|---|---|---|
| VCOMP.F32 | Rd = Rn + Rm * alpha | mlu370 numbers, carried by binary32 |
| VSCALE.I32 | Rd = (Rn * Rs) >> 32 | 32-bit integers, 64-bit product |
| VACC.I64 | Rd = Rd + sext(Rn), or Rd + Rn * Rm | 64-bit integers |

Each is a function on numbers and on arrays (element by element, with NumPy's broadcasting), and can
be called on numbers from other jitted code, where operands are converted as a register write does:
floats are truncated to the format, integers keep their low bits. From Python, integers that a
register cannot hold are refused.

In a kernel lifted to `mlu370`, `x + r * alpha` is VCOMP.F32 by itself; write it so there.

Source: published description of the Cambricon MLU370 (names, operands and results).
Differs from the source: the description leaves open how VCOMP.F32 rounds between product and sum,
    what a shift does to a negative number, and what VACC.I64 does beyond its range. Here the
    product is rounded and then the sum (`fused=True`: once, after the sum); the shift is
    arithmetic, which rounds toward minus infinity; the accumulator wraps (`saturate=True`: stops at
    its ends), and the sums that left the range are counted.
"""

import math

import numpy as np
from numba import types, vectorize
from numba.extending import overload

from sciprec.foundation.errors import InputError
from sciprec.precision.compiled.disk_cache import keep, kept
from sciprec.precision.elementary.bits import bits, from_bits, two_sum
from sciprec.precision.formats.float_format import FORMATS

_FORMAT = FORMATS["mlu370"]
_SMALLEST, _LARGEST = _FORMAT.min_normal, _FORMAT.max_finite
_KEPT_BITS = -(1 << (53 - _FORMAT.significand_bits))  # mask of a binary64 number's first 21 bits
_LEAST_I64, _GREATEST_I64 = -(2**63), 2**63 - 1

_scalar = kept(nogil=True, error_model="numpy")


def _elementwise(function):
    return keep(vectorize(nopython=True)(function))



@_scalar
def truncated(x, error):
    """x + error, truncated to an mlu370 number; |error| is at most half a last place of x.

    Flushes below 2^-126, stops at the largest number, keeps infinities and NaN.
    """
    if not math.isfinite(x):
        return x
    pattern = bits(x)
    if error != 0.0 and (error < 0.0) != (x < 0.0):
        pattern -= 1  # the exact number lies between x and its neighbour nearer to zero
    result = from_bits(pattern & _KEPT_BITS)
    if abs(result) < _SMALLEST:
        return math.copysign(0.0, x)
    if abs(result) > _LARGEST:
        return math.copysign(_LARGEST, x)
    return result


@_scalar
def _vcomp(rn, rm, alpha, fused):
    """VCOMP.F32 on binary64 operands: products of 21 bits are exact in 53, sums have two parts."""
    augend = truncated(np.float64(rn), 0.0)
    product = truncated(np.float64(rm), 0.0) * truncated(np.float64(alpha), 0.0)
    if not fused:
        product = truncated(product, 0.0)
    total, error = two_sum(augend, product)
    return np.float32(truncated(total, error))


@_scalar
def _vscale(rn, rs):
    """VSCALE.I32 on the low 32 bits of both operands."""
    return np.int32((np.int64(np.int32(rn)) * np.int64(np.int32(rs))) >> 32)


@_scalar
def _vacc(rd, rn, rm):
    """The wrapped sum rd + rn * rm, and whether the exact one leaves 64 bits.

    A product of two 32-bit integers is at most 2^62 in magnitude, so that only the sum can leave.
    """
    product = np.int64(np.int32(rn)) * np.int64(np.int32(rm))
    total = np.int64(np.uint64(rd) + np.uint64(product))
    return total, ((rd ^ total) & (product ^ total)) < 0


@_scalar
def _vacc_bounded(rd, rn, rm, saturate):
    """rd + rn * rm, wrapped or stopped at the end of the range that the sum left by."""
    total, leaves = _vacc(rd, rn, rm)
    if leaves and saturate:
        return np.int64(_LEAST_I64) if rd < 0 else np.int64(_GREATEST_I64)
    return total


@_scalar
def _vacc_leaves(rd, rn, rm):
    """Whether rd + rn * rm leaves 64 bits."""
    return _vacc(rd, rn, rm)[1]


@_elementwise
def _vcomp_elements(rn, rm, alpha, fused):
    return _vcomp(rn, rm, alpha, fused)


@_elementwise
def _vscale_elements(rn, rs):
    return _vscale(rn, rs)


@_elementwise
def _vacc_elements(rd, rn, rm, saturate):
    return _vacc_bounded(rd, rn, rm, saturate)


@_elementwise
def _leaving_elements(rd, rn, rm):
    return _vacc_leaves(rd, rn, rm)


@_scalar
def _accumulated(rn, rm, start, saturate):
    """(sum, number of sums that left the range) of the products in order."""
    total, overflows = start, 0
    for i in range(rn.size):
        overflows += _vacc_leaves(total, rn[i], rm[i])
        total = _vacc_bounded(total, rn[i], rm[i], saturate)
    return total, overflows


def vcomp_f32(rn, rm, alpha, fused=False):
    """VCOMP.F32: rn + rm * alpha in mlu370 arithmetic.

    Args:
        rn, rm, alpha: numbers or arrays (float64, float32, float16, integers of up to 32 bits);
            each is truncated to an mlu370 number first.
        fused: round once, after the sum, instead of after the product and after the sum.

    Returns:
        A float32 number, or a float32 array of the broadcast shape.

    Raises:
        InputError: text, complex numbers or 64-bit integers, which do not reach the register
            by one rounding.

    Precision:
        Product and sum each truncated toward zero to 21 bits: the error is below
        2^-20 (|rm alpha| + |result|), or 2^-20 |result| if fused. Numbers below 2^-126 are zero;
        beyond the largest number the result stays there.
    """
    named = {"rn": rn, "rm": rm, "alpha": alpha}
    operands = [_real("vcomp_f32", name, value) for name, value in named.items()]
    with np.errstate(all="ignore"):  # the processor's flags of binary64 say nothing about mlu370
        return _vcomp_elements(*operands, bool(fused))


def vscale_i32(rn, rs):
    """VSCALE.I32: (rn * rs) >> 32, the upper word of the 64-bit product.

    rs is a fraction in units of 2^-32: the result is floor(rn * (rs / 2^32)), so that factors from
    -1/2 to just below 1/2 can be applied; rn = -1 and rs = 1 give -1.

    Args:
        rn, rs: integers or integer arrays in [-2^31, 2^31).

    Returns:
        An int32 number, or an int32 array of the broadcast shape; it lies in [-2^30, 2^30].

    Raises:
        InputError: no integers, or integers outside 32 bits.

    Precision:
        Rounded toward minus infinity: the error lies in [0, 1), and averages 1/2. VACC.I64 with
        the lower word of the last result in its accumulator has no such bias (`rescaled_update`).
    """
    return _vscale_elements(_word("vscale_i32", "rn", rn), _word("vscale_i32", "rs", rs))


def vacc_i64(rd, rn, rm=1, saturate=False):
    """VACC.I64: rd + rn, or rd + rn * rm, in a 64-bit accumulator.

    Args:
        rd: integers or integer arrays in [-2^63, 2^63): the accumulator.
        rn, rm: integers or integer arrays in [-2^31, 2^31); left out, rm is 1.
        saturate: stop at the ends of the range instead of wrapping in two's complement.

    Returns:
        An int64 number, or an int64 array of the broadcast shape.

    Raises:
        InputError: no integers, or integers that do not fit.

    Precision:
        Exact while `vacc_leaves` is false. Two products of -2^31 by -2^31 already leave: full-scale
        operands have no headroom.
    """
    return _vacc_elements(*_accumulator_operands("vacc_i64", rd, rn, rm), bool(saturate))


def vacc_leaves(rd, rn, rm=1):
    """Whether rd + rn * rm leaves the 64-bit accumulator: what counts the overflows of vacc_i64.

    Args:
        rd, rn, rm: as in vacc_i64.

    Returns:
        A truth value, or a boolean array of the broadcast shape.

    Raises:
        InputError: no integers, or integers that do not fit.
    """
    return _leaving_elements(*_accumulator_operands("vacc_leaves", rd, rn, rm))


def accumulate_i64(rn, rm=1, start=0, saturate=False):
    """A whole vector through one accumulator: VACC.I64 for each element, in order.

    Args:
        rn: integers (n,) in [-2^31, 2^31).
        rm: an integer or integers (n,), likewise.
        start: the accumulator before the first element.
        saturate: as in vacc_i64.

    Returns:
        (total, overflows): the accumulator, and how many of the n sums left its range. Wrapped
        sums with overflows can still end in range: the total is exact if overflows is 0.

    Raises:
        InputError: no integers, integers that do not fit, or shapes that do not match.
    """
    terms = np.atleast_1d(_word("accumulate_i64", "rn", rn))
    factors = _word("accumulate_i64", "rm", rm)
    begin = _integers("accumulate_i64", "start", start, np.int64)
    if terms.ndim != 1 or np.shape(factors) not in ((), terms.shape) or np.ndim(begin):
        raise InputError(
            f"accumulate_i64 was given rn of shape {np.shape(rn)}, rm of shape {np.shape(rm)} and "
            f"start of shape {np.shape(start)}; accepted: one vector, factors of its length or one "
            "number, and one number to start from"
        )
    factors = np.ascontiguousarray(np.broadcast_to(factors, terms.shape))
    total, overflows = _accumulated(np.ascontiguousarray(terms), factors, begin, bool(saturate))
    return np.int64(total), int(overflows)


def _accumulator_operands(name, rd, rn, rm):
    """rd as int64, rn and rm as int32."""
    return _integers(name, "rd", rd, np.int64), _word(name, "rn", rn), _word(name, "rm", rm)


def _word(name, register, value):
    """An operand as int32."""
    return _integers(name, register, value, np.int32)


def _integers(name, register, value, dtype):
    """An operand as integers of a dtype, refused where it does not fit."""
    operand, limits = np.asarray(value), np.iinfo(dtype)
    if operand.size == 0 and operand.dtype.kind in "iuf":
        return operand.astype(dtype)
    if operand.dtype.kind in "iu" and limits.min <= operand.min() and operand.max() <= limits.max:
        return operand.astype(dtype)[()]
    raise InputError(
        f"{name} was given {register} = {_text(operand)}; accepted: whole numbers from "
        f"-2^{limits.bits - 1} to 2^{limits.bits - 1} - 1, which a {limits.bits}-bit register "
        "holds; convert floats with adaptive_quantize"
    )


def _real(name, register, value):
    """An operand as float64, refused where that is not exact."""
    array = np.asarray(value)
    narrow = array.dtype.kind == "f" and array.dtype.itemsize <= 8
    integral = array.dtype.kind in "iu" and array.size > 0
    if narrow or (integral and -(2**53) <= array.min() and array.max() <= 2**53):
        return array.astype(np.float64)[()]
    raise InputError(
        f"{name} was given {register} = {_text(array)}; accepted: real numbers of at most 64 bits,"
        " whole numbers up to 2^53; convert with np.float64(x)"
    )


def _text(operand):
    """An operand in a message."""
    if operand.ndim == 0:
        return repr(operand.item())
    extremes = ""
    if operand.dtype.kind in "iu" and operand.size:
        extremes = f" from {operand.min()} to {operand.max()}"
    return f"an array of {operand.dtype}{extremes}"


def _numbers(*kinds):
    """Whether all types are single numbers (defaults of left-out arguments included)."""
    return all(isinstance(k, (types.Number, types.Boolean, int, float)) for k in kinds)


def _are_integers(*kinds):
    """Whether all types are single integers."""
    return all(isinstance(k, (types.Integer, int)) for k in kinds)


@overload(vcomp_f32)
def _vcomp_f32_in_kernels(rn, rm, alpha, fused=False):
    if _numbers(rn, rm, alpha):
        return lambda rn, rm, alpha, fused=False: _vcomp(rn, rm, alpha, fused)


@overload(vscale_i32)
def _vscale_i32_in_kernels(rn, rs):
    if _are_integers(rn, rs):
        return lambda rn, rs: _vscale(rn, rs)


@overload(vacc_i64)
def _vacc_i64_in_kernels(rd, rn, rm=1, saturate=False):
    if _are_integers(rd, rn, rm):
        return lambda rd, rn, rm=1, saturate=False: _vacc_bounded(np.int64(rd), rn, rm, saturate)


@overload(vacc_leaves)
def _vacc_leaves_in_kernels(rd, rn, rm=1):
    if _are_integers(rd, rn, rm):
        return lambda rd, rn, rm=1: _vacc_leaves(np.int64(rd), rn, rm)
