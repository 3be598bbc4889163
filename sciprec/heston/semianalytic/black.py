"""Black's formula on the forward, and its inverse: the implied volatility."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfcx, log_ndtr, ndtr

from sciprec.foundation.errors import InputError
from sciprec.foundation.limits import PAYOFF

ITERATIONS = 100


def call_prices(
    forward: float, strikes: ArrayLike, deviation: ArrayLike, discount: float = 1.0
) -> np.ndarray:
    """Return Black's call prices D (F N(d + s/2) - K N(d - s/2)), d = log(F/K) / s.

    Args:
        forward: forward price, above zero.
        strikes: numbers above zero, any shape.
        deviation: s = volatility * sqrt(maturity), above zero; broadcasts with strikes.
        discount: D, the discount factor.

    Returns:
        Prices of the broadcast shape, binary64.

    Source: Black (1976), eq. (16).
    """
    strikes = np.asarray(strikes, dtype=float)
    middle = np.log(forward / strikes) / deviation
    half = 0.5 * np.asarray(deviation)
    return discount * (forward * ndtr(middle + half) - strikes * ndtr(middle - half))


def expected_puts(forward: np.ndarray, strike: float, spread: np.ndarray) -> np.ndarray:
    """Return the undiscounted put prices K N(-d) - F N(-d - s), d = (log(F/K) - s^2 / 2) / s.

    Args:
        forward: forward prices, shape (n,).
        strike: a number above zero.
        spread: s^2, variances of log(S), zero or more, shape (n,).

    Returns:
        Shape (n,), binary64; NaN where forward or spread is.
    """
    lower, deviation = _exercise_edge(forward, strike, spread)
    upper = ndtr(-(lower + deviation))
    with np.errstate(invalid="ignore", over="ignore"):
        return strike * ndtr(-lower) - np.where(upper > 0, forward * upper, 0.0)


def exercise_chances(
    forward: np.ndarray, strike: float, spread: np.ndarray, kind: str
) -> np.ndarray:
    """Return the probability that S > K (kind "call") or S < K ("put"); arguments as before."""
    lower, _ = _exercise_edge(forward, strike, spread)
    return ndtr(lower if kind == "call" else -lower)


def _exercise_edge(
    forward: np.ndarray, strike: float, spread: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return d and s; d is infinite where nothing is left to chance."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        deviation = np.sqrt(spread)
        lower = (np.log(forward / strike) - 0.5 * spread) / deviation
        lower = np.where(deviation > 0, lower, np.where(forward > strike, np.inf, -np.inf))
        return np.where(np.isnan(forward + spread), np.nan, lower), deviation


def implied_volatility(
    calls: ArrayLike, forward: float, strikes: ArrayLike, maturity: float, discount: float = 1.0
) -> np.ndarray:
    """Return the volatility at which Black's formula gives these call prices.

    Newton's method in the deviation s = volatility * sqrt(maturity), kept in a bracket, on the
    price of the option out of the money over sqrt(F K): below the price's inflection at
    s^2 = 2 |log(F/K)| on 1 / sqrt(-log price), above it on log(largest price - price), in both of
    which the price is close to a straight line.

    Args:
        calls: call prices, any shape.
        forward: forward price, above zero.
        strikes: numbers above zero; broadcasts with calls.
        maturity: years.
        discount: the discount factor.

    Returns:
        Volatilities per square root of a year, of the broadcast shape; 0 for an intrinsic price.

    Raises:
        InputError: a price lies outside the bounds max(D (F - K), 0) <= call < D F.

    Precision: the call's excess over its intrinsic value is a difference of given numbers, so that
        far in the money few digits of it are left; price such options as puts instead.
    Source: Jaeckel (2015), "Let's be rational", sec. 3, for the two objectives.
    """
    calls, strikes = np.broadcast_arrays(np.asarray(calls, float), np.asarray(strikes, float))
    PAYOFF["maturity"].number("maturity", maturity)
    intrinsic = discount * np.maximum(forward - strikes, 0.0)
    bad = ~((calls >= intrinsic) & (calls < discount * forward))
    if bad.any():
        where = np.flatnonzero(bad)[0]
        raise InputError(
            f"call price {calls.flat[where]} at strike {strikes.flat[where]} has no implied "
            f"volatility; accepted: from {intrinsic.flat[where]} to below {discount * forward}"
        )
    value = ((calls - intrinsic) / (discount * np.sqrt(forward * strikes))).ravel()
    moneyness = -np.abs(np.log(forward / strikes)).ravel()
    deviation = np.zeros_like(value)
    positive = value > 0
    deviation[positive] = _solve(moneyness[positive], value[positive])
    return (deviation / np.sqrt(maturity)).reshape(calls.shape)


def _solve(x, value):
    """Return s with normalised price value at moneyness x = -|log(F / K)|, both of shape (n,)."""
    turn = np.sqrt(-2.0 * x)
    largest = np.exp(0.5 * x)
    at_turn = largest * 0.5 - np.exp(-0.5 * x) * ndtr(-turn)
    below = value < at_turn
    low = np.where(below, 0.0, turn)
    high = np.where(below, turn, np.maximum(2.0 * turn, 1.0))
    for _ in range(ITERATIONS):  # a bracket: double the upper end until the price is passed
        short = ~below & (np.log(np.maximum(largest - value, 0.0) / largest) < _upper(x, high)[0])
        if not short.any():
            break
        high = np.where(short, 2.0 * high, high)
    s = np.where(below, turn, np.maximum(turn, 1e-8))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        lower_goal = 1.0 / np.sqrt(-np.log(value))
        upper_goal = np.log((largest - value) / largest)
        for _ in range(ITERATIONS):
            lower, lower_slope = _lower(x, s)
            upper, upper_slope = _upper(x, s)
            gap = np.where(below, lower - lower_goal, upper - upper_goal)
            slope = np.where(below, lower_slope, upper_slope)
            too_high = np.where(below, gap > 0, gap < 0)
            high = np.where(too_high, np.minimum(high, s), high)
            low = np.where(too_high, low, np.maximum(low, s))
            newton = s - gap / slope
            inside = (newton >= low) & (newton <= high)
            following = np.where(inside, newton, 0.5 * (low + high))
            settled = np.abs(following - s) <= 4e-16 * s
            s = following
            if settled.all():
                break
    return s


def _lower(x, s):
    """Return 1 / sqrt(-log price) and its slope in s, for s^2 <= 2 |x|."""
    h, t = x / s, 0.5 * s
    bracket = 0.5 * (erfcx(-(h + t) / np.sqrt(2.0)) - erfcx((t - h) / np.sqrt(2.0)))
    logarithm = -0.5 * (h * h + t * t) + np.log(bracket)
    value = 1.0 / np.sqrt(-logarithm)
    relative_vega = 1.0 / (np.sqrt(2.0 * np.pi) * bracket)  # d log price / ds
    return value, 0.5 * value**3 * relative_vega


def _upper(x, s):
    """Return log(1 - price / largest price) and its slope in s."""
    h, t = x / s, 0.5 * s
    logarithm = np.logaddexp(log_ndtr(-(h + t)), log_ndtr(h - t) - x)
    vega = -np.exp(-0.5 * (h + t) ** 2 - logarithm) / np.sqrt(2.0 * np.pi)
    return logarithm, vega
