"""Growth of a rounding error against that of small differences of the initial state."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import xarray as xr

from sciprec.foundation.errors import InputError
from sciprec.results.comparison.evidence.global_means import spatial_means
from sciprec.results.comparison.wording import factor

LEAST_INCREASE = 10.0
"""The factor by which a small difference must grow for a flow to count as chaotic."""
HOURS_PER_DAY = 24.0
SATURATED = 2.0
"""Doubling times; a spread that reached half of its last value longer ago has stopped growing."""


@dataclass(frozen=True)
class VariabilityGrowth:
    """A rounding error over time beside the internal variability.

    Args:
        variable, units: what is compared.
        applies: whether the flow is chaotic over this time; else the numbers below mean little.
        sentence: what it comes to, or why it does not apply.
        days: stored times (nt,).
        error: RMS over the sphere of run less truth (nt,).
        spread: RMS over members of the truth less the undisturbed one (nt,); NaN without any.
        ulp: the same for a perturbation of one ulp of fp64 (nt,); NaN without any.
        members: number of perturbed members in `spread` and `ulp`.
        share: error / spread at the last time; NaN without spread.
        lost_hours: how much earlier the error of a forecast reaches the spread's last value; NaN
            where the spread has stopped growing, and crosses that value by chance.
        increase: growth of the perturbation from its smallest value to the last.
        doubling_hours: of the perturbation, on average over that time.
        ulps: error / ulp at the last time.
    """

    variable: str
    units: str
    applies: bool
    sentence: str
    days: np.ndarray = field(repr=False)
    error: np.ndarray = field(repr=False)
    spread: np.ndarray = field(repr=False)
    ulp: np.ndarray = field(repr=False)
    members: int = 0
    share: float = math.nan
    lost_hours: float = math.nan
    increase: float = math.nan
    doubling_hours: float = math.nan
    ulps: float = math.nan


def variability_growth(
    golden: xr.Dataset,
    actual: xr.Dataset,
    variable: str,
    *,
    spread: Sequence[xr.Dataset] = (),
    ulp: Sequence[xr.Dataset] = (),
    forecasts: Sequence[xr.Dataset] = (),
) -> VariabilityGrowth:
    """Compare a rounding error with what uncertain initial states do to the truth.

    e(t) = RMS(run - truth), s(t) = RMS over members m of (truth_m - truth)

    A forecast in fp64 from an uncertain initial state has the error s(t); one in the arithmetic has
    RMS(run_m - truth) where such members are given, else sqrt(s^2 + e^2). It reaches s(T) some
    hours before the last time T: predictability lost.

    Args:
        golden, actual: truth and run, from the same initial state.
        variable: with the axes time, lat, lon, and levels or none; or time and any others.
        spread: members of the truth whose initial state is perturbed.
        ulp: members of the truth, perturbed by one unit in the last place of fp64.
        forecasts: members of the run with the perturbations of `spread`.

    Returns:
        A VariabilityGrowth up to the last time that all of them have; it applies where the
        perturbation grows at least tenfold.

    Raises:
        InputError: no member is given, fewer than three times are common to all, or a member is on
            other points.

    Source: predictability of identical twins, Lorenz (1965); that a rounding error is judged by the
        growth of perturbations, Rosinski and Williamson (1997), 10.1137/S1064827594275534.
    Differs from the source: theirs is a perturbation of the last bit alone; here the initial
        uncertainty is whatever the ensemble has.
    """
    if not spread and not ulp:
        raise InputError(
            "no perturbed member of the truth was given; accepted: one run or more from perturbed "
            "initial states, as a scenario with [ensemble] makes them"
        )
    times = _common_times(golden, chain([actual], spread, ulp, forecasts), variable)
    e = _rms(golden, [actual], variable, times)
    s = _rms(golden, spread, variable, times)
    u = _rms(golden, ulp, variable, times)
    total = _rms(golden, forecasts, variable, times) if forecasts else np.hypot(s, e)
    days = golden["time"].values[:times].astype(np.float64)
    increase, doubling = _increase(days, s if spread else u)
    share = float(e[-1] / s[-1]) if spread and s[-1] > 0.0 else math.nan
    values = {
        "variable": variable, "units": str(golden[variable].attrs.get("units", "")),
        "days": days, "error": e, "spread": s, "ulp": u, "members": len(spread) + len(ulp),
        "share": share, "increase": increase, "doubling_hours": doubling,
        "lost_hours": _lost_hours(days, s, total, doubling) if spread else math.nan,
        "ulps": float(e[-1] / u[-1]) if ulp and u[-1] > 0.0 else math.nan,
    }  # fmt: skip
    applies = increase >= LEAST_INCREASE
    sentence = _applied(values) if applies else _not_applied(values)
    return VariabilityGrowth(applies=applies, sentence=sentence, **values)


def _common_times(golden: xr.Dataset, runs: Iterable[xr.Dataset], variable: str) -> int:
    """The number of times, from the first, that all runs have."""
    shape, times = golden[variable].shape[1:], golden["time"].values
    count = times.size
    for number, run in enumerate(runs, start=1):
        count = min(count, run.sizes["time"])
        alike = variable in run and run[variable].shape[1:] == shape
        if not (alike and np.array_equal(run["time"].values[:count], times[:count])):
            raise InputError(
                f"run {number} has other points or times than the truth in '{variable}'; accepted: "
                "members of the same scenario"
            )
    if count < 3:
        raise InputError(
            f"only {count} times are common to all members; accepted: three or more; store more "
            "often with 'output_hours'"
        )
    return count


def _rms(golden: xr.Dataset, runs: Sequence[xr.Dataset], variable: str, times: int) -> np.ndarray:
    """RMS difference from the truth over sphere, levels and runs at each time (times,)."""
    if not runs:
        return np.full(times, math.nan)
    total = np.zeros(times)
    for run in runs:
        square = (run[variable].values[:times] - golden[variable].values[:times]) ** 2
        means = spatial_means(square, golden, axes_before=1)
        total += means.reshape(times, -1).mean(axis=1)
    return np.sqrt(total / len(runs))


def _increase(days: np.ndarray, size: np.ndarray) -> tuple[float, float]:
    """The growth of a difference since it was smallest, and its doubling time in hours."""
    sizes = np.where(size > 0.0, size, math.inf)
    start = int(np.argmin(sizes))
    if not (math.isfinite(sizes[start]) and math.isfinite(size[-1]) and start < size.size - 1):
        return 1.0, math.inf
    increase = float(size[-1] / size[start])
    if increase <= 1.0:
        return increase, math.inf
    return increase, HOURS_PER_DAY * float(days[-1] - days[start]) / math.log2(increase)


def _lost_hours(
    days: np.ndarray, spread: np.ndarray, total: np.ndarray, doubling: float
) -> float:
    """Hours between the last time and when `total` first stays above the last spread; NaN where
    the spread has stopped growing.

    Between stored times the logarithm of the error is taken as linear.
    """
    goal = spread[-1]
    if _hours_above(days, spread, goal / 2.0) > SATURATED * doubling:
        return math.nan
    return _hours_above(days, total, goal)


def _hours_above(days: np.ndarray, total: np.ndarray, goal: float) -> float:
    """Hours between the last time and when `total` first stays above a goal."""
    below = np.flatnonzero(total < goal)
    if goal <= 0.0 or below.size == 0:
        return HOURS_PER_DAY * float(days[-1] - days[0])
    last = int(below[-1])
    if last == total.size - 1:
        return 0.0
    low, high = np.log(max(total[last], 1e-300)), np.log(total[last + 1])
    part = (math.log(goal) - low) / (high - low)
    reached = days[last] + part * (days[last + 1] - days[last])
    return HOURS_PER_DAY * float(days[-1] - reached)


def _applied(values: dict) -> str:
    """The sentence of a chaotic flow."""
    variable, day = values["variable"], values["days"][-1]
    phrases = []
    if math.isfinite(values["share"]):
        hours = values["lost_hours"]
        phrases.append(
            f"the rounding error of {variable} is {_percent(values['share'])} of the internal "
            f"variability at day {day:g}"
        )
        if math.isnan(hours):
            phrases.append(
                "the variability has stopped growing by then, so that no hours of predictability "
                "lost can be told"
            )
        else:
            lost = f"{factor(hours)} hours" if hours >= 0.05 else "less than 0.1 hours"
            phrases.append(f"predictability is lost {lost} earlier")
    if math.isfinite(values["ulps"]):
        phrases.append(
            f"the rounding error of {variable} at day {day:g} is {factor(values['ulps'])} times "
            "what a perturbation of one ulp of fp64 has grown to"
        )
    phrases.append(f"small differences double in {values['doubling_hours']:.2g} hours")
    return "; ".join(phrases)


def _not_applied(values: dict) -> str:
    """Why there is nothing to say."""
    return (
        f"internal variability does not apply: by day {values['days'][-1]:g} a perturbation of the "
        f"initial state has grown {factor(max(values['increase'], 1.0))} times in "
        f"{values['variable']}, and below {LEAST_INCREASE:g} times a flow is not called chaotic"
    )


def _percent(share: float) -> str:
    """A share in per cent, two significant digits."""
    return f"{factor(100.0 * share)} %" if share >= 1e-4 else f"{100.0 * share:.1g} %"
