"""Scaled places of short formats, in binary32: each result by the format's own rounding.

A place has the scale 2^k. Its results are r = round(2^k r) / 2^k with the format's own rounding:
two exact products more than that takes. Scales go from 2^-100 to 2^100, so that binary32 holds
every number of every place, and what leaves binary32 leaves the ranges of all places.

The format has at most 11 bits. Two roundings, to the 24 bits of binary32 and to its own, are one
then, of products, quotients and roots of numbers of the format at any scale (Figueroa 1995; their
distance from a middle of neighbours is 0 or more than binary32 loses, also where a subnormal has
fewer bits). Of a sum, too, unless binary32 gives one operand x itself, and loses the other: x may
be a middle of neighbours of the result's place. Then x is moved a little to that side. (Where
something is lost of x + y, |y| is below 2^-12 |x|, and x is the only middle within that distance.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from llvmlite import ir

from sciprec.instruments.assigning.operations import operations_by
from sciprec.precision.formats.backend import Arithmetic, Backend, uniform_backend
from sciprec.precision.formats.float_format import Format
from sciprec.precision.operations.intrinsics import Operations
from sciprec.precision.rounding.instructions import Grid
from sciprec.precision.rounding.native import Native
from sciprec.precision.rounding.sticky import odd
from sciprec.precision.rounding.technique import rounder
from sciprec.precision.rounding.variant import RowVariant
from sciprec.precision.rounding.words import F32, F64, I64, V32, V64, call, invariant, jammed

REACH = 100
"""The largest and the smallest scale of such a place are 2^100 and 2^-100."""
MOST_BITS = 11
OPERATIONS_SERVED = frozenset(
    {"add", "sub", "mul", "div", "sqrt", "square", "accumulate", "product"}
)
"""Of those that round. Others are evaluated in binary64."""
_ROW_BYTES = 8


@lru_cache(maxsize=256)
def serves(arithmetic: Arithmetic) -> bool:
    """Whether binary32 holds every place of an arithmetic, and rounds into it."""
    fmt = arithmetic.format
    if not isinstance(fmt, Format) or fmt.significand_bits > MOST_BITS:
        return False
    in_range = fmt.emax + REACH <= 126 and fmt.emin - fmt.significand_bits + 1 - REACH >= -125
    if not in_range or arithmetic.rounding != "rn" or not arithmetic.fits_binary32:
        return False
    base = rounder(arithmetic, F32, 0)
    return isinstance(base, Grid) and base.evaluation == F32


def table(exponents: Sequence[int]) -> np.ndarray:
    """Rows of places with the scales 2^k (sites + 1, 2): 2^k and 2^-k."""
    k = np.array([*exponents, 0])
    return np.stack([np.ldexp(1.0, k), np.ldexp(1.0, -k)], axis=1).astype(np.float32)


class _FormatAtScale(Native):
    """Operations of a known format at the scale of their row, on binary32 variables.

    Args:
        arithmetic: one that is served.
    """

    placed = takes = one_row = True

    def __init__(self, arithmetic: Arithmetic) -> None:
        super().__init__(arithmetic, F32, F32, None)
        self.base = rounder(arithmetic, F32, 0)

    def taken(self, b, x, row):
        """An operand as it is."""
        return x

    def round(self, b, r, row):
        """A result of binary32, rounded at its place."""
        scale, back = (_factor(b, row, index) for index in range(2))
        return b.fmul(self.base.finish(b, b.fmul(r, scale)), back)

    def add(self, b, x, y, row):
        """x + y, rounded once; so are the operations below."""
        scale, back = (_factor(b, row, index) for index in range(2))
        total, least = b.fadd(x, y), V32.constant(self.format.min_normal)
        plain, before = b.fmul(total, scale), b.block
        with b.if_then(b.fcmp_ordered("<", call(b, "fabs", plain), least), likely=False):
            lost = b.select(b.fcmp_ordered("==", total, y), x, V32.constant(0.0))
            lost = b.select(b.fcmp_ordered("==", total, x), y, lost)
            moved, inside = b.fmul(plain, _toward(b, total, lost)), b.block
        scaled = b.phi(F32)
        scaled.add_incoming(plain, before)
        scaled.add_incoming(moved, inside)
        return b.fmul(self.base.finish(b, scaled), back)

    def from_binary32(self, b, x, row):
        """Any binary32 number."""
        return self.round(b, x, row)

    def from_binary64(self, b, x, row):
        """Any binary64 number."""
        r = b.fptrunc(x, F32)
        error = b.fmul(b.fsub(x, b.fpext(r, F64)), V64.constant(2.0**200))  # its sign alone counts
        return self.round(b, odd(b, r, b.fptrunc(error, F32), V32), row)

    def from_integer(self, b, i, signed: bool, row):
        """Any 64-bit integer."""
        return self.from_binary64(b, jammed(b, i, signed), row)


def _toward(b, total, lost):
    """A factor that moves a number by a unit or two in the last place to where `lost` points."""
    same = b.icmp_signed(">=", b.xor(V32.to_word(b, total), V32.to_word(b, lost)), V32.word(0))
    factor = b.select(same, V32.constant(1.0 + 2.0**-23), V32.constant(1.0 - 2.0**-23))
    return b.select(b.fcmp_ordered("!=", lost, V32.constant(0.0)), factor, V32.constant(1.0))


def _factor(b, row, index: int):
    """A number of a row that no kernel changes."""
    address = b.add(row, ir.Constant(I64, 4 * index)) if index else row
    return invariant(b, b.inttoptr(address, F32.as_pointer()))


def variant(arithmetic: Arithmetic) -> RowVariant:
    """The use that operations of an arithmetic make of rows."""
    return RowVariant(f"scaled, {arithmetic.format.name}", _ROW_BYTES)


@lru_cache(maxsize=64)
def backend(arithmetic: Arithmetic) -> Backend:
    """The significands of an arithmetic with the exponents of binary32: of variables, literals."""
    bits = arithmetic.format.significand_bits
    wide = Format(f"{bits} bits of binary32", bits, -126, 127)
    return uniform_backend(f"{bits} bits, scaled", Arithmetic(wide))


def holds(literals: Sequence[float]) -> bool:
    """Whether literals keep the bits of a format in binary32."""
    sizes = [abs(x) for x in literals if x != 0.0 and math.isfinite(x)]
    return all(2.0**-REACH <= x <= 2.0**REACH for x in sizes)


@lru_cache(maxsize=64)
def operations_in(arithmetic: Arithmetic) -> Operations:
    """The (shared) operations of an arithmetic at the scales of their rows."""
    return operations_by(_FormatAtScale(arithmetic), variant(arithmetic), backend(arithmetic))
