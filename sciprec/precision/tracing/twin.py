"""The exact value beside a tested one, and what happens to it, operation by operation.

The exact value is an unevaluated sum of two binary64 numbers, high + low, along the path of the
tested run: what the sum of all parts is checked with. Every operation notes in its row how often it
ran, by how much a relative error grew in it, where numbers left the range, and decisions that exact
values would have made otherwise. A row may ask for its results to be *healed*: replaced by exact
ones, rounded to the format; or to be *held*, if one is NaN, infinite or has vanished: replaced by
the exact one, rounded, or by 1 of its sign where that leaves the range of the format, too.

Runs with such rows take one thread: notes are plain words.
"""

from __future__ import annotations

from llvmlite import ir

from sciprec.precision.rounding.words import F64, I64, V64, call, routine
from sciprec.precision.tracing import rows
from sciprec.precision.tracing.technique import Companion, two_sum


class Twin(Companion):
    """The exact value of a number beside it: high + low."""

    words = rows.EXAMINED_WORDS

    def pair(self, b, x):
        """The exact value's two numbers."""
        return self.lane(b, x, 0), self.lane(b, x, 1)

    def with_pair(self, b, value, high, low):
        """A number of a tested value and an exact one; the rest of an infinity, or of what is made
        of one, is nothing.
        """
        zero, known = V64.constant(0.0), b.and_(rows.is_finite(b, high), rows.is_finite(b, low))
        low = b.select(known, low, zero)
        none = b.fcmp_ordered("==", low, zero)
        total = b.select(none, high, b.fadd(high, low))  # a zero keeps its sign
        rest = b.select(rows.is_finite(b, total), b.fsub(low, b.fsub(total, high)), zero)
        beside = ir.Constant(self.beside_kind, None)
        for place, number in enumerate((total, rest)):
            beside = b.insert_element(beside, number, ir.Constant(I64, place))
        return self.made(b, value, beside)

    def settled(self, b, x):
        """The same number as one that was stored: the rest is no negative zero."""
        rest = b.fadd(self.lane(b, x, 1), V64.constant(0.0))
        beside = b.insert_element(self.beside(b, x), rest, ir.Constant(I64, 1))
        return self.made(b, self.value(b, x), beside)

    def exactly(self, b, value):
        """A tested value without error."""
        return self.with_pair(b, value, value, V64.constant(0.0))

    # ---- notes ---------------------------------------------------------------------------------

    def finished(self, b, rounded, plain, pair, operands, row):
        """The number that an operation made, noted in its row.

        Args:
            rounded: the tested result.
            plain: the same in binary64.
            pair: the exact one.
            operands: the numbers that it was made of.
        """
        made = self.with_pair(b, rounded, *pair)
        worst, finite = V64.constant(0.0), ir.Constant(ir.IntType(1), 1)
        if not operands:  # an infinity that is given is no event
            finite = rows.is_finite(b, plain)
        for operand in operands:
            tested = self.value(b, operand)
            error = rows.relative_error(b, tested, *self.pair(b, operand))
            worst = b.select(b.fcmp_unordered(">", error, worst), error, worst)
            finite = b.and_(finite, rows.is_finite(b, tested))
        kinds = (F64, F64, F64, F64, F64, ir.IntType(1), I64)
        noted = routine(
            b.module, rows.named("finished", self.arithmetic), F64, kinds, self._finished
        )
        values = (rounded, plain, *self.pair(b, made), worst, finite, row)
        return self.with_value(b, made, b.call(noted, values))

    def _finished(self, b, rounded, plain, high, low, worst, finite, row):
        """The body of `finished`: the tested value, healed where the row asks for it."""
        clock = rows.ticked(b, row)
        unit = V64.constant(2.0**-self.format.significand_bits)
        before = b.select(b.fcmp_ordered(">", worst, unit), worst, unit)
        grown = b.fdiv(rows.relative_error(b, rounded, high, low), before)
        known = rows.load(b, row, rows.LOST, F64)
        grows = b.and_(finite, b.fcmp_ordered(">", grown, known))
        rows.store(b, b.select(grows, grown, known), row, rows.LOST)
        rounds = b.zext(b.fcmp_unordered("!=", rounded, plain), I64)
        rows.store(b, b.add(rows.load(b, row, rows.ROUNDED), rounds), row, rows.ROUNDED)
        healed = self._widened(b, self.base.from_binary64(b, high))
        of_tested, of_exact = self._events(b, rounded, plain), self._events(b, healed, high)
        endless = b.not_(rows.is_finite(b, high))
        for event, condition in of_tested.items():
            seen = b.and_(condition, finite)
            rows.happened(b, row, event, seen, clock, of_exact[event], endless)
        left = b.or_(b.not_(rows.is_finite(b, rounded)), of_tested[rows.VANISHED])
        beyond = b.or_(b.not_(rows.is_finite(b, healed)), of_exact[rows.VANISHED])
        inside = b.select(beyond, call(b, "copysign", V64.constant(1.0), high), healed)
        held = b.select(b.and_(left, b.not_(endless)), inside, rounded)
        return self._treated(b, rounded, healed, held, row)

    def _events(self, b, rounded, plain) -> dict:
        """Word of an event -> whether a result and its rounding are one."""
        beyond = b.fcmp_ordered(">", call(b, "fabs", plain), V64.constant(self.format.max_finite))
        zero = V64.constant(0.0)
        return {
            rows.NO_NUMBER: b.fcmp_unordered("uno", rounded, rounded),
            rows.INFINITE: b.fcmp_ordered("==", call(b, "fabs", rounded), _infinity()),
            rows.SATURATED: b.and_(rows.is_finite(b, rounded), beyond),
            rows.VANISHED: b.and_(b.fcmp_ordered("==", rounded, zero),
                                  b.fcmp_ordered("!=", plain, zero)),
        }  # fmt: skip

    def _treated(self, b, rounded, healed, held, row):
        treatment, header = rows.load(b, row, rows.TREATMENT), rows.header_of(b, row)
        steps = (rows.load(b, header, word) for word in (rows.STEP, rows.HEALED_STEP))
        now = b.and_(b.icmp_signed("==", *steps), _is(b, treatment, rows.HEALED_IN_ONE_STEP))
        heals = b.or_(_is(b, treatment, rows.HEALED), now)
        treated = b.select(heals, healed, rounded)
        return b.select(_is(b, treatment, rows.HELD), held, treated)

    def compared(self, b, sign: str, x, y, tested, row):
        """What a comparison of numbers decides; note whether the exact ones compare otherwise,
        which a row may ask to decide, until the run has come to its stop.
        """
        (u, u_low), (v, v_low) = self.pair(b, x), self.pair(b, y)
        difference = b.fadd(b.fsub(u, v), b.fsub(u_low, v_low))
        compare = b.fcmp_unordered if sign == "!=" else b.fcmp_ordered
        exact = compare(sign, difference, V64.constant(0.0))
        known = rows.is_finite(b, difference)
        rows.decided(b, b.and_(known, b.xor(exact, tested)), row)
        header, asked = rows.header_of(b, row), rows.load(b, row, rows.TREATMENT)
        goes = b.icmp_signed("<", *(rows.load(b, header, word) for word in (rows.CLOCK, rows.STOP)))
        heals = b.and_(_is(b, asked, rows.HEALED), b.and_(goes, known))
        return b.select(heals, exact, tested)

    def stepped(self, b, function, x, tested, row) -> None:
        """Note a function that is constant between steps, and whether the exact value is on
        another one.
        """
        high, low = self.pair(b, x)
        exact = function(high)
        whole = b.fcmp_ordered("==", high, exact)  # low decides on which side of a step it is
        below = b.and_(whole, b.fcmp_ordered("<", low, V64.constant(0.0)))
        other = b.fsub(exact, V64.constant(1.0))
        exact = b.select(b.and_(below, b.fcmp_ordered("<", function(other), exact)), other, exact)
        differs = b.fcmp_ordered("!=", exact, tested)
        rows.decided(b, b.and_(rows.is_finite(b, exact), differs), row)

    def passed(self, b, index, row, outermost: bool) -> None:
        """Note that a loop begins a pass."""
        rows.counted_pass(b, row, index, outermost)

    def ended(self, b, row) -> None:
        """Note that an outermost loop has ended."""
        rows.next_step(b, row)

    # ---- operations ----------------------------------------------------------------------------

    def entered(self, b, x, rounded, rest, row):
        """A plain number x + rest that was rounded."""
        pair = x, V64.constant(0.0) if rest is None else rest
        return self.finished(b, rounded, x, pair, (), row)

    def rerounded(self, b, x, rounded, row, operands=None, rest=None):
        """A number that was rounded once more; what is beside x knows of a rest."""
        operands = (x,) if operands is None else operands
        return self.finished(b, rounded, self.value(b, x), self.pair(b, x), operands, row)

    def _sum(self, b, x, y, rounded, row, sign: int):
        other = self.pair(b, y) if sign > 0 else [b.fneg(n) for n in self.pair(b, y)]
        join = b.fadd if sign > 0 else b.fsub
        plain = join(self.value(b, x), self.value(b, y))
        pair = _plus(b, self.pair(b, x), other)
        return self.finished(b, rounded, plain, pair, (x, y), row)

    def mul(self, b, x, y, row):
        """x y."""
        values = self.value(b, x), self.value(b, y)
        pair = _times(b, self.pair(b, x), self.pair(b, y))
        rounded = self._tested(b, "mul", *values)
        return self.finished(b, rounded, b.fmul(*values), pair, (x, y), row)

    def fma(self, b, x, y, z, row):
        """x y + z."""
        values = [self.value(b, n) for n in (x, y, z)]
        product = _times(b, self.pair(b, x), self.pair(b, y))
        pair, plain = _plus(b, product, self.pair(b, z)), call(b, "fma", *values)
        return self.finished(b, self._tested(b, "fma", *values), plain, pair, (x, y, z), row)

    def div(self, b, x, y, row):
        """x / y."""
        values = self.value(b, x), self.value(b, y)
        (u, u_low), (v, v_low) = self.pair(b, x), self.pair(b, y)
        quotient = b.fdiv(u, v)
        rest = b.fadd(call(b, "fma", b.fneg(quotient), v, u), u_low)
        rest = b.fsub(rest, b.fmul(quotient, v_low))
        pair = quotient, b.fdiv(rest, v)
        rounded = self._tested(b, "div", *values)
        return self.finished(b, rounded, b.fdiv(*values), pair, (x, y), row)

    def sqrt(self, b, x, row):
        """The square root of x."""
        value, (u, u_low) = self.value(b, x), self.pair(b, x)
        root = call(b, "sqrt", u)
        rest = b.fadd(call(b, "fma", b.fneg(root), root, u), u_low)
        rest = b.fdiv(rest, b.fadd(root, root))
        zero = V64.constant(0.0)
        pair = root, b.select(b.fcmp_ordered("==", root, zero), zero, rest)
        rounded = self._tested(b, "sqrt", value)
        return self.finished(b, rounded, call(b, "sqrt", value), pair, (x,), row)

    def magnitude(self, b, x, row=None):
        """|x|."""
        high, low = self.pair(b, x)
        negative = b.fcmp_ordered("<", high, V64.constant(0.0))
        high, low = call(b, "fabs", high), b.select(negative, b.fneg(low), low)
        return self.with_pair(b, call(b, "fabs", self.value(b, x)), high, low)

    def chosen(self, b, x, y, first, sign: float):
        """max(x, y), of the sign -1 min; the exact one of exact values, but of an operand that is
        no number any more in the tested run, whose error cannot be split.
        """
        (u, u_low), (v, v_low) = self.pair(b, x), self.pair(b, y)
        exact = b.fadd(b.fsub(u, v), b.fsub(u_low, v_low))
        known = b.and_(*(rows.is_finite(b, self.value(b, operand)) for operand in (x, y)))
        otherwise = b.and_(known, self.decides_otherwise(b, exact, first, sign))
        return b.select(b.xor(first, otherwise), x, y)

    def difference(self, b, x, y, factor):
        """x - factor y, where the factor is exact: what is beside it."""
        scaled = _times(b, self.pair(b, y), (b.fneg(factor), V64.constant(0.0)))
        made = self.with_pair(b, self.value(b, x), *_plus(b, self.pair(b, x), scaled))
        return self.beside(b, made)

    def of_function(self, b, values, tested, near, function):
        """A function's value `near`, and its exact one: to binary64, or with its residual. Of one
        that is not seen the own rounding counts as exact.
        """
        highs, lows = zip(*(self.pair(b, v) for v in values), strict=True)
        nothing = V64.constant(0.0)
        exact = function.value(*highs)
        low = function.rest(highs, exact) or nothing
        if not function.is_seen:
            unseen = b.fsub(near, function.value(*tested))
            low = b.select(rows.is_finite(b, unseen), unseen, nothing)
        if len(values) == 1:
            slope = function.slope(highs[0], b.fneg(lows[0]), exact)
            low = b.fadd(low, _unless_zero(b, lows[0], slope))
        else:
            for first in (True, False):
                own, other = (0, 1) if first else (1, 0)
                slope = function.slope_along(first, highs[own], nothing, highs[other])
                low = b.fadd(low, _unless_zero(b, lows[own], slope))
        return self.with_pair(b, near, exact, low)


def _infinity():
    return V64.constant(float("inf"))


def _is(b, word, value: int):
    return b.icmp_signed("==", word, ir.Constant(I64, value))


def _unless_zero(b, x, slope):
    """x times a slope that may be infinite where x is zero."""
    zero = V64.constant(0.0)
    return b.select(b.fcmp_ordered("==", x, zero), zero, b.fmul(x, slope))


def _plus(b, x, y):
    """A sum of pairs."""
    total, rest = two_sum(b, x[0], y[0])
    return total, b.fadd(rest, b.fadd(x[1], y[1]))


def _times(b, x, y):
    """A product of pairs."""
    product = b.fmul(x[0], y[0])
    rest = call(b, "fma", x[0], y[0], b.fneg(product))
    return product, b.fadd(rest, b.fadd(b.fmul(x[0], y[1]), b.fmul(x[1], y[0])))
