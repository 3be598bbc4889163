"""Verdicts on the results of a run against those in a baseline.

    identical   the same bits in all values
    noise       other bits, no farther apart than runs whose inputs differ by a unit of the format
    changed     farther apart than that
    slower      the run takes longer beside a reference kernel, where that is asked
    larger      likewise, more memory
    pattern     other NaN or infinities, another shape or axis, a variable or run that is missing
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from sciprec.regression.baselines.answering import RunAnswer
from sciprec.regression.baselines.costs import growth
from sciprec.regression.baselines.keeping import METRICS, Fingerprint, difference, differences
from sciprec.regression.baselines.records import KeptRun, Record
from sciprec.results.comparison.wording import number, place

VERDICTS = ("identical", "noise", "slower", "larger", "changed", "pattern")
"""Verdicts from the best to the worst."""
FAILING = ("slower", "larger", "changed", "pattern")


@dataclass(frozen=True)
class MetricVerdict:
    """A metric of a variable.

    Args:
        name: one of METRICS.
        apart: how far run and baseline are apart.
        noise: the spread of the noise.
        verdict: identical | noise | changed.
    """

    name: str
    apart: float
    noise: float
    verdict: str


@dataclass(frozen=True)
class CheckRow:
    """The check of one variable of a run against its baseline.

    Args:
        run, variable: names; an empty variable stands for the whole run.
        verdict: of VERDICTS, the worst of its metrics.
        reason: in words.
        metrics: those that were compared; none of a pattern.
        units: of the variable.
        where: the place of the largest difference, in words.
        error_then, error_now: relative l2 errors against fp64 of the kept values; NaN without.
    """

    run: str
    variable: str
    verdict: str
    reason: str
    metrics: tuple[MetricVerdict, ...] = ()
    units: str = ""
    where: str = ""
    error_then: float = math.nan
    error_now: float = math.nan


def slower_row(then: KeptRun, now: RunAnswer, factor: float | None) -> CheckRow | None:
    """A row for a run that has become slower by more than a factor; None where it has not.

    Args:
        then, now: the run.
        factor: None: what is only timed is told, and never slower.
    """
    ratio = growth(then.pace, now.pace)
    only_timed = not then.values and not then.failure
    if ratio is None or not (only_timed or (factor is not None and ratio > factor)):
        return None
    slower = factor is not None and ratio > factor
    return CheckRow(then.name, "", "slower" if slower else "noise", (
        f"it takes {number(ratio)} times as long{' or more' if slower else ''}, beside a reference "
        f"kernel: {_medians(then.pace, now.pace)} times its time (medians of "
        f"{len(now.seconds)} runs and of the baseline's)"
    ))  # fmt: skip


def larger_row(then: KeptRun, now: RunAnswer, factor: float) -> CheckRow | None:
    """A row for a run whose memory grew by more than a factor; None for any other run."""
    ratio = growth(then.room, now.room)
    if ratio is None or ratio <= factor:
        return None
    return CheckRow(then.name, "", "larger", (
        f"it takes {number(ratio)} times as much memory or more, beside a reference kernel: "
        f"{_medians(then.room, now.room)} times its memory (medians)"
    ))  # fmt: skip


def _medians(then: Mapping[str, float], now: Mapping[str, float]) -> str:
    return f"{number(now['median'])}, was {number(then['median'])}"


def beyond(metric: MetricVerdict) -> float:
    """The distance of a metric as a multiple of its noise."""
    if metric.apart <= metric.noise:
        return metric.apart / metric.noise if metric.noise else 0.0
    return metric.apart / metric.noise if metric.noise else math.inf


def rows_of(record: Record, run: KeptRun, answer: RunAnswer | None) -> list[CheckRow]:
    """The rows of a run against its record in a baseline."""
    if answer is None:
        return [CheckRow(run.name, "", "pattern", "the run is missing")]
    rows = []
    if run.failure or answer.failure:
        unchanged = run.failure == answer.failure
        was, is_now = (failure or "it ended well" for failure in (run.failure, answer.failure))
        reason = f"it failed as before: {was}" if unchanged else f"then: {was}; now: {is_now}"
        rows.append(CheckRow(run.name, "", "identical" if unchanged else "pattern", reason))
    if answer.values is None or not run.values:
        return rows
    then = record.values_of(run)
    names = [str(name) for name in then.data_vars]
    axes = [name for name in run.variables if name not in names]
    for axis in axes:
        if axis not in answer.fingerprints:
            rows.append(CheckRow(run.name, axis, "pattern", "the axis is missing"))
        elif answer.fingerprints[axis].digest != run.variables[axis].digest:
            words = _shape_words(run.variables[axis], answer.fingerprints[axis])
            reason = words or "it has other values"
            rows.append(CheckRow(run.name, axis, "pattern", f"axis '{axis}': {reason}"))
    for name in names:
        rows.append(_row(run, then, answer, name))
    new = [str(name) for name in answer.values.data_vars if name not in then]
    reason = "the baseline has no such variable"
    return rows + [CheckRow(run.name, n, "pattern", reason) for n in new]


def _row(stored: KeptRun, then: xr.Dataset, answer: RunAnswer, name: str) -> CheckRow:
    """The row of a variable of a run against its record in a baseline."""
    units = str(then[name].attrs.get("units", ""))
    errors = {
        "error_then": stored.errors.get(name, math.nan),
        "error_now": answer.errors.get(name, math.nan),
    }  # fmt: skip
    if name not in answer.fingerprints:
        return CheckRow(stored.name, name, "pattern", "the variable is missing", units=units)
    old, new = stored.variables[name], answer.fingerprints[name]
    if reason := _shape_words(old, new) or _pattern_words(old, new):
        return CheckRow(stored.name, name, "pattern", reason, (), units,
                   _first_other(then, answer, name), **errors)  # fmt: skip
    if old.digest == new.digest:
        noises = {m: _noise(stored, name, m) for m in METRICS}
        metrics = tuple(MetricVerdict(m, 0.0, noise, "identical") for m, noise in noises.items())
        return CheckRow(stored.name, name, "identical", "the same bits", metrics, units, **errors)
    apart = differences(then, answer.values, stored.variables, answer.fingerprints, name)
    metrics = tuple(
        MetricVerdict(m, apart[m], _noise(stored, name, m),
               "noise" if apart[m] <= _noise(stored, name, m) else "changed")
        for m in METRICS
    )  # fmt: skip
    where = _largest(then, answer.values, name)
    reason = _words(metrics, units, where, stored)
    verdict = "changed" if any(m.verdict == "changed" for m in metrics) else "noise"
    return CheckRow(stored.name, name, verdict, reason, metrics, units, where, **errors)


def _noise(stored: KeptRun, name: str, metric: str) -> float:
    return float(stored.noise.get(name, {}).get(metric, 0.0))


def _words(metrics: tuple[MetricVerdict, ...], units: str, where: str, stored: KeptRun) -> str:
    """Why other bits are noise or not."""
    worst = max(metrics, key=beyond)
    unit = "" if units in ("", "1") else f" {units}"
    apart = f"{METRICS[worst.name]} {number(worst.apart)}{unit}"
    largest = next(metric for metric in metrics if metric.name == "max_abs")
    at = f"; the largest is {number(largest.apart)}{unit} at {where}" if where else ""
    if stored.noise_of.startswith("not known"):
        return f"{apart}, and the noise is {stored.noise_of}{at}"
    how = "is within" if worst.verdict == "noise" else "is beyond"
    return f"{apart} {how} {number(worst.noise)}{unit}, the spread of {stored.noise_of}{at}"


def _shape_words(old: Fingerprint, new: Fingerprint) -> str:
    """A sentence on different shapes; empty where they are equal."""
    if (old.shape, old.dims) == (new.shape, new.dims):
        return ""
    was, now = (
        " x ".join(f"{n} {d}" for n, d in zip(facts.shape, facts.dims, strict=True)) or "one number"
        for facts in (old, new)
    )
    return f"its shape was {was} and is {now}"


def _pattern_words(old: Fingerprint, new: Fingerprint) -> str:
    """A sentence on different patterns of non-finite values; empty where they are equal."""
    if old.pattern == new.pattern:
        return ""
    phrases = [
        f"{getattr(old, kind)} {words} then, {getattr(new, kind)} now"
        for kind, words in (("nan", "NaN"), ("above", "infinite"), ("below", "minus infinite"))
        if getattr(old, kind) != getattr(new, kind)
    ]
    return "; ".join(phrases) or "values that are not finite are in other places"


def _largest(then: xr.Dataset, now: xr.Dataset, name: str) -> str:
    """The place where the kept values are farthest apart, in words."""
    apart = np.abs(difference(then, now, name))
    if not apart.any():
        return ""
    flat = int(np.argmax(apart))
    was, is_now = (dataset[name].values.ravel()[flat].item() for dataset in (then, now))
    at = _place(then[name], flat)
    return f"{at or 'the only one'} ({was!r} then, {is_now!r} now)"


def _first_other(then: xr.Dataset, answer: RunAnswer, name: str) -> str:
    """The first kept value that is finite in one run alone, in words."""
    if then[name].shape != answer.values[name].shape:
        return ""
    before, after = (np.isfinite(np.asarray(d[name].values, float)) for d in (then, answer.values))
    return _place(then[name], int(np.argmax(before != after))) if (before != after).any() else ""


def _place(variable: xr.DataArray, flat: int) -> str:
    """An element of a variable in words."""
    index = np.unravel_index(flat, variable.shape)
    at = {
        str(dim): variable[dim].values[k].item() if dim in variable.coords else int(k)
        for dim, k in zip(variable.dims, index, strict=True)
    }
    return place({"at": at})
