"""One run against its truth: a row of metrics per variable, and whether each is within bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from sciprec.compare.error_growth import error_growth, errors_along, growth_as_dict
from sciprec.compare.growth_laws import Growth
from sciprec.compare.metrics import metrics
from sciprec.compare.pairing import Pair, pair
from sciprec.output import netcdf
from sciprec.output.variables import VARIABLES


@dataclass(frozen=True)
class Row:
    """The comparison of one variable.

    Args:
        variable, units: of the variable.
        points: how many values were compared, finite or not.
        errors: metric name -> value over the finite points.
        nonfinite_golden, nonfinite_actual: NaN and infinities in either.
        changed_nonfinite: points where finite became non-finite, or the other way round.
        severity: identical | noise (within the tolerance) | changed (beyond) | broken.
    """

    variable: str
    units: str
    points: int
    errors: dict[str, float]
    nonfinite_golden: int
    nonfinite_actual: int
    changed_nonfinite: int
    severity: str


@dataclass(frozen=True)
class Comparison:
    """What a run is against its truth.

    Args:
        rows: one for each variable.
        rtol: the largest relative l2 error that counts as noise.
        growth: the laws of error growth fitted to the main variable, or None without steps.
    """

    rows: tuple[Row, ...]
    rtol: float
    growth: Growth | None = None

    @property
    def within(self) -> bool:
        """Whether no variable changed beyond the tolerance, and none broke."""
        return all(row.severity in ("identical", "noise") for row in self.rows)

    def row(self, variable: str) -> Row:
        """The row of a variable.

        Raises:
            KeyError: the variable was not compared.
        """
        found = next((r for r in self.rows if r.variable == variable), None)
        if found is None:
            known = ", ".join(r.variable for r in self.rows)
            raise KeyError(f"no variable '{variable}' was compared; compared: {known}")
        return found

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON; numbers that are not finite become None."""
        return {
            "within": self.within,
            "rtol": self.rtol,
            "growth": growth_as_dict(self.growth),
            "variables": [
                {**vars(row), "errors": {k: _plain(v) for k, v in row.errors.items()}}
                for row in self.rows
            ],
        }


def compare(
    golden: xr.Dataset | str | Path, actual: xr.Dataset | str | Path, *, rtol: float = 0.0
) -> Comparison:
    """Compare a run with its truth.

    Args:
        golden, actual: datasets, or paths of netCDF files.
        rtol: the largest relative l2 error that counts as noise; 0 asks for the same bits.

    Returns:
        A Comparison: one row of errors per variable in `rows`, and `within`: whether all of them
        are within rtol. Statistics are over the points that are finite in both.

    Raises:
        InputError: a file cannot be read, or the two are not on the same points.
    """
    golden, actual = (d if isinstance(d, xr.Dataset) else netcdf.read(d) for d in (golden, actual))
    comparison = Comparison(tuple(_row(p, rtol) for p in pair(golden, actual)), rtol)
    main = main_row(comparison)
    if main.severity == "identical":
        return comparison
    return replace(comparison, growth=error_growth(golden, actual, main.variable))


def main_row(comparison: Comparison) -> Row:
    """The row that summaries show first."""
    for row in comparison.rows:
        if row.variable in VARIABLES and VARIABLES[row.variable].primary:
            return row
    return comparison.rows[0]


def growth(golden: xr.Dataset, actual: xr.Dataset, variable: str) -> tuple[np.ndarray, np.ndarray]:
    """The relative l2 error of a variable at each time.

    Returns:
        Times as stored (nt,) and errors (nt,); NaN where nothing finite was left.
    """
    one = next(p for p in pair(golden, actual) if p.name == variable)
    return np.asarray(actual["time"].values, float), errors_along(one)


def _row(one: Pair, rtol: float) -> Row:
    """Metrics, counts and severity of one pair."""
    errors = {name: m.compute(one) for name, m in metrics().items()}
    if one.identical:
        severity = "identical"
    elif one.changed_nonfinite:
        severity = "broken"
    else:
        severity = "noise" if errors["relative_l2"] <= rtol else "changed"
    return Row(
        one.name, one.units, one.golden.size, errors,
        int(np.count_nonzero(~np.isfinite(one.golden))),
        int(np.count_nonzero(~np.isfinite(one.actual))),
        one.changed_nonfinite, severity,
    )  # fmt: skip


def _plain(value: float) -> float | None:
    """A number that JSON can hold."""
    return value if math.isfinite(value) else None
