"""Techniques that round a tested value as ever, and keep something beside it.

`Parts` keeps the error of the tested value, tested - exact, split by where it arose: lane 0 is all
of it, every other lane the part of a group of operations, chosen by the operation's row. `Twin`
keeps the exact value itself as an unevaluated sum of two binary64 numbers, along the same path:
what the sum of all parts is checked with.

An operation passes the parts of its operands on and adds its own rounding. The slopes are secants
between tested and exact values, not derivatives, so that parts add up to the error of any size:
x y - x* y* = (x - dx / 2) dy + (y - dy / 2) dx, and x / y - x* / y* = dx / y* - (x / y) dy / y*.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils

from sciprec.precision.rounding.native import Native
from sciprec.precision.rounding.words import F32, F64, I64, V64, call
from sciprec.precision.tracing.numbers import number_type, with_companion

WORDS = 8
"""Words of a row before its mask: those that rows of fixed point have, since a parallel loop leaves
its chunks' marks there (`boundaries.kept`)."""


def row_bytes(lanes: int) -> int:
    """The size of an operation's row: words, and a mask of one number a lane."""
    return 8 * (WORDS + lanes)


class Companion:
    """A technique with a companion beside every value; the base of the two here.

    Args:
        base: the technique that rounds tested values, in the processor's normal mode.
        lanes: how many binary64 numbers are beside a value.
    """

    placed, mode = True, None

    def __init__(self, base: Native, lanes: int):
        self.base, self.lanes = base, lanes
        self.arithmetic, self.format, self.rule = base.arithmetic, base.format, base.rule
        self.wide = base.wide
        self.kind = number_type(lanes)
        self.beside_kind = ir.VectorType(F64, lanes)

    # ---- numbers -------------------------------------------------------------------------------

    def value(self, b, x):
        """The tested value of a number, in binary64."""
        return b.extract_value(x, 0)

    def beside(self, b, x):
        """What is beside it."""
        return b.extract_value(x, 1)

    def with_value(self, b, x, value):
        """The same companion beside another value."""
        return b.insert_value(x, value, 0)

    def made(self, b, value, beside):
        """A number."""
        return with_companion(b, value, beside)

    def lane(self, b, x, number: int):
        """One of the numbers beside a value."""
        return b.extract_element(self.beside(b, x), ir.Constant(I64, number))

    def settled(self, b, x):
        """The same number, no zero beside it negative: these mark what was never stored."""
        nothing = ir.Constant(self.beside_kind, [0.0] * self.lanes)
        return self.made(b, self.value(b, x), b.fadd(self.beside(b, x), nothing))

    def spread(self, b, value):
        """A value in every lane."""
        one = ir.Constant(ir.VectorType(F64, 1), ir.Undefined)
        one = b.insert_element(one, value, ir.Constant(I64, 0))
        places = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        return b.shuffle_vector(one, ir.Constant(one.type, ir.Undefined), places)

    def fused(self, b, x, y, z):
        """x y + z in every lane."""
        kind = self.beside_kind
        function = cgutils.get_or_insert_function(
            b.module, ir.FunctionType(kind, [kind] * 3), f"llvm.fma.v{self.lanes}f64"
        )
        return b.call(function, [x, y, z])

    def _tested(self, b, operation: str, *values):
        """An operation of the base technique on tested values; the result in binary64."""
        carried = [b.fptrunc(v, F32) if self.base.carrier == F32 else v for v in values]
        return self._widened(b, getattr(self.base, operation)(b, *carried))

    def _widened(self, b, value):
        return b.fpext(value, F64) if value.type == F32 else value

    # ---- operations ----------------------------------------------------------------------------

    def add(self, b, x, y, row):
        """x + y, rounded once; so are the operations below."""
        values = self.value(b, x), self.value(b, y)
        return self._sum(b, x, y, self._tested(b, "add", *values), row, +1)

    def accumulate(self, b, total, term, row):
        """A sum that goes on."""
        return self.add(b, total, term, row)

    def sub(self, b, x, y, row):
        """x - y."""
        values = self.value(b, x), self.value(b, y)
        return self._sum(b, x, y, self._tested(b, "sub", *values), row, -1)

    def from_binary32(self, b, x, row):
        """Any binary32 number, rounded once."""
        return self.from_binary64(b, b.fpext(x, F64), row)

    def from_binary64(self, b, x, row):
        """Any binary64 number, rounded once."""
        return self.entered(b, x, self._widened(b, self.base.from_binary64(b, x)), None, row)

    def from_integer(self, b, i, signed: bool, row):
        """Any 64-bit integer, rounded once."""
        rounded = self._widened(b, self.base.from_integer(b, i, signed))
        near = (b.sitofp if signed else b.uitofp)(i, F64)
        small = b.icmp_unsigned("<", b.add(i, ir.Constant(I64, 1 << 53)), ir.Constant(I64, 1 << 54))
        back = b.select(small, i, (b.fptosi if signed else b.fptoui)(near, I64))
        rest = b.sitofp(b.sub(i, back), F64)
        return self.entered(b, near, rounded, rest, row)

    def rounded(self, b, x, row):
        """A number of another format of the backend, rounded once."""
        value = self.value(b, x)
        return self.rerounded(b, x, self._widened(b, self.base.from_binary64(b, value)), row)

    def negated(self, b, x, row=None):
        """-x."""
        return self.made(b, b.fneg(self.value(b, x)), b.fneg(self.beside(b, x)))


class Parts(Companion):
    """The error of a number beside it, in parts."""

    def error(self, b, x):
        """tested - exact."""
        return self.lane(b, x, 0)

    def exact(self, b, x):
        """The exact value, to binary64."""
        return b.fsub(self.value(b, x), self.error(b, x))

    def exactly(self, b, value):
        """A tested value without error."""
        return self.made(b, value, ir.Constant(self.beside_kind, None))

    def booked(self, b, value, parts, local, row):
        """A number whose own rounding goes to the part of its operation."""
        address = b.add(row, ir.Constant(I64, 8 * WORDS))
        mask = b.load(b.inttoptr(address, self.beside_kind.as_pointer()), align=8)
        mask.set_metadata("invariant.load", b.module.add_metadata([]))
        return self.made(b, value, self.fused(b, self.spread(b, local), mask, parts))

    def scaled(self, b, parts, slope):
        """Parts of an operand times a slope."""
        return b.fmul(parts, self.spread(b, slope))

    def entered(self, b, x, rounded, rest, row):
        """A plain number x + rest that was rounded."""
        local = b.fsub(rounded, x)
        same = b.fcmp_ordered("==", rounded, x)  # infinities have no error
        local = b.select(same, V64.constant(0.0), local)
        local = local if rest is None else b.fsub(local, rest)
        return self.booked(b, rounded, ir.Constant(self.beside_kind, None), local, row)

    def rerounded(self, b, x, rounded, row):
        """A number that was rounded once more."""
        local = b.fsub(rounded, self.value(b, x))
        return self.booked(b, rounded, self.beside(b, x), local, row)

    def _sum(self, b, x, y, rounded, row, sign: int):
        u, v = self.value(b, x), self.value(b, y)
        v = v if sign > 0 else b.fneg(v)
        total, rest = two_sum(b, u, v)
        join = b.fadd if sign > 0 else b.fsub
        parts = join(self.beside(b, x), self.beside(b, y))
        return self.booked(b, rounded, parts, _local(b, rounded, total, rest), row)

    def mul(self, b, x, y, row):
        """x y."""
        u, v = self.value(b, x), self.value(b, y)
        product = b.fmul(u, v)
        rest = call(b, "fma", u, v, b.fneg(product))
        rounded = self._tested(b, "mul", u, v)
        local = _local(b, rounded, product, rest)
        return self.booked(b, rounded, self._of_product(b, x, y), local, row)

    def _of_product(self, b, x, y):
        half = V64.constant(-0.5)
        u = call(b, "fma", half, self.error(b, x), self.value(b, x))
        v = call(b, "fma", half, self.error(b, y), self.value(b, y))
        first = self.scaled(b, self.beside(b, x), v)
        return self.fused(b, self.beside(b, y), self.spread(b, u), first)

    def fma(self, b, x, y, z, row):
        """x y + z. Its exact error: Boldo and Muller (2011), ErrFma."""
        u, v, w = (self.value(b, n) for n in (x, y, z))
        rounded = self._tested(b, "fma", u, v, w)
        high = b.fmul(u, v)
        low = call(b, "fma", u, v, b.fneg(high))
        first, first_rest = two_sum(b, w, low)
        total, total_rest = two_sum(b, high, first)
        rest = b.fadd(total_rest, first_rest)
        parts = b.fadd(self._of_product(b, x, y), self.beside(b, z))
        return self.booked(b, rounded, parts, _local(b, rounded, total, rest), row)

    def div(self, b, x, y, row):
        """x / y."""
        u, v = self.value(b, x), self.value(b, y)
        rounded, quotient = self._tested(b, "div", u, v), b.fdiv(u, v)
        remainder = call(b, "fma", b.fneg(quotient), v, u)
        local = _local(b, rounded, quotient, b.fdiv(remainder, v))
        inverse = b.fdiv(V64.constant(1.0), self.exact(b, y))
        of_y = self.scaled(b, self.beside(b, y), b.fmul(quotient, inverse))
        parts = b.fsub(self.scaled(b, self.beside(b, x), inverse), of_y)
        return self.booked(b, rounded, parts, local, row)

    def sqrt(self, b, x, row):
        """The square root of x."""
        u = self.value(b, x)
        rounded, root = self._tested(b, "sqrt", u), call(b, "sqrt", u)
        remainder = call(b, "fma", b.fneg(root), root, u)
        local = _local(b, rounded, root, b.fdiv(remainder, b.fadd(root, root)))
        both = b.fadd(root, call(b, "sqrt", self.exact(b, x)))
        parts = self.sloped(b, x, b.fdiv(V64.constant(1.0), both))
        return self.booked(b, rounded, parts, local, row)

    def sloped(self, b, x, slope):
        """Parts of an operand times a slope that may be infinite where there is no error."""
        parts = self.beside(b, x)
        nothing = ir.Constant(self.beside_kind, None)
        none = b.fcmp_ordered("==", parts, nothing)
        return b.select(none, nothing, self.scaled(b, parts, slope))

    def magnitude(self, b, x, row=None):
        """|x|, with the secant of the absolute value."""
        value, exact, error = self.value(b, x), self.exact(b, x), self.error(b, x)
        sizes = b.fsub(call(b, "fabs", value), call(b, "fabs", exact))
        sign = call(b, "copysign", V64.constant(1.0), value)
        crosses = b.fcmp_ordered("<", b.fmul(value, call(b, "copysign", V64.constant(1.0), exact)),
                                 V64.constant(0.0))  # fmt: skip
        slope = b.select(crosses, b.fdiv(sizes, error), sign)
        return self.made(b, call(b, "fabs", value), self.scaled(b, self.beside(b, x), slope))

    def difference(self, b, x, y, factor):
        """Parts of x - factor y, where the factor is exact."""
        return b.fsub(self.beside(b, x), self.scaled(b, self.beside(b, y), factor))

    def of_function(self, b, values, tested, near, function):
        """A function's value `near` and the parts of its operands behind it: with two operands, the
        mean of both orders.
        """
        if len(values) == 1:
            found = function.slope(tested[0], self.error(b, values[0]), near)
            return self.made(b, near, self.sloped(b, values[0], found))
        parts, half = None, V64.constant(0.5)
        for first in (True, False):
            own, other = (0, 1) if first else (1, 0)
            error, exact = self.error(b, values[own]), self.exact(b, values[other])
            ends = (
                function.slope_along(first, tested[own], error, at) for at in (tested[other], exact)
            )
            mean = b.fmul(half, b.fadd(*ends))
            found = self.sloped(b, values[own], mean)
            parts = found if parts is None else b.fadd(parts, found)
        return self.made(b, near, parts)


class Twin(Companion):
    """The exact value of a number beside it: high + low."""

    def pair(self, b, x):
        """The exact value's two numbers."""
        return self.lane(b, x, 0), self.lane(b, x, 1)

    def with_pair(self, b, value, high, low):
        """A number of a tested value and an exact one."""
        total = b.fadd(high, low)
        finite = b.fcmp_ordered("==", b.fsub(total, total), V64.constant(0.0))
        rest = b.select(finite, b.fsub(low, b.fsub(total, high)), V64.constant(0.0))
        beside = ir.Constant(self.beside_kind, None)
        for place, number in enumerate((total, rest)):
            beside = b.insert_element(beside, number, ir.Constant(I64, place))
        return self.made(b, value, beside)

    def exactly(self, b, value):
        """A tested value without error."""
        return self.with_pair(b, value, value, V64.constant(0.0))

    def entered(self, b, x, rounded, rest, row):
        """A plain number x + rest that was rounded."""
        return self.with_pair(b, rounded, x, V64.constant(0.0) if rest is None else rest)

    def rerounded(self, b, x, rounded, row):
        """A number that was rounded once more."""
        return self.with_value(b, x, rounded)

    def _sum(self, b, x, y, rounded, row, sign: int):
        other = self.pair(b, y) if sign > 0 else [b.fneg(n) for n in self.pair(b, y)]
        return self.with_pair(b, rounded, *_plus(b, self.pair(b, x), other))

    def mul(self, b, x, y, row):
        """x y."""
        rounded = self._tested(b, "mul", self.value(b, x), self.value(b, y))
        return self.with_pair(b, rounded, *_times(b, self.pair(b, x), self.pair(b, y)))

    def fma(self, b, x, y, z, row):
        """x y + z."""
        rounded = self._tested(b, "fma", *(self.value(b, n) for n in (x, y, z)))
        product = _times(b, self.pair(b, x), self.pair(b, y))
        return self.with_pair(b, rounded, *_plus(b, product, self.pair(b, z)))

    def div(self, b, x, y, row):
        """x / y."""
        rounded = self._tested(b, "div", self.value(b, x), self.value(b, y))
        (u, u_low), (v, v_low) = self.pair(b, x), self.pair(b, y)
        quotient = b.fdiv(u, v)
        rest = b.fadd(call(b, "fma", b.fneg(quotient), v, u), u_low)
        rest = b.fsub(rest, b.fmul(quotient, v_low))
        return self.with_pair(b, rounded, quotient, b.fdiv(rest, v))

    def sqrt(self, b, x, row):
        """The square root of x."""
        rounded, (u, u_low) = self._tested(b, "sqrt", self.value(b, x)), self.pair(b, x)
        root = call(b, "sqrt", u)
        rest = b.fadd(call(b, "fma", b.fneg(root), root, u), u_low)
        rest = b.fdiv(rest, b.fadd(root, root))
        zero = V64.constant(0.0)
        return self.with_pair(
            b, rounded, root, b.select(b.fcmp_ordered("==", root, zero), zero, rest)
        )

    def magnitude(self, b, x, row=None):
        """|x|."""
        high, low = self.pair(b, x)
        negative = b.fcmp_ordered("<", high, V64.constant(0.0))
        high, low = (b.select(negative, b.fneg(n), n) for n in (high, low))
        return self.with_pair(b, call(b, "fabs", self.value(b, x)), high, low)

    def difference(self, b, x, y, factor):
        """x - factor y, where the factor is exact: what is beside it."""
        scaled = _times(b, self.pair(b, y), (b.fneg(factor), V64.constant(0.0)))
        made = self.with_pair(b, self.value(b, x), *_plus(b, self.pair(b, x), scaled))
        return self.beside(b, made)

    def of_function(self, b, values, tested, near, function):
        """A function's value `near`, and its exact one, to binary64."""
        highs, lows = zip(*(self.pair(b, v) for v in values), strict=True)
        low, nothing = V64.constant(0.0), V64.constant(0.0)
        exact = function.value(*highs)
        if len(values) == 1:
            low = _unless_zero(b, lows[0], function.slope(highs[0], nothing, exact))
        else:
            for first in (True, False):
                own, other = (0, 1) if first else (1, 0)
                slope = function.slope_along(first, highs[own], nothing, highs[other])
                low = b.fadd(low, _unless_zero(b, lows[own], slope))
        return self.with_pair(b, near, exact, low)


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


def two_sum(b, x, y):
    """x + y as its rounded sum and the rest (Knuth 1969)."""
    total = b.fadd(x, y)
    other = b.fsub(total, x)
    rest = b.fadd(b.fsub(x, b.fsub(total, other)), b.fsub(y, other))
    return total, rest


def _local(b, rounded, near, rest):
    """rounded - (near + rest); the rest is nothing where it is no number, as beside infinities."""
    rest = b.select(b.fcmp_unordered("uno", rest, rest), V64.constant(0.0), rest)
    same = b.fcmp_ordered("==", rounded, near)
    difference = b.select(same, V64.constant(0.0), b.fsub(rounded, near))
    return b.fsub(difference, rest)
