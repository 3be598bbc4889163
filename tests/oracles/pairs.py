"""Complex numbers as pairs of self-rounding scalars: the documented formulas, case by case.

Real operands are pairs with the imaginary part +0. `apply` and `elementary` of a twin give the
real operations.
"""

from __future__ import annotations

import cmath
import math
import operator

import numpy as np

from tests.oracles import exact
from tests.oracles.scalar import WHOLE, Exact, elementwise

SIGNS = {"+": exact.add, "-": exact.sub, "*": exact.mul, "/": exact.div}


class Pair:
    """A complex number; its operators are formulas of rounded steps."""

    __slots__ = ("real", "imag", "twin")
    __array_ufunc__ = None
    __hash__ = None

    def __init__(self, real, imag, twin):
        self.real, self.imag, self.twin = real, imag, twin

    def _with(self, name: str, *operands):
        return applied(self.twin, name, operands)

    def of_step(self, operation, operands):
        """An operation of `exact` on operands, this one among them."""
        return self._with(BY_STEP[operation], *operands)

    def __add__(self, other):
        return self._with("add", self, other)

    def __radd__(self, other):
        return self._with("add", other, self)

    def __sub__(self, other):
        return self._with("sub", self, other)

    def __rsub__(self, other):
        return self._with("sub", other, self)

    def __mul__(self, other):
        return self._with("mul", self, other)

    def __rmul__(self, other):
        return self._with("mul", other, self)

    def __truediv__(self, other):
        return self._with("div", self, other)

    def __rtruediv__(self, other):
        return self._with("div", other, self)

    def __neg__(self):
        return self._with("neg", self)

    def __pos__(self):
        return self._with("pos", self)

    def __abs__(self):
        return self._with("abs", self)

    def __eq__(self, other):
        other = pair_of(self.twin, other)
        return self.real == other.real and self.imag == other.imag

    def __ne__(self, other):
        return not self == other

    def __bool__(self):
        return self != 0

    def conjugate(self):
        return self._with("conj", self)

    conj = conjugate

    def __complex__(self) -> complex:
        return complex(float(self.real), float(self.imag))

    def __repr__(self) -> str:
        return f"Pair({complex(self)!r})"


def pair_of(twin, x) -> Pair:
    """A number as a complex one."""
    if isinstance(x, Pair):
        return x
    if isinstance(x, (complex, np.complexfloating)):
        real, imag = (x.real, x.imag)
        return Pair(twin.operand(float(real)), twin.operand(float(imag)), twin)
    return Pair(twin.operand(x), twin.operand(0.0), twin)


def applied(twin, name: str, operands, arithmetic=None):
    """An operation on numbers, at least one of them complex; on arrays element by element."""
    if any(isinstance(x, np.ndarray) for x in operands):
        return elementwise(lambda *x: applied(twin, name, x, arithmetic), operands)
    if name in ("minimum", "maximum") or not hasattr(_Formulas, name):
        raise TypeError(f"complex numbers have no {name}")
    return getattr(_Formulas(twin, arithmetic), name)(*(pair_of(twin, x) for x in operands))


def is_complex(x) -> bool:
    """Whether this is a complex number, of Python or of this module."""
    return isinstance(x, (Pair, complex, np.complexfloating))


def _size(x: Exact) -> float:
    return abs(x.value)


def _is(x: Exact, value: float) -> bool:
    return x.value == value


class _Formulas:
    """Each operation from `step(sign, x, y)`, rounded once, and `f(name, ...)`."""

    def __init__(self, twin, arithmetic):
        self.twin = twin
        self.arithmetic = arithmetic or twin.backend.compute

    def step(self, sign, x, y):
        return self.twin.apply(SIGNS[sign], x, y, arithmetic=self.arithmetic)

    def f(self, name, *operands):
        return self.twin.elementary(name, *operands)

    def root(self, x):
        return self.twin.apply(exact.sqrt, x, arithmetic=self.arithmetic)

    def kept(self, x):
        return self.twin.apply(lambda v, arithmetic: v, x, arithmetic=self.arithmetic)

    def minus(self, x):
        return self.twin.apply(exact.neg, x, arithmetic=self.arithmetic)

    def constant(self, x: float):
        return self.twin.operand(x)

    def pair(self, x, y) -> Pair:
        return Pair(x, y, self.twin)

    def add(self, z, w):
        return self.pair(self.step("+", z.real, w.real), self.step("+", z.imag, w.imag))

    def sub(self, z, w):
        return self.pair(self.step("-", z.real, w.real), self.step("-", z.imag, w.imag))

    def mul(self, z, w):
        real = self.step("-", self.step("*", z.real, w.real), self.step("*", z.imag, w.imag))
        imag = self.step("+", self.step("*", z.real, w.imag), self.step("*", z.imag, w.real))
        return self.pair(real, imag)

    def square(self, z):
        return self.mul(z, z)

    def div(self, z, w):
        (a, b), (c, d) = (z.real, z.imag), (w.real, w.imag)
        step, at = self.step, operator.attrgetter("value")
        if _is(c, 0.0) and _is(d, 0.0):
            zero = self.constant(0.0)
            return self.pair(step("/", a, zero), step("/", b, zero))
        if math.isnan(at(c)) or math.isnan(at(d)):
            return self.pair(self.constant(math.nan), self.constant(math.nan))
        if _size(c) >= _size(d):
            ratio = step("/", d, c)
            below = step("+", c, step("*", d, ratio))
            real = step("+", a, step("*", b, ratio))
            imag = step("-", b, step("*", a, ratio))
        else:
            ratio = step("/", c, d)
            below = step("+", step("*", c, ratio), d)
            real = step("+", step("*", a, ratio), b)
            imag = step("-", step("*", b, ratio), a)
        return self.pair(step("/", real, below), step("/", imag, below))

    def reciprocal(self, z):
        return self.div(pair_of(self.twin, 1.0), z)

    def neg(self, z):
        return self.pair(self.minus(z.real), self.minus(z.imag))

    def pos(self, z):
        return self.pair(self.kept(z.real), self.kept(z.imag))

    def conj(self, z):
        return self.pair(self.kept(z.real), self.minus(z.imag))

    def abs(self, z):
        return self.f("hypot", z.real, z.imag)

    def angle(self, z):
        return self.f("atan2", z.imag, z.real)

    def polar(self, z):
        return self.abs(z), self.angle(z)

    def product_with(self, bounded, size):
        """A sine or cosine times a size: of zero times infinity zero."""
        if _is(bounded, 0.0) and math.isinf(size.value):
            sign = math.copysign(1.0, bounded.value) * math.copysign(1.0, size.value)
            return self.constant(math.copysign(0.0, sign))
        return self.step("*", bounded, size)

    def turned(self, size, phi):
        cos, sin = self.f("cos", phi), self.f("sin", phi)
        return self.pair(self.product_with(cos, size), self.product_with(sin, size))

    def rect(self, r, phi):
        return self.turned(r.real, phi.real)

    def exp(self, z):
        x, y, size = z.real, z.imag, self.f("exp", z.real)
        if not math.isfinite(y.value) and math.isinf(x.value):
            if x.value < 0:
                return self.pair(size, size)
            return self.pair(x, self.constant(math.nan))
        made = self.turned(size, y)
        return self.pair(made.real, y) if _is(y, 0.0) else made

    def log(self, z):
        return self.pair(self.f("log", self.abs(z)), self.angle(z))

    def log10(self, z):
        w, base = self.log(z), self.constant(math.log(10.0))
        return self.pair(self.step("/", w.real, base), self.step("/", w.imag, base))

    def sqrt(self, z):
        a, b, step = z.real, z.imag, self.step
        if _is(a, 0.0) and _is(b, 0.0) or math.isinf(b.value):
            return self.pair(self.constant(abs(b.value)), b)
        if math.isnan(a.value):
            return self.pair(a, a)
        if math.isinf(a.value):
            rest = step("-", b, b)
            if a.value < 0.0:
                sign = 1.0 if math.isnan(b.value) else b.value
                signed = self.constant(math.copysign(a.value, sign))
                return self.pair(self.constant(abs(rest.value)), signed)
            return self.pair(a, self.constant(math.copysign(rest.value, b.value)))
        fmt, sizes = self.arithmetic.format, (_size(a), _size(b))
        factor = back = 1.0
        if any(s >= fmt.max_finite / (1.0 + math.sqrt(2.0)) for s in sizes):
            factor, back = 0.25, 2.0
        elif all(s < 4.0 * fmt.min_normal for s in sizes):
            bits = min(fmt.significand_bits + 2, fmt.emax - 2)
            factor, back = 4.0 ** max(1, bits // 2), 2.0 ** -max(1, bits // 2)
        factor, back, half = (self.constant(v) for v in (factor, back, 0.5))
        x, y = step("*", a, factor), step("*", b, factor)
        positive = self.constant(abs(x.value))
        t = self.root(step("*", step("+", positive, self.f("hypot", x, y)), half))
        twice = step("*", self.constant(2.0), t)
        if x.value >= 0.0:
            real, imag = t, step("/", y, twice)
        else:
            real = step("/", self.constant(abs(y.value)), twice)
            imag = self.constant(math.copysign(t.value, y.value))
        return self.pair(step("*", real, back), step("*", imag, back))

    def sinh(self, z):
        x, y = z.real, z.imag
        real = self.product_with(self.f("cos", y), self.f("sinh", x))
        return self.pair(real, self.product_with(self.f("sin", y), self.f("cosh", x)))

    def cosh(self, z):
        x, y = z.real, z.imag
        real = self.product_with(self.f("cos", y), self.f("cosh", x))
        return self.pair(real, self.product_with(self.f("sin", y), self.f("sinh", x)))

    def sin(self, z):
        x, y = z.real, z.imag
        real = self.product_with(self.f("sin", x), self.f("cosh", y))
        return self.pair(real, self.product_with(self.f("cos", x), self.f("sinh", y)))

    def cos(self, z):
        x, y = z.real, self.constant(-z.imag.value)
        real = self.product_with(self.f("cos", x), self.f("cosh", z.imag))
        return self.pair(real, self.product_with(self.f("sin", x), self.f("sinh", y)))

    def tanh(self, z):
        step, one = self.step, self.constant(1.0)
        t, u = self.f("tanh", z.real), self.f("tan", z.imag)
        short = step("/", one, self.f("cosh", z.real))
        tu = step("*", t, u)
        below = step("+", one, step("*", tu, tu))
        real = step("/", step("*", t, step("+", one, step("*", u, u))), below)
        return self.pair(real, step("*", step("*", step("/", u, below), short), short))

    def tan(self, z):
        w = self.tanh(self.pair(self.constant(-z.imag.value), z.real))
        return self.pair(w.imag, self.constant(-w.real.value))

    def pow(self, z, w):
        c, d, step = w.real, w.imag, self.step
        if _is(c, 0.0) and _is(d, 0.0):
            return pair_of(self.twin, 1.0)
        if _is(c, 2.0) and _is(d, 0.0):
            return self.mul(z, z)
        if _is(z.real, 0.0) and _is(z.imag, 0.0):
            nan = math.nan if not _is(d, 0.0) or c.value < 0.0 else 0.0
            return self.pair(self.constant(nan), self.constant(nan))
        size, at = self.abs(z), self.angle(z)
        length, phase = self.f("pow", size, c), step("*", at, c)
        if not _is(d, 0.0):
            length = step("/", length, self.f("exp", step("*", at, d)))
            phase = step("+", phase, step("*", d, self.f("log", size)))
        cos, sin = self.f("cos", phase), self.f("sin", phase)
        return self.pair(step("*", length, cos), step("*", length, sin))


BY_STEP = {exact.add: "add", exact.sub: "sub", exact.mul: "mul", exact.div: "div",
           exact.neg: "neg", exact.absolute: "abs", exact.sqrt: "sqrt"}  # fmt: skip
NAMES = {
    np.conj: "conj", np.angle: "angle", cmath.phase: "angle", cmath.polar: "polar",
    cmath.rect: "rect", complex: "pos", np.complex128: "pos", np.complex64: "pos",
    np.square: "square", np.reciprocal: "reciprocal",
} | {
    getattr(cmath, n): n
    for n in ("exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")
}  # fmt: skip
"""Function -> the operation that it is of complex numbers; of real ones too."""


def called(twin, function, operands):
    """The result of a function of `NAMES`."""
    if function is complex and len(operands) == 2:
        return Pair(*(+twin.operand(x) for x in operands), twin)
    if function is cmath.log and len(operands) == 2:
        return applied(twin, "div", [applied(twin, "log", [x]) for x in operands])
    if function in (np.square, np.reciprocal, np.conj) and not is_complex(operands[0]):
        return function(operands[0]) if isinstance(operands[0], WHOLE) else None
    return applied(twin, NAMES[function], operands)
