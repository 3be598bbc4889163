"""Profiles: binary64 operations that note in their row what they made.

A number is counted once, by its exponent, among zeros, or among infinities and NaN: their sum says
how often the operation ran. Most numbers are neither the largest nor the smallest so far, which a
look tells; to change a word that several threads share is a dozen times as dear.
"""

from llvmlite import ir
from numba.core import cgutils

from sciprec.precision.rounding import fixed_rounding
from sciprec.precision.rounding.around import Around
from sciprec.precision.rounding.fixed_rounding import word_at
from sciprec.precision.rounding.words import F64, I64, V64, ZERO, apart, call

BINS = 120
LEAST_EXPONENT = -80
"""The first bin counts numbers below 2^(LEAST_EXPONENT + 1), the last everything above."""
LARGEST, SMALLEST, ZEROS, UNUSABLE, BINS_AT = range(5)
"""Words of a row: the largest size and the smallest but zero (binary64), zeros, infinities and NaN
(integers), and how many bytes from the row sizes by exponent (integers) begin."""
ROW_BYTES = fixed_rounding.ROW_BYTES
"""As in fixed point: a kernel's code may be one for both (see `operations.shared_rows`)."""


class SizeRecording(Around):
    """A rounding whose results are noted, and will have units: binary64's."""

    in_units = True

    def result(self, b, name, operands, r, row):
        """r; its row is brought up to date (in any order, on any thread)."""
        return r if name == "from_integer" else noted(b, r, row)


def noted(b, r, row):
    """The number r; its row is brought up to date."""
    return apart(b, "sciprec.noted", F64, _noted, r, row)


def _noted(b, r, row):
    """The body of `noted`."""
    size = call(b, "fabs", r)
    word = V64.to_word(b, size)
    finite = b.fcmp_ordered("<", size, V64.constant(float("inf")))
    zero = b.fcmp_ordered("==", r, ZERO)
    usable = b.and_(finite, b.not_(zero))
    exponent = b.sub(b.lshr(word, ir.Constant(I64, 52)), ir.Constant(I64, 1023))
    number = b.sub(exponent, ir.Constant(I64, LEAST_EXPONENT))
    for condition, limit in (("<", 0), (">", BINS - 1)):
        edge = ir.Constant(I64, limit)
        number = b.select(b.icmp_signed(condition, number, edge), edge, number)
    of_bin = b.add(b.load(word_at(b, row, BINS_AT, I64)), b.mul(number, ir.Constant(I64, 8)))
    of_unusual = b.select(zero, ir.Constant(I64, 8 * ZEROS), ir.Constant(I64, 8 * UNUSABLE))
    counter = b.inttoptr(b.add(row, b.select(usable, of_bin, of_unusual)), I64.as_pointer())
    b.atomic_rmw("add", counter, ir.Constant(I64, 1), "monotonic")
    with b.if_then(usable):
        for index, beyond, keep in ((LARGEST, ">", "umax"), (SMALLEST, "<", "umin")):
            place = word_at(b, row, index, I64)
            extreme = b.load_atomic(place, "monotonic", 8)
            with cgutils.if_unlikely(b, b.icmp_unsigned(beyond, word, extreme)):
                b.atomic_rmw(keep, place, word, "monotonic")
    return r
