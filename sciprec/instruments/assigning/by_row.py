"""Techniques that read the format of an operation from its row: one compilation for all formats.

An operation takes its operands rounded to its format, evaluates in binary64, and rounds once.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir
from numba.core import types

from sciprec.instruments.assigning import rows
from sciprec.instruments.assigning.in_format import TakingOperands
from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.formats.float_format import FORMATS
from sciprec.precision.operations.number_types import call_inlined
from sciprec.precision.operations.operation import Operation
from sciprec.precision.rounding.fixed_rounding import constant_at, word_at
from sciprec.precision.rounding.sticky import Sticky, left_of_quotient, odd, two_sum
from sciprec.precision.rounding.words import BIT, F64, I64, V64, apart, call, in_two_parts, jammed

MOST_INLINED = 24
"""Roundings of any kind that are put into a function as they are."""
BINARY64 = Arithmetic(FORMATS["binary64"])


class ByRow(TakingOperands):
    """Rounding to nearest with at most 25 bits, and binary64: products, quotients, sums and roots
    of binary64 may be rounded once more (Figueroa 1995).

    Args:
        counts: "plain" where every operation counts in its row how often it is executed, "atomic"
            where several threads do, else "".

    Attributes:
        ways: to evaluate functions, one of which a row's format wants.
    """

    placed = one_row = True
    ways: tuple[float, ...] = (rows.WIDE, rows.NARROW)

    def __init__(self, counts: str = "") -> None:
        super().__init__(BINARY64, F64, F64, None)
        self.counts = counts

    def taken(self, b, x, row):
        """An operand in the row's format; results of operations with this row are in it."""
        if _number(row) in getattr(x, "rounded_in", ()):
            return x
        return self.from_binary64(b, x, row=row)

    # ---- operations ----------------------------------------------------------------------------

    def div(self, b, x, y, row):
        """x / y, rounded once; x may be the number one as it is."""
        return super().div(b, self.taken(b, x, row), y, row=row)

    def fma(self, b, x, y, z, row):
        """x y + z: rounded to odd in binary64 first."""
        r, error = Sticky.fused(b, x, y, z, exact_product=True)
        return self._of_odd(b, call(b, "fma", x, y, z), r, error, row)

    def sum_of_binary64(self, b, x, y, row):
        """x + y of any binary64 numbers."""
        return self._of_odd(b, b.fadd(x, y), *two_sum(b, x, y), row)

    def _of_odd(self, b, plain, r, error, row):
        """r + error rounded once; `plain` in binary64."""
        finite = b.fcmp_ordered("ord", error, error)
        exact = b.select(finite, odd(b, r, error), plain)
        return self.round(b, b.select(self.is_binary64(b, row), plain, exact), row=row)

    def from_integer(self, b, i, signed: bool, row):
        """Any 64-bit integer, rounded once."""
        plain = (b.sitofp if signed else b.uitofp)(i, F64)
        value = b.select(self.is_binary64(b, row), plain, jammed(b, i, signed))
        return self.round(b, value, row=row)

    # ---- operations that are no methods of all techniques --------------------------------------

    def by_mod(self, context, b, row: Operation, values, ops, key):
        """Python's x % y."""
        return ops._modulus(context, b, self, values, key)

    def by_evaluate(self, context, b, row: Operation, values, ops, key):
        """An elementary function, as the row's format wants it."""
        kinds = (types.int64 if row.of_bits else types.float64,) * len(values)

        def evaluated(way: int):
            if way == 0 and row.platform is not None:
                return ops._native(context, b, row.platform, values, types.float64)
            function = (row.evaluate, row.narrow, row.directed)[way]
            return call_inlined(context, b, function, kinds, values)

        return self.from_binary64(b, self.by_class(b, key, evaluated), row=key)

    def by_of_bits(self, context, b, row: Operation, values, ops, key):
        """A function of a 32-bit integer, as the row's format wants it."""
        if self.counts:
            self.count(b, key, 1)
        return self.by_evaluate(context, b, row, values, ops, key)

    def by_class(self, b, row, evaluated: Callable[[int], ir.Value]):
        """The result of `evaluated`, in the way that the row's format wants."""
        after, incoming = b.append_basic_block("evaluated"), []
        for number, way in enumerate(self.ways):
            last = number == len(self.ways) - 1
            if not last:
                way_block, next_block = b.append_basic_block("way"), b.append_basic_block("others")
                b.cbranch(self.is_of_class(b, row, way), way_block, next_block)
                b.position_at_end(way_block)
            value = evaluated(number)
            incoming.append((value, b.block))
            b.branch(after)
            if not last:
                b.position_at_end(next_block)
        b.position_at_end(after)
        merged = b.phi(F64)
        for value, block in incoming:
            merged.add_incoming(value, block)
        return merged

    def count(self, b, row, runs: int) -> None:
        """Note in a row that its operation is executed."""
        place, more = word_at(b, row, rows.COUNT, I64), ir.Constant(I64, runs)
        if self.counts == "atomic":
            b.atomic_rmw("add", place, more, "monotonic")
        else:
            b.store(b.add(b.load(place), more), place)

    # ---- rounding ------------------------------------------------------------------------------

    def is_binary64(self, b, row):
        """Whether the row's format is binary64."""
        return b.fcmp_ordered("==", constant_at(b, row, rows.SCALE), V64.constant(0.0))

    def is_of_class(self, b, row, number: float):
        """Whether functions are evaluated in this way."""
        return b.fcmp_ordered("==", constant_at(b, row, rows.CLASS), V64.constant(number))

    def round(self, b, r, row):
        """A result of binary64 in the row's format."""
        return _marked(self.finish(b, r, row), row)

    def finish(self, b, r, row):
        """Round by adding and subtracting 1.5 * 2^k, whose spacing is the format's at r."""
        scale, least = constant_at(b, row, rows.SCALE), constant_at(b, row, rows.LEAST)
        power = V64.masked(b, r, V64.exponent)
        power = b.select(b.fcmp_ordered(">", power, least), power, least)
        rounded = call(b, "fma", power, b.fneg(scale), call(b, "fma", power, scale, r))
        beyond = b.fcmp_ordered(">=", call(b, "fabs", r), constant_at(b, row, rows.EDGE))
        rounded = b.select(beyond, constant_at(b, row, rows.LIMIT), rounded)
        return V64.with_sign(b, rounded, V64.sign_word(b, r))


class ByAnyRow(ByRow):
    """Every rounding up to 52 bits, and binary64: from a result and the sign of its error."""

    ways = (*ByRow.ways, rows.DIRECTED)

    def add(self, b, x, y, row):
        return self.sum_of_binary64(b, x, y, row)

    def mul(self, b, x, y, row):
        r = b.fmul(x, y)
        return self._rounded(b, r, call(b, "fma", x, y, b.fneg(r)), row)

    def div(self, b, x, y, row):
        x = self.taken(b, x, row)
        r = b.fdiv(x, y)
        return self._rounded(b, r, left_of_quotient(b, r, x, y), row)

    def sqrt(self, b, x, row):
        r = call(b, "sqrt", x)
        return self._rounded(b, r, call(b, "fma", b.fneg(r), r, x), row)

    def fma(self, b, x, y, z, row):
        r, error = Sticky.fused(b, x, y, z, exact_product=False)
        rounded = self._signed_zero(b, self._rounded(b, r, error, row), r, b.fmul(x, y), z, row)
        plain = call(b, "fma", x, y, z)
        return _marked(b.select(self.is_binary64(b, row), plain, rounded), row)

    def sum_of_binary64(self, b, x, y, row):
        r, error = two_sum(b, x, y)
        return self._signed_zero(b, self._rounded(b, r, error, row), r, x, y, row)

    def from_integer(self, b, i, signed: bool, row):
        return self._rounded(b, *two_sum(b, *in_two_parts(b, i, signed)), row)

    def round(self, b, r, row):
        return self._rounded(b, r, None, row)

    def _rounded(self, b, r, error, row):
        """r + error rounded once, where r is its nearest number in binary64. The code is long: the
        first roundings of a function are put where they are, so that its loops vectorise, further
        ones call a routine, so that the compiler comes to an end.
        """
        error = V64.constant(0.0) if error is None else error
        count = b.function.roundings = getattr(b.function, "roundings", 0) + 1
        if count <= MOST_INLINED:
            return _marked(self._by_rule(b, r, error, row), row)
        rounded = apart(b, "sciprec.rounded_by_rule", F64, self._by_rule, r, error, row)
        return _marked(rounded, row)

    def _by_rule(self, b, r, error, row):
        """Round as `Sticky.finish` does, the format read from the row."""
        sign, size = V64.sign_word(b, r), call(b, "fabs", r)
        inexact = b.fcmp_ordered("!=", error, V64.constant(0.0))
        opposite = b.icmp_unsigned("!=", V64.sign_word(b, error), sign)
        below = b.and_(inexact, opposite)
        size = V64.to_float(b, b.sub(V64.to_word(b, size), b.zext(below, I64)))
        least = constant_at(b, row, rows.LEAST)
        power = V64.masked(b, size, V64.exponent)
        for condition, end in ((">", least), ("<", V64.constant(2.0**900))):
            power = b.select(b.fcmp_ordered(condition, power, end), power, end)
        spacing = b.fmul(power, constant_at(b, row, rows.SPACING))
        y = b.fmul(size, V64.inverse(b, spacing))
        integer = call(b, "floor", y)
        rule = b.load(word_at(b, row, rows.RULE, I64))
        up = self._goes_up(b, rule, integer, b.fsub(y, integer), inexact, sign)
        rounded = b.fmul(b.fadd(integer, b.uitofp(up, F64)), spacing)
        tiny = b.fcmp_ordered("<", rounded, constant_at(b, row, rows.FLUSH))
        rounded = b.select(tiny, V64.constant(0.0), rounded)
        largest, above = constant_at(b, row, rows.LARGEST), constant_at(b, row, rows.LIMIT)
        outward = constant_at(b, row, rows.INFINITE)
        other_limit = b.select(b.fcmp_ordered("==", above, largest), outward, largest)
        negative = b.icmp_unsigned("!=", sign, V64.word(0))
        differs = b.and_(_bit(b, rule, rows.BELOW_IS_OTHER), negative)
        limit = b.select(differs, other_limit, above)
        infinite = b.fcmp_ordered("==", size, V64.constant(float("inf")))
        limit = b.select(infinite, constant_at(b, row, rows.INFINITE), limit)
        rounded = b.select(b.fcmp_ordered(">", rounded, largest), limit, rounded)
        rounded = b.select(b.fcmp_ordered("==", size, V64.constant(float("inf"))), limit, rounded)
        rounded = b.select(b.fcmp_unordered("uno", r, r), r, V64.with_sign(b, rounded, sign))
        return b.select(self.is_binary64(b, row), r, rounded)

    def _goes_up(self, b, rule, integer, fraction, inexact, sign):
        """Whether the row's rule moves what lies between neighbours to the larger one."""
        lost = Sticky._lost(b, integer, fraction, inexact, sign)
        case = ir.Constant(I64, 0)
        for bit, name in enumerate(("some", "more", "tie", "odd", "negative")):
            holds = b.zext(getattr(lost, name).value, I64)
            case = b.or_(case, b.shl(holds, ir.Constant(I64, bit)))
        return b.trunc(b.lshr(rule, case), BIT)

    def _signed_zero(self, b, rounded, r, x, y, row):
        """An exact zero sum of the numbers x and y, -0 where the rounding is downward."""
        rule = b.load(word_at(b, row, rows.RULE, I64))
        zero = V64.to_float(b, b.or_(V64.sign_word(b, x), V64.sign_word(b, y)))
        negative = b.and_(_bit(b, rule, rows.NEGATIVE_ZERO),
                        b.fcmp_ordered("==", r, V64.constant(0.0)))  # fmt: skip
        return _marked(b.select(negative, zero, rounded), row)


def _bit(b, word, number: int):
    return b.trunc(b.lshr(word, ir.Constant(I64, number)), BIT)


def _number(row) -> tuple | int:
    """The identity of a row in the function that is compiled."""
    number = getattr(row, "number", None)
    return id(row) if number is None else (number,)


def _marked(value, row):
    """A value that is known to be in the row's format."""
    value.rounded_in = (_number(row),)
    return value
