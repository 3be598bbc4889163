"""Derivatives of a semi-analytic Heston price by plain differences, theta by Heston's equation."""

from dataclasses import replace

import numpy as np

from sciprec.heston.semianalytic import analytic

_FIRST = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))
_SECOND = ((-2, -1 / 12), (-1, 16 / 12), (0, -30 / 12), (1, 16 / 12), (2, -1 / 12))
STEP = 5e-3


def differences(price, spot, v0, rate, model):
    """Return price and derivatives of a function price(spot, v0, rate).

    Theta is r V - (r - q) S V_S - v S^2 V_SS / 2 - rho sigma v S V_Sv - kappa (theta - v) V_v
    - sigma^2 v V_vv / 2: the change as time passes and all dates stay.
    """
    h, k, m = STEP * spot, STEP * v0, STEP

    def along(weights, point):
        return sum(w * point(i) for i, w in weights)

    value = price(spot, v0, rate)
    delta = along(_FIRST, lambda i: price(spot + i * h, v0, rate)) / h
    gamma = along(_SECOND, lambda i: price(spot + i * h, v0, rate)) / h**2
    vega = along(_FIRST, lambda i: price(spot, v0 + i * k, rate)) / k
    vv = along(_SECOND, lambda i: price(spot, v0 + i * k, rate)) / k**2
    cross = along(
        _FIRST, lambda i: along(_FIRST, lambda j: price(spot + i * h, v0 + j * k, rate))
    ) / (h * k)
    rho = along(_FIRST, lambda i: price(spot, v0, rate + i * m)) / m
    growth = rate - model.dividend_yield
    theta = (
        rate * value - growth * spot * delta - 0.5 * v0 * spot**2 * gamma
        - model.rho * model.sigma * v0 * spot * cross - model.kappa * (model.theta - v0) * vega
        - 0.5 * model.sigma**2 * v0 * vv
    )  # fmt: skip
    return {
        "price": value,
        "delta": delta,
        "gamma": gamma,
        "vega_v0": vega,
        "vega_sqrt_v0": 2 * np.sqrt(v0) * vega,
        "rho": rho,
        "theta": theta,
    }


def analytic_derivatives(model, payoff):
    """Return price and derivatives of a payoff with a semi-analytic price."""

    def price(spot, v0, rate):
        return analytic.price(replace(model, spot=spot, v0=v0, rate=rate), payoff)

    return differences(price, model.spot, model.v0, model.rate, model)
