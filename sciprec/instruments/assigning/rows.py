"""Rows of an assignment's table: the format of an operation as eight words, read at run time,
which version of a function a run takes, and how often the operation was executed.

Two layouts. `NEAREST` serves arithmetics that round to nearest with at most 25 bits, subnormals and
no saturation, and binary64; `ANY` every rounding up to 52 bits besides. Words are binary64 numbers
but for `RULE`, whose bits say for each of the 32 cases that `formats.rounding_rules.Lost` tells
apart whether a number goes to the larger one of its neighbours.
"""

from __future__ import annotations

import math

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.formats.fixed_format import FixedFormat
from sciprec.precision.formats.rounding_rules import Lost

WORDS = 10
ROW_BYTES = 8 * WORDS

SCALE, LEAST, EDGE, LIMIT, INFINITE, FLUSH, CLASS, RULE, VERSION, COUNT = range(WORDS)
"""Words of `NEAREST`: 1.5 * 2^(53 - p), or 0 in binary64; the least power of two whose spacing is
that of its binade; the size from which on a result is beyond the range; what it is then; how
functions are evaluated. `ANY` has besides: what an infinite result is; the size below which results
are zeros; the rule. `VERSION` is of the function whose first row this is: the number of the version
that a run takes, from 1, or 0 for none, see `configured`. `COUNT`, an integer, is written by runs
that count their operations."""
SPACING, LARGEST = SCALE, EDGE
"""Of `ANY` in these places: 2^(1 - p), or 0 in binary64; the largest number."""
NEGATIVE_ZERO, BELOW_IS_OTHER = 32, 33
"""Further bits of `RULE`: an exact sum that is zero is -0; of infinity and the largest number, a
result beyond the range below zero is what one above zero is not."""

WIDE, NARROW, DIRECTED = 0.0, 1.0, 2.0
"""How elementary functions are evaluated, see `operation.Operation`."""
NEAREST, ANY = "nearest", "any"
NEAREST_BITS = 25
"""The most bits in which a result of binary64 may be rounded once more (2 p + 2 <= 53)."""


def layout_of(arithmetics) -> str:
    """The layout that serves all of some arithmetics."""
    return NEAREST if all(map(_is_nearest, arithmetics)) else ANY


def _is_nearest(arithmetic: Arithmetic) -> bool:
    fmt = arithmetic.format
    plain = fmt.subnormals and fmt.overflow != "saturate" and fmt.significand_bits <= NEAREST_BITS
    return arithmetic.rounding == "rn" and (plain or fmt.is_binary64)


def require_assignable(arithmetic: Arithmetic, name: str) -> None:
    """Refuse an arithmetic that an operation cannot be given.

    Args:
        name: as it was given.
    """
    fmt = arithmetic.format
    wrong = ""
    if isinstance(fmt, FixedFormat):
        wrong = "is fixed point"
    elif arithmetic.rule.random:
        wrong = "rounds by random bits"
    elif arithmetic.aligned:
        wrong = "aligns the operands of additions"
    elif fmt.significand_bits == 53 and not (fmt.is_binary64 and arithmetic.rounding == "rn"):
        wrong = "has 53 bits and is not binary64 to nearest"
    if wrong:
        raise InputError(
            f"format '{name}' {wrong}; an assignment takes floating-point formats of up to 52 bits "
            "in a rounding without random bits, and fp64"
        )


def row_of(arithmetic: Arithmetic, layout: str) -> np.ndarray:
    """The words of a row, as binary64 numbers."""
    fmt, words = arithmetic.format, np.zeros(WORDS)
    if fmt.is_binary64:
        words[[EDGE, LIMIT, INFINITE]] = math.inf
        if layout == ANY:
            words[EDGE] = fmt.max_finite
            words[RULE] = _rule_bits(arithmetic)
        return words
    words[LEAST] = fmt.min_normal if fmt.subnormals else 0.0
    words[FLUSH] = 0.0 if fmt.subnormals else fmt.min_normal
    outward = math.nan if fmt.overflow == "nan" else math.inf
    above, _ = arithmetic.rule.overflows
    saturates = fmt.overflow == "saturate"
    words[LIMIT] = outward if above and not saturates else fmt.max_finite
    words[INFINITE] = outward
    narrow, directed = fmt.significand_bits <= 24, not arithmetic.rule.nearest
    words[CLASS] = (DIRECTED if directed else NARROW) if narrow else WIDE
    if layout == NEAREST:
        words[SCALE] = 1.5 * 2.0 ** (53 - fmt.significand_bits)
        words[EDGE] = _edge(arithmetic)
    else:
        words[SPACING] = 2.0 ** (1 - fmt.significand_bits)
        words[LARGEST] = fmt.max_finite
        words[RULE] = _rule_bits(arithmetic)
    return words


def _edge(arithmetic: Arithmetic) -> float:
    """The least size that is rounded to nearest beyond the largest number."""
    fmt = arithmetic.format
    step = 2.0 ** (fmt.emax - fmt.significand_bits)
    middle = fmt.max_finite + step
    odd = (fmt.max_finite / (2 * step)) % 2 == 1
    return middle if odd else math.nextafter(middle, math.inf)


def _rule_bits(arithmetic: Arithmetic) -> float:
    """The rule as bits, held in a binary64 number."""
    rule, cases = arithmetic.rule, np.arange(32)
    some, more, tie, odd, negative = ((cases >> bit & 1).astype(bool) for bit in range(5))
    goes_up = np.broadcast_to(rule.up(Lost(some, more, tie, odd, negative)), cases.shape)
    bits = sum(1 << int(case) for case in cases[goes_up])
    bits |= rule.negative_zero << NEGATIVE_ZERO
    above, below = rule.overflows
    differs = above != below and arithmetic.format.overflow != "saturate"
    bits |= differs << BELOW_IS_OTHER
    return float(np.array(bits, np.int64).view(np.float64))
