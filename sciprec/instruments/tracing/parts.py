"""The error of a number beside it, split by where it arose.

Lane 0 is all of the error, tested - exact; every other lane the part of a group of operations,
chosen by a mask in the operation's row. An operation passes the parts of its operands on and adds
its own rounding. The slopes are secants between tested and exact values, not derivatives, so that
parts add up to the error of any size: x y - x* y* = (x - dx / 2) dy + (y - dy / 2) dx, and
x / y - x* / y* = dx / y* - (x / y) dy / y*.

An infinity whose error is finite is one in exact arithmetic, too; one that the tested run alone has
has an infinite error, whose parts are not known, nor those of what is made of it.
"""

from __future__ import annotations

from functools import cached_property

from llvmlite import ir

from sciprec.instruments.tracing import rows
from sciprec.instruments.tracing.technique import Companion
from sciprec.precision.rounding.sticky import two_sum
from sciprec.precision.rounding.words import F64, I64, ONE, V64, ZERO, call, invariant


class Parts(Companion):
    """The error of a number beside it, in parts."""

    words = rows.WORDS

    @cached_property
    def holds_products(self) -> bool:
        """Whether products of two numbers of the format are numbers of binary64."""
        fmt = self.format
        within = fmt.max_finite < 2.0**511 and fmt.min_subnormal > 2.0**-511
        return 2 * fmt.significand_bits <= 53 and within and not self.wide

    def error(self, b, x):
        """tested - exact."""
        return self.lane(b, x, 0)

    def exact(self, b, x):
        """The exact value, to binary64; of a zero without error that zero, of its sign."""
        return b.fsub(self.value(b, x), b.fadd(self.error(b, x), ZERO))

    def exactly(self, b, value):
        """A tested value without error."""
        return self.joined(b, value, ir.Constant(self.beside_kind, None))

    def booked(self, b, value, parts, local, row):
        """A number whose own rounding goes to the part of its operation."""
        if self.lanes == 1:  # all of the error, which takes every rounding
            return self.joined(b, value, b.fadd(local, parts))
        return self.joined(b, value, self.fused(b, self.spread(b, local), self.mask(b, row), parts))

    def mask(self, b, row):
        """The lanes that an operation's rounding goes to: 1.0 in each of them, and in lane 0."""
        address = b.add(row, ir.Constant(I64, 8 * self.words))
        return invariant(b, b.inttoptr(address, self.beside_kind.as_pointer()), align=8)

    def scaled(self, b, parts, slope):
        """Parts of an operand times a slope."""
        return b.fmul(parts, self.spread(b, slope))

    def entered(self, b, x, rounded, residual, row):
        """A plain number x + residual that was rounded."""
        local = b.fsub(rounded, x)
        same = b.fcmp_ordered("==", rounded, x)  # infinities have no error
        local = b.select(same, ZERO, local)
        local = local if residual is None else b.fsub(local, residual)
        return self.booked(b, rounded, ir.Constant(self.beside_kind, None), local, row)

    def rerounded(self, b, x, rounded, row, operands=None, residual=None):
        """A number that was rounded once more; the exact one is x + residual."""
        residual = ZERO if residual is None else residual
        local = self.local(b, rounded, self.value(b, x), residual)
        return self.booked(b, rounded, self.beside(b, x), local, row)

    def local(self, b, rounded, near, residual):
        """rounded - (near + residual); the residual is nothing where it is not finite, as beside
        infinities that both runs have.
        """
        if self.holds_products:  # finite numbers have finite sums and products in binary64
            missed = b.fsub(rounded, near)
            return _or_zero(b, missed if residual is None else b.fsub(missed, residual))
        residual = b.select(rows.is_finite(b, residual), residual, ZERO)
        same = b.fcmp_ordered("==", rounded, near)
        return b.fsub(b.select(same, ZERO, b.fsub(rounded, near)), residual)

    def of_infinity(self, b, parts, exact, tested):
        """Parts of a result: none where it is the same infinity in both runs.

        Args:
            exact: the result of exact operands, NaN where these are not known.
            tested: that of tested ones.
        """
        infinite = b.fcmp_ordered("==", call(b, "fabs", exact), V64.constant(float("inf")))
        same = b.and_(infinite, b.fcmp_ordered("==", exact, tested))
        return b.select(same, ir.Constant(self.beside_kind, None), parts)

    def certain(self, b, x):
        """Return the number, an infinity in both runs without the error that was added to it."""
        value = self.value(b, x)
        return self.joined(
            b, value, self.of_infinity(b, self.beside(b, x), self.exact(b, x), value)
        )

    def _sum(self, b, x, y, rounded, row, sign: int):
        u, v = self.value(b, x), self.value(b, y)
        v = v if sign > 0 else b.fneg(v)
        join = b.fadd if sign > 0 else b.fsub
        parts = join(self.beside(b, x), self.beside(b, y))
        if self.holds_products:  # with as many bits, rounded - larger is a number of binary64
            less = b.fcmp_ordered("<", call(b, "fabs", u), call(b, "fabs", v))
            larger, smaller = b.select(less, v, u), b.select(less, u, v)
            local = _or_zero(b, b.fsub(b.fsub(rounded, larger), smaller))
        else:
            local = self.local(b, rounded, *two_sum(b, u, v))
        return self.booked(b, rounded, parts, local, row)

    def mul(self, b, x, y, row):
        """x y."""
        u, v = self.value(b, x), self.value(b, y)
        product, residual = b.fmul(u, v), None
        rounded = self._tested(b, "mul", u, v)
        if not self.holds_products:
            residual = call(b, "fma", u, v, b.fneg(product))
        elif self.lanes == 1:
            return self.joined(b, rounded, self._error_of_product(b, x, y, product, rounded))
        local = self.local(b, rounded, product, residual)
        return self.booked(b, rounded, self._of_product(b, x, y), local, row)

    def _of_product(self, b, x, y):
        """Parts of the operands behind x y."""
        half = V64.constant(-0.5)
        u = call(b, "fma", half, self.error(b, x), self.value(b, x))
        v = call(b, "fma", half, self.error(b, y), self.value(b, y))
        first = self.scaled(b, self.beside(b, x), v)
        parts = self.fused(b, self.beside(b, y), self.spread(b, u), first)
        exact = b.fmul(*(b.fsub(self.value(b, n), self.error(b, n)) for n in (x, y)))
        return self.of_infinity(b, parts, exact, b.fmul(self.value(b, x), self.value(b, y)))

    def _error_of_product(self, b, x, y, product, rounded):
        """All of the error, x y - x* y* = dx y* + x dy and its rounding, in fewer operations. An
        infinity leaves NaN there.
        """
        exact_x, exact_y = (b.fsub(self.value(b, n), self.error(b, n)) for n in (x, y))
        first = b.fmul(self.error(b, x), exact_y)
        parts = call(b, "fma", self.value(b, x), self.error(b, y), first)
        error = b.fadd(parts, b.fsub(rounded, product))
        same = b.fcmp_ordered("==", b.fmul(exact_x, exact_y), product)
        same = b.and_(same, b.fcmp_unordered("uno", error, error))
        return b.select(same, ZERO, error)

    def fma(self, b, x, y, z, row):
        """x y + z. Its exact error: Boldo and Muller (2011), ErrFma."""
        u, v, w = (self.value(b, n) for n in (x, y, z))
        rounded = self._tested(b, "fma", u, v, w)
        high = b.fmul(u, v)
        low = call(b, "fma", u, v, b.fneg(high))
        first, first_rest = two_sum(b, w, low)
        total, total_rest = two_sum(b, high, first)
        residual = b.fadd(total_rest, first_rest)
        parts = b.fadd(self._of_product(b, x, y), self.beside(b, z))
        return self.booked(b, rounded, parts, self.local(b, rounded, total, residual), row)

    def div(self, b, x, y, row):
        """x / y."""
        u, v = self.value(b, x), self.value(b, y)
        rounded, quotient = self._tested(b, "div", u, v), b.fdiv(u, v)
        remainder = call(b, "fma", b.fneg(quotient), v, u)
        local = self.local(b, rounded, quotient, b.fdiv(remainder, v))
        exact = self.exact(b, y)
        tiny = b.fcmp_ordered("<", call(b, "fabs", exact), V64.constant(2.0**-1000))
        scale = b.select(tiny, V64.constant(2.0**200), ONE)  # beyond which 1 / y* overflows
        inverse = b.fdiv(ONE, b.fmul(exact, scale))
        factor = self.spread(b, b.fneg(quotient))
        parts = self.fused(b, self.beside(b, y), factor, self.beside(b, x))
        parts = self.scaled(b, self.scaled(b, parts, inverse), scale)
        ratio = b.fmul(b.fmul(self.exact(b, x), inverse), scale)
        parts = self.of_infinity(b, parts, ratio, rounded)
        return self.booked(b, rounded, parts, local, row)

    def sqrt(self, b, x, row):
        """The square root of x."""
        u = self.value(b, x)
        rounded, root = self._tested(b, "sqrt", u), call(b, "sqrt", u)
        remainder = call(b, "fma", b.fneg(root), root, u)
        local = self.local(b, rounded, root, b.fdiv(remainder, b.fadd(root, root)))
        both = b.fadd(root, call(b, "sqrt", self.exact(b, x)))
        parts = self.sloped(b, x, b.fdiv(ONE, both))
        return self.booked(b, rounded, parts, local, row)

    def sloped(self, b, x, slope):
        """Parts of an operand times a slope that may be infinite where there is no error."""
        parts = self.beside(b, x)
        nothing = ir.Constant(self.beside_kind, None)
        none = b.fcmp_ordered("==", parts, nothing)
        return b.select(none, nothing, self.scaled(b, parts, slope))

    def magnitude(self, b, x, row=None):
        """|x|, with the secant of the absolute value; of a tested zero that is the exact sign."""
        value, exact, error = self.value(b, x), self.exact(b, x), self.error(b, x)
        signed = b.select(b.fcmp_ordered("==", value, ZERO), exact, value)
        sign = call(b, "copysign", ONE, signed)
        sizes = b.fsub(call(b, "fabs", value), call(b, "fabs", exact))
        crosses = b.fcmp_ordered("<", b.fmul(value, call(b, "copysign", ONE, exact)), ZERO)
        slope = b.select(crosses, b.fdiv(sizes, error), sign)
        return self.joined(b, call(b, "fabs", value), self.scaled(b, self.beside(b, x), slope))

    def chosen(self, b, x, y, first, sign: float):
        """max(x, y), of the sign -1 min, along secants: (x + y + sign |x - y|) / 2."""
        tested = b.fsub(self.value(b, x), self.value(b, y))
        error = b.fsub(self.error(b, x), self.error(b, y))
        exact, half = b.fsub(tested, error), V64.constant(0.5)
        sizes = b.fsub(call(b, "fabs", tested), call(b, "fabs", exact))
        slope = b.fmul(b.fdiv(sizes, error), V64.constant(0.5 * sign))
        parts = self.scaled(b, self.beside(b, x), b.fadd(half, slope))
        parts = b.fadd(parts, self.scaled(b, self.beside(b, y), b.fsub(half, slope)))
        selected = b.select(first, x, y)
        otherwise = self.decides_otherwise(b, exact, first, sign)
        return b.select(otherwise, self.joined(b, self.value(b, selected), parts), selected)

    def difference(self, b, x, y, factor):
        """Parts of x - factor y, where the factor is exact."""
        return b.fsub(self.beside(b, x), self.scaled(b, self.beside(b, y), factor))

    def of_function(self, b, values, tested, near, function):
        """A function's value `near` and the parts of its operands behind it: with two operands, the
        mean of both orders.
        """
        values = [self.certain(b, v) for v in values]
        parts = self._behind(b, values, tested, near, function)
        exact = function.value(*(self._as_in_slopes(b, v) for v in values))
        return self.joined(b, near, self.of_infinity(b, parts, exact, function.value(*tested)))

    def _as_in_slopes(self, b, x):
        """The exact value as slopes compute it, so that a function of it is evaluated once."""
        return b.fsub(self.value(b, x), self.error(b, x))

    def _behind(self, b, values, tested, near, function):
        """Parts of the operands behind a function."""
        if len(values) == 1:
            term = function.slope(tested[0], self.error(b, values[0]), near)
            return self.sloped(b, values[0], term)
        parts, half = None, V64.constant(0.5)
        for first in (True, False):
            index, partner = (0, 1) if first else (1, 0)
            error, exact = self.error(b, values[index]), self._as_in_slopes(b, values[partner])
            ends = (
                function.slope_along(first, tested[index], error, at)
                for at in (tested[partner], exact)
            )
            mean = b.fmul(half, b.fadd(*ends))
            term = self.sloped(b, values[index], mean)
            parts = term if parts is None else b.fadd(parts, term)
        return parts


class PartsByStep(Parts):
    """Parts split by the pass of an outermost loop: the mask is that of the present pass, and
    counts where the row has the factor 1.0, which may have changed between runs.
    """

    def mask(self, b, row):
        """The mask of the pass times the row's factor; lane 0 takes every rounding."""
        address = rows.load(b, rows.header_of(b, row), rows.MASK)
        mask = b.load(b.inttoptr(address, self.beside_kind.as_pointer()), align=8)
        factor = self.spread(b, rows.load(b, row, rows.FACTOR, F64))
        return b.insert_element(b.fmul(mask, factor), ONE, ir.Constant(I64, 0))

    def passed(self, b, index, row, outermost: bool) -> None:
        """The mask of the next pass, where that is one of an outermost loop."""
        if outermost:
            self.ended(b, row)

    def ended(self, b, row) -> None:
        """The mask of what follows."""
        header, step = rows.next_step(b, row)
        size = ir.Constant(I64, 8 * self.lanes)
        mask = b.add(rows.load(b, header, rows.MASKS), b.mul(step, size))
        rows.store(b, mask, header, rows.MASK)


class PartsOfWider(Parts):
    """Parts where rows with the factor 1.0 leave their rounding out: their results stay in
    binary64 until another operation rounds.
    """

    holds_products = False

    def booked(self, b, value, parts, local, row):
        """A number with or without its rounding."""
        factor = rows.load(b, row, rows.FACTOR, F64)
        wide = b.fcmp_ordered("!=", factor, ZERO)
        plain = b.fsub(value, local)
        wide = b.and_(wide, rows.is_finite(b, plain))
        value = b.select(wide, plain, value)
        local = b.select(wide, ZERO, local)
        return super().booked(b, value, parts, local, row)

    def _tested(self, b, operation: str, *values):
        """An operation on values that may be wider than the format."""
        plain = {"add": b.fadd, "sub": b.fsub, "mul": b.fmul, "div": b.fdiv}.get(operation)
        result = plain(*values) if plain else call(b, operation, *values)
        return self._widened(b, self.base.from_binary64(b, result))


def _or_zero(b, x):
    """A number; nothing in the place of NaN."""
    return b.select(b.fcmp_ordered("ord", x, x), x, ZERO)
