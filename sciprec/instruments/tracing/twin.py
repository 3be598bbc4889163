"""The exact value beside a tested one, and what happens to it, operation by operation.

The exact value is an unevaluated sum of two binary64 numbers, high + low, along the path of the
tested run: what the sum of all parts is checked with. Every operation notes in its row how often it
ran, by how much a relative error grew in it, where numbers left the range, and decisions that exact
values would have made otherwise. A row may ask for its results to be *healed*: replaced by exact
ones, rounded to the format; or to be *held*, if one is NaN, infinite or has vanished: replaced by
the exact one, rounded, or by 1 of its sign where that leaves the range of the format, too.

With four numbers beside a value two more follow the pair's own error. The *drift* is by how much a
second twin differs: it takes every rounding of the pair's sums, products, quotients and roots along
(by error-free transformations), and a perturbation of a function's size of error. The *doubt* is a
mark that stays: where the drift is no longer small beside the exact value this is lost, and all of
its size is in doubt, behind whatever is made of it. Drift alone would not do: where an iteration
contracts both twins meet again, though neither is right. What is lost counts no more where it is
small beside what it is added to. A sum that cancels to nothing but the pair's last bits is a zero,
not a loss, and neither is what is made of such zeros alone.

Runs with such rows take one thread: notes are plain words.
"""

from __future__ import annotations

from llvmlite import ir

from sciprec.instruments.tracing import rows
from sciprec.instruments.tracing.technique import Companion
from sciprec.precision.rounding.sticky import two_sum
from sciprec.precision.rounding.words import F64, I64, ONE, V64, ZERO, apart, call

FOLLOWED_LANES = 4
"""Numbers beside a value where the exact value's own error is followed."""
SURELY = 4.0
"""How many times as large as drift and doubt the error of an exact value is taken to be."""
LOST, CANCELLED = 2.0**-10, 2.0**-80
"""Of an exact value: a drift or a doubt beyond that leaves nothing of it. Of what is added: a sum
that drifts by less is a zero where nothing is left of it."""
SMALL, UNDERFLOWN = 2.0**-900, 2.0**-1072
"""Of products and quotients below the first the exact value's low number may underflow: it misses
up to the second."""


class Twin(Companion):
    """The exact value of a number beside it: high + low, and where there are four lanes what is
    known of its error, drift and doubt.
    """

    words = rows.EXAMINED_WORDS
    marks = ("twin",)

    @property
    def follows(self) -> bool:
        """Whether drift and doubt are beside a number, too."""
        return self.lanes == FOLLOWED_LANES

    def pair(self, b, x):
        """The exact value's two numbers."""
        return self.lane(b, x, 0), self.lane(b, x, 1)

    def stray(self, b, x):
        """Drift and doubt of the exact value; nothing where they are not followed."""
        if not self.follows:
            return ZERO, ZERO
        return self.lane(b, x, 2), call(b, "fabs", self.lane(b, x, 3))

    def with_pair(self, b, value, high, low, stray=None):
        """A number of a tested value and an exact one; the rest of an infinity, or of what is made
        of one, is nothing.
        """
        finite = b.and_(rows.is_finite(b, high), rows.is_finite(b, low))
        low = b.select(finite, low, ZERO)
        none = b.fcmp_ordered("==", low, ZERO)
        total = b.select(none, high, b.fadd(high, low))  # a zero keeps its sign
        residual = b.select(rows.is_finite(b, total), b.fsub(low, b.fsub(total, high)), ZERO)
        beside = ir.Constant(self.beside_kind, None)
        numbers = (total, residual, *(stray or ())) if self.follows else (total, residual)
        for place, number in enumerate(numbers):
            beside = b.insert_element(beside, number, ir.Constant(I64, place))
        return self.joined(b, value, beside)

    def settled(self, b, x):
        """Return the number as one that was stored: the last one beside it is no negative zero."""
        last = b.fadd(self.lane(b, x, 1), ZERO)
        last = self.stray(b, x)[1] if self.follows else last
        place = ir.Constant(I64, self.lanes - 1)
        beside = b.insert_element(self.beside(b, x), last, place)
        return self.joined(b, self.value(b, x), beside)

    def exactly(self, b, value):
        """A tested value without error."""
        return self.with_pair(b, value, value, ZERO)

    # ---- notes ---------------------------------------------------------------------------------

    def finished(self, b, rounded, plain, pair, operands, row, stray=None, added=()):
        """The number that an operation made, noted in its row.

        Args:
            rounded: the tested result.
            plain: the same in binary64.
            pair: the exact one.
            operands: the numbers that it was made of.
            stray: drift and doubt of the exact one.
            added: exact values and drifts of what a sum is of; of other operations nothing.
        """
        if self.follows and stray is not None:
            least = _least_of_sum(b, added)
            if not added:
                pairs = [(self.pair(b, n)[0], self.stray(b, n)[0]) for n in operands]
                least = _least_of_product(b, pairs)
            judged, total = ir.VectorType(F64, 2), b.fadd(*pair)
            verdict = apart(b, "sciprec.judged", judged, _judged, total, *stray, least)
            stray = [b.extract_element(verdict, ir.Constant(I64, n)) for n in (0, 1)]
        number = self.with_pair(b, rounded, *pair, stray)
        worst, finite = ZERO, ir.Constant(ir.IntType(1), 1)
        if not operands:  # an infinity that is given is no event
            finite = rows.is_finite(b, plain)
        for operand in operands:
            tested = self.value(b, operand)
            error = rows.relative_error(b, tested, *self.pair(b, operand))
            worst = b.select(b.fcmp_unordered(">", error, worst), error, worst)
            finite = b.and_(finite, rows.is_finite(b, tested))
        values = rounded, plain, *self.pair(b, number), worst, finite, row
        finished = rows.named("finished", self.arithmetic)
        healed = apart(b, finished, F64, self._finished, *values)
        return self.with_value(b, number, healed)

    def _finished(self, b, rounded, plain, high, low, worst, finite, row):
        """The body of `finished`: the tested value, healed where the row asks for it."""
        clock = rows.ticked(b, row)
        unit = V64.constant(2.0**-self.format.significand_bits)
        before = b.select(b.fcmp_ordered(">", worst, unit), worst, unit)
        grown = b.fdiv(rows.relative_error(b, rounded, high, low), before)
        largest = rows.load(b, row, rows.LOST, F64)
        grows = b.and_(finite, b.fcmp_ordered(">", grown, largest))
        rows.store(b, b.select(grows, grown, largest), row, rows.LOST)
        rounds = b.zext(b.fcmp_unordered("!=", rounded, plain), I64)
        rows.store(b, b.add(rows.load(b, row, rows.ROUNDED), rounds), row, rows.ROUNDED)
        healed = self._widened(b, self.base.from_binary64(b, high))
        of_tested, of_exact = self._events(b, rounded, plain), self._events(b, healed, high)
        endless = b.not_(rows.is_finite(b, high))
        for event, condition in of_tested.items():
            occurs = b.and_(condition, finite)
            rows.happened(b, row, event, occurs, clock, of_exact[event], endless)
        leaves = b.or_(b.not_(rows.is_finite(b, rounded)), of_tested[rows.VANISHED])
        beyond = b.or_(b.not_(rows.is_finite(b, healed)), of_exact[rows.VANISHED])
        inside = b.select(beyond, call(b, "copysign", ONE, high), healed)
        limited = b.select(b.and_(leaves, b.not_(endless)), inside, rounded)
        return self._treated(b, rounded, healed, limited, row)

    def _events(self, b, rounded, plain) -> dict:
        """Word of an event -> whether a result and its rounding are one."""
        beyond = b.fcmp_ordered(">", call(b, "fabs", plain), V64.constant(self.format.max_finite))
        return {
            rows.NO_NUMBER: b.fcmp_unordered("uno", rounded, rounded),
            rows.INFINITE: b.fcmp_ordered("==", call(b, "fabs", rounded), _infinity()),
            rows.SATURATED: b.and_(rows.is_finite(b, rounded), beyond),
            rows.VANISHED: b.and_(b.fcmp_ordered("==", rounded, ZERO),
                                  b.fcmp_ordered("!=", plain, ZERO)),
        }  # fmt: skip

    def _treated(self, b, rounded, healed, limited, row):
        treatment, header = rows.load(b, row, rows.TREATMENT), rows.header_of(b, row)
        steps = (rows.load(b, header, word) for word in (rows.STEP, rows.HEALED_STEP))
        now = b.and_(b.icmp_signed("==", *steps), _is(b, treatment, rows.HEALED_IN_ONE_STEP))
        heals = b.or_(_is(b, treatment, rows.HEALED), now)
        treated = b.select(heals, healed, rounded)
        return b.select(_is(b, treatment, rows.HELD), limited, treated)

    def compared(self, b, sign: str, x, y, tested, row):
        """Decide a comparison of numbers; note whether the exact ones compare otherwise,
        which a row may ask to decide, until the run has come to its stop.
        """
        (u, u_low), (v, v_low) = self.pair(b, x), self.pair(b, y)
        difference = b.fadd(b.fsub(u, v), b.fsub(u_low, v_low))
        compare = b.fcmp_unordered if sign == "!=" else b.fcmp_ordered
        exact = compare(sign, difference, ZERO)
        has_exact = rows.is_finite(b, difference)
        slack = b.fadd(self._slack(b, x), self._slack(b, y))
        return self._decided(b, exact, tested, has_exact, self._within(b, difference, slack), row)

    def _decided(self, b, exact, tested, has_exact, unsure, row):
        """The decision of tested values, noted, or that of exact ones, where the row asks for it.

        Args:
            exact, tested: the two decisions, of any type.
            has_exact: whether there is an exact one.
            unsure: whether exact values leave it open.
        """
        if exact.type == F64:
            differs = b.fcmp_unordered("!=", exact, tested)
        else:
            differs = b.xor(exact, tested)
        rows.decided(b, b.and_(has_exact, differs), row, b.and_(has_exact, unsure))
        header, treatment = rows.header_of(b, row), rows.load(b, row, rows.TREATMENT)
        goes = b.icmp_signed("<", *(rows.load(b, header, word) for word in (rows.CLOCK, rows.STOP)))
        heals = b.and_(_is(b, treatment, rows.HEALED), b.and_(goes, has_exact))
        return b.select(heals, exact, tested)

    def _slack(self, b, x):
        """The possible error of an exact value."""
        drift, doubt = self.stray(b, x)
        return b.fmul(V64.constant(SURELY), b.fadd(call(b, "fabs", drift), doubt))

    def _within(self, b, distance, slack):
        """Whether exact values may be on the other side of what is so far away."""
        near = b.fcmp_ordered("<=", call(b, "fabs", distance), slack)
        return b.and_(near, b.fcmp_ordered(">", slack, ZERO))

    def stepped(self, b, function, x, tested, row):
        """The value of a function that is constant between steps; note whether the exact value is
        on another one.
        """
        high, low = self.pair(b, x)
        exact = function(high)
        is_whole = b.fcmp_ordered("==", high, exact)  # low decides on which side of a step it is
        below = b.and_(is_whole, b.fcmp_ordered("<", low, ZERO))
        lower = b.fsub(exact, ONE)
        exact = b.select(b.and_(below, b.fcmp_ordered("<", function(lower), exact)), lower, exact)
        slack = self._slack(b, x)
        ends = [function(join(high, slack)) for join in (b.fsub, b.fadd)]
        unsure = b.and_(is_whole, self._within(b, low, slack))
        unsure = b.or_(unsure, b.fcmp_ordered("!=", *ends))
        return self._decided(b, exact, tested, rows.is_finite(b, exact), unsure, row)

    def signed(self, b, x, row, of_zero: bool = False):
        """The value whose sign is taken; note whether the exact one has another."""
        value, (high, _) = self.value(b, x), self.pair(b, x)
        signs = []
        for number in (high, value):
            sign = call(b, "copysign", ONE, number)
            nothing = b.fcmp_ordered("==", number, ZERO)
            signs.append(sign if of_zero else b.select(nothing, ZERO, sign))
        has_exact = b.and_(rows.is_finite(b, high), b.fcmp_ordered("==", value, value))
        unsure = self._within(b, high, self._slack(b, x))
        chosen = self._decided(b, *signs, has_exact, unsure, row)
        return b.select(b.fcmp_unordered("==", chosen, signs[1]), value, high)

    def divided(self, b, values, q, row):
        """The integer that a quotient is rounded down to, as `times` has it."""
        return self.times(b, values, q, row, True)

    def times(self, b, values, q, row, floors: bool):
        """The integer that a quotient is rounded to; note whether it is another of exact values."""
        dividend, (divisor, divisor_low) = self.pair(b, values[0])[0], self.pair(b, values[1])
        sign = call(b, "copysign", ONE, divisor if floors else dividend)  # of the remainder
        way = ONE if floors else b.fmul(sign, call(b, "copysign", ONE, divisor))
        size = b.fmul(sign, divisor) if floors else call(b, "fabs", divisor)
        size_low = b.fmul(divisor_low, b.fmul(sign, way))

        def left(times):
            """The remainder, of the sign that it should have, and by how much it is too large."""
            beside = self.difference(b, *values, times)
            number = self.joined(b, ZERO, beside)
            high, low = (b.fmul(sign, n) for n in self.pair(b, number))
            return high, b.fadd(b.fsub(high, size), b.fsub(low, size_low)), self._slack(b, number)

        near, _, _ = left(q)
        exact = b.fadd(q, b.fmul(way, call(b, "floor", b.fdiv(near, size))))
        below, above, _ = left(exact)
        exact = b.select(b.fcmp_ordered("<", below, ZERO), b.fsub(exact, way), exact)
        exact = b.select(b.fcmp_ordered(">=", above, ZERO), b.fadd(exact, way), exact)
        below, above, slack = left(exact)
        slack = b.fadd(slack, self._slack(b, values[1]))
        unsure = b.or_(*(self._within(b, n, slack) for n in (below, above)))
        has_exact = b.and_(rows.is_finite(b, exact), rows.is_finite(b, q))
        return self._decided(b, exact, q, has_exact, unsure, row)

    def passed(self, b, index, row, outermost: bool) -> None:
        """Note that a loop begins a pass."""
        rows.counted_pass(b, row, index, outermost)

    def ended(self, b, row) -> None:
        """Note that an outermost loop has ended."""
        rows.next_step(b, row)

    # ---- operations ----------------------------------------------------------------------------

    def entered(self, b, x, rounded, residual, row):
        """A plain number x + residual that was rounded; the exact one is moved as the row says."""
        moved = b.fmul(x, rows.load(b, row, rows.MOVED, F64))
        moved = b.select(rows.is_finite(b, moved), moved, ZERO)
        pair = x, moved if residual is None else b.fadd(residual, moved)
        return self.finished(b, rounded, x, pair, (), row)

    def rerounded(self, b, x, rounded, row, operands=None, residual=None):
        """A number that was rounded once more; what is beside x knows of a residual."""
        operands, pair = operands or (x,), self.pair(b, x)
        return self.finished(b, rounded, self.value(b, x), pair, operands, row, self.stray(b, x))

    def _sum(self, b, x, y, rounded, row, sign: int):
        y_pair = self.pair(b, y) if sign > 0 else [b.fneg(n) for n in self.pair(b, y)]
        join = b.fadd if sign > 0 else b.fsub
        plain = join(self.value(b, x), self.value(b, y))
        pair, missed = _plus(b, self.pair(b, x), y_pair)
        (dx, x_doubt), (dy, y_doubt) = self.stray(b, x), self.stray(b, y)
        stray = b.fadd(join(dx, dy), missed), b.fadd(x_doubt, y_doubt)
        added = (self.pair(b, x)[0], dx), (y_pair[0], dy)
        return self.finished(b, rounded, plain, pair, (x, y), row, stray, added)

    def mul(self, b, x, y, row):
        """x y."""
        values = self.value(b, x), self.value(b, y)
        pair, missed = _times(b, self.pair(b, x), self.pair(b, y))
        drift, doubt = self._stray_of_product(b, x, y)
        rounded = self._tested(b, "mul", *values)
        stray = b.fadd(drift, missed), doubt
        return self.finished(b, rounded, b.fmul(*values), pair, (x, y), row, stray)

    def _stray_of_product(self, b, x, y):
        """Drift and doubt of x y that its operands give it."""
        u, v = self.pair(b, x)[0], self.pair(b, y)[0]
        (dx, x_doubt), (dy, y_doubt) = self.stray(b, x), self.stray(b, y)
        drift = call(b, "fma", b.fadd(u, dx), dy, b.fmul(v, dx))
        first = b.fmul(_larger(b, call(b, "fabs", u), x_doubt), y_doubt)
        second = b.fmul(_larger(b, call(b, "fabs", v), y_doubt), x_doubt)
        return drift, _larger(b, first, second)

    def fma(self, b, x, y, z, row):
        """x y + z."""
        values = [self.value(b, n) for n in (x, y, z)]
        product, missed = _times(b, self.pair(b, x), self.pair(b, y))
        (pair, more), plain = _plus(b, product, self.pair(b, z)), call(b, "fma", *values)
        (drift, doubt), (dz, z_doubt) = self._stray_of_product(b, x, y), self.stray(b, z)
        added = (product[0], drift), (self.pair(b, z)[0], dz)
        drift = b.fadd(b.fadd(drift, dz), b.fadd(missed, more))
        stray, rounded = (drift, b.fadd(doubt, z_doubt)), self._tested(b, "fma", *values)
        return self.finished(b, rounded, plain, pair, (x, y, z), row, stray, added)

    def div(self, b, x, y, row):
        """x / y."""
        values = self.value(b, x), self.value(b, y)
        (u, u_low), (v, v_low) = self.pair(b, x), self.pair(b, y)
        quotient = b.fdiv(u, v)
        less = b.fneg(quotient)
        remainder, first = two_sum(b, call(b, "fma", less, v, u), u_low)
        product = b.fmul(less, v_low)
        remainder, second = two_sum(b, remainder, product)
        low = b.fdiv(remainder, v)
        missed = call(b, "fma", b.fneg(low), v_low, call(b, "fma", b.fneg(low), v, remainder))
        missed = b.fadd(missed, call(b, "fma", less, v_low, b.fneg(product)))
        missed = b.fadd(missed, b.fadd(first, second))
        nothing, size = b.fcmp_ordered("==", u, ZERO), call(b, "fabs", v)
        for tiny, per in ((u, ONE), (quotient, size)):
            missed = b.fadd(missed, b.fmul(_underflown(b, tiny, nothing), per))
        (dx, x_doubt), (dy, y_doubt) = self.stray(b, x), self.stray(b, y)
        drift = b.fadd(call(b, "fma", less, dy, dx), missed)
        share = b.fdiv(y_doubt, size)
        share = b.select(b.fcmp_unordered(">", share, ONE), ONE, share)
        of_y = b.fmul(call(b, "fabs", quotient), share)
        stray = b.fdiv(drift, b.fadd(v, dy)), _larger(b, b.fdiv(x_doubt, size), of_y)
        rounded = self._tested(b, "div", *values)
        pair = quotient, low
        return self.finished(b, rounded, b.fdiv(*values), pair, (x, y), row, stray)

    def sqrt(self, b, x, row):
        """The square root of x."""
        value, (u, u_low) = self.value(b, x), self.pair(b, x)
        root = call(b, "sqrt", u)
        remainder, missed = two_sum(b, call(b, "fma", b.fneg(root), root, u), u_low)
        twice = b.fadd(root, root)
        low = b.fdiv(remainder, twice)
        missing = call(b, "fma", b.fneg(low), twice, remainder)
        missed = b.fadd(missed, call(b, "fma", b.fneg(low), low, missing))
        nothing = b.fcmp_ordered("==", root, ZERO)
        pair = root, b.select(nothing, ZERO, low)
        dx, x_doubt = self.stray(b, x)
        dx = b.select(nothing, dx, b.fadd(dx, missed))
        sizes = (call(b, "fabs", b.fadd(u, dx)), b.fadd(call(b, "fabs", u), x_doubt))
        slopes = [b.fdiv(ONE, b.fadd(call(b, "sqrt", n), root)) for n in sizes]
        stray = [_unless_zero(b, n, s) for n, s in zip((dx, x_doubt), slopes, strict=True)]
        rounded = self._tested(b, "sqrt", value)
        return self.finished(b, rounded, call(b, "sqrt", value), pair, (x,), row, stray)

    def magnitude(self, b, x, row=None):
        """|x|."""
        high, low = self.pair(b, x)
        negative = b.fcmp_ordered("<", high, ZERO)
        high, low = call(b, "fabs", high), b.select(negative, b.fneg(low), low)
        drift, doubt = self.stray(b, x)
        stray = b.select(negative, b.fneg(drift), drift), doubt
        return self.with_pair(b, call(b, "fabs", self.value(b, x)), high, low, stray)

    def chosen(self, b, x, y, first, sign: float):
        """max(x, y), of the sign -1 min; the exact one of exact values, but of an operand that is
        no number any more in the tested run, whose error cannot be split.
        """
        (u, u_low), (v, v_low) = self.pair(b, x), self.pair(b, y)
        exact = b.fadd(b.fsub(u, v), b.fsub(u_low, v_low))
        finite = b.and_(*(rows.is_finite(b, self.value(b, operand)) for operand in (x, y)))
        otherwise = b.and_(finite, self.decides_otherwise(b, exact, first, sign))
        return b.select(b.xor(first, otherwise), x, y)

    def difference(self, b, x, y, factor):
        """x - factor y, where the factor is exact: what is beside it."""
        scaled, missed = _times(b, self.pair(b, y), (b.fneg(factor), ZERO))
        pair, more = _plus(b, self.pair(b, x), scaled)
        (dx, x_doubt), (dy, y_doubt) = self.stray(b, x), self.stray(b, y)
        drift = b.fadd(call(b, "fma", b.fneg(factor), dy, dx), b.fadd(missed, more))
        doubt = call(b, "fma", call(b, "fabs", factor), y_doubt, x_doubt)
        return self.beside(b, self.with_pair(b, self.value(b, x), *pair, (drift, doubt)))

    def of_function(self, b, values, tested, near, function):
        """A function's value `near`, and its exact one: to binary64, or with its residual. Of one
        that is not seen the own rounding counts as exact.
        """
        highs, lows = zip(*(self.pair(b, v) for v in values), strict=True)
        exact = function.value(*highs)
        low = function.rest(highs, exact) or ZERO
        if not function.is_seen:
            unseen = b.fsub(near, function.value(*tested))
            low = b.select(rows.is_finite(b, unseen), unseen, ZERO)
        drift, doubt = function.missed(exact), ZERO
        for index, operand in enumerate(values):
            if len(values) == 1:
                slope = function.slope(highs[0], b.fneg(lows[0]), exact)
            else:
                slope = function.slope_along(not index, highs[index], ZERO, highs[1 - index])
            step = _unless_zero(b, lows[index], slope)
            low = b.fadd(low, step)
            drift = b.fadd(drift, _bent(b, lows[index], step, exact))
            moved, lost = (_moved(b, n, slope) for n in self.stray(b, operand))
            drift, doubt = b.fadd(drift, moved), b.fadd(doubt, call(b, "fabs", lost))
        return self.with_pair(b, near, exact, low, (drift, doubt))


def _infinity():
    return V64.constant(float("inf"))


def _is(b, word, value: int):
    return b.icmp_signed("==", word, ir.Constant(I64, value))


def _unless_zero(b, x, slope):
    """x times a slope that may be infinite where x is zero."""
    return b.select(b.fcmp_ordered("==", x, ZERO), ZERO, b.fmul(x, slope))


def _moved(b, x, slope):
    """The move of a function with its operand; beside a singularity, where the slope is
    infinite, as a root does.
    """
    along = _unless_zero(b, x, slope)
    root = b.fmul(V64.constant(2.0), call(b, "sqrt", call(b, "fabs", x)))
    return b.select(rows.is_finite(b, along), along, root)


def _bent(b, low, step, exact):
    """The size of what a slope misses behind the low number of an operand that is large, as in the
    sine of 10^9.
    """
    missed = b.fdiv(b.fmul(step, step), _larger(b, call(b, "fabs", exact), ONE))
    large = b.fcmp_ordered(">", call(b, "fabs", low), V64.constant(2.0**-40))
    return b.select(large, missed, ZERO)


def _larger(b, x, y):
    """The larger one of two sizes; x where one is no number."""
    return b.select(b.fcmp_ordered("<", x, y), y, x)


def _is_clean(b, exact, drift):
    """Whether an exact value is known, and not zero."""
    part = b.fmul(call(b, "fabs", exact), V64.constant(LOST))
    clean = b.fcmp_ordered("<=", call(b, "fabs", drift), part)
    return b.and_(clean, b.fcmp_ordered("!=", exact, ZERO))


def _least_of_sum(b, added):
    """The least drift by which a sum of these is lost: a part of the largest that is known."""
    largest = ZERO
    for exact, drift in added:
        size = b.select(_is_clean(b, exact, drift), call(b, "fabs", exact), ZERO)
        largest = _larger(b, largest, size)
    none = b.fcmp_ordered("==", largest, ZERO)
    return b.select(none, _infinity(), b.fmul(largest, V64.constant(CANCELLED)))


def _least_of_product(b, operands):
    """The least drift by which a product or quotient is lost: any, if all operands are known."""
    least = ZERO
    for exact, drift in operands:
        least = b.select(_is_clean(b, exact, drift), least, _infinity())
    return least


def _judged(b, exact, drift, doubt, least):
    """Drift and doubt of an exact value, all of which is in doubt where one of the two is more than
    a small part of it. Beyond the range there is neither.

    Args:
        least: the least drift that counts.
    """
    size, moved = call(b, "fabs", exact), call(b, "fabs", drift)
    part = b.fmul(size, V64.constant(LOST))
    drifts = b.and_(b.fcmp_unordered(">", moved, part), b.fcmp_unordered(">", moved, least))
    lost = b.or_(drifts, b.fcmp_unordered(">", doubt, part))
    total = b.fadd(size, moved)
    total = b.select(b.fcmp_unordered(">", doubt, total), doubt, total)
    doubt = b.select(lost, total, doubt)
    result = ir.Constant(ir.VectorType(F64, 2), None)
    for place, number in enumerate((drift, doubt)):
        number = b.select(rows.is_finite(b, exact), number, ZERO)
        result = b.insert_element(result, number, ir.Constant(I64, place))
    return result


def _plus(b, x, y):
    """A sum of pairs, and what it misses."""
    total, residual = two_sum(b, x[0], y[0])
    lows, first = two_sum(b, x[1], y[1])
    low, second = two_sum(b, residual, lows)
    return (total, low), b.fadd(first, second)


def _times(b, x, y):
    """A product of pairs, and what it misses."""
    product = b.fmul(x[0], y[0])
    residual = call(b, "fma", x[0], y[0], b.fneg(product))
    across = [b.fmul(x[0], y[1]), b.fmul(x[1], y[0])]
    missed = call(b, "fma", x[1], y[1], call(b, "fma", x[0], y[1], b.fneg(across[0])))
    missed = b.fadd(missed, call(b, "fma", x[1], y[0], b.fneg(across[1])))
    crossed, first = two_sum(b, *across)
    low, second = two_sum(b, residual, crossed)
    missed = b.fadd(missed, b.fadd(first, second))
    nothing = b.or_(*(b.fcmp_ordered("==", n[0], ZERO) for n in (x, y)))
    return (product, low), b.fadd(missed, _underflown(b, product, nothing))


def _underflown(b, size, nothing):
    """The error of a result whose low number underflows; nothing where an operand is zero."""
    small = b.fcmp_ordered("<", call(b, "fabs", size), V64.constant(SMALL))
    small = b.and_(small, b.not_(nothing))
    return b.select(small, V64.constant(UNDERFLOWN), ZERO)
