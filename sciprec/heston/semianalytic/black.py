"""Black's formula on the forward, and its inverse: the implied volatility."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfcx, ndtr, wrightomega

from sciprec.foundation.errors import InputError
from sciprec.foundation.limits import PAYOFF

MOST_STEPS = 60
_SPACING = 1 / 16
_PLACES = np.arange(-4.0, 3.75, _SPACING)
_NODES = np.exp(_PLACES - np.exp(-_PLACES))
_WEIGHTS = _SPACING * _NODES * (1.0 + np.exp(-_PLACES))
"""Weights of the trapezoidal rule in y, v = exp(y - exp(-y)): it converges exponentially for
integrals over v > 0 of smooth functions that decay like exp(-v).
"""


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
    prices: ArrayLike, forward: ArrayLike, strikes: ArrayLike, maturity: ArrayLike,
    discount: ArrayLike = 1.0, kind: ArrayLike = "call",
) -> np.ndarray:  # fmt: skip
    """Return the volatility at which Black's formula gives these prices.

    Args:
        prices: of calls or puts; all arguments broadcast.
        forward: forward prices, above zero.
        strikes: numbers above zero.
        maturity: years, above zero.
        discount: discount factors.
        kind: "call" or "put".

    Returns:
        Volatilities per square root of a year, of the broadcast shape; 0 for an intrinsic price.

    Raises:
        InputError: a price lies outside the bounds max(D (F - K), 0) <= call < D F, or
            max(D (K - F), 0) <= put < D K.

    Precision: a few units in the last place of the volatility that belongs to the given numbers,
        far in and out of the money, too: the excess of a price over the intrinsic value, and its
        distance from the largest one, are differences of exact products.
    Example:
        `implied_volatility(10.45, 105.13, 100.0, 1.0, 0.9512)` is 0.2 to three digits.
    """
    *arrays, kind = np.broadcast_arrays(prices, forward, strikes, maturity, discount, kind)
    prices, forward, strikes, years, discount = (np.asarray(each, float) for each in arrays)
    for each in np.unique(years):
        PAYOFF["maturity"].number("maturity", float(each))
    call = kind == "call"
    excess, room = _apart(prices, forward, strikes, discount, call)
    if (bad := ~((excess >= 0) & (room > 0))).any():
        k = np.flatnonzero(bad)[0]
        high, low = (each.flat[k] for each in _sides(forward, strikes, call))
        raise InputError(
            f"{kind.flat[k]} price {prices.flat[k]} at strike {strikes.flat[k]} has no implied "
            f"volatility; accepted: from {discount.flat[k] * max(high - low, 0.0)} to below "
            f"{discount.flat[k] * high}"
        )
    return _deviations(excess, room, forward, strikes, discount) / np.sqrt(years)


def implied_volatilities(model: Any, payoffs: Sequence[Any], prices: ArrayLike) -> np.ndarray:
    """Return the implied volatilities of prices of calls and puts; of others there are none.

    Args:
        model: a Model, whose rates make the forwards and discount factors.
        payoffs: of any maturities.
        prices: of the payoffs, shape (n,).

    Returns:
        Shape (n,); 0 for prices at or below the intrinsic value, NaN for other payoffs than calls
        and puts and for prices at or above the largest one.
    """
    prices = np.asarray(prices, float).reshape(-1)
    volatilities = np.full(len(prices), np.nan)
    vanilla = [k for k, payoff in enumerate(payoffs) if payoff.name in ("call", "put")]
    options = [payoffs[k] for k in vanilla]
    maturity, strikes = (
        np.array([getattr(o, name) for o in options], float) for name in ("maturity", "strike")
    )
    forward, discount = (
        np.array([of(years) for years in maturity], float) for of in (model.forward, model.discount)
    )
    call = np.array([o.name == "call" for o in options], bool)
    excess, room = _apart(prices[vanilla], forward, strikes, discount, call)
    room = np.where(room > 0, room, np.nan)
    deviation = _deviations(np.maximum(excess, 0.0), room, forward, strikes, discount)
    volatilities[vanilla] = deviation / np.sqrt(maturity)
    return volatilities


def _sides(forward, strikes, call):
    """Return what an option pays and what is paid for it: the spot's forward and the strike of a
    call."""
    return np.where(call, forward, strikes), np.where(call, strikes, forward)


def _apart(prices, forward, strikes, discount, call):
    """Return how far prices are above the intrinsic values and below the largest ones, each rounded
    once or twice."""
    high, low = _sides(forward, strikes, call)
    gain = high - low
    turned = gain - high
    rest = (high - (gain - turned)) - (low + turned)  # high - low = gain + rest (Knuth)
    product, error = _product(discount, gain)
    excess = np.where(gain > 0, (prices - product) - (error + discount * rest), prices)
    product, error = _product(discount, high)
    return excess, (product - prices) + error


def _product(x, y):
    """Return a product and its rounding error (Dekker)."""
    product = x * y
    (x, x_low), (y, y_low) = _halves(x), _halves(y)
    return product, ((x * y - product) + x * y_low + x_low * y) + x_low * y_low


def _halves(x):
    """Return two numbers of 26 bits whose sum is x (Veltkamp)."""
    scaled = 134217729.0 * x
    high = scaled - (scaled - x)
    return high, x - high


def _deviations(excess, room, forward, strikes, discount):
    """Return s = volatility * sqrt(maturity) for the excess and the room of `_apart`; 0 where there
    is no excess, NaN where the room is.

    With x = |log(F/K)|, c = x / s and t = s / 2, over D sqrt(F K) and exp(-(c^2 + t^2) / 2) / 2,

        excess = erfcx((c - t) / sqrt 2) - erfcx((c + t) / sqrt 2)   (`_difference`)
        room   = erfcx((t - c) / sqrt 2) + erfcx((t + c) / sqrt 2).

    Both integrate vega, whose logarithm is concave in log s, and so are themselves log-concave:
    Newton's method on the logarithm of the smaller one, in log s, comes to the root from one side.
    It starts at a bound: excess <= s exp(-c^2 / 2) / sqrt(2 pi), room <= exp(-(c^2 + t^2) / 2).
    """
    near = abs(forward - strikes) <= 0.5 * strikes
    with np.errstate(divide="ignore"):
        ratio = np.log1p(np.where(near, forward - strikes, 0.0) / strikes)
        x = abs(np.where(near, ratio, np.log(forward / strikes)))
        below = excess <= room
        value = np.where(below, excess, room) / (discount * np.sqrt(forward) * np.sqrt(strikes))
        logarithm = np.log(value)
        omega = wrightomega(2.0 * (np.log(x) - logarithm) - np.log(2.0 * np.pi))
    some = value > 0
    s = np.where(excess + room > 0, 0.0, np.nan)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        upper = -logarithm + np.sqrt(np.maximum(logarithm**2 - 0.25 * x * x, 0.0))
        start = np.sqrt(2.0 * np.pi) * np.exp(logarithm + 0.5 * omega)
        start = np.where(below, start, 2.0 * np.sqrt(upper))
    s[some] = _root(start[some], x[some], value[some], below[some])
    return s


def _root(s, x, value, below):
    """Return s by Newton's method; all arguments of shape (n,)."""
    for _ in range(MOST_STEPS):
        c, t = x / s, 0.5 * s
        part = np.where(below, _difference(c, t), _sum(c, t))
        growth = np.exp(0.25 * (c * c + t * t))
        gap = np.log(2.0 * value * growth / part * growth)
        step = np.where(below, gap, -gap) * part / (s * np.sqrt(2.0 / np.pi))
        s = s * np.exp(step)
        if np.max(abs(step), initial=0.0) <= 1e-9:  # the next one were 1e-18
            break
    return s


def _difference(c, t):
    """Return erfcx((c - t) / sqrt 2) - erfcx((c + t) / sqrt 2), t > 0, without cancellation:
    sqrt(2 / pi) times the integral over u > 0 of exp(-(c - t) u - u^2 / 2) (1 - exp(-2 t u)).
    """
    slope = (c - t)[:, None]
    size = 1.0 / (1.0 + np.maximum(slope, 0.0))
    u = size * _NODES
    terms = np.exp(-slope * u - 0.5 * u * u) * -np.expm1(-2.0 * t[:, None] * u)
    return np.sqrt(2.0 / np.pi) * size[:, 0] * (terms @ _WEIGHTS)


def _sum(c, t):
    """Return erfcx((t - c) / sqrt 2) + erfcx((t + c) / sqrt 2)."""
    return erfcx((t - c) / np.sqrt(2.0)) + erfcx((t + c) / np.sqrt(2.0))
