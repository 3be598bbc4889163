"""Means of many paths with their intervals, in a fixed order and in memory that does not grow.

A replication is a group of GROUP neighbouring paths: their mean is close to normal even where one
payment is skewed, and there are LEAST_GROUPS of them or more, so that Student's interval holds.
"""

import numpy as np
from scipy.special import stdtrit

GROUP = 128  # paths of a replication
LEAST_GROUPS = 32


class GroupMoments:
    """Mean and covariance of the replications of a level, one at a time (Welford 1962).

    Args:
        n_payoffs, n_columns: every replication is an array of this shape.

    Attributes:
        groups: replications so far.
        mean: shape (n_payoffs, n_columns).

    Precision: binary64, in the order of the replications.
    """

    def __init__(self, n_payoffs, n_columns):
        self.groups = 0
        self.mean = np.zeros((n_payoffs, n_columns))
        self._scatter = np.zeros((n_payoffs, n_columns, n_columns))

    def add(self, replications):
        """Add replications, shape (groups, n_payoffs, n_columns), in order."""
        with np.errstate(invalid="ignore", over="ignore"):  # nonfinite means stay so
            for replication in replications:
                self.groups += 1
                before = replication - self.mean
                self.mean += before / self.groups
                after = replication - self.mean
                self._scatter += before[:, :, None] * after[:, None, :]

    @property
    def paths(self):
        """The number of paths so far."""
        return self.groups * GROUP

    @property
    def freedom(self):
        """The degrees of freedom of the covariance."""
        return self.groups - 1

    def covariance(self):
        """Return the covariance of one path, shape (n_payoffs, n_columns, n_columns)."""
        return self._scatter * (GROUP / max(self.freedom, 1))

    def covariance_of_mean(self):
        """Return the covariance of `mean`, shape (n_payoffs, n_columns, n_columns)."""
        return self._scatter / (max(self.freedom, 1) * max(self.groups, 1))

    def combined(self, weights):
        """Return mean and variance of the mean of a combination of columns, shape (n_payoffs,).

        Args:
            weights: shape (n_payoffs, n_columns).
        """
        mean = np.einsum("kq,kq->k", weights, self.mean)
        return mean, np.einsum("kq,kqr,kr->k", weights, self.covariance_of_mean(), weights)


def group_means(values):
    """Return the means over groups of neighbouring paths.

    Args:
        values: shape (n_payoffs, n_columns, n_paths), n_paths a multiple of GROUP.

    Returns:
        Shape (n_paths / GROUP, n_payoffs, n_columns).

    Precision: binary64, the paths of a group in order.
    """
    payoffs, columns, paths = values.shape
    grouped = values.reshape(payoffs, columns, paths // GROUP, GROUP)
    total = np.zeros(grouped.shape[:3])
    with np.errstate(invalid="ignore", over="ignore"):
        for i in range(GROUP):
            total += grouped[..., i]
    return np.moveaxis(total, 2, 0) / GROUP


def quantile(risk, freedom):
    """Return Student's quantile that is exceeded with probability `risk` (one-sided)."""
    return -stdtrit(np.maximum(freedom, 1.0), risk)


def summed_interval(variances, freedoms, risk):
    """Return the half-width of the interval of a sum of independent means, and its parts.

    half = t sqrt(s_1^2 + ... + s_m^2), where t is Student's two-sided quantile at the effective
    degrees of freedom (sum s_i^2)^2 / sum(s_i^4 / f_i); part i is half s_i^2 / sum(s^2).

    Args:
        variances: of the means, shape (m, n_payoffs).
        freedoms: f_i, shape (m,).
        risk: probability with which the interval may miss.

    Returns:
        half, shape (n_payoffs,), and parts, shape (m, n_payoffs), which add up to half.

    Source: Welch (1947); Satterthwaite (1946).
    """
    variances = np.asarray(variances, dtype=float)
    freedoms = np.maximum(np.asarray(freedoms, dtype=float), 1.0)
    total = variances.sum(axis=0)
    with np.errstate(invalid="ignore"):  # nothing varies, or something is infinite
        shares = np.where(total > 0, variances / np.where(total > 0, total, 1.0), 0.0)
    effective = 1.0 / np.maximum(np.sum(shares**2 / freedoms[:, None], axis=0), 1e-9)
    half = quantile(0.5 * risk, effective) * np.sqrt(total)
    return half, half * shares
