"""Complex numbers in the twin of a random backend: each step of a formula draws its own bits.

Steps are numbered from one in the order in which the formula is written, `a * c - b * d` before
`a * d + b * c`; in Smith's quotient: the ratio, the two of the denominator, the turned part, the
real part's three, the imaginary part's two, and the two quotients by zero.
"""

from __future__ import annotations

import numpy as np

from tests.oracles import exact
from tests.oracles.random_bits import GOLDEN, at, lowbias32
from tests.oracles.scalar import Exact, exactly

_MASK = 0xFFFFFFFF
_STEPS, _PARTS = 1 << 20, 1 << 10


def step_key(key: int, number: int) -> int:
    """The key of a step (from 1), of a part of an operand (below 0), of a part that is rounded."""
    site = lowbias32(((_STEPS + number) * GOLDEN + 1) & _MASK) | 1
    return at(key, site)


def part_key(key: int, place: int) -> int:
    """The key of a part (0, 1) that is rounded alone."""
    return step_key(key, _PARTS + place)


class RandomPair:
    """A complex number of exact parts; operations take it apart."""

    __hash__ = None

    def __init__(self, real: Exact, imag: Exact):
        self.real, self.imag = real, imag

    def __eq__(self, other):
        real, imag = (other.real, other.imag) if hasattr(other, "imag") else (other, 0)
        return self.real == real and self.imag == imag

    def __ne__(self, other):
        return not self == other

    def __bool__(self):
        return self != 0

    def __complex__(self) -> complex:
        return complex(self.real.value, self.imag.value)


def is_pair(x) -> bool:
    """Whether this is a complex number."""
    return isinstance(x, (RandomPair, complex, np.complexfloating))


class Steps:
    """The steps of one operation, in order.

    Args:
        operations: the twin's, with `arithmetic`, `rounded` and `drawn`.
        key: of the operation.
    """

    def __init__(self, operations, key: int):
        self.operations, self.key, self.count = operations, key, 0

    def __call__(self, operation, x: float, y: float) -> float:
        self.count += 1
        draw = self.operations.drawn(step_key(self.key, self.count))
        return operation(x, y, self.operations.arithmetic, draw)

    def operand(self, place: int, x) -> tuple[float, float]:
        """Parts of an operand; a real one has the imaginary part +0."""
        parts = (x.real, x.imag) if is_pair(x) else (x,)
        made = [
            self.operations.rounded(p, step_key(self.key, -1 - 2 * place - n)).value
            for n, p in enumerate(parts)
        ]
        return (*made, 0.0)[:2]


def applied(operations, name: str, key: int, operands) -> RandomPair:
    """An operation on numbers, one of which is complex."""
    steps = Steps(operations, key)
    values = [steps.operand(n, x) for n, x in enumerate(operands)]
    real, imag = FORMULAS[name](steps, *values)
    return RandomPair(*(exactly(v, operations.arithmetic) for v in (real, imag)))


def _add(s, z, w):
    return s(exact.add, z[0], w[0]), s(exact.add, z[1], w[1])


def _sub(s, z, w):
    return s(exact.sub, z[0], w[0]), s(exact.sub, z[1], w[1])


def _mul(s, z, w):
    (a, b), (c, d) = z, w
    real = s(exact.sub, s(exact.mul, a, c), s(exact.mul, b, d))
    return real, s(exact.add, s(exact.mul, a, d), s(exact.mul, b, c))


def _div(s, z, w):
    (a, b), (c, d) = z, w
    straight = abs(c) >= abs(d)
    large, small, first, second = (c, d, a, b) if straight else (d, c, b, a)
    ratio = s(exact.div, small, large)
    below = s(exact.add, large, s(exact.mul, small, ratio))
    turned = s(exact.mul, first, ratio)
    real = s(exact.div, s(exact.add, first, s(exact.mul, second, ratio)), below)
    pair = (second, turned) if straight else (turned, second)
    imag = s(exact.div, s(exact.sub, *pair), below)
    if c == 0.0 and d == 0.0:
        return s(exact.div, a, 0.0), s(exact.div, b, 0.0)
    if c != c or d != d:
        return float("nan"), float("nan")
    return real, imag


def raised(exponent: int):
    """The formula of z ** n with a literal integer n."""

    def formula(s, z, *_):
        result, base, left = None, z, abs(exponent)
        while left:
            if left & 1:
                result = base if result is None else _mul(s, result, base)
            left >>= 1
            if left:
                base = _mul(s, base, base)
        result = (1.0, 0.0) if result is None else result
        return _div(s, (1.0, 0.0), result) if exponent < 0 else result

    return formula


FORMULAS = {
    "add": _add, "accumulate": _add, "sub": _sub, "mul": _mul, "product": _mul, "div": _div,
    "square": lambda s, z: _mul(s, z, z), "reciprocal": lambda s, z: _div(s, (1.0, 0.0), z),
    "neg": lambda s, z: (-z[0], -z[1]), "pos": lambda s, z: z, "to_complex": lambda s, z: z,
    "as_complex": lambda s, z: z,
    "conj": lambda s, z: (z[0], -z[1]), "of_parts": lambda s, x, y: (x[0], y[0]),
}  # fmt: skip
"""Operation -> its parts from steps and the parts of its operands."""
