"""The error that a run is summed up by: of its main variable, or the rounding of bounded prices."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sciprec.report.stored.batch import StoredRun
from sciprec.results.comparison.pointwise.error_metrics import ratio
from sciprec.results.comparison.pointwise.statistics import digits_of
from sciprec.results.comparison.rows import main_row


@dataclass(frozen=True)
class MainError:
    """The errors of a run that tables and the trade-off show.

    Args:
        variable, units: of what is shown.
        errors: metric name -> value.
        nonfinite: values that are not finite.
    """

    variable: str
    units: str
    errors: dict[str, float]
    nonfinite: int


def main_error(run: StoredRun) -> MainError:
    """The error of a run that has a comparison.

    Prices with bounds are simulated on as many paths as each arithmetic needs, so that their
    difference from fp64 is sampling above all. What rounding does to them is known: the part
    `rounding` of their bound.
    """
    row = main_row(run.comparison)
    if not is_bounded(run):
        return MainError(row.variable, row.units, row.errors, row.nonfinite_actual)
    rounding, price = (np.abs(run.dataset[name].values) for name in ("rounding", "price"))
    finite = np.isfinite(rounding) & np.isfinite(price)
    rms, size = (math.sqrt(np.mean(x[finite] ** 2)) if finite.any() else math.nan
                 for x in (rounding, price))  # fmt: skip
    errors = {
        "max_abs": float(np.max(rounding[finite], initial=0.0)),
        "rms": rms,
        "relative_l2": ratio(rms, size),
        "decimal_digits": digits_of(ratio(rms, size)),
    }
    return MainError("rounding of price", row.units, errors, row.nonfinite_actual)


def is_bounded(run: StoredRun) -> bool:
    """Whether a run's prices state the parts of their bound."""
    return run.dataset is not None and {"bound", "rounding"} <= set(run.dataset.data_vars)
