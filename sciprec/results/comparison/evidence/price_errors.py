"""Errors of option prices in the units that a desk thinks in."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import xarray as xr

from sciprec.results.comparison.evidence.markets import market_of
from sciprec.results.comparison.wording import factor, number

BASIS_POINTS = 1e4


@dataclass(frozen=True)
class PriceErrors:
    """Errors of a surface of prices; NaN for what the files do not hold.

    Args:
        points: prices on the surface.
        truth: "semi-analytic price" or "price in fp64": what bounds are meant to cover.
        outside: how many prices are further from that truth than their bound, NaN prices included;
            None without bounds.
        expected_outside: how many may be, at the bounds' confidence.
        in_bounds: the largest |price - truth| / bound.
        in_standard_errors: the largest |price - fp64| / (standard error of fp64).
        basis_points_of_spot: the largest |price - fp64| / spot, in 1e-4.
        basis_points_of_volatility: the largest difference of implied volatilities from fp64, in
            1e-4.
        parity_basis_points: by how much put-call parity moves against fp64, in 1e-4 of spot:
            D F |m - m64|, m being the mean of spot over forward on the same paths.
        sentence: what it comes to.
    """

    points: int
    truth: str
    outside: int | None
    expected_outside: float
    in_bounds: float
    in_standard_errors: float
    basis_points_of_spot: float
    basis_points_of_volatility: float
    parity_basis_points: float
    sentence: str


def price_errors(golden: xr.Dataset, actual: xr.Dataset) -> PriceErrors:
    """Errors of a run's prices against its bounds, the spot and implied volatility.

    Args:
        golden, actual: surfaces of one scenario, in fp64 and in another arithmetic.

    Raises:
        InputError: they are no surfaces of prices with their scenario.
    """
    market = market_of(golden)
    error = np.abs(actual["price"].values - golden["price"].values)
    outside, in_bounds, truth = _against_bounds(golden, actual)
    confidence = float(actual.attrs.get("confidence", math.nan))
    errors = {
        "points": int(error.size),
        "truth": truth,
        "outside": outside,
        "expected_outside": (1.0 - confidence) * error.size if outside is not None else math.nan,
        "in_bounds": in_bounds,
        "in_standard_errors": _largest_ratio(error, golden, "standard_error"),
        "basis_points_of_spot": BASIS_POINTS * _largest(error) / market.spot,
        "basis_points_of_volatility": _volatility_error(golden, actual),
        "parity_basis_points": _parity_shift(golden, actual),
    }
    return PriceErrors(**errors, sentence=_sentence(errors))


def _against_bounds(golden: xr.Dataset, actual: xr.Dataset) -> tuple[int | None, float, str]:
    """The number of prices outside of their bounds, the largest ratio, and the truth taken."""
    exact, truth = golden["price"].values, "price in fp64"
    if "analytic_price" in golden and np.isfinite(golden["analytic_price"]).all():
        exact, truth = golden["analytic_price"].values, "semi-analytic price"
    if "bound" not in actual:
        return None, math.nan, truth
    bound = actual["bound"].values
    if truth == "price in fp64" and "bound" in golden:
        bound = bound + golden["bound"].values
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(actual["price"].values - exact) / bound
    ratio = np.where((bound == 0.0) & (actual["price"].values == exact), 0.0, ratio)
    return int(np.count_nonzero(~(ratio <= 1.0))), _largest(ratio), truth


def _volatility_error(golden: xr.Dataset, actual: xr.Dataset) -> float:
    """Largest difference of implied volatilities in basis points, where both have one."""
    if "implied_volatility" not in golden or "implied_volatility" not in actual:
        return math.nan
    golden_iv, actual_iv = (d["implied_volatility"].values for d in (golden, actual))
    usable = np.isfinite(golden_iv) & np.isfinite(actual_iv) & (golden_iv > 0.0) & (actual_iv > 0.0)
    return BASIS_POINTS * _largest(np.abs(actual_iv - golden_iv)[usable])


def _parity_shift(golden: xr.Dataset, actual: xr.Dataset) -> float:
    """D F |m - m64| in basis points of spot; D F / S = e^(-q T)."""
    if "martingale" not in golden or "martingale" not in actual:
        return math.nan
    market = market_of(golden)
    worth = market.discount(golden["maturity"].values) * market.forward(golden["maturity"].values)
    moved = worth * np.abs(actual["martingale"].values - golden["martingale"].values)
    return BASIS_POINTS * _largest(moved) / market.spot


def _largest_ratio(error: np.ndarray, golden: xr.Dataset, name: str) -> float:
    """max error / scale, NaN without the scale."""
    if name not in golden:
        return math.nan
    scale = golden[name].values
    usable = scale > 0.0
    return _largest(error[usable] / scale[usable])


def _largest(values: np.ndarray) -> float:
    """The largest finite value; NaN without any."""
    finite = values[np.isfinite(values)]
    return float(finite.max()) if finite.size else math.nan


def _sentence(errors: dict) -> str:
    """A sentence on the errors of prices."""
    phrases = []
    if errors["outside"] is not None:
        within = errors["points"] - errors["outside"]
        phrases.append(
            f"{within} of {errors['points']} prices are within their bounds of the "
            f"{errors['truth']}, the furthest at {number(errors['in_bounds'])} bounds"
        )
    elif math.isfinite(errors["in_standard_errors"]):
        phrases.append(
            f"prices differ from fp64 by at most {factor(errors['in_standard_errors'])} standard "
            "errors"
        )
    worst = f"at most {number(errors['basis_points_of_spot'])} basis points of spot"
    if math.isfinite(errors["basis_points_of_volatility"]):
        volatility = number(errors["basis_points_of_volatility"])
        worst += f" and {volatility} of implied volatility"
    sampled = ", sampling included" if errors["outside"] is not None else ""
    phrases.append(f"{worst} from fp64{sampled}")
    if math.isfinite(errors["parity_basis_points"]):
        moved = number(errors["parity_basis_points"])
        phrases.append(f"put-call parity moves by {moved} basis points of spot")
    return "; ".join(phrases)
