"""Elementary functions of intervals: from values at ends, each right to 2^-49 of itself.

Monotone functions have their extremes at the ends, functions of two numbers that are monotone along
each of them at the corners; sin and cos are followed by their slope, whose own slope is below one.
Others are bounded at numbers without error alone.
"""

from __future__ import annotations

from sciprec.instruments.tracing.midpoints import SLACK, Real
from sciprec.precision.elementary.exponential import cosh, exp, exp2, expm1, sinh, tanh
from sciprec.precision.elementary.gamma import gamma
from sciprec.precision.elementary.logarithm import (
    acosh,
    asinh,
    atanh,
    log,
    log1p,
    log2,
    log10,
    pow,
)
from sciprec.precision.elementary.normal import erf, erfc
from sciprec.precision.elementary.power import cbrt, hypot
from sciprec.precision.elementary.trigonometric import acos, asin, atan, atan2, cos, sin, sinc, tan

MONOTONE = (
    exp, exp2, expm1, log, log2, log10, log1p, asin, acos, atan, sinh, tanh, asinh, acosh, atanh,
    erf, erfc, cbrt,
)  # fmt: skip
SLOPES = {sin: (cos, 1.0), cos: (sin, -1.0)}
OF_TWO = (pow, hypot, atan2)
AT_NUMBERS = (gamma, sinc)
EVALUATED = 2.0**-49 + 2.0**-53
"""Of a value, by how much it may miss the function."""
SMALL, ABOUT_SMALL = 2.0**-1000, 2.0**-990
"""Values below the latter may miss the function by the former: there results underflow."""


def enclosed_function(b, function, numbers, exact) -> tuple[Real, Real] | None:
    """An interval of a function of intervals; its radius is NaN or infinite where it has none. None
    where nothing is known of the function.

    Args:
        function: as `tracing.operations` emits it.
        numbers: of each operand its tested value, midpoint, radius, and the ends.
        exact: whether all operands are without error.
    """
    evaluate = function.evaluate
    tested = [n[0] for n in numbers]
    if evaluate in MONOTONE:
        return _hull(_values(b, function, *numbers[0][3:]))
    if evaluate is cosh:
        (_, _, _, low, high), zero = numbers[0], Real(b, 0.0)
        return _hull(_values(b, function, zero.larger(low).larger(-high), abs(low).larger(high)))
    if evaluate is tan:
        (_, _, _, low, high) = numbers[0]
        first, last = _values(b, function, low, high)
        one_branch = b.and_((high - low).compared("<", 1.0), first.compared("<=", last))
        centre, apart = _hull([first, last])
        return centre, apart.unless(b.not_(one_branch), float("nan"))
    if evaluate in SLOPES:
        return _followed(b, function, numbers[0])
    if evaluate in OF_TWO:
        return _of_two(b, function, numbers, exact)
    if evaluate in AT_NUMBERS:
        centre, apart = _hull([Real(b, function.value(*(t.value for t in tested)))])
        return centre, apart.unless(b.not_(exact), float("nan"))
    return None


def _values(b, function, *points: Real) -> list[Real]:
    return [Real(b, function.value(p.value)) for p in points]


def _evaluated(size: Real) -> Real:
    """The largest error of a value of a size."""
    small = Real(size.b, 0.0).unless(size.compared("<", ABOUT_SMALL), SMALL)
    return size * EVALUATED + small


def _hull(values: list[Real]) -> tuple[Real, Real]:
    """The interval from the least of some values to the largest; NaN where one is."""
    low = high = values[0]
    for value in values[1:]:
        low, high = value.smaller(low), value.larger(high)
    size = abs(low).larger(abs(high))
    check = values[0] * 0.0  # NaN beside one of them
    for value in values[1:]:
        check = check + value * 0.0
    half = high * 0.5 - low * 0.5
    return low * 0.5 + high * 0.5, half + _evaluated(size) + size * 2.0**-52 + check


def _followed(b, function, number) -> tuple[Real, Real]:
    """f(x + d) = f(x) + d f'(x) +- d^2 / 2, and nowhere beyond +-1."""
    x, mid, radius, _, _ = number
    derivative, sign = SLOPES[function.evaluate]
    value = Real(b, function.value(x.value))
    slope = Real(b, function.called(derivative, x.value)) * sign
    reach = abs(mid) + radius
    moved = slope * mid
    apart = abs(slope) * radius + reach * reach * 0.5 + reach * (4.0 * SLACK)
    apart = apart + _evaluated(abs(value))
    far = b.not_(reach.compared("<", 1.0))
    unknown = x - x  # NaN beside infinities
    return (value + moved).unless(far, 0.0) + unknown, apart.unless(far, 1.0 + 2.0**-48) + unknown


def _of_two(b, function, numbers, exact) -> tuple[Real, Real]:
    """Enclose by corners, where the function is monotone along both operands."""
    (x_low, x_high), (y_low, y_high) = (n[3:] for n in numbers)
    if function.evaluate is hypot:
        zero = Real(b, 0.0)
        (x_low, x_high), (y_low, y_high) = (
            (zero.larger(low).larger(-high), abs(low).larger(abs(high)))
            for low, high in ((x_low, x_high), (y_low, y_high))
        )
        corners = [(x_low, y_low), (x_high, y_high)]
        sure = exact.type(1)
    else:
        corners = [(x_low, y_low), (x_low, y_high), (x_high, y_low), (x_high, y_high)]
        sure = x_low.compared(">", 0.0)  # the base, or the first operand of atan2
        if function.evaluate is atan2:  # atan2(y, x): the first one is the ordinate
            sure = b.or_(b.or_(sure, x_high.compared("<", 0.0)), y_low.compared(">", 0.0))
    values = [Real(b, function.value(u.value, v.value)) for u, v in corners]
    centre, apart = _hull(values)
    return centre, apart.unless(b.not_(b.or_(sure, exact)), float("nan"))
