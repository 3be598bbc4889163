"""Growth of a stored run's error with its steps, against the truth of the same scenario."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from sciprec.results.comparison.evidence.growth_laws import ErrorGrowth, growth_laws
from sciprec.results.comparison.pointwise.error_metrics import ratio
from sciprec.results.comparison.pointwise.number_format import SEVERAL, number_format
from sciprec.results.comparison.pointwise.pairing import VariablePair, pair

SECONDS_PER_DAY = 86_400.0
CLOSE_SCATTER = 0.1
"""Decades; within 26 % on average a law is said to describe an error."""
POWER_TOLERANCE = 0.1
LEAST_INCREASE = 10.0


def errors_along(pair: VariablePair) -> np.ndarray:
    """The relative l2 error at each place of the first axis, (n,); NaN where nothing is finite."""
    each = (pair.at(i) for i in range(np.shape(pair.run)[0]))
    return np.array([_relative_l2(p) if p.finite.any() else math.nan for p in each])


def _relative_l2(compared: VariablePair) -> float:
    """sqrt(sum w e^2 / sum w golden^2) of values in memory, as the metric of that name has it."""
    return ratio(
        _rms(compared.difference, compared.weight), _rms(compared.reference, compared.weight)
    )


def _rms(values: np.ndarray, weight: np.ndarray) -> float:
    """sqrt(sum w x^2 / sum w), scaled by max |x| so that squares neither over- nor underflow."""
    largest = float(np.max(np.abs(values), initial=0.0))
    total = float(np.sum(weight))
    if largest == 0.0 or total == 0.0:
        return 0.0
    if math.isinf(largest):
        return math.inf
    return largest * math.sqrt(float(np.sum(weight * (values / largest) ** 2)) / total)


def error_growth(golden: xr.Dataset, actual: xr.Dataset, variable: str) -> ErrorGrowth | None:
    """The laws of growth, fitted to the relative l2 error of a variable at all stored times.

    Args:
        golden, actual: datasets of the truth and of a run.
        variable: whose first axis is `time` in days, beside the attribute step_seconds, or
            `update`, the number of updates.

    Returns:
        A Growth in steps, or None without such an axis, without the arithmetic's properties, or
        where fewer than four errors are above zero.

    Raises:
        InputError: the two are not on the same points.
    """
    steps, u = steps_of(actual, variable), unit_roundoff_of(actual)
    if steps is None or u is None:
        return None
    series = next(p for p in pair(golden, actual) if p.name == variable)
    return growth_laws(steps[: np.shape(series.run)[0]], errors_along(series), u)


def steps_of(dataset: xr.Dataset, variable: str) -> np.ndarray | None:
    """The number of steps at each stored time, (n,); None where it is not known."""
    axis = str(dataset[variable].dims[0]) if dataset[variable].dims else ""
    if axis == "update":
        return dataset[axis].values.astype(np.float64)
    if axis == "time" and "step_seconds" in dataset.attrs:
        seconds = dataset[axis].values.astype(np.float64) * SECONDS_PER_DAY
        return np.rint(seconds / float(dataset.attrs["step_seconds"]))
    return None


def unit_roundoff_of(dataset: xr.Dataset) -> float | None:
    """2^-p of the storage format of the run's arithmetic; None where the file does not say it, and
    1 where the run has several: its errors are stated as they are.

    In fixed point p are the bits of the largest numbers, without the sign.
    """
    properties = json.loads(dataset.attrs.get("sciprec_backend_properties", "{}"))
    if properties.get("storage", {}).get("significand_bits") is None:
        return None
    used = number_format(dataset.attrs)
    return 1.0 if used == SEVERAL else used.unit_roundoff


def growth_as_dict(growth: ErrorGrowth | None) -> dict[str, Any] | None:
    """A Growth as plain data."""
    if growth is None:
        return None
    plain = {**vars(growth), "laws": [{**vars(law)} for law in growth.laws]}
    return plain | {"increase": growth.increase, "described_by": law_of(growth)}


def law_sentences(growths: Sequence[tuple[str, ErrorGrowth]]) -> list[str]:
    """Sentences that say which law describes which run, one for each law.

    Args:
        growths: (label, Growth) of each run.
    """
    sentences = []
    for name, meaning in _MEANINGS.items():
        matching = [(label, growth) for label, growth in growths if law_of(growth) == name]
        if matching:
            power = name in ("slow", "between", "fast")
            runs = (f"{label} ({g.power:.2f})" if power else label for label, g in matching)
            sentences.append(f"{meaning}: {', '.join(runs)}.")
    return sentences


def law_of(growth: ErrorGrowth) -> str:
    """A key of `_MEANINGS`: which law an error follows, with its power of n as a second witness.

    sqrt(n) and n count where the power of n that fits best agrees, within 0.1 or three standard
    errors. An exponential counts where the error grows at least tenfold: less cannot be told from
    slow growth upon the error of the initial state. What is left is a power of n, if any.
    """
    best, off = growth.best, max(POWER_TOLERANCE, 3.0 * growth.power_error)
    close = best.scatter <= CLOSE_SCATTER
    power = {"linear": 1.0, "square root": 0.5}.get(best.name)
    if close and power is not None and abs(growth.power - power) <= off:
        return best.name
    if close and power is None and growth.increase >= LEAST_INCREASE:
        return best.name
    if growth.power_error > POWER_TOLERANCE:
        return "none"
    if growth.power < POWER_TOLERANCE:
        return "level"
    return "slow" if growth.power < 0.5 else "between" if growth.power < 1.0 else "fast"


_MEANINGS = {
    "exponential": "Exponential in the steps n, as the MLU370's description has it",
    "fast": "Faster than n, by the fitted power of n",
    "linear": "Proportional to n, as a bias adds up",
    "between": "Between √n and n, by the fitted power of n",
    "square root": "Proportional to √n, as independent errors of either sign add up",
    "slow": "Slower than √n, by the fitted power of n",
    "level": "Not growing: less than n to the 0.1",
    "none": "Up and down, close to no law",
}
