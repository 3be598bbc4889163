"""The bound of a price: one interval for its noise and for what the steps leave.

    price - true price = N + b,    |b| <= c |d_q|

N is the noise of the price, a sum of the means of independent levels (bounds.levels), each
nearly normal. b is what is left of the error of the steps, bounded by one of two differences d_q
(bounds.discretisation), of which m_q = d_q + e_q is known. With the sign of d_q, whichever
it is, |d_q| <= |m_q| - (sign) e_q, so that

    +- (price - true price) <= c |m_q| + (+- N - (sign) c e_q)

and with s_q^2 the larger variance of N + c e_q and N - c e_q, each side exceeds c |m_q| + t s_q
with probability a / 2 at most; t is Student's two-sided quantile for a = 1 - confidence. The bound
is the larger one over q:

    |price - true price| <= max_q (c |m_q| + t s_q)    with probability 1 - a at least

whichever q is the one, whatever its sign, and however the noise of the differences enters the
price. The interval is shared out in proportion to the variances, so that the parts add up:

    statistical     t s_base^2 / s_q
    rounding        t s_rounding^2 / s_q
    discretisation  t s_steps^2 / s_q + c |m_q|

Without correction the rounding error r is not removed from the price: |r| is bounded like |b|,
which adds the size of its mean to the part "rounding" and leaves the interval as it is. The
rounding of binary64 itself, BINARY64 of the price for every step, is added in any case.

A normal interval knows what the paths have shown. Where the paths of the base or of the level
"steps" have seen but few payments, the part "statistical" is never below what those that they have
not seen may add (bounds.rare). Where nobody says what payments may be like, and no path has
paid anything, there is no bound: it is infinite.
"""

from dataclasses import dataclass

import numpy as np

from sciprec.heston.bounds.discretisation import COLUMNS, StepBias, step_bias
from sciprec.heston.bounds.statistics import summed_interval

BINARY64 = 2.0**-50  # relative error of a step in binary64, eight roundings


@dataclass(frozen=True)
class BoundedPrices:
    """A price, its bound and the bound's parts, arrays of shape (n_payoffs,).

    Attributes:
        price, total, statistical, discretisation, rounding: in units of currency.
        rounding_error: mean of the price in binary64 less that in the backend, removed or not.
        bias: the StepBias.
    """

    price: np.ndarray
    total: np.ndarray
    statistical: np.ndarray
    discretisation: np.ndarray
    rounding: np.ndarray
    rounding_error: np.ndarray
    bias: StepBias


def bound_of(base, rounding, steps, risk, correction, rare=None, useless=None):
    """Return the Bound of the levels as they stand.

    Args:
        base, steps: Levels. rounding: a Level, or None where the base runs in binary64.
        risk: 1 - confidence.
        correction: whether the mean of the level "rounding" is added to the price.
        rare, useless: a Rare and an argument of its `added`; None: unseen payments add nothing.
    """
    bias = bias_of(steps)
    weights = step_weights(base.n_steps, steps.n_steps, bias.weight)
    price = price_of(base, rounding, steps, correction)
    rounded = np.zeros_like(price) if rounding is None else rounding.moments.mean[:, 0]
    rest = np.zeros_like(price)
    if rounding is not None and not correction:
        rest = np.abs(rounded)
    terms = [term for term in (base, rounding) if term is not None]
    point, parts = _widest(terms, steps, bias, weights, risk)
    own_rounding = BINARY64 * steps.n_steps * np.abs(price)
    rest = rest + own_rounding + (parts[1] if rounding is not None else 0.0)
    stepped = parts[-1] + point
    if rare is None:
        silent = (base.moments.mean[:, 0] == 0) & (base.moments.covariance_of_mean()[:, 0, 0] == 0)
        unseen = np.where(silent, np.inf, 0.0)
    else:
        unseen = rare.added(base, steps, price, parts[0], useless)
    noise = np.maximum(parts[0], unseen)
    return BoundedPrices(price, noise + stepped + rest, noise, stepped, rest, rounded, bias)


def price_of(base, rounding, steps, correction):
    """Return the price that the levels make, shape (n_payoffs,); arguments as of bound_of."""
    weights = step_weights(base.n_steps, steps.n_steps, bias_of(steps).weight)
    price = base.moments.mean[:, 0] + steps.moments.combined(weights)[0]
    if rounding is not None and correction:
        return price + rounding.moments.mean[:, 0]
    return price


def _widest(terms, steps, bias, weights, risk):
    """Return c |m_q| and the parts of t s_q for the q and the sign of the largest sum."""
    variances = [other.moments.covariance_of_mean()[:, 0, 0] for other in terms]
    freedoms = [other.moments.freedom for other in (*terms, steps)]
    largest, point, parts = -np.inf, None, None
    for q, both in interval_weights(bias, weights):
        stepped = steps.moments.combined(both)[1]
        half, shares = summed_interval([*variances, stepped], freedoms, risk)
        size = bias.factors[:, q] * np.abs(bias.means[:, q])
        if parts is None:
            largest, point, parts = size + half, size, shares
            continue
        wider = size + half > largest
        largest = np.where(wider, size + half, largest)
        point, parts = np.where(wider, size, point), np.where(wider, shares, parts)
    return point, parts


def bias_of(steps):
    """Return the StepBias of a level of step differences."""
    deviations = np.sqrt(np.einsum("kqq->kq", steps.moments.covariance_of_mean()))
    return step_bias(steps.moments.mean, deviations)


def step_weights(base_steps, n_steps, extrapolation):
    """Return the weights of d_1 and d_2 in the price, shape (n_payoffs, 2).

    Args:
        base_steps: steps of the level "base": n_steps, a half or a quarter of it.
        n_steps: steps of the longest paths of the level "steps".
        extrapolation: w, shape (n_payoffs,).
    """
    ratio = n_steps // base_steps
    weights = np.zeros((len(extrapolation), COLUMNS))
    weights[:, 0] = extrapolation + (ratio >= 2)
    weights[:, 1] = ratio >= 4
    return weights


def interval_weights(bias, weights):
    """Return q and the weights of d_1 and d_2 in N + c e_q and N - c e_q, for both q.

    Args:
        bias: a StepBias.
        weights: in the price, shape (n_payoffs, 2).
    """
    points = []
    for q in range(COLUMNS):
        for sign in (1, -1):
            both = weights.copy()
            both[:, q] += sign * bias.factors[:, q]
            points.append((q, both))
    return points
