"""Moments of the spot: which are finite, and the means that the schemes keep exactly."""

import math

import numpy as np

FINITE_MOMENT = 4


def moment_explosion(model, order, share=1.0):
    """Return the time from which on E[S^order] is infinite, in years; math.inf where it never is.

    With b = rho sigma order - kappa, k = share order (order - 1) / 2 and D = b^2 - 2 sigma^2 k:
    D >= 0 and b < 0: never; D >= 0 and b > 0: log((b + sqrt D) / (b - sqrt D)) / sqrt D;
    D < 0: 2 / sqrt(-D) (pi [b < 0] + arctan(sqrt(-D) / b)).

    Args:
        model: a Model.
        order: of the moment, above one.
        share: of the spot's variance that counts: 1 for the spot, rho^2 for its mean given the
            path of the variance.

    Source: Andersen and Piterbarg (2007), "Moment explosions in stochastic volatility models",
        prop. 3.1.
    """
    b = model.rho * model.sigma * order - model.kappa
    k = 0.5 * share * order * (order - 1)
    if k == 0:
        return math.inf
    discriminant = b * b - 2 * model.sigma**2 * k
    if discriminant < 0:
        root = math.sqrt(-discriminant)
        return 2 / root * math.atan2(root, b)
    if b <= 0:
        return math.inf
    root = math.sqrt(discriminant)
    return math.log((b + root) / (b - root)) / root if root > 0 else 2 / b


def may_control(model, years, share=1.0):
    """Return whether the spot has the moment that a control needs, for the interval of its mean.

    Args:
        model, share: as for moment_explosion.
        years: the control's date.
    """
    return moment_explosion(model, FINITE_MOMENT, share) > years


def mean_integrated_variance(model, years, n_steps):
    """Return the mean of the trapezoidal sum of the variance over n_steps equal steps.

    E[v_t] = theta + (v0 - theta) exp(-kappa t) at every step: the quadratic-exponential schemes
    keep the mean of the variance exactly, so that this is the mean of their integral.

    Args:
        model: a Model.
        years: length of the whole stretch.
        n_steps: integer of at least 1.
    """
    step_years = years / n_steps
    times = step_years * np.arange(n_steps + 1)
    means = model.theta + (model.v0 - model.theta) * np.exp(-model.kappa * times)
    inner = math.fsum(means) - 0.5 * (means[0] + means[-1])
    return step_years * inner
