"""Single-instruction building blocks of the elementary functions, as Numba intrinsics.

Each of them is one LLVM instruction (or one chain of fused multiply-adds), has no branch and
calls no library, so that a loop over it vectorises and the processor's rounding mode applies.
"""

import re

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy import inf

from sciprec.precision.compiled.lowering import helper, intrinsic_of_operands

DOUBLE = ir.DoubleType()
INTEGER = ir.IntType(64)


def _call(builder, name, arguments):
    """Emit a call of the LLVM intrinsic `name` on binary64 operands."""
    kind = ir.FunctionType(DOUBLE, [DOUBLE] * len(arguments))
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    return builder.call(function, arguments)


@intrinsic
def bits(typingctx, x):
    """The 64 bits of a binary64 number as an int64."""

    def codegen(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], INTEGER)

    return types.int64(types.float64), codegen


@intrinsic
def from_bits(typingctx, pattern):
    """The binary64 number whose bits are those of an int64."""

    def codegen(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], DOUBLE)

    return types.float64(types.int64), codegen


def _of_llvm(name: str, arity: int):
    """An LLVM intrinsic on binary64 numbers."""

    def resolve(typingctx, *operands):
        def codegen(context, builder, signature, arguments):
            return _call(builder, f"llvm.{name}.f64", arguments)

        return types.float64(*[types.float64] * arity), codegen

    return intrinsic_of_operands(arity, resolve)


fma = _of_llvm("fma", 3)
"""fma(a, b, c): a * b + c, rounded once."""
floor = _of_llvm("floor", 1)
"""The largest integer not above x, as a binary64 number."""
sqrt = _of_llvm("sqrt", 1)
"""The square root of x, rounded once in the current mode."""
fabs = _of_llvm("fabs", 1)
"""x with its sign bit cleared."""
copysign = _of_llvm("copysign", 2)
"""copysign(magnitude, sign): `magnitude` with the sign bit of `sign`."""


@intrinsic
def select(typingctx, condition, if_true, if_false):
    """`if_true` where `condition` holds, else `if_false`; both are evaluated, nothing branches.

    The two values are both binary64, or both int64, or both truth values.
    """
    kind = types.float64
    if isinstance(if_true, types.Boolean):
        kind = types.boolean
    elif isinstance(if_true, types.Integer):
        kind = types.int64

    def codegen(context, builder, signature, arguments):
        return builder.select(*arguments)

    return kind(types.boolean, kind, kind), codegen


@intrinsic
def horner(typingctx, x, coefficients):
    """c0 + x * (c1 + x * (c2 + ...)) by fused multiply-adds, from the last coefficient down.

    `coefficients` is a module-level tuple of binary64 numbers, lowest degree first; the chain
    is written out at compile time.
    """

    def codegen(context, builder, signature, arguments):
        variable, table = arguments
        terms = [builder.extract_value(table, i) for i in range(signature.args[1].count)]
        value = terms.pop()
        while terms:
            value = _call(builder, "llvm.fma.f64", [value, variable, terms.pop()])
        return value

    return types.float64(types.float64, coefficients), codegen


inlined = helper(forceinline=True, error_model="numpy", nogil=True)
"""Compile a scalar function so that it vanishes into the loops that call it."""


def distinct(function, label: str):
    """Give a function made by another one a qualified name of its own; returns the function.

    Numba tells functions of one qualified name apart by a counter of the process. Compiled code
    that is loaded from the disk cache carries another process's counters, and could be linked to
    the wrong function: what differs has to differ in its name.
    """
    function.__qualname__ = f"{function.__name__}_{re.sub('[^0-9a-zA-Z]', '_', label)}"
    return function


SHIFTER = 6755399441055744.0
"""3 * 2^51: adding an integer to it leaves that integer in the low bits, exactly in any mode."""
SHIFTER_BITS = 0x4338000000000000
EXPONENT_BIAS = 1023


@inlined
def to_integer(x):
    """The int64 of an integer-valued binary64 number below 2^51 in magnitude."""
    return bits(x + SHIFTER) - SHIFTER_BITS


@inlined
def to_number(k):
    """The binary64 number of an int64 below 2^51 in magnitude."""
    return from_bits(k + SHIFTER_BITS) - SHIFTER


@inlined
def power_of_two(k):
    """2^k for an int64 in [-1022, 1023]."""
    return from_bits((k + EXPONENT_BIAS) << 52)


@inlined
def ufp(x):
    """2^floor(log2 |x|), the unit in the first place of x: exact, 0 of zero, and what infinities
    and NaN have for a size.

    Source: Rump, Ogita & Oishi (2008).
    """
    size = fabs(x)
    small = size < 2.2250738585072014e-308
    pattern = bits(select(small, size * 18014398509481984.0, size)) & 0x7FF0000000000000
    power = from_bits(pattern) * select(small, 5.551115123125783e-17, 1.0)
    return select(size < inf, power, size)


@inlined
def scale(x, k):
    """x * 2^k for an int64 k in [-2044, 2046], in two factors so that only the last one rounds."""
    half = k >> 1
    return x * power_of_two(half) * power_of_two(k - half)


@inlined
def fast_two_sum(a, b):
    """a + b as a rounded sum and its error, for |a| >= |b| or a = 0."""
    total = a + b
    return total, (a - total) + b


@inlined
def two_sum(a, b):
    """a + b as a rounded sum and its error, for any a and b."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@inlined
def two_product(a, b):
    """a * b as a rounded product and its error."""
    product = a * b
    return product, fma(a, b, -product)
