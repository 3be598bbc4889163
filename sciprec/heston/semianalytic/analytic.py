"""Semi-analytic prices: the truth that the Monte Carlo is compared with.

Each is Lewis's integral (sciprec.heston.semianalytic.contour) with the characteristic function
(sciprec.heston.semianalytic.affine) of the logarithm of what the option is written on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sciprec.foundation.arguments import refused
from sciprec.foundation.errors import InputError
from sciprec.foundation.limits import PAYOFF
from sciprec.heston.parameters import Model, require_model
from sciprec.heston.payoff_registry import Payoff, payoffs
from sciprec.heston.semianalytic.affine import (
    affine_step,
    average_log_characteristic_function,
    forward_log_characteristic_function,
    log_characteristic_function,
    maturity_slope,
)
from sciprec.heston.semianalytic.contour import lewis_integrals, unit_factor

GREEKS = ("delta", "gamma", "vega_v0", "vega_sqrt_v0", "rho", "theta")
SLACK = 1e-9  # of the discounted forward: the error that a price may have


def price(model: Model, payoff: Payoff) -> float:
    """Return the semi-analytic price of one payoff.

    Args:
        model: a Model.
        payoff: a Call, Put, Digital, AsianGeometric, ForwardStart or Spot, or one of your own with
            the formula `analytic_price`.

    Returns:
        In units of currency, binary64.

    Raises:
        InputError: the payoff has no semi-analytic price here.
    """
    if not has_price(payoff):
        name = getattr(payoff, "name", type(payoff).__name__)
        priced = sorted(n for n, entry in payoffs().items() if entry.cls.knows("analytic_price"))
        raise InputError(
            f"payoff {name!r} has no semi-analytic price; accepted: {', '.join(priced)}; "
            "price it by Monte Carlo"
        )
    return float(payoff.analytic_price(model))


def has_price(payoff: Any) -> bool:
    """Return whether a payoff has a semi-analytic price."""
    return isinstance(payoff, Payoff) and payoff.knows("analytic_price")


def call_prices(model: Model, strikes: ArrayLike, maturity: float) -> np.ndarray:
    """Return European call prices for any array of strikes at one maturity.

    call = D (F - sqrt(F K) I), kept above the intrinsic value max(D (F - K), 0).

    Args:
        model: a Model.
        strikes: numbers above zero, any shape.
        maturity: years.

    Returns:
        Prices of the shape of strikes, binary64.

    Raises:
        InputError: a strike or the maturity is no finite number above zero.

    Source: Lewis (2000), ch. 2, eq. (2.10).
    """
    strikes, covered, forward, discount = _covered(model, strikes, maturity)
    intrinsic = np.maximum(forward - strikes, 0.0)
    return discount * np.maximum(forward - covered, intrinsic)


def put_prices(model: Model, strikes: ArrayLike, maturity: float) -> np.ndarray:
    """Return European put prices for any array of strikes at one maturity.

    put = D (K - sqrt(F K) I), kept above the intrinsic value max(D (K - F), 0).

    Args, Returns, Raises, Source: as call_prices.
    """
    strikes, covered, forward, discount = _covered(model, strikes, maturity)
    intrinsic = np.maximum(strikes - forward, 0.0)
    return discount * np.maximum(strikes - covered, intrinsic)


def digital_prices(
    model: Model, strikes: ArrayLike, maturity: float, kind: str = "call"
) -> np.ndarray:
    """Return prices of 1 paid at maturity if S > strike (call) or S < strike (put).

    call = -d(European call)/dK = D sqrt(F / K) I with the factor 1/2 - i u, put = D - call.

    Args:
        kind: "call" or "put"; the others as for call_prices.

    Returns, Raises: as call_prices.
    """
    strikes, maturity = _domain(model, strikes, maturity)
    forward, discount = model.forward(maturity), model.discount(maturity)

    def exponent(u):
        return log_characteristic_function(model, u, maturity)

    def factor(u):
        return 0.5 - 1j * u

    (integral,) = lewis_integrals(exponent, np.log(forward / strikes), (factor,), model)
    above = np.clip(np.sqrt(forward / strikes) * integral, 0.0, 1.0)
    return discount * (above if kind == "call" else 1.0 - above)


def asian_geometric_prices(
    model: Model, strikes: ArrayLike, maturity: float, fixings: int, kind: str = "call"
) -> np.ndarray:
    """Return prices of options on the geometric mean G of the spots at k maturity / fixings.

    With log G = m + Y, m the mean of log F_t, and phi the characteristic function of Y:
    call = D (exp(m) phi(-i) - sqrt(exp(m) K) I), put = D (K - sqrt(exp(m) K) I).

    Args:
        fixings: their number n; k = 1 to n.
        kind: "call" or "put"; the others as for call_prices.

    Returns, Raises: as call_prices.
    """
    strikes, maturity = _domain(model, strikes, maturity)
    growth = model.rate - model.dividend_yield
    middle = model.spot * np.exp(growth * maturity * (fixings + 1) / (2 * fixings))

    def exponent(u):
        return average_log_characteristic_function(model, u, maturity, fixings)

    (integral,) = lewis_integrals(exponent, np.log(middle / strikes), about=model)
    covered = np.sqrt(middle * strikes) * integral
    mean = middle * np.exp(exponent(np.array(-1j)).real)
    return _option(mean, strikes, covered, model.discount(maturity), kind)


def forward_start_prices(
    model: Model, moneyness: ArrayLike, start: float, maturity: float, kind: str = "call"
) -> np.ndarray:
    """Return prices of options struck at start at moneyness times the spot of that day.

    With F_s, F the forwards to start and maturity, G = F / F_s and x = log(G / moneyness):
    call = D F_s (G - sqrt(G moneyness) I), put = D F_s (moneyness - sqrt(G moneyness) I).

    Args:
        moneyness: numbers above zero, any shape.
        start, maturity: years, start before maturity.
        kind: "call" or "put".

    Returns, Raises: as call_prices.
    """
    moneyness, maturity = _domain(model, moneyness, maturity)
    first = model.forward(start)
    growth = model.forward(maturity) / first

    def exponent(u):
        return forward_log_characteristic_function(model, u, start, maturity)

    (integral,) = lewis_integrals(exponent, np.log(growth / moneyness), about=model)
    covered = np.sqrt(growth * moneyness) * integral
    return _option(growth, moneyness, covered, model.discount(maturity) * first, kind)


def greeks(model: Model, payoff: Payoff) -> dict[str, float]:
    """Return the derivatives of the price of a European call or put.

    All are the integral I with factors under it, p = 1/2 + i u = d/d(log F) first of all:
    delta = D (F - sqrt(F K) I[p]) / S, gamma = D sqrt(F K) I[p - p^2] / S^2 of a call.

    Args:
        model: a Model.
        payoff: a Call or a Put.

    Returns:
        {name: derivative}: delta to spot, gamma twice to spot, vega_v0 to v0, vega_sqrt_v0 to
        sqrt(v0), rho to rate, theta to the passing of time (minus the derivative to maturity),
        each per unit: years, currency, 1.

    Raises:
        InputError: another payoff.
    """
    name = getattr(payoff, "name", type(payoff).__name__)
    if name not in ("call", "put"):
        raise InputError(f"payoff {name!r} has no semi-analytic greeks; accepted: call, put")
    strike, years = payoff.strike, payoff.maturity
    forward, discount = model.forward(years), model.discount(years)
    carried, banked = discount * forward, discount * strike

    def exponent(u):
        return log_characteristic_function(model, u, years)

    def slope(u):
        return affine_step(model, u - 0.5j, 0.0, years)[1]

    factors = (
        unit_factor,
        lambda u: 0.5 + 1j * u,
        lambda u: 0.25 + u * u,
        slope,
        lambda u: maturity_slope(model, u - 0.5j, slope(u)),
    )
    integrals = lewis_integrals(exponent, np.log(forward / strike), factors, model)
    covered, first, second, to_v0, to_maturity = discount * np.sqrt(forward * strike) * integrals
    put = payoff.kind == "put"
    value = (banked if put else carried) - covered
    per_log_spot = (0.0 if put else carried) - first
    growth = model.rate - model.dividend_yield
    theta = model.rate * value - growth * per_log_spot + to_maturity
    rho = years * (per_log_spot - value)
    values = (
        per_log_spot / model.spot,
        second / model.spot**2,
        -to_v0,
        -2 * np.sqrt(model.v0) * to_v0,
        rho,
        theta,
    )
    return {name: float(number) for name, number in zip(GREEKS, values, strict=True)}


def _option(mean, strikes, covered, discount, kind):
    """Return D (mean - covered) or D (K - covered), kept above the intrinsic value."""
    gain = mean - strikes if kind == "call" else strikes - mean
    value = (mean if kind == "call" else strikes) - covered
    return discount * np.maximum(value, np.maximum(gain, 0.0))


def _covered(model, strikes, maturity):
    """Return strikes, E[min(S, K)] = sqrt(F K) I, forward and discount."""
    strikes, maturity = _domain(model, strikes, maturity)
    forward = model.forward(maturity)

    def exponent(u):
        return log_characteristic_function(model, u, maturity)

    (integral,) = lewis_integrals(exponent, np.log(forward / strikes), about=model)
    return strikes, np.sqrt(forward * strikes) * integral, forward, model.discount(maturity)


def _domain(model, strikes, maturity):
    """Return strikes as an array and the maturity as a float, or refuse them or the model."""
    require_model(model)
    maturity = PAYOFF["maturity"].number("maturity", maturity)
    plain = not hasattr(strikes, "data_vars")  # a Dataset is no array
    array = np.asarray(strikes if plain else "")
    if array.dtype.kind not in "fiu":
        raise refused("strike", strikes, PAYOFF["strike"].words)
    array = array.astype(float)
    bad = ~((array > 0) & (array <= PAYOFF["strike"].most))
    if bad.any():
        raise refused("strike", float(array[bad].flat[0]), PAYOFF["strike"].words)
    return array, maturity
