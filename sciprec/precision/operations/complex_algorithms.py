"""Complex operations as sequences of the backend's real ones, each of them rounded once.

A formula is written once, in plain operators on numbers that emit the code of the backend's
operation (`complex_numbers`); where it has cases, all are evaluated and one is chosen, so that
loops vectorise. `z.real`, `z.imag` are x and y below.

Sources:
    product: four products and two sums, as C99, NumPy and Numba without the recovery of infinities
        (an infinite operand may give NaN).
    quotient: Smith (1962), "Algorithm 116: Complex division", CACM 5, in the form of CPython's
        `_Py_c_quot`, which is Numba's scalar one; a zero divides as in NumPy.
    square root: Friedland (1967), "Algorithm 312: Absolute value and square root of a complex
        number", CACM 10, as in Numba and NumPy, which scale only large numbers, and the imaginary
        part of their roots not back.
    powers: `_Py_c_pow` of CPython, in polar form; of a literal integer repeated products.
    tanh: CPython's `c_tanh`.
    exp, log, sin, cos, sinh, cosh: the textbook's; 0 * inf in a product with a sine or cosine is 0.

Cancellation: a part of a product or quotient, and the real part of a logarithm near |z| = 1, may
have no correct bit: each step is rounded, the sum of two is not. Smith's quotient may underflow
in bimag * ratio; its error is a few units of the larger part otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from sciprec.foundation.registry import Registry
from sciprec.precision.formats.float_format import Format

_LN_10 = 2.302585092994045684


def _places(fmt: Format) -> int:
    """k of the power 4^k by which subnormals become normal, as far as the range allows."""
    return max(1, min(fmt.significand_bits // 2 + 1, fmt.emax // 2 - 1))


BOUNDS: dict[str, Callable[[Format], float]] = {
    "huge": lambda fmt: fmt.max_finite / (1.0 + math.sqrt(2.0)),
    "tiny": lambda fmt: 4.0 * fmt.min_normal,
    "upward": lambda fmt: 4.0 ** _places(fmt),
    "downward": lambda fmt: 0.5 ** _places(fmt),
}
"""Of a square root's parts: from which size on, and below which, they are scaled, and by what."""


class ComplexParts(NamedTuple):
    """A complex number's parts, numbers of `complex_numbers`."""

    real: object
    imag: object


@dataclass(frozen=True)
class ComplexOperation:
    """One operation of complex operands.

    Args:
        name: of the operation, as in `operation.OPERATIONS` where real operands have it too.
        formula: (steps, pair, ...) -> a pair, a number or a tuple of numbers.
        gives: "complex", "real" or "polar" (a tuple of two real numbers).
    """

    name: str
    formula: Callable
    gives: str = "complex"


def sum_of(s, z, w):
    """z + w."""
    return ComplexParts(z.real + w.real, z.imag + w.imag)


def difference(s, z, w):
    """z - w."""
    return ComplexParts(z.real - w.real, z.imag - w.imag)


def product(s, z, w):
    """(a c - b d) + (a d + b c) i."""
    a, b, c, d = *z, *w
    return ComplexParts(a * c - b * d, a * d + b * c)


def quotient(s, z, w):
    """z / w by Smith's algorithm: by the ratio of w's smaller part to its larger one."""
    a, b, c, d = *z, *w
    by_real = abs(c) >= abs(d)
    larger, smaller = s.choose(by_real, c, d), s.choose(by_real, d, c)
    ratio = smaller / larger
    denominator = larger + smaller * ratio
    first, second = s.choose(by_real, a, b), s.choose(by_real, b, a)
    turned = first * ratio
    real = (first + second * ratio) / denominator
    imag = (s.choose(by_real, second, turned) - s.choose(by_real, turned, second)) / denominator
    zero = (c == s.number(0.0)) & (d == s.number(0.0))
    beyond = abs(c)
    real, imag = s.choose(zero, a / beyond, real), s.choose(zero, b / beyond, imag)
    incomparable = ~(by_real | (abs(d) >= abs(c)))
    nan = s.number(math.nan)
    return ComplexParts(s.choose(incomparable, nan, real), s.choose(incomparable, nan, imag))


def negative(s, z):
    """-z."""
    return ComplexParts(s("neg", z.real), s("neg", z.imag))


def itself(s, z):
    """z, as a number of the role that computes."""
    return ComplexParts(s("pos", z.real), s("pos", z.imag))


def conjugate(s, z):
    """x - y i."""
    return ComplexParts(s("pos", z.real), s("neg", z.imag))


def modulus(s, z):
    """|z| = hypot(x, y), rounded once."""
    return s("hypot", z.real, z.imag)


def angle(s, z):
    """atan2(y, x), rounded once."""
    return s("atan2", z.imag, z.real)


def polar(s, z):
    """(|z|, the angle)."""
    return modulus(s, z), angle(s, z)


def rect(s, r, phi):
    """r cos(phi) + r sin(phi) i, of real numbers."""
    return _turned(s, r.real, phi.real)


def of_parts(s, x, y):
    """x + y i, of real numbers."""
    return ComplexParts(s("pos", x.real), s("pos", y.real))


def square(s, z):
    """z z."""
    return product(s, z, z)


def reciprocal(s, z):
    """1 / z."""
    return quotient(s, ComplexParts(s.number(1.0), s.number(0.0)), z)


def _times(s, bounded, size):
    """bounded * size, where the zero of a sine or cosine is stronger than an infinity."""
    lost = (bounded == s.number(0.0)) & (abs(size) == s.number(math.inf))
    sign = s("copysign", s.number(1.0), size)
    return s.choose(lost, bounded * sign, bounded * size)


def _turned(s, size, phi):
    return ComplexParts(_times(s, s("cos", phi), size), _times(s, s("sin", phi), size))


def exp(s, z):
    """e^x cos(y) + e^x sin(y) i."""
    x, y = z
    size, infinite = s("exp", x), s.number(math.inf)
    real, imag = _turned(s, size, y)
    imag = s.choose(y == s.number(0.0), y, imag)
    endless = ~(abs(y) < infinite)
    down, up = endless & (x == -infinite), endless & (x == infinite)
    real = s.choose(down, size, s.choose(up, x, real))
    return itself(s, ComplexParts(real, s.choose(down, size, imag)))


def log(s, z):
    """log(hypot(x, y)) + atan2(y, x) i."""
    return ComplexParts(s("log", modulus(s, z)), angle(s, z))


def log10(s, z):
    """The parts of the natural logarithm over log(10)."""
    w, base = log(s, z), s.literal(_LN_10)
    return ComplexParts(w.real / base, w.imag / base)


def sqrt(s, z):
    """t = sqrt((|x| + hypot(x, y)) / 2): t + y / (2 t) i to the right, |y| / (2 t) +- t i to the
    left; near the ends of the range of z / 4, or of 4^k z that is normal.
    """
    zero, one, two = s.number(0.0), s.number(1.0), s.number(2.0)
    half, infinite, (a, b) = s.number(0.5), s.number(math.inf), z
    last, first = s.bound("huge"), s.bound("tiny")
    huge = (abs(a) >= last) | (abs(b) >= last)
    tiny = (abs(a) < first) & (abs(b) < first)
    upward = s.bound("upward"), s.bound("downward")
    factor = s.choose(huge, s.number(0.25), s.choose(tiny, upward[0], one))
    back = s.choose(huge, two, s.choose(tiny, upward[1], one))
    x, y = a * factor, b * factor
    right = x >= zero
    t = s("sqrt", (s.choose(right, x, -x) + s("hypot", x, y)) * half)
    other = s.choose(right, y, abs(y)) / (two * t)
    real = s.choose(right, t, other) * back
    imag = s.choose(right, other, s("copysign", t, y)) * back
    left_end, right_end = a == -infinite, a == infinite
    real = s.choose(right_end, a, s.choose(left_end, abs(b - b), real))
    signed = s.choose(b == b, s("copysign", a, b), infinite)  # the sign of a NaN is nobody's
    imag = s.choose(left_end, signed, imag)
    imag = s.choose(right_end, s("copysign", b - b, b), imag)
    undefined = ~(a == a)
    real, imag = s.choose(undefined, a, real), s.choose(undefined, a, imag)
    plain = ((a == zero) & (b == zero)) | (abs(b) == infinite)
    return itself(s, ComplexParts(s.choose(plain, abs(b), real), s.choose(plain, b, imag)))


def sinh(s, z):
    """cos(y) sinh(x) + sin(y) cosh(x) i."""
    x, y = z
    return ComplexParts(_times(s, s("cos", y), s("sinh", x)), _times(s, s("sin", y), s("cosh", x)))


def cosh(s, z):
    """cos(y) cosh(x) + sin(y) sinh(x) i."""
    x, y = z
    return ComplexParts(_times(s, s("cos", y), s("cosh", x)), _times(s, s("sin", y), s("sinh", x)))


def sin(s, z):
    """sin(x) cosh(y) + cos(x) sinh(y) i."""
    x, y = z
    return ComplexParts(_times(s, s("sin", x), s("cosh", y)), _times(s, s("cos", x), s("sinh", y)))


def cos(s, z):
    """cos(x) cosh(y) + sin(x) sinh(-y) i."""
    x, y = z
    return ComplexParts(_times(s, s("cos", x), s("cosh", y)), _times(s, s("sin", x), s("sinh", -y)))


def tanh(s, z):
    """t (1 + u^2) / (1 + (t u)^2) + u / (1 + (t u)^2) / cosh(x)^2 i, t = tanh(x), u = tan(y)."""
    x, y = z
    one = s.number(1.0)
    t, u, narrow = s("tanh", x), s("tan", y), one / s("cosh", x)
    both = t * u
    denominator = one + both * both
    return ComplexParts(t * (one + u * u) / denominator, ((u / denominator) * narrow) * narrow)


def tan(s, z):
    """-i tanh(i z)."""
    turned = tanh(s, ComplexParts(-z.imag, z.real))
    return ComplexParts(turned.imag, -turned.real)


def power(s, z, w):
    """|z|^c / e^(d angle) at the angle c angle + d log|z|, where w = c + d i; z z where w is two, 1
    where it is zero, and of zero zero, or NaN where it has no power.
    """
    (a, b), (c, d) = z, w
    zero, one, nan = s.number(0.0), s.number(1.0), s.number(math.nan)
    size, at = modulus(s, z), angle(s, z)
    length, phase = s("pow", size, c), at * c
    only_real = d == zero
    length = s.choose(only_real, length, length / s("exp", at * d))
    phase = s.choose(only_real, phase, phase + d * s("log", size))
    result = ComplexParts(length * s("cos", phase), length * s("sin", phase))
    nothing, without = (a == zero) & (b == zero), ~only_real | (c < zero)
    of_zero = s.choose(without, nan, zero)
    result = ComplexParts(*(s.choose(nothing, of_zero, part) for part in result))
    squared = only_real & (c == s.number(2.0))
    pairs = zip(square(s, z), result, strict=True)
    result = ComplexParts(*(s.choose(squared, p, q) for p, q in pairs))
    unit = only_real & (c == zero)
    return ComplexParts(s.choose(unit, one, result.real), s.choose(unit, zero, result.imag))


def raised(exponent: int) -> ComplexOperation:
    """z ** n with a literal integer n: repeated products in the order of real numbers; a negative
    power is one over the positive one.
    """

    def formula(s, z, *_):
        one = ComplexParts(s.number(1.0), s.number(0.0))
        result, base, remaining = None, z, abs(exponent)
        while remaining:
            if remaining & 1:
                result = base if result is None else product(s, result, base)
            remaining >>= 1
            if remaining:
                base = product(s, base, base)
        result = one if result is None else result
        return quotient(s, one, result) if exponent < 0 else itself(s, result)

    return ComplexOperation(f"power_{exponent}", formula)


def scaled(factor: float | int) -> ComplexOperation:
    """z times a literal real number."""
    return ComplexOperation(
        "mul", lambda s, z: product(s, ComplexParts(s.number(float(factor)), s.number(0.0)), z)
    )


def shared(divisor: float | int) -> ComplexOperation:
    """z over a literal real number."""
    return ComplexOperation(
        "div", lambda s, z: quotient(s, z, ComplexParts(s.number(float(divisor)), s.number(0.0)))
    )


COMPLEX_OPERATIONS = Registry(
    "complex operation",
    ComplexOperation("add", sum_of),
    ComplexOperation("accumulate", sum_of),
    ComplexOperation("sub", difference),
    ComplexOperation("mul", product),
    ComplexOperation("product", product),
    ComplexOperation("div", quotient),
    ComplexOperation("pow", power),
    ComplexOperation("neg", negative),
    ComplexOperation("pos", itself),
    ComplexOperation("abs", modulus, "real"),
    ComplexOperation("square", square),
    ComplexOperation("reciprocal", reciprocal),
    ComplexOperation("sqrt", sqrt),
    ComplexOperation("exp", exp),
    ComplexOperation("log", log),
    ComplexOperation("log10", log10),
    ComplexOperation("sin", sin),
    ComplexOperation("cos", cos),
    ComplexOperation("tan", tan),
    ComplexOperation("sinh", sinh),
    ComplexOperation("cosh", cosh),
    ComplexOperation("tanh", tanh),
    ComplexOperation("to_complex", itself),
    ComplexOperation("as_complex", lambda s, z: z),
    ComplexOperation("of_parts", of_parts),
    ComplexOperation("conj", conjugate),
    ComplexOperation("angle", angle, "real"),
    ComplexOperation("polar", polar, "polar"),
    ComplexOperation("rect", rect),
)  # fmt: skip
"""Operation -> what it is of complex operands; all others refuse them."""
