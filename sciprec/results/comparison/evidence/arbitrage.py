"""Static arbitrage in a surface of option prices: what rounding has brought in."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import xarray as xr

from sciprec.foundation.errors import InputError
from sciprec.results.comparison.evidence.markets import Market, market_of
from sciprec.results.comparison.wording import number

CHECK_ROUNDING = 16 * 2.0**-53
"""Relative to the terms of a check: the rounding of the check itself."""
EUROPEAN = ("call", "put")


@dataclass(frozen=True)
class Inequality:
    """A linear inequality that prices without arbitrage meet: constant + sum c_j p_j >= 0.

    Args:
        name: below intrinsic | above largest | monotone | slope | convex | calendar.
        maturity, strike: where it is.
        places: indices (row, column) of the prices.
        coefficients: c_j.
        constant: of the inequality.
    """

    name: str
    maturity: float
    strike: float
    places: tuple[tuple[int, int], ...]
    coefficients: tuple[float, ...]
    constant: float = 0.0

    def slack(self, prices: np.ndarray) -> float:
        """constant + sum c_j p_j; 0 where it is no more than the rounding of these sums."""
        terms = [c * float(prices[p]) for c, p in zip(self.coefficients, self.places, strict=True)]
        terms.append(self.constant)
        total = math.fsum(terms)
        return 0.0 if abs(total) <= CHECK_ROUNDING * sum(map(abs, terms)) else total

    def reach(self, bounds: np.ndarray) -> float:
        """sum |c_j| b_j: how far the bounds of the prices let the slack be off."""
        pairs = zip(self.coefficients, self.places, strict=True)
        return math.fsum(abs(c) * float(bounds[p]) for c, p in pairs)


@dataclass(frozen=True)
class Arbitrage:
    """Violations of static arbitrage in a run beside its truth.

    Args:
        checks: how many inequalities were checked.
        in_golden, in_actual: how many the truth and the run violate.
        caused: names, maturities, strikes and amounts of those that the run violates and the truth
            does not, the largest first.
        beyond_bounds: how many of them are larger than the bounds of their prices allow; None where
            prices have no bounds.
        sentence: what it comes to.
    """

    checks: int
    in_golden: int
    in_actual: int
    caused: tuple[tuple[str, float, float, float], ...]
    beyond_bounds: int | None
    sentence: str


def arbitrage(golden: xr.Dataset, actual: xr.Dataset) -> Arbitrage:
    """Look for static arbitrage that rounding has brought into a surface of prices.

    Args:
        golden, actual: prices with the axes maturity and strike, and the scenario they are from.

    Returns:
        An Arbitrage. A violation counts as caused by rounding where the truth meets the inequality
        and the run does not; NaN prices are left to the pointwise comparison.

    Raises:
        InputError: the scenario is missing, or is of another kind.
    """
    checks = checks_of(market_of(golden), golden["maturity"].values, golden["strike"].values)
    exact, prices = golden["price"].values, actual["price"].values
    violated = [c for c in checks if c.slack(prices) < 0.0]
    before = sum(c.slack(exact) < 0.0 for c in checks)
    caused = sorted((c for c in violated if c.slack(exact) >= 0.0), key=lambda c: c.slack(prices))
    beyond = None
    if "bound" in actual:
        bounds = actual["bound"].values
        beyond = sum(-c.slack(prices) > c.reach(bounds) for c in caused)
    named = tuple((c.name, c.maturity, c.strike, -c.slack(prices)) for c in caused)
    sentence = _sentence(len(checks), named, beyond)
    return Arbitrage(len(checks), before, len(violated), named, beyond, sentence)


def checks_of(market: Market, maturities, strikes) -> list[Inequality]:
    """All inequalities for a grid of prices.

    Calls C, puts P with discount D and forward F; T' > T and t = T' - T:

        D max(F - K, 0) <= C <= D F;  C falls in K, by at most D dK;  C is convex in K;
        C(K, T') >= e^(-q t) C(K e^(-(r - q) t), T), and C falls in the strike

    Args:
        market: spot, rates and the payoff's kind.
        maturities: years, ascending (nt,).
        strikes: ascending (nk,).

    Returns:
        The inequalities; without the first and the last line for averages, none for other payoffs.

    Source: Merton (1973), Theory of rational option pricing, theorems 1 to 4; Carr and Madan
        (2005), 10.1016/j.frl.2005.04.005, for grids of strikes and maturities.
    Differs from the source: at fixed strikes instead of fixed moneyness, so that a calendar check
        compares with the next strike of the grid and is met a little too easily.
    """
    kind = market.kind.removesuffix("-put")
    if kind not in (*EUROPEAN, "asian-arithmetic", "asian-geometric"):
        return []
    checks: list[Inequality] = []
    for row, maturity in enumerate(np.asarray(maturities, float)):
        checks += _along_strikes(market, row, float(maturity), np.asarray(strikes, float))
        if market.kind in EUROPEAN:
            checks += _limits(market, row, float(maturity), np.asarray(strikes, float))
            if row > 0:
                times = float(maturities[row - 1]), float(maturity)
                checks += _calendar(market, row, times, np.asarray(strikes, float))
    return checks


def put_call_parity(calls: xr.Dataset, puts: xr.Dataset) -> xr.DataArray:
    """C - P - D (F - K) on the grid of two surfaces.

    Args:
        calls, puts: prices of the same model, strikes and maturities.

    Returns:
        Dimensions maturity and strike, in units of currency; the bounds of both prices add up to
        how far from zero it may be.

    Raises:
        InputError: the two are not of kinds call and put, or on other points.
    """
    market, other = market_of(calls), market_of(puts)
    alike = calls["price"].shape == puts["price"].shape and all(
        np.array_equal(calls[axis].values, puts[axis].values) for axis in ("maturity", "strike")
    )
    if (market.kind, other.kind) != EUROPEAN or not alike:
        raise InputError(
            f"parity was asked of kinds {market.kind!r} and {other.kind!r}; accepted: calls, then "
            "puts with the same strikes and maturities"
        )
    maturity, strike = calls["maturity"].values[:, None], calls["strike"].values
    worth = market.discount(maturity) * (market.forward(maturity) - strike)
    defect = calls["price"].values - puts["price"].values - worth
    return xr.DataArray(
        defect,
        {axis: calls[axis].values for axis in ("maturity", "strike")},
        dims=("maturity", "strike"),
    )


def _along_strikes(
    market: Market, row: int, maturity: float, strikes: np.ndarray
) -> list[Inequality]:
    """Monotone, not too steep, convex."""
    falling = 1.0 if not market.pays_below else -1.0
    discount, checks = float(market.discount(maturity)), []
    for k in range(strikes.size - 1):
        places, where = ((row, k), (row, k + 1)), (maturity, float(strikes[k]))
        width = discount * float(strikes[k + 1] - strikes[k])
        checks.append(Inequality("monotone", *where, places, (falling, -falling)))
        checks.append(Inequality("slope", *where, places, (-falling, falling), width))
    for k in range(1, strikes.size - 1):
        share = float((strikes[k + 1] - strikes[k]) / (strikes[k + 1] - strikes[k - 1]))
        places = ((row, k - 1), (row, k), (row, k + 1))
        coefficients = (share, -1.0, 1.0 - share)
        checks.append(Inequality("convex", maturity, float(strikes[k]), places, coefficients))
    return checks


def _limits(market: Market, row: int, maturity: float, strikes: np.ndarray) -> list[Inequality]:
    """The limits of a price: at least the intrinsic value, at most what is paid at best."""
    discount, forward = float(market.discount(maturity)), float(market.forward(maturity))
    checks = []
    for k, strike in enumerate(map(float, strikes)):
        least = max(strike - forward, 0.0) if market.pays_below else max(forward - strike, 0.0)
        most = strike if market.pays_below else forward
        where = (maturity, strike, ((row, k),))
        checks.append(Inequality("below intrinsic", *where, (1.0,), -discount * least))
        checks.append(Inequality("above largest", *where, (-1.0,), discount * most))
    return checks


def _calendar(
    market: Market, row: int, times: tuple[float, float], strikes: np.ndarray
) -> list[Inequality]:
    """A later option is worth at least an earlier one of another strike."""
    wait = times[1] - times[0]
    discount = math.exp(-market.dividend_yield * wait)
    moved = strikes * math.exp(-(market.rate - market.dividend_yield) * wait)
    checks = []
    for k, goal in enumerate(moved):
        if market.pays_below:
            at = int(np.searchsorted(strikes, goal * (1 + 1e-12), side="right")) - 1
        else:
            at = int(np.searchsorted(strikes, goal * (1 - 1e-12), side="left"))
        if 0 <= at < strikes.size:
            places = ((row, k), (row - 1, at))
            checks.append(
                Inequality("calendar", times[1], float(strikes[k]), places, (1.0, -discount))
            )
    return checks


def _sentence(count: int, caused: tuple, beyond: int | None) -> str:
    """A sentence on the static arbitrage that rounding causes."""
    if not count:
        return "static arbitrage is not checked for this payoff"
    if not caused:
        return f"rounding causes no static arbitrage ({count} inequalities)"
    name, maturity, strike, amount = caused[0]
    sentence = (
        f"rounding causes static arbitrage in {len(caused)} of {count} inequalities, at most "
        f"{number(amount)} ({name}, maturity {maturity:g}, strike {strike:g})"
    )
    if beyond is None:
        return sentence
    return f"{sentence}; {beyond or 'none'} of them beyond the bounds of the prices"
