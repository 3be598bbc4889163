"""Laws of a rounding error's growth: exponential, square root, or linear in the steps.

Source: delta_n = delta_0 e^(n eps) is the model of the MLU370's published description; sqrt(n) u is
the probabilistic law of rounding errors (Higham and Mary 2019, 10.1137/18M1226312), n u the worst
case and the law of a bias, such as that of truncation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sciprec.foundation.errors import InputError

_LEAST_POINTS = 4


@dataclass(frozen=True)
class Law:
    """A law of growth, fitted.

    Attributes:
        name, formula: of the law.
        coefficients: by name; rates are per step.
        scatter: root of the mean squared difference of log10(error) from the law, in decades.
        weight: Akaike weight among the laws, 0 to 1: how far the data speak for this one.
    """

    name: str
    formula: str
    coefficients: dict[str, float]
    scatter: float
    weight: float


@dataclass(frozen=True)
class ErrorGrowth:
    """The growth of one run's error.

    Attributes:
        laws: fitted, the best first.
        power, power_error: p of the best n^p, and its standard error.
        rate_per_step: the slope of log(error) against n, least squares.
        points: how many errors above zero were used.
        span: steps from the first of them to the last.
    """

    laws: tuple[Law, ...]
    power: float
    power_error: float
    rate_per_step: float
    points: int
    span: float

    @property
    def increase(self) -> float:
        """The factor by which the fitted exponential grows over the span."""
        return math.exp(min(self.rate_per_step * self.span, 700.0))

    @property
    def best(self) -> Law:
        """The law of the greatest weight."""
        return self.laws[0]

    def __str__(self) -> str:
        best = self.best
        values = ", ".join(f"{name} = {value:.3g}" for name, value in best.coefficients.items())
        return (
            f"{best.name}: {best.formula} with {values} (weight {best.weight:.0%}, scatter "
            f"{best.scatter:.2f} decades); as a power of n: {self.power:.2f} +- "
            f"{self.power_error:.2f}"
        )


def growth_laws(steps, errors, unit_roundoff: float) -> ErrorGrowth | None:
    """Fit the laws of error growth to errors after some numbers of steps.

    log(error) is fitted by least squares; the laws are weighed by Akaike's criterion with the
    correction for few points (AICc), since the exponential law has two coefficients and the others
    one.

    Args:
        steps: (n,), numbers of steps; those above zero are used.
        errors: (n,), relative errors against binary64; zeros, NaN and infinities are left out.
        unit_roundoff: u of the arithmetic, in which the coefficients of sqrt(n) and n are stated;
            1 for one that has none, whose formulas are without u.

    Returns:
        A Growth, or None where fewer than four usable points are left.

    Raises:
        InputError: steps and errors of different lengths, or a unit roundoff that is not above 0.

    Source: Burnham and Anderson (2002), Model Selection and Multimodel Inference, eq. 2.4, 2.9.
    """
    steps, errors = np.asarray(steps, float), np.asarray(errors, float)
    if steps.shape != errors.shape or steps.ndim != 1:
        raise InputError(
            f"steps have shape {steps.shape}, errors {errors.shape}; accepted: two sequences of "
            "one length"
        )
    if not unit_roundoff > 0.0:
        raise InputError(f"the unit roundoff is {unit_roundoff!r}; accepted: a number above zero")
    usable = (steps > 0) & np.isfinite(errors) & (errors > 0)
    if usable.sum() < _LEAST_POINTS or np.unique(steps[usable]).size < _LEAST_POINTS:
        return None
    n, log_error = steps[usable], np.log(errors[usable])
    fits = {
        "exponential": _exponential(n, log_error),
        "square root": _power(n, log_error, 0.5, unit_roundoff),
        "linear": _power(n, log_error, 1.0, unit_roundoff),
    }
    weights = _weights(n.size, [(residual, k) for _, _, residual, k in fits.values()])
    laws = [
        Law(name, formula, coefficients, math.sqrt(residual / n.size) / math.log(10.0), weight)
        for (name, (formula, coefficients, residual, _)), weight in zip(
            fits.items(), weights, strict=True
        )
    ]
    power, power_error = _slope(np.log(n), log_error)
    return ErrorGrowth(
        laws=tuple(sorted(laws, key=lambda law: -law.weight)),
        power=power,
        power_error=power_error,
        rate_per_step=_slope(n, log_error)[0],
        points=int(n.size),
        span=float(np.ptp(n)),
    )


def _exponential(n, log_error) -> tuple[str, dict[str, float], float, int]:
    """delta_0 and eps of delta_0 e^(n eps), the sum of squares left, and how many coefficients."""
    rate, _ = _slope(n, log_error)
    start = float(np.mean(log_error) - rate * np.mean(n))
    residual = float(np.sum((log_error - start - rate * n) ** 2))
    return "delta_0 e^(n eps)", {"delta_0": math.exp(start), "eps": rate}, residual, 2


def _power(n, log_error, power: float, u: float) -> tuple[str, dict[str, float], float, int]:
    """c of c n^p u."""
    log_c = float(np.mean(log_error - power * np.log(n)))
    residual = float(np.sum((log_error - power * np.log(n) - log_c) ** 2))
    formula = ("c sqrt(n)" if power == 0.5 else "c n") + " u" * (u < 1.0)
    return formula, {"c": math.exp(log_c) / u}, residual, 1


def _slope(x, y) -> tuple[float, float]:
    """The slope of y against x by least squares, and its standard error."""
    x = x - x.mean()
    square = float(np.sum(x * x))
    slope = float(np.sum(x * y) / square)
    residual = y - y.mean() - slope * x
    return slope, math.sqrt(float(np.sum(residual * residual)) / max(1, x.size - 2) / square)


def _weights(points: int, fits: list[tuple[float, int]]) -> list[float]:
    """Akaike weights from sums of squares left and numbers of coefficients (the scatter is one
    more).
    """
    criteria = []
    for residual, coefficients in fits:
        k = coefficients + 1
        correction = 2.0 * k * (k + 1) / max(1, points - k - 1)
        criteria.append(points * math.log(max(residual, 1e-300) / points) + 2.0 * k + correction)
    least = min(criteria)
    raw = [math.exp(-0.5 * (c - least)) for c in criteria]
    return [r / sum(raw) for r in raw]
