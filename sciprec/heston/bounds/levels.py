"""Levels: independent sets of paths, each the mean of one term of a telescoping sum.

    E[Y_n] = E[Y'_m]                        level "base": m steps, in the cheap arithmetic
           + E[Y_m - Y'_m]                  level "rounding": the same random numbers, in binary64
           + E[Y_n - Y_m]                   level "steps": one Brownian motion, in binary64

Every level has a seed of its own, derived from the seed and its name. Blocks of paths run on
threads, their replications are added in the order of the paths.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from sciprec.foundation.course import tell
from sciprec.heston.bounds.statistics import GROUP, LEAST_GROUPS, GroupMoments, group_means
from sciprec.heston.parameters import Model
from sciprec.heston.payoff_registry import Payoff
from sciprec.heston.simulation.fixed_point import added, counted
from sciprec.heston.simulation.paths import Block
from sciprec.precision import Backend

BLOCK = 32 * GROUP  # paths that one thread simulates at a time
LEAST_PATHS = LEAST_GROUPS * GROUP
WINDOW = 4  # blocks for each thread between two looks at the clock
_MASK64 = 2**64 - 1


class Sampler(Protocol):
    """Payments along simulated paths, with controls of known mean.

    Attributes:
        payoffs: of every row of `raw`.
        controls: per row those of the controls that may be used for it.
        width: simulated paths for each path.
        sentence: what was chosen, and why.
    """

    model: Model
    payoffs: tuple[Payoff, ...]
    scheme: str
    controls: Sequence[Sequence[int]]
    sentence: str

    @property
    def width(self) -> int: ...

    def raw(
        self, block: Block, *, backend: str | Backend, n_steps: int, draws_per_step: int, seed: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Simulate a block; return discounted payments and centred controls."""


@dataclass(frozen=True)
class Estimator:
    """Prices of single paths: a sampler's payments less the controls' share.

    Args:
        sampler: of payments.
        coefficients: of the controls, shape (n_payoffs, n_controls).
    """

    sampler: Sampler
    coefficients: np.ndarray

    def __call__(self, block, *, backend, n_steps, seed, draws_per_step=1):
        """Return one price per payoff and path, shape (n_payoffs, n_paths), binary64."""
        values, controls = self.sampler.raw(
            block, backend=backend, n_steps=n_steps, draws_per_step=draws_per_step, seed=seed
        )
        with np.errstate(invalid="ignore"):
            for k, rows in enumerate(self.sampler.controls):
                for row in rows:
                    if self.coefficients[k, row]:
                        values[k] -= self.coefficients[k, row] * controls[row]
        return values


@dataclass
class MultilevelTerm:
    """One term of the sum, and what its paths have shown so far.

    Args:
        name: "base", "rounding" or "steps".
        backend: the arithmetics of its paths, for people.
        n_steps: of its longest paths.
        cost: of one path, in steps of binary64 (sciprec.heston.bounds.mixed).
        sample: block -> shape (n_payoffs, columns, n_paths).
        moments: GroupMoments.
        width: simulated paths for each path of this level.
        timed: paths and processor seconds of each of its blocks.
        fixed_point: what fixed point did, as `fixed_point_summary` says it; None in floats.
    """

    name: str
    backend: str
    n_steps: int
    cost: float
    sample: Callable
    moments: GroupMoments
    width: int
    timed: list = field(default_factory=list)
    fixed_point: dict | None = field(default=None)

    def extend(self, n_paths, threads, deadline):
        """Simulate until there are n_paths paths, rounded up to replications.

        Args:
            n_paths: in all, those so far counted.
            threads: blocks that are simulated at a time.
            deadline: of time.perf_counter; from then on only LEAST_PATHS are completed.
        """
        end = -(-int(n_paths) // GROUP) * GROUP
        window = WINDOW * threads * BLOCK
        with ThreadPoolExecutor(threads) as pool:
            for first in range(self.moments.paths, end, window):
                if time.perf_counter() > deadline and self.moments.paths >= LEAST_PATHS:
                    break
                blocks = _blocks(first, end, window)
                for block, (means, seconds, fixed_point) in zip(
                    blocks, pool.map(self._block, blocks), strict=True
                ):
                    self.moments.add(means)
                    self.timed.append((block.n_paths, seconds))
                    self.fixed_point = added((self.fixed_point, fixed_point))
                    tell(f"paths of the {self.name} level", self.moments.paths, end)

    def _block(self, block):
        """Return a block's replications, their processor time, and what fixed point did."""
        start = time.thread_time()
        values, fixed_point = counted(self.sample, block)
        means = group_means(values)
        return means, time.thread_time() - start, fixed_point

    def variance(self, weights=None):
        """Return the variance of one path (of a combination of its columns), (n_payoffs,)."""
        covariance = self.moments.covariance()
        if weights is None:
            return covariance[:, 0, 0]
        return np.einsum("kq,kqr,kr->k", weights, covariance, weights)


def base_level(estimator, backend, n_steps, seed, cost):
    """Return the level of the cheap paths."""
    seed = derived_seed(seed, f"base {n_steps}")

    def sample(block):
        return estimator(block, backend=backend, n_steps=n_steps, seed=seed)[:, None]

    moments = GroupMoments(len(estimator.sampler.payoffs), 1)
    return MultilevelTerm(
        "base", _label(backend), n_steps, cost, sample, moments, estimator.sampler.width
    )


def rounding_level(estimator, backend, n_steps, seed, cost):
    """Return the level of binary64 less backend, on the same random numbers."""
    seed = derived_seed(seed, f"rounding {n_steps}")

    def sample(block):
        exact = estimator(block, backend="fp64", n_steps=n_steps, seed=seed)
        with np.errstate(invalid="ignore"):
            exact -= estimator(block, backend=backend, n_steps=n_steps, seed=seed)
        return exact[:, None]

    moments = GroupMoments(len(estimator.sampler.payoffs), 1)
    return MultilevelTerm(
        "rounding",
        f"fp64 - {_label(backend)}",
        n_steps,
        cost,
        sample,
        moments,
        2 * estimator.sampler.width,
    )


def steps_level(estimator, n_steps, seed, cost):
    """Return the level of the differences of n, n/2 and n/4 steps along one Brownian motion."""
    seed = derived_seed(seed, f"steps {n_steps}")

    def sample(block):
        return step_differences(estimator, block, n_steps, seed)[0]

    moments = GroupMoments(len(estimator.sampler.payoffs), 2)
    return MultilevelTerm(
        "steps", "fp64", n_steps, cost, sample, moments, 3 * estimator.sampler.width
    )


def step_differences(estimator, block, n_steps, seed):
    """Return Y_n - Y_(n/2) and Y_(n/2) - Y_(n/4) of a block, and the three Y themselves.

    Returns:
        Arrays of shapes (n_payoffs, 2, paths) and (3, n_payoffs, paths).
    """
    three = np.stack(
        [
            estimator(block, backend="fp64", n_steps=n_steps // r, draws_per_step=r, seed=seed)
            for r in (1, 2, 4)
        ]
    )
    return np.stack([three[0] - three[1], three[1] - three[2]], axis=1), three


def derived_seed(seed, name):
    """Return a seed for one purpose, a hash of the seed and its name.

    Args:
        seed: integer in [0, 2**64).
        name: ASCII text.

    Source: Steele, Lea and Flood (2014), "Fast splittable pseudorandom number generators"
        (SplitMix64), one round for every character.
    """
    state = int(seed)
    for byte in name.encode("ascii"):
        state = _mix64((state + 0x9E3779B97F4A7C15 * (byte + 1)) & _MASK64)
    return state


def _mix64(z):
    """Return the finalizer of SplitMix64 of an integer in [0, 2**64)."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK64
    return z ^ (z >> 31)


def _blocks(first, end, window):
    """Return the Blocks of the paths from first to end - 1, at most a window of them."""
    last = min(end, first + window)
    return [Block(path, min(BLOCK, last - path)) for path in range(first, last, BLOCK)]


def _label(backend):
    """Return the name of a backend."""
    return backend if isinstance(backend, str) else backend.name
