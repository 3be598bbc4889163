"""Drift of global budgets by the arithmetic alone, and what compensation gains."""

from __future__ import annotations

import math
from dataclasses import dataclass

import xarray as xr

from sciprec.results.output.stated import budget_names

ROUNDING_OF_MEANS = 1e-14
"""Relative; budgets are means in binary64, and no smaller change of one is told from none."""


@dataclass(frozen=True)
class BudgetDrift:
    """The drift of a global mean away from that of the fp64 run.

    Args:
        variable: name.
        per_day: relative drift per simulated day (or what the time's unit is) beyond that of fp64,
            with its sign.
        days: length of the run, in that unit.
    """

    variable: str
    per_day: float
    days: float

    @property
    def resolved(self) -> bool:
        """Whether it is more than the rounding of the means themselves."""
        return abs(self.per_day) * self.days > ROUNDING_OF_MEANS


def drifts(golden: xr.Dataset, actual: xr.Dataset) -> dict[str, BudgetDrift]:
    """The drift of each global budget by the last time that both runs have.

    (b(T)/b(0) - b64(T)/b64(0)) / T

    Args:
        golden, actual: datasets of the truth and of a run.

    Returns:
        Budget -> Drift, of those that the truth names; nothing where there is no time axis or no
        budget.
    """
    if "time" not in actual.dims or actual.sizes["time"] < 2:
        return {}
    last = min(actual.sizes["time"], golden.sizes["time"]) - 1
    days = float(actual["time"][last] - actual["time"][0])
    result = {}
    for name in budget_names(golden.attrs):
        if all(name in d and d[name].dims == ("time",) for d in (golden, actual)):
            ratio, exact = (float(d[name][last]) / float(d[name][0]) for d in (actual, golden))
            result[name] = BudgetDrift(name, (ratio - exact) / days, days)
    return result


def gain(without: float, with_it: float) -> float:
    """|without| / |with_it|: how many times smaller; NaN where one of them is not finite."""
    if not (math.isfinite(without) and math.isfinite(with_it)):
        return math.nan
    if with_it == 0.0:
        return math.nan if without == 0.0 else math.inf
    return abs(without) / abs(with_it)
