"""An interval for the exact value beside a tested one: a running error bound.

Beside a tested value x stand mid and radius, and the exact value is x + mid +- radius. So a sum's
exact error, which is a number of binary64, moves the midpoint, and the radius has what is not known
alone: what the computation of midpoints rounds, what functions are evaluated with. Running error
bounds: Wilkinson (1986), Higham (2002), section 3.3; intervals: Moore (1966), Rump (1999).

Every operation's result is x + mid +- radius by an identity, named below, whose terms are computed
to nearest and closed as `midpoints` proves. A radius is infinite where nothing is known. Decisions
of the tested run that the interval does not confirm are noted in their rows, and so are operations
that lose the bound of operands which had one. Runs take one thread: notes are plain words.
"""

from __future__ import annotations

from llvmlite import ir

from sciprec.instruments.tracing import rows
from sciprec.instruments.tracing.enclosed_functions import enclosed_function
from sciprec.instruments.tracing.midpoints import (
    SLACK,
    TINY,
    UNDERFLOWS,
    Real,
    closed,
    finite_or_all,
    outward,
    quotient,
    sizes_of,
    summed,
    two_sum,
)
from sciprec.instruments.tracing.technique import Companion
from sciprec.precision.rounding.words import BIT, I64, ZERO, apart, call

LARGEST_QUOTIENT = 2.0**51


class Enclosure(Companion):
    """A midpoint and a radius of exact - tested beside the tested value."""

    words = rows.EXAMINED_WORDS
    marks = ("watched",)
    counts_passes = True

    def interval(self, b, x) -> tuple[Real, Real]:
        """Midpoint and radius of exact - tested; a negative radius marks what was never stored."""
        return Real(b, self.lane(b, x, 0)), abs(Real(b, self.lane(b, x, 1)))

    def tested(self, b, x) -> Real:
        """The tested value."""
        return Real(b, self.value(b, x))

    def number(self, b, value, mid: Real, radius: Real):
        """A number of a tested value and an interval."""
        beside = ir.Constant(self.beside_kind, None)
        for place, part in enumerate((mid, radius)):
            beside = b.insert_element(beside, part.value, ir.Constant(I64, place))
        return self.joined(b, value, beside)

    def exactly(self, b, value):
        """A tested value without error."""
        return self.joined(b, value, ir.Constant(self.beside_kind, None))

    def settled(self, b, x):
        """Return the number as one that was stored."""
        mid, radius = self.interval(b, x)
        return self.number(b, self.value(b, x), mid + 0.0, radius)

    def ends(self, b, x) -> tuple[Real, Real]:
        """Numbers around the exact value."""
        return outward(self.tested(b, x), *self.interval(b, x))

    def is_exact(self, b, *numbers):
        """Whether numbers have no error."""
        parts = [part for x in numbers for part in self.interval(b, x)]
        return sizes_of(parts).compared("==", 0.0)

    # ---- notes ---------------------------------------------------------------------------------

    def finished(self, b, rounded, interval: tuple[Real, Real], operands, row):
        """The number that an operation made, noted where its bound is lost."""
        had = ir.Constant(BIT, 1)
        for x in operands:
            had = b.and_(had, self.interval(b, x)[1].is_finite())
        lost = b.and_(had, b.not_(interval[1].is_finite()))
        apart(b, "sciprec.lost", I64, _lost, lost, row)
        return self.number(b, rounded, *interval)

    def compared(self, b, sign: str, x, y, tested, row):
        """Decide a comparison of tested values; note one that the intervals do not confirm.

        x* - y* = near + residual + (mx - my) +- (rx + ry), where near + residual = x - y.
        """
        (mid, radius), (other, apart) = self.interval(b, x), self.interval(b, y)
        near, residual = two_sum(self.tested(b, x), -self.tested(b, y))
        residual = residual.unless(b.not_(near.is_finite()), 0.0)  # infinities are what they are
        terms = (residual, mid, -other)
        centre, wide = closed(summed(terms), radius + apart, sizes_of(terms))
        wide = wide + (abs(centre) + wide) * SLACK
        low, high, zero = centre - wide, centre + wide, -near
        negative, positive = high.compared("<", zero), low.compared(">", zero)
        at_most, at_least = high.compared("<=", zero), low.compared(">=", zero)
        alike, apart_from = b.and_(at_most, at_least), b.or_(negative, positive)
        surely = {
            "<": (negative, at_least), "<=": (at_most, positive), ">": (positive, at_most),
            ">=": (at_least, negative), "==": (alike, apart_from), "!=": (apart_from, alike),
        }[sign]  # fmt: skip
        confirmed = b.and_(b.select(tested, *surely), wide.is_finite())
        self._note(b, b.or_(confirmed, self.is_exact(b, x, y)), row)
        return tested

    def stepped(self, b, function, x, tested, row):
        """Note a function that is constant between steps where the interval has one in it."""
        low, high = (b.fcmp_ordered("==", function(end.value), tested) for end in self.ends(b, x))
        exact = b.and_(self.is_exact(b, x), self.tested(b, x).is_finite())
        self._note(b, b.or_(b.and_(low, high), exact), row)
        return tested

    def signed(self, b, x, row, of_zero: bool = False):
        """Note a sign that the interval does not confirm; NaN has none, and -0 no minus."""
        value, (low, high) = self.tested(b, x), self.ends(b, x)
        positive = b.and_(value.compared(">", 0.0), low.compared(">", 0.0))
        negative = b.and_(value.compared("<", 0.0), high.compared("<", 0.0))
        zero = value.compared("==", 0.0)
        if of_zero:  # of +0 alone
            zero = b.icmp_unsigned("==", b.bitcast(value.value, I64), ir.Constant(I64, 0))
        exact = b.and_(self.is_exact(b, x), b.or_(zero, value.compared("!=", 0.0)))
        self._note(b, b.or_(b.or_(positive, negative), exact), row)
        return value.value

    def classified(self, b, x, row) -> None:
        """Note a question for NaN or infinity that a number without a bound is asked."""
        self._note(b, self.interval(b, x)[1].is_finite(), row)

    def divided(self, b, values, q, row):
        """Note a rounded-down quotient q that the intervals do not confirm."""
        integer = q
        x, y = (self.tested(b, v) for v in values)
        q = Real(b, q)
        remainder = (-q).fused(y, x)
        number = self._less(b, values, remainder, Real(b, 0.0), q)
        confirmed = b.or_(self._is_remainder(b, number, values), self.is_exact(b, *values))
        self._note(b, b.and_(confirmed, abs(q).compared("<", LARGEST_QUOTIENT)), row)
        return integer

    def _note(self, b, confirmed, row) -> None:
        rows.decided(b, b.not_(confirmed), row)

    # ---- operations ----------------------------------------------------------------------------

    def entered(self, b, x, rounded, residual, row):
        """A plain number x + residual that was rounded: x + residual - rounded."""
        number = self.exactly(b, x)
        if residual is not None:
            number = self.number(b, x, Real(b, residual), Real(b, 0.0))
        return self.rerounded(b, number, rounded, row)

    def rerounded(self, b, x, rounded, row, operands=None, residual=None):
        """A number that was rounded once more: x - rounded, and what is beside x."""
        mid, radius = self.interval(b, x)
        terms = (mid, *_rounding(b, self.tested(b, x), rounded))
        interval = closed(summed(terms), radius, sizes_of(terms))
        return self.finished(b, rounded, interval, operands or (x,), row)

    def negated(self, b, x, row=None):
        """-x."""
        mid, radius = self.interval(b, x)
        return self.number(b, b.fneg(self.value(b, x)), -mid, radius)

    def _sum(self, b, x, y, rounded, row, sign: int):
        """x* + y* = (x + y) + mx + my +- (rx + ry)."""
        (mid, radius), (other, apart) = self.interval(b, x), self.interval(b, y)
        u, v = self.tested(b, x), self.tested(b, y)
        v, other = (v, other) if sign > 0 else (-v, -other)
        total, residual = two_sum(u, v)
        terms = (mid, other, residual, *_rounding(b, total, rounded))
        interval = closed(summed(terms), radius + apart, sizes_of(terms))
        return self.finished(b, rounded, interval, (x, y), row)

    def _of_product(self, b, x, y):
        """Terms and radius of x* y* - x y = x dy + y dx + dx dy; sizes that are zero without."""
        (mid, radius), (other, apart) = self.interval(b, x), self.interval(b, y)
        u, v = self.tested(b, x), self.tested(b, y)
        bound = (abs(u) + abs(mid)) * apart + (abs(v) + abs(other)) * radius + radius * apart
        sizes = sizes_of((mid, radius, other, apart))
        return (u * other, v * mid, mid * other), bound, sizes

    def _product(self, b, x, y):
        """x y of tested values, its residual, and a size that is zero unless that underflows."""
        u, v = self.tested(b, x), self.tested(b, y)
        product = u * v
        residual = u.fused(v, -product)
        none = b.or_(u.compared("==", 0.0), v.compared("==", 0.0))
        fits = b.or_(none, abs(product).compared(">", UNDERFLOWS))
        return product, residual, Real(b, 1.0).unless(fits, 0.0)

    def mul(self, b, x, y, row):
        """x y."""
        rounded = self._tested(b, "mul", self.value(b, x), self.value(b, y))
        product, residual, hidden = self._product(b, x, y)
        terms, bound, sizes = self._of_product(b, x, y)
        terms = (*terms, residual, *_rounding(b, product, rounded))
        interval = closed(summed(terms), bound, sizes_of(terms), sizes, hidden)
        return self.finished(b, rounded, interval, (x, y), row)

    def fma(self, b, x, y, z, row):
        """x y + z."""
        rounded = self._tested(b, "fma", *(self.value(b, n) for n in (x, y, z)))
        product, residual, hidden = self._product(b, x, y)
        first, first_rest = two_sum(self.tested(b, z), residual)
        total, total_rest = two_sum(product, first)
        terms, bound, sizes = self._of_product(b, x, y)
        mid, radius = self.interval(b, z)
        terms = (*terms, mid, first_rest, total_rest, *_rounding(b, total, rounded))
        interval = closed(summed(terms), bound + radius, sizes_of(terms), sizes, hidden)
        return self.finished(b, rounded, interval, (x, y, z), row)

    def div(self, b, x, y, row):
        """x* / y* - x / y = (dx - (x / y) dy) / (y + dy)."""
        rounded = self._tested(b, "div", self.value(b, x), self.value(b, y))
        (mid, radius), (other, apart) = self.interval(b, x), self.interval(b, y)
        u, v = self.tested(b, x), self.tested(b, y)
        near = u / v
        remainder = (-near).fused(v, u) / v
        terms = (mid, -(near * other))
        error = closed(summed(terms), radius + abs(near) * apart,
                       sizes_of(terms) + abs(near) * apart, sizes_of((other, apart)))  # fmt: skip
        divisor = v + other
        centre, bound, size = quotient(*error, divisor, apart + abs(divisor) * SLACK)
        small = b.or_(abs(u).compared("<", UNDERFLOWS), abs(near).compared("<", UNDERFLOWS))
        small = b.and_(small, u.compared("!=", 0.0))
        hidden = (Real(b, TINY) / abs(v) + TINY).unless(b.not_(small), 0.0)
        terms = (remainder, *_rounding(b, near, rounded))
        interval = closed(centre + summed(terms), bound + hidden, size + sizes_of(terms))
        return self.finished(b, rounded, interval, (x, y), row)

    def sqrt(self, b, x, row):
        """sqrt x* - sqrt x = dx / (sqrt x* + sqrt x); about a zero sqrt x* by its ends."""
        rounded = self._tested(b, "sqrt", self.value(b, x))
        u, (mid, radius) = self.tested(b, x), self.interval(b, x)
        root = u.sqrt()
        residual = ((-root).fused(root, u) / (root + root)).unless(root.compared("==", 0.0), 0.0)
        low, high = (end.sqrt() for end in self.ends(b, x))  # NaN where it may be negative
        half = (high - low) * 0.5
        middle = low + half
        of_error = quotient(mid, radius, root + middle, half + (root + high) * SLACK)
        by_ends = (middle - root, half, root + high)
        better = b.and_(of_error[1].is_finite(), low.is_finite())
        centre, bound, size = (
            n.unless(better, m) for m, n in zip(of_error, by_ends, strict=True)
        )  # fmt: skip
        size = size.unless(self.is_exact(b, x), 0.0)
        hidden = Real(b, 1.0).unless(abs(u).compared(">", UNDERFLOWS), 0.0)
        hidden = hidden.unless(u.compared("==", 0.0), 0.0)
        bound = bound + hidden * 2.0**-500
        terms = (residual, *_rounding(b, root, rounded))
        interval = closed(centre + summed(terms), bound, size + sizes_of(terms))
        return self.finished(b, rounded, interval, (x,), row)

    def magnitude(self, b, x, row=None):
        """|x|, by | |x*| - |x| | <= |dx|; of one sign both it is +-dx, of two |dx| - 2 |x|."""
        u, (mid, radius), (low, high) = self.tested(b, x), self.interval(b, x), self.ends(b, x)
        size, twice = abs(mid), abs(u) + abs(u)
        either = closed(Real(b, 0.0), size + radius, Real(b, 0.0))
        beyond = closed(size - twice, radius, size + twice)
        positive, negative = low.compared(">=", 0.0), high.compared("<=", 0.0)
        crossed = b.or_(b.and_(positive, u.compared("<", 0.0)),
                        b.and_(negative, u.compared(">", 0.0)))  # fmt: skip
        interval = [
            n.unless(negative, m).unless(positive, p).unless(crossed, o)
            for n, m, p, o in zip(either, (-mid, radius), (mid, radius), beyond, strict=True)
        ]
        return self.number(b, call(b, "fabs", self.value(b, x)), *interval)

    def chosen(self, b, x, y, first, sign: float):
        """max(x, y) or min, which `compared` has noted; of equal tested values the hull of both."""
        (mid, radius), (other, apart) = self.interval(b, x), self.interval(b, y)
        low, high = (mid - radius).smaller(other - apart), (mid + radius).larger(other + apart)
        sizes = sizes_of((mid, radius, other, apart))
        hull = closed(low * 0.5 + high * 0.5, high * 0.5 - low * 0.5, sizes)
        alike = self.tested(b, x).compared("==", self.tested(b, y))
        selected = b.select(first, x, y)
        return b.select(alike, self.number(b, self.value(b, selected), *hull), selected)

    # ---- remainders ----------------------------------------------------------------------------

    def remainder(self, b, values, remainder, missing, q, of_dividend: bool, row):
        """x* - q y*, where remainder + missing = x - q y; noted where q may be another one."""
        missing, q = Real(b, missing), Real(b, q)
        number = self._less(b, values, Real(b, remainder), missing, q)
        confirmed = self._is_remainder(b, number, values, of_dividend)
        self._note(b, b.or_(confirmed, self.is_exact(b, *values)), row)
        return number

    def _less(self, b, values, remainder: Real, missing: Real, q: Real):
        """x* - q y* as a number; q is an integer, to 2^-50 of it."""
        (mid, radius), (other, apart) = (self.interval(b, v) for v in values)
        terms = (mid, -(q * other), missing)
        sizes = sizes_of(terms) + abs(q) * apart
        interval = closed(summed(terms), radius + abs(q) * apart, sizes, sizes_of((other, apart)))
        return self.number(b, remainder.value, *interval)

    def _is_remainder(self, b, number, values, of_dividend: bool = False):
        """Whether a number is zero or surely has the exact sign of y, or of x, and is surely
        smaller than y.
        """
        low, high = self.ends(b, number)
        (first, last), (least, most) = (self.ends(b, v) for v in values)
        above, below = least, -most  # sizes of y, where it is positive and where it is negative
        if of_dividend:
            size, none = least.larger(-most), float("nan")
            above = size.unless(b.not_(first.compared(">=", 0.0)), none)
            below = size.unless(b.not_(last.compared("<=", 0.0)), none)
        positive = b.and_(low.compared(">=", 0.0), high.compared("<", above))
        negative = b.and_(high.compared("<=", 0.0), (-low).compared("<", below))
        return b.or_(positive, negative)

    # ---- elementary functions ------------------------------------------------------------------

    def of_function(self, b, values, tested, near, function):
        """A function's value `near`, and an interval of the exact one around it; none where an
        operand has none, which may be no number at all.
        """
        numbers = [(self.tested(b, v), *self.interval(b, v), *self.ends(b, v)) for v in values]
        exact = self.is_exact(b, *values)
        enclosed = enclosed_function(b, function, numbers, exact)
        if enclosed is None:
            return self.number(b, near, Real(b, 0.0), Real(b, float("inf")))
        value = Real(b, near)
        centre, apart = enclosed
        apart = summed([apart, *(n[2] * 0.0 for n in numbers)])  # NaN beside an infinite radius
        size = abs(value).larger(abs(centre))
        bound = apart * (1.0 + SLACK) + size * 2.0**-51 + TINY
        return self.number(b, near, *finite_or_all(centre - value, bound))


def _rounding(b, value: Real, rounded) -> tuple[Real, Real]:
    """value - rounded as a sum of two, both zero where they are the same infinity or NaN."""
    result = Real(b, rounded)
    error = two_sum(value, -result)
    nan = b.and_(b.fcmp_unordered("uno", value.value, ZERO),
                 b.fcmp_unordered("uno", rounded, ZERO))  # fmt: skip
    same = b.or_(value.compared("==", result), nan)
    return tuple(part.unless(same, 0.0) for part in error)


def _lost(b, condition, row):
    clock = rows.ticked(b, row)
    rows.happened(b, row, rows.NO_NUMBER, condition, clock)
    return clock
