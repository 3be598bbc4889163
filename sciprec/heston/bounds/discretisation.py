"""The error from the steps' length in a price: measured with three step lengths on the same paths.

With Y_n the estimate by n steps, d_1 = E[Y_n - Y_(n/2)] and d_2 = E[Y_(n/2) - Y_(n/4)] are means
over paths that share their random numbers. Two rules, of which the numbers choose one:

- The differences have one sign, the later one is clearly not zero, and the earlier one is 2 to
  BEYOND_2 times as large: the error falls like a power of the step, and is extrapolated
  (Richardson): price + w d_1, w = 1 / (2^p - 1), with p = 2 from a ratio of ORDER_2 on, else 1.
  The error left is then bounded by the correction itself, w |d_1|: that allows for any true order
  above 1.33 where p = 2 and above 0.59 where p = 1. A larger ratio is no second order: it is
  rather a difference that is about to change its sign.
- Otherwise (the error isn't monotone, or is too small to tell) nothing is extrapolated, and the
  error is bounded by the larger one of |d_1| and |d_2|.

In both cases that is said of the means themselves; bounds.interval adds the intervals of what
was measured.

Powers of the step they are only where steps are shorter than the variance's memory, 1 / kappa: a
sum of trapezoids over steps h has x coth(x), x = kappa h / 2, times the spread of the integral of a
variance that forgets at the rate kappa: 1 + x^2 / 3 + ... for small x, but x for large. Between the
two, errors of different signs meet and differences are small by chance, so that no paths that are
compared have steps with kappa h above MEMORY (x = 1).
"""

from dataclasses import dataclass

import numpy as np

from sciprec.heston.bounds.statistics import quantile

ORDER_2 = 2**1.5  # |d_2| / |d_1| from which on the order is taken for 2
BEYOND_2 = 2**2.5  # and up to which
MEMORY = 2.0  # kappa times the longest step that is compared
CLEAR = 2.0  # standard errors from which on a difference is clearly not zero
COLUMNS = 2  # d_1 and d_2
NOISE_RISK = 0.05  # with which noise alone may shorten the steps of a pricing


@dataclass(frozen=True)
class StepBias:
    """The extrapolation of a price in the step length, and what bounds the error left.

    Attributes:
        weight: w, shape (n_payoffs,); zero where nothing is extrapolated.
        factors: c_q; the error left is at most the larger one of c_q |d_q|, shape (n_payoffs, 2).
        means, deviations: of d_1 and d_2 as measured, and their standard errors, same shape.
        rule: per payoff a word, "order 2", "order 1" or "larger difference".
    """

    weight: np.ndarray
    factors: np.ndarray
    means: np.ndarray
    deviations: np.ndarray
    rule: tuple

    def size(self, less=0.0):
        """Return the larger one of c_q |d_q| as measured, shape (n_payoffs,).

        Args:
            less: standard errors by which the differences are believed smaller (to plan).
        """
        sizes = np.maximum(np.abs(self.means) - less * self.deviations, 0.0)
        return np.max(self.factors * sizes, axis=1)

    def beyond(self, accepted, look):
        """Return whether the steps are clearly too long for any payoff, and how many times the
        paths would decide where they only seem to be (1 where nothing is in doubt).

        Too long are those with c_q |d_q| above what is accepted by a standard error at least, and
        clearly so where noise alone would make no difference as large as d_q in any payoff at any
        look: with a probability of NOISE_RISK at most.

        Args:
            accepted: shape (n_payoffs,).
            look: how often the steps were judged before, from 0.
        """
        doubt, sizes = self._doubt(look), np.abs(self.means)
        with np.errstate(invalid="ignore"):
            large = self.factors * (sizes - self.deviations) > np.asarray(accepted)[:, None]
            clear = sizes > doubt * self.deviations
        open_ = large & ~clear
        times = (doubt * self.deviations[open_] / sizes[open_]) ** 2
        return bool(np.any(large & clear)), float(np.max(times, initial=1.0))

    def _doubt(self, look):
        """Return the standard errors that noise alone exceeds in none of all differences, save
        with a risk that halves, thirds, ... from look to look: 1 / 2 + 1 / 6 + 1 / 12 + ... = 1.

        Source: Bonferroni (1936): of Holm's steps (1979) the largest difference needs the first.
        """
        risk = NOISE_RISK / ((look + 1) * (look + 2))
        return quantile(0.5 * risk / self.means.size, 1e6)


def step_bias(means, deviations):
    """Return the StepBias of measured differences.

    Args:
        means: d_1 and d_2, shape (n_payoffs, 2).
        deviations: their standard errors, same shape.

    Source: Richardson (1911); the larger difference as in Giles (2008), sec. 5, with the earlier
        difference taken as it is.
    """
    later, earlier = np.abs(means).T
    same_sign = means[:, 0] * means[:, 1] > 0
    clear = later > CLEAR * deviations[:, 0]
    powers = (2 * later <= earlier) & (earlier <= BEYOND_2 * later)
    monotone = same_sign & clear & powers
    second = monotone & (ORDER_2 * later <= earlier)
    weight = np.where(second, 1 / 3, np.where(monotone, 1.0, 0.0))
    factors = np.where(monotone[:, None], np.stack([weight, 0 * weight], axis=1), 1.0)
    rule = tuple(
        "order 2" if two else "order 1" if first else "larger difference"
        for two, first in zip(second, monotone, strict=True)
    )
    return StepBias(weight, factors, means, deviations, rule)
