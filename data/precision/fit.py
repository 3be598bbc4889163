"""Fit every coefficient of the elementary functions, in 60-digit arithmetic.

    python data/precision/fit.py            # print sciprec/precision/elementary/coefficients.py
    python data/precision/fit.py --write    # rewrite it

Each table interpolates its function at Chebyshev nodes (close to the minimax error, without
iteration); rational ones solve N(x) - f(x) (D(x) - 1) = f(x)
there, with the constant term of D fixed at one. Needs mpmath, which nothing else here does.
"""

import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import mpmath
from mpmath import mp, mpf

WRITTEN = (
    Path(__file__).parents[2] / "sciprec" / "precision" / "elementary" / "coefficients.py"
)
DIGITS = 60
ERFCX_CENTRE = 4.0
"""erfc is fitted in t = (x - ERFCX_CENTRE) / (x + ERFCX_CENTRE)."""
CENTRAL_LIMIT = 0.4375
"""|p - 1/2| up to which the central form of the normal quantile is used."""
NORMAL_SLOPE = 2.875
"""The central form is q * (NORMAL_SLOPE + C(w)), q = p - 1/2, w = -log(1 - 4 q^2)."""
TAIL_ORIGIN = 2.34375
TAIL_OFFSET = 0.6875
"""The tail is rho - TAIL_OFFSET + T(rho - TAIL_ORIGIN), rho = sqrt(-2 log tail)."""
GAMMA_CENTRE = 1.125
"""lgamma is fitted in t = (x - GAMMA_CENTRE) / (x + GAMMA_CENTRE) about its zeros 1 and 2."""


@dataclass(frozen=True)
class Fit:
    """One table: its function, its interval and the degrees of numerator and denominator."""

    function: Callable
    interval: Callable
    degree: int
    denominator: int = 0
    meaning: str = ""


def _exp(r):
    return (mpmath.exp(r) - 1 - r) / r**2


def _log(z):
    s = mpmath.sqrt(z)
    return (2 * mpmath.atanh(s) / s - 2) / z


def _log2(z):
    s = mpmath.sqrt(z)
    return (2 * mpmath.atanh(s) / s - 2 - 2 * z / 3) / z**2 / mpmath.log(2)


def _sin(z):
    t = mpmath.sqrt(z)
    return (mpmath.sin(t) / t - 1) / z


def _cos(z):
    return (mpmath.cos(mpmath.sqrt(z)) - 1 + z / 2) / z**2


def _atan(z):
    t = mpmath.sqrt(z)
    return (mpmath.atan(t) / t - 1) / z


def _erf(z):
    x = mpmath.sqrt(z)
    return mpmath.erf(x) / x - 1


def _erfcx(t):
    x = ERFCX_CENTRE * (1 + t) / (1 - t)
    return (x + ERFCX_CENTRE) * mpmath.exp(x * x) * mpmath.erfc(x)


def normal_quantile(tail):
    """x > 0 with erfc(x / sqrt 2) / 2 = tail, for 0 < tail < 1/2, by Newton's method."""
    x = mpmath.sqrt(-2 * mpmath.log(2 * tail)) / 2 + mpf(1) / 8
    for _ in range(200):
        excess = mpmath.erfc(x / mpmath.sqrt(2)) / 2 / tail
        step = mpmath.log(excess) * excess * tail * mpmath.sqrt(2 * mp.pi) * mpmath.exp(x * x / 2)
        x = x + step
        if abs(step) < mpf(10) ** (8 - DIGITS) * x:
            return x
    raise ArithmeticError(f"the normal quantile of {tail} did not converge in 200 steps")


def _normal_central(w):
    q = mpmath.sqrt(-mpmath.expm1(-w)) / 2
    return normal_quantile(mpf(1) / 2 - q) / q - mpf(NORMAL_SLOPE)


def _normal_tail(d):
    rho = d + TAIL_ORIGIN
    return normal_quantile(mpmath.exp(-rho * rho / 2)) - rho + mpf(TAIL_OFFSET)


def _log_stirling_rest(u):
    """log Gamma(1/u) less Stirling's (1/u - 1/2) log(1/u) - 1/u + log(2 pi) / 2."""
    x = 1 / u
    main = (x - mpf(1) / 2) * mpmath.log(x) - x + mpmath.log(2 * mp.pi) / 2
    return mpmath.loggamma(x) - main


def _stirling(u):
    return mpmath.expm1(_log_stirling_rest(u)) / u


def _log_stirling(v):
    u = mpmath.sqrt(v)
    return _log_stirling_rest(u) / u


def _log_gamma(t):
    x = GAMMA_CENTRE * (1 + t) / (1 - t)
    return mpmath.loggamma(x) / ((x - 1) * (x - 2))


def _reduced():
    half = mpmath.log(2) / 2 * mpf("1.001")
    return -half, half


def _tail_interval():
    return mpf(0), mpmath.sqrt(66 * mpmath.log(2)) - TAIL_ORIGIN


def _up_to(limit):
    return lambda: (mpf(0), limit())


def _about_one_and_two():
    return tuple((x - GAMMA_CENTRE) / (x + GAMMA_CENTRE) * mpf("1.0001") for x in (0.5, 2.5))


_ATANH_SQUARED = _up_to(lambda: (3 - 2 * mpmath.sqrt(2)) ** 2 * mpf("1.001"))
_QUADRANT = _up_to(lambda: (mp.pi / 4) ** 2 * mpf("1.001"))
_OCTANT = _up_to(lambda: (mpmath.sqrt(2) - 1) ** 2 * mpf("1.001"))

FITS = {
    "EXP": Fit(_exp, _reduced, 9, 0, "(e^r - 1 - r) / r^2, |r| <= log(2)/2"),
    "LOG": Fit(_log, _ATANH_SQUARED, 6, 0, "(2 atanh(s)/s - 2) / z, z = s^2"),
    "LOG2": Fit(_log2, _ATANH_SQUARED, 7, 0, "(2 atanh(s)/s - 2 - 2 z/3) / (z^2 log 2)"),
    "SIN": Fit(_sin, _QUADRANT, 6, 0, "(sin(t)/t - 1) / z, z = t^2, |t| <= pi/4"),
    "COS": Fit(_cos, _QUADRANT, 5, 0, "(cos t - 1 + z/2) / z^2"),
    "ATAN": Fit(_atan, _OCTANT, 11, 0, "(atan(t)/t - 1) / z, |t| <= tan(pi/8)"),
    "ERF": Fit(_erf, _up_to(lambda: mpf(1)), 12, 0, "erf(x)/x - 1, z = x^2 <= 1"),
    "ERFCX": Fit(
        _erfcx,
        lambda: (mpf(-13) / 19, mpf(233) / 313),
        21,
        0,
        "(x + 4) exp(x^2) erfc(x), t = (x - 4)/(x + 4), 3/4 <= x <= 27.3",
    ),
    "CBRT": Fit(
        lambda m: m ** (-mpf(1) / 3), lambda: (mpf(1), mpf(2)), 5, 0, "m^(-1/3), 1 <= m < 2"
    ),
    "NORMAL_CENTRAL": Fit(
        _normal_central,
        _up_to(lambda: -mpmath.log(1 - 4 * mpf(CENTRAL_LIMIT) ** 2) * mpf("1.001")),
        13,
        0,
        "x/q - 2.875, in w = -log(1 - 4 q^2), |q| <= 7/16",
    ),
    "NORMAL_TAIL": Fit(
        _normal_tail, _tail_interval, 8, 8, "x - rho + 0.6875, in rho - 2.34375, rho <= 6.764"
    ),
    "STIRLING": Fit(
        _stirling, _up_to(lambda: mpf(1) / 8), 9, 0,
        "(Gamma(x) e^x x^(1/2 - x) / sqrt(2 pi) - 1) x, in 1/x, x >= 8",
    ),
    "LOG_STIRLING": Fit(
        _log_stirling, _up_to(lambda: mpf(1) / 64), 6, 0,
        "x times the logarithm of the same quotient, in 1/x^2",
    ),
    "LOG_GAMMA": Fit(
        _log_gamma, _about_one_and_two, 22, 0,
        "log Gamma(x) / ((x - 1)(x - 2)), t = (x - 1.125)/(x + 1.125), 1/2 <= x <= 5/2",
    ),
}


def chebyshev_nodes(low, high, count):
    """The `count` Chebyshev nodes of [low, high]."""
    angles = ((2 * i + 1) * mp.pi / (2 * count) for i in range(count))
    return [(low + high) / 2 + (high - low) / 2 * mpmath.cos(a) for a in angles]


def solve(fit):
    """Numerator and denominator coefficients of one fit as binary64, lowest degree first."""
    with mp.workdps(DIGITS):
        count = fit.degree + fit.denominator + 1
        nodes = chebyshev_nodes(*fit.interval(), count)
        values = [fit.function(x) for x in nodes]
        rows = [
            [x**j for j in range(fit.degree + 1)]
            + [-f * x**j for j in range(1, fit.denominator + 1)]
            for x, f in zip(nodes, values, strict=True)
        ]
        found = mpmath.lu_solve(mpmath.matrix(rows), mpmath.matrix(values))
        numbers = [float(c) for c in found]
    return tuple(numbers[: fit.degree + 1]), (1.0, *numbers[fit.degree + 1 :])


def polynomial(coefficients, x):
    """c0 + c1 x + c2 x^2 + ..., in the working precision."""
    return mpmath.fsum(mpf(c) * x**j for j, c in enumerate(coefficients))


def largest_error(fit, numerator, denominator, samples=400):
    """Largest |N/D - f| over the interval, with the rounded coefficients, exactly evaluated."""
    with mp.workdps(DIGITS):
        worst = mpf(0)
        for x in chebyshev_nodes(*fit.interval(), samples):
            ratio = polynomial(numerator, x) / polynomial(denominator, x)
            worst = max(worst, abs(ratio - fit.function(x)))
        return worst


def tables():
    """All tables by name, the denominators of rational ones as NAME_BELOW."""
    found = {}
    for name, fit in FITS.items():
        numerator, denominator = solve(fit)
        found[name] = numerator
        if fit.denominator:
            found[name + "_BELOW"] = denominator
    return found


def source():
    """The text of sciprec/precision/elementary/coefficients.py."""
    lines = [
        '"""Coefficients of the elementary functions, lowest degree first.',
        "",
        "Written by `python data/precision/fit.py --write`; change the fit, not this file.",
        '"""',
    ]
    found = tables()
    constants = ("ERFCX_CENTRE", "CENTRAL_LIMIT", "NORMAL_SLOPE", "TAIL_ORIGIN", "TAIL_OFFSET")
    constants += ("GAMMA_CENTRE",)
    lines += ["", *(f"{name} = {globals()[name]!r}" for name in constants)]
    for name, fit in FITS.items():
        below = found.get(name + "_BELOW", (1.0,))
        error = mpmath.log(largest_error(fit, found[name], below), 2)
        lines += ["", f"# {fit.meaning}", f"# largest error 2^{float(error):.1f}"]
        for key in (name, name + "_BELOW"):
            if key in found:
                numbers = textwrap.wrap(f"{', '.join(map(repr, found[key]))},", 92)
                lines += [f"{key} = (", *(f"    {line}" for line in numbers), ")  # fmt: skip"]
    return "\n".join(lines) + "\n"


def main(arguments):
    """Print the coefficient module, or rewrite it when `--write` is given."""
    if arguments not in ([], ["--write"]):
        given = " ".join(arguments)
        raise SystemExit(f"unknown arguments '{given}'; accepted: --write, or none to print")
    text = source()
    if arguments:
        WRITTEN.write_text(text, encoding="ascii")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main(sys.argv[1:])
