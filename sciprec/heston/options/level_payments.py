"""Payments with the level of the spot integrated out: smooth in it, whatever the payoff.

Up to the first date that a payoff observes, the scheme's log spot is normal given the path of the
variance, with a mean M and a variance W. That normal variate, y, shifts the log spots of all dates
alike. A payment is then piecewise linear in exp(y),

    payment = slope exp(y) + shift   for lower < y < upper,   0 elsewhere,

with four numbers that the rest of the path fixes, so that its mean over y and the derivatives of
that mean to M are known in closed form. Kinks and jumps (strikes, barriers, digitals) become
normal densities; the derivative to log(spot) is that to M.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

LEAST_DEVIATION = 1e-150  # of a path whose variance is zero all along


def mean_payments(piece: tuple, mean: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return the mean of a payment over y, normal with mean M and variance W, and two derivatives.

    With s = sqrt(W), l = (lower - M) / s, u = (upper - M) / s, N and n the normal distribution and
    density, G = slope exp(M + W/2) (N(u - s) - N(l - s)) and J(y) = slope exp(y) + shift:

        mean    = G + shift (N(u) - N(l))
        d/dM    = G + (J(lower) n(l) - J(upper) n(u)) / s
        d2/dM2  = G + slope (exp(lower) n(l) - exp(upper) n(u)) / s
                    + (J(lower) l n(l) - J(upper) u n(u)) / W

    Args:
        piece: slope, shift, lower, upper.
        mean, spread: M and W, shape (n_paths,).

    Returns:
        Array of shape (3, n_paths), NaN where M or W is.
    """
    slope, shift, lower, upper = piece
    lower = np.minimum(lower, upper)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        deviation = np.maximum(np.sqrt(spread), LEAST_DEVIATION)
        low, high = (lower - mean) / deviation, (upper - mean) / deviation
        growth = slope * np.exp(mean + 0.5 * spread)
        linear = np.where(growth != 0, growth * _between(low - deviation, high - deviation), 0.0)
        value = linear + shift * _between(low, high)
        first, second = linear, linear
        for sign, edge, at in ((1, lower, low), (-1, upper, high)):
            at, density, height = _edge(slope, edge, at)
            jump = height + np.where(density > 0, shift, 0.0)
            density = sign * density / deviation
            first = first + jump * density
            second = second + height * density + jump * density * at / deviation
    return np.where(np.isnan(mean + spread), np.nan, np.stack([value, first, second]))


def _edge(slope, edge, at):
    """Return at, the normal density there, and slope exp(edge), all zero for one far away."""
    near = np.abs(at) < 38.0  # where the density is above the smallest binary64 number
    at, edge = np.where(near, at, 0.0), np.where(near, edge, 0.0)
    density = np.where(near, np.exp(-0.5 * at * at) / np.sqrt(2 * np.pi), 0.0)
    return at, density, np.where(near, slope * np.exp(edge), 0.0)


def _between(low, high):
    """Return N(high) - N(low), in the tail where nothing cancels."""
    mirrored = low > 0
    return ndtr(np.where(mirrored, -low, high)) - ndtr(np.where(mirrored, -high, low))


def option_piece(kind: str, slope: np.ndarray, strike: float) -> tuple:
    """Return the piece of an option on slope exp(y): slope, shift, lower, upper.

    Args:
        kind: "call" or "put".
        slope: shape (n_paths,).
        strike: a number above zero.
    """
    with np.errstate(divide="ignore"):
        edge = np.log(strike / slope)
    if kind == "call":
        return slope, -strike, edge, np.inf
    return -slope, strike, -np.inf, edge
