"""The bound of a price: noise, what the steps leave, and what the arithmetic leaves.

With the risk a = 1 - confidence split in two, a = a_1 + a_2,

    |price - true price| <= t(a_1) S + R(a_2)

S^2 = s_base^2 + s_rounding^2 + s_steps^2 is the variance of the price, a sum of the means of
independent levels (sciprec.heston.levels), each nearly normal and with a variance of its own; t is
Student's two-sided quantile. R is the upper limit of what is left of the error of the steps
(sciprec.heston.discretisation), exceeded with probability a_2. Both hold together with
probability 1 - a at least (Bonferroni), whatever their dependence. The noise is shared out in
proportion to the variances, so that the parts add up to the bound:

    statistical     t s_base^2 / S
    rounding        t s_rounding^2 / S
    discretisation  t s_steps^2 / S + R

Without correction the rounding error is not removed from the price: the level "rounding" is left
out of S, and |its mean| + q s_rounding is added, exceeded with a part of a_2. The rounding of
binary64 itself, BINARY64 of the price for every step, is added in any case. Where no path has
paid anything there is no bound yet: it is infinite.
"""

from dataclasses import dataclass

import numpy as np

from sciprec.heston.discretisation import StepBias, step_bias
from sciprec.heston.statistics import quantile, summed_interval

NOISE_RISK = 0.7  # share of 1 - confidence that the interval of the noise gets
BINARY64 = 2.0**-50  # relative error of a step in binary64, eight roundings
STEPS_RISK = 0.2  # and the remainder of the steps, where rounding is not corrected


@dataclass(frozen=True)
class Bound:
    """A price, its bound and the bound's parts, arrays of shape (n_payoffs,).

    Attributes:
        price, total, statistical, discretisation, rounding: in units of currency.
        rounding_error: mean of the price in binary64 less that in the backend, removed or not.
        bias: the StepBias.
        half: t S, the noise's share of the bound.
    """

    price: np.ndarray
    total: np.ndarray
    statistical: np.ndarray
    discretisation: np.ndarray
    rounding: np.ndarray
    rounding_error: np.ndarray
    bias: StepBias
    half: np.ndarray


def bound_of(base, rounding, steps, risk, correction):
    """Return the Bound of the levels as they stand.

    Args:
        base, steps: Levels. rounding: a Level, or None where the base runs in binary64.
        risk: 1 - confidence.
        correction: whether the mean of the level "rounding" is added to the price.
    """
    noise_risk, steps_risk, rounding_risk = _split(risk, rounding is None or correction)
    bias = remaining_bias(steps, steps_risk)
    weights = step_weights(base.n_steps, steps.n_steps, bias.weight)
    stepped, step_variance = steps.moments.combined(weights)
    price = base.moments.mean[:, 0] + stepped
    zero = np.zeros_like(price)
    rounded = zero if rounding is None else rounding.moments.mean[:, 0]
    spread = zero if rounding is None else rounding.moments.covariance_of_mean()[:, 0, 0]
    freedoms = [base.moments.freedom, steps.moments.freedom]
    variances = [base.moments.covariance_of_mean()[:, 0, 0], step_variance]
    removed = rounding is not None and correction
    if removed:
        price = price + rounded
        freedoms.append(rounding.moments.freedom)
        variances.append(spread)
    half, parts = summed_interval(variances, freedoms, noise_risk)
    left = parts[2] if removed else zero
    if rounding is not None and not correction:
        beyond = quantile(rounding_risk, rounding.moments.freedom)
        left = np.abs(rounded) + beyond * np.sqrt(spread)
    total = half + bias.remainder + (zero if removed else left)
    own = BINARY64 * steps.n_steps * np.abs(price)
    silent = (base.moments.mean[:, 0] == 0) & (variances[0] == 0)
    own = np.where(silent, np.inf, own)
    return Bound(
        price, total + own, parts[0], parts[1] + bias.remainder, left + own, rounded, bias, half
    )


def remaining_bias(steps, risk, optimism=None):
    """Return the StepBias of a level of step differences.

    Args:
        steps: a Level.
        risk: one-sided, with which the remainder may be exceeded.
        optimism: None, or standard errors by which the means are believed too large (to plan).
    """
    deviations = np.sqrt(np.einsum("kqq->kq", steps.moments.covariance_of_mean()))
    multiple = quantile(risk, steps.moments.freedom) if optimism is None else -optimism
    return step_bias(steps.moments.mean, deviations, multiple)


def step_weights(base_steps, n_steps, extrapolation):
    """Return the weights of d_1 and d_2 in the price, shape (n_payoffs, 2).

    Args:
        base_steps: steps of the level "base": n_steps, a half or a quarter of it.
        n_steps: steps of the longest paths of the level "steps".
        extrapolation: w, shape (n_payoffs,).
    """
    ratio = n_steps // base_steps
    weights = np.zeros((len(extrapolation), 2))
    weights[:, 0] = extrapolation + (ratio >= 2)
    weights[:, 1] = ratio >= 4
    return weights


def _split(risk, corrected):
    """Return the risks of the noise, of the steps and of uncorrected rounding."""
    if corrected:
        return NOISE_RISK * risk, (1 - NOISE_RISK) * risk, 0.0
    return NOISE_RISK * risk, STEPS_RISK * risk, (1 - NOISE_RISK - STEPS_RISK) * risk


def risks(risk, corrected=True):
    """Return the risks of the noise and of the steps."""
    return _split(risk, corrected)[:2]
