"""Derivatives of semi-analytic prices of more than Europeans, as controls of the greeks."""

from __future__ import annotations

import numpy as np

from sciprec.heston.parameters import Model
from sciprec.heston.payoff_registry import Payoff
from sciprec.heston.semianalytic import analytic
from sciprec.heston.semianalytic.affine import affine_step, maturity_slope
from sciprec.heston.semianalytic.contour import lewis_integrals, unit_factor


def known_greeks(model: Model, payoff: Payoff) -> dict[str, float]:
    """Return the derivatives of a price.

    Args:
        model: a Model.
        payoff: one that has the formula `analytic_greeks`: a Call, Put, Spot or AsianGeometric.

    Returns:
        {name: derivative} as analytic.greeks: theta is the price's change as time passes and the
        dates stay, per year.

    Raises:
        InputError: another payoff.
    """
    if payoff.knows("analytic_greeks"):
        return payoff.analytic_greeks(model)
    return analytic.greeks(model, payoff)  # says which ones it takes


def asian_geometric_greeks(
    model: Model, strike: float, years: float, n: int, kind: str
) -> dict[str, float]:
    """Return the derivatives of options on the geometric mean of the spots at k years / n.

    With log G = m + Y and E[exp(i u Y)] = exp(a + B v0), as for Europeans: the factors under the
    integral are 1, p, p - p^2, B and kappa theta B + v0 dB/dt, t the first stretch, the only one
    that time shortens; the mean D exp(m) phi(-i) has the same ones at u = -i.

    Args:
        model: a Model.
        strike: in units of currency.
        years: the maturity.
        n: number of fixings, at k years / n, k = 1 to n.
        kind: "call" or "put".

    Returns:
        As known_greeks.
    """
    middle_years = years * (n + 1) / (2 * n)
    growth = model.rate - model.dividend_yield
    middle, discount = model.spot * np.exp(growth * middle_years), model.discount(years)

    def recursion(u):
        total, slope = np.zeros_like(u), np.zeros_like(u)
        for share in range(1, n + 1):
            constant, slope = affine_step(model, u * (share / n), slope, years / n)
            total = total + constant
        return total, slope

    def exponent(u):
        total, slope = recursion(np.asarray(u, dtype=complex))
        return total + slope * model.v0

    def slope(u):
        return recursion(np.asarray(u, dtype=complex))[1]

    factors = (
        unit_factor,
        lambda u: 0.5 + 1j * u,
        lambda u: 0.25 + u * u,
        lambda u: slope(u - 0.5j),
        lambda u: maturity_slope(model, u - 0.5j, slope(u - 0.5j)),
    )
    integrals = lewis_integrals(exponent, np.log(middle / strike), factors, model)
    covered, first, second, to_v0, to_time = discount * np.sqrt(middle * strike) * integrals
    top = np.array(-1j)
    mean = 0.0 if kind == "put" else discount * middle * np.exp(exponent(top).real)
    value = (discount * strike if kind == "put" else mean) - covered
    per_log_spot = mean - first
    vega = mean * slope(top).real - to_v0
    later = mean * maturity_slope(model, top, slope(top)).real - to_time
    values = (
        per_log_spot / model.spot,
        second / model.spot**2,
        vega,
        2 * np.sqrt(model.v0) * vega,
        middle_years * per_log_spot - years * value,
        model.rate * value - growth * per_log_spot - later,
    )
    return {name: float(v) for name, v in zip(analytic.GREEKS, values, strict=True)}
