"""Coefficients of the compensation fitted to a scenario: least error against binary64."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from sciprec.arrays.sums.compensation import LARGEST_COEFFICIENT, Compensation
from sciprec.foundation.errors import InputError
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.scenario.loading import Scenario
from sciprec.workbench.kinds import kind_of, kinds

FIRST_STEP = 0.25
"""The amount by which the search first changes each coefficient."""


@dataclass(frozen=True)
class FittedCompensation:
    """The result of a fit, and its errors beside those of the plain carry.

    Args:
        coefficients: variable -> Compensation.
        backend: name of the arithmetic.
        without, carry, fitted: errors over the run that was fitted: uncompensated, alpha = 1 and
            beta = 0, and fitted.
        unseen: the same three over a run twice as long, which the fit has not seen.
        evaluations: runs that the search made.
    """

    coefficients: dict[str, Compensation]
    backend: str
    without: float
    carry: float
    fitted: float
    unseen: tuple[float, float, float]
    evaluations: int

    @property
    def helps(self) -> bool:
        """Whether the fitted coefficients are better than the carry on the unseen run."""
        return self.unseen[2] < self.unseen[1]


def fit_compensation(
    scenario: Scenario,
    backend: str | Backend = "mlu370",
    *,
    length: float | None = None,
    evaluations: int = 80,
    sums: bool = False,
) -> FittedCompensation:
    """Fit alpha and beta of each variable to a short run of a scenario.

    Minimises the error against binary64 by Nelder and Mead's search, from the plain carry.

    Args:
        scenario: of kind "climate".
        backend: the arithmetic.
        length: of the run that is fitted, in days; a tenth of the scenario's when left out.
        evaluations: the most runs that the search makes.
        sums: compensate the sums inside the model, too.

    Returns:
        A FittedCompensation. The error of a climate is the geometric mean of the relative l2 errors
        of height and wind, each a root mean square over the stored times.

    Raises:
        InputError: a kind without compensation, a length or number that cannot be used, or a run
            that breaks down without compensation.

    Source: Nelder and Mead (1965), as in scipy.optimize.
    """
    make = kind_of(scenario).fitting
    if make is None:
        names = [kind.name for kind in kinds().values() if kind.fitting is not None]
        raise InputError(
            f"scenario '{scenario.name}' is of kind '{scenario.kind}', whose compensation has no "
            f"coefficients; accepted: {', '.join(names)}"
        )
    if isinstance(evaluations, bool) or not isinstance(evaluations, int) or evaluations < 1:
        raise InputError(f"evaluations is {evaluations!r}; accepted: a whole number >= 1")
    table, name = scenario.table, resolve_backend(backend).name
    variables, error = make(table, name, length, 1)
    _, unseen = make(table, name, length, 2)
    carry, without = {name: Compensation(1.0, 0.0, sums=sums) for name in variables}, error(None)
    if not math.isfinite(without):
        raise InputError(
            f"scenario '{scenario.name}' breaks down in '{name}' without compensation; fit a "
            "shorter run with length=..."
        )
    best_shares, used = _search(lambda shares: error(_each(variables, shares, sums)),
                          len(variables), evaluations)  # fmt: skip
    best = _each(variables, best_shares, sums)
    best = min((carry, best), key=error)
    return FittedCompensation(
        coefficients=best,
        backend=name,
        without=without,
        carry=error(carry),
        fitted=error(best),
        unseen=tuple(unseen(c) for c in (None, carry, best)),
        evaluations=used,
    )


def _search(error: Callable, variables: int, evaluations: int) -> tuple[np.ndarray, int]:
    """The best coefficients found, (2 variables,), and the number of evaluations."""
    start = np.tile([1.0, 0.0], variables)
    simplex = np.vstack([start, start + FIRST_STEP * np.eye(2 * variables) * np.tile(
        [-1.0, 1.0], variables)])  # fmt: skip
    result = optimize.minimize(
        lambda shares: math.log(max(error(shares), 1e-300)),
        start,
        method="Nelder-Mead",
        bounds=[(0.0, LARGEST_COEFFICIENT)] * (2 * variables),
        options={"maxfev": evaluations, "initial_simplex": simplex, "xatol": 1e-3, "fatol": 1e-4},
    )
    return result.x, int(result.nfev)


def _each(variables, shares, sums: bool) -> dict[str, Compensation]:
    pairs = np.reshape(shares, (-1, 2)).tolist()
    return {n: Compensation(a, b, sums=sums) for n, (a, b) in zip(variables, pairs, strict=True)}
