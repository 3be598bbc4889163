"""Scrambled Sobol points for the path kernels: evenly spread words in place of Philox's.

One replication is one independent scramble of one net; prices of replications are independent and
unbiased for the scheme, so that their spread gives the error. A Brownian bridge gives the first
coordinates, which are spread best, to the ends of the paths.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit
from scipy.stats import qmc

from sciprec.checks.arguments import at_least
from sciprec.errors import InputError
from sciprec.heston.parameters import Model
from sciprec.heston.payoff_registry import Payoff
from sciprec.heston.simulation.monitoring import observed_payments, payoff_tuple
from sciprec.heston.simulation.paths import Block
from sciprec.precision import Backend

LEAST_REPLICATIONS = 16
MOST_STEPS = qmc.Sobol.MAXDIM // 2
BITS = 32


@dataclass(frozen=True)
class SobolEstimate:
    """Prices by randomised quasi-Monte Carlo.

    Attributes:
        price: per payoff, binary64: the mean over replications.
        standard_error: per payoff, from the spread of the replications.
        half_width: per payoff, of the t interval at the confidence that was asked for.
        replications, n_paths, n_steps: n_paths of each replication.
    """

    price: np.ndarray
    standard_error: np.ndarray
    half_width: np.ndarray
    replications: int
    n_paths: int
    n_steps: int


def estimate(
    model: Model,
    payoffs: Payoff | Sequence[Payoff],
    *,
    backend: str | Backend = "fp64",
    scheme: str = "quadratic_exponential_martingale",
    n_paths: int,
    n_steps: int,
    replications: int = LEAST_REPLICATIONS,
    confidence: float = 0.95,
    seed: int = 0,
    block_paths: int = 4096,
) -> SobolEstimate:
    """Price payoffs by scrambled Sobol points.

    price = mean over replications r of D mean(payment of replication r),
    half_width = t(confidence, replications - 1) standard_error

    Args:
        model, payoffs, backend, scheme, n_steps: as for
            sciprec.heston.simulation.monitoring.observed_payments; not the scheme gamma_expansion.
        n_paths: paths of each replication, a power of two.
        replications: independent scrambles, at least 16.
        confidence: in (0, 1).
        seed: integer of at least 0.
        block_paths: paths simulated together, rounded up to a power of two.

    Returns:
        A SobolEstimate.

    Raises:
        InputError: an argument outside its domain.

    Source: Owen (1997), "Scrambled net variance for integrals of smooth functions"; scipy's
        scramble is the linear matrix scramble with a digital shift of Matousek (1998).
    """
    payoffs = payoff_tuple(payoffs)
    _check(n_paths, n_steps, replications, confidence, seed)
    size = min(1 << (int(block_paths) - 1).bit_length(), n_paths)
    discounts = np.array([model.discount(payoff.maturity) for payoff in payoffs])
    means = np.empty((replications, len(payoffs)))
    for replication in range(replications):
        points = SobolPoints(n_steps, seed, replication)
        sums = [
            observed_payments(
                model, payoffs, Block(first, size),
                backend=backend, scheme=scheme, n_steps=n_steps, seed=seed,
                words=points(first, size),
            ).sum(axis=1)
            for first in range(0, n_paths, size)
        ]  # fmt: skip
        means[replication] = discounts * np.sum(sums, axis=0) / n_paths
    error = means.std(axis=0, ddof=1) / math.sqrt(replications)
    half_width = stdtrit(replications - 1, 0.5 + 0.5 * confidence) * error
    return SobolEstimate(means.mean(axis=0), error, half_width, replications, n_paths, n_steps)


class SobolPoints:
    """The random words of one scramble, for steps of equal length.

    Calling it with (first_path, n_paths) gives int64 words of shape (n_steps, 2, n_paths): for
    each step and dimension the word whose uniform is Phi of a standard normal, and the normals
    of one dimension are the increments of one Brownian motion, built by a bridge from the
    coordinates 0, 2, 4, ... (variance) or 1, 3, 5, ... (the other motion).

    Args:
        n_steps: at most 10600.
        seed, replication: integers of at least 0; together they choose the scramble.

    Raises:
        InputError: too many steps.
    """

    def __init__(self, n_steps, seed, replication):
        if n_steps > MOST_STEPS:
            raise InputError(
                f"n_steps is {n_steps} with Sobol points; accepted: at most {MOST_STEPS}, two "
                "coordinates for each step"
            )
        self.n_steps, self._entropy = n_steps, (int(seed), int(replication))

    def __call__(self, first_path, n_paths):
        """Return the words of n_paths paths from first_path on."""
        generator = np.random.default_rng(self._entropy)
        net = qmc.Sobol(2 * self.n_steps, scramble=True, bits=BITS, rng=generator)
        if first_path:
            net.fast_forward(first_path)
        coordinates = ndtri(net.random(n_paths).T + 0.5**BITS / 2)
        words = np.empty((self.n_steps, 2, n_paths), dtype=np.int64)
        for dimension in (0, 1):
            words[:, dimension] = _words(bridge(coordinates[dimension::2]))
        return words


def bridge(coordinates):
    """Turn independent standard normals into increments, the ends of the paths first.

    The first coordinate is the motion's last value, each further one a midpoint between two
    values already there: W_m = ((r - m) W_l + (m - l) W_r) / (r - l)
    + sqrt((m - l)(r - m) / (r - l)) Z. The increments over steps of unit length are standard
    normals again.

    Args:
        coordinates: shape (steps, paths).

    Returns:
        Increments, shape (steps, paths).

    Source: Glasserman (2004), sec. 3.1, fig. 3.2.
    """
    values = np.zeros((len(coordinates) + 1, coordinates.shape[1]))
    values[-1] = math.sqrt(len(coordinates)) * coordinates[0]
    for (left, middle, right), normal in zip(
        _midpoints(len(coordinates)), coordinates[1:], strict=True
    ):
        width, share = right - left, (middle - left) / (right - left)
        spread = math.sqrt(share * (1 - share) * width)
        values[middle] = (1 - share) * values[left] + share * values[right] + spread * normal
    return np.diff(values, axis=0)


@functools.cache
def _midpoints(n_steps):
    """Return (left, middle, right) in the order of halving, for all inner points."""
    order, intervals = [], [(0, n_steps)]
    while intervals:
        following = []
        for left, right in intervals:
            if right - left > 1:
                middle = (left + right) // 2
                order.append((left, middle, right))
                following += [(left, middle), (middle, right)]
        intervals = following
    return tuple(order)


def _words(normals):
    """Return the 32-bit words whose cells hold Phi(normals)."""
    return np.minimum(np.ldexp(ndtr(normals), BITS).astype(np.int64), 2**BITS - 1)


def _check(n_paths, n_steps, replications, confidence, seed):
    """Refuse arguments outside their domain, a sentence each."""
    at_least("n_paths", n_paths, 2)
    at_least("n_steps", n_steps, 1)
    at_least("replications", replications, LEAST_REPLICATIONS)
    at_least("seed", seed, 0)
    if int(n_paths) & (int(n_paths) - 1):
        raise InputError(
            f"n_paths is {n_paths}; accepted: a power of two, such as "
            f"{1 << int(n_paths).bit_length()}, which Sobol points fill evenly"
        )
    if not isinstance(confidence, int | float) or not 0 < confidence < 1:
        raise InputError(f"confidence is {confidence!r}; accepted: a number between 0 and 1")
