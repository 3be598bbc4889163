"""A bound for payments that no path has made, and that may add to a price.

An event that n independent paths have not shown has a probability of at most L / n, L = -log(risk),
but with probability `risk` ("the rule of three" at 95 %). Each payment adds G at most, the scale of
the payments of an option that ends in the money by chance, and all of them together no more than
the price of an option that dominates:

    rare = min(L G / n, ceiling)

G is no limit where payments have none, as those of calls: it is the discounted standard deviation
of the spot, which an option that few paths bring into the money seldom exceeds. Of a payoff of a
user's own it is what is measured with the spot moved, if that is more than it says: by up to
FARTHEST deviations of its logarithm to either side, which is as far as one path in thirty thousand
comes, the largest mean payment of paths that are paid on, wherever the spot is.
From n = PAYMENTS G / V paths on, V the part of the price that rests on chance, there have been
enough payments for the normal interval of their mean to know them: the next one adds a small part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.heston.bounds.estimators import PaymentSampler
from sciprec.heston.bounds.levels import derived_seed
from sciprec.heston.bounds.pilot import coarsest_steps
from sciprec.heston.parameters import Model
from sciprec.heston.payoff_registry import Payoff, spot_deviation
from sciprec.heston.semianalytic.analytic import SLACK
from sciprec.heston.simulation.paths import Block

PAYMENTS = 16  # in units of G, from which on a normal interval knows them
LEAST_SIZE = 1e-150  # in place of zero, where something is divided by it or its square
SMALL = 10.0  # prices below so many times what unseen payments may add may be worthless
ROUNDED = 2.0**-40  # of forward or strike: below are rounding errors of payments, and no payments


@dataclass(frozen=True)
class Rare:
    """Scales and ceilings of some payoffs.

    Args:
        model: a Model.
        payoffs: a tuple of payoffs.
        risk: 1 - confidence.
        scheme, seed: of the paths by which payoffs of a user's own are measured.
    """

    model: Model
    payoffs: tuple[Payoff, ...]
    risk: float
    scheme: str = "quadratic_exponential_martingale"
    seed: int = 0

    @cached_property
    def scale(self):
        """G, in units of currency, shape (n_payoffs,)."""
        scales = np.array([payoff.payment_scale(self.model) for payoff in self.payoffs])
        plain = [k for k, payoff in enumerate(self.payoffs) if not is_ours(payoff)]
        measured = measured_scales(
            self.model, [self.payoffs[k] for k in plain], self.scheme, self.seed
        )  # fmt: skip
        scales[plain] = np.maximum(scales[plain], measured)
        return scales

    @cached_property
    def certain(self):
        """The parts of the prices that do not rest on chance, shape (n_payoffs,)."""
        return np.array([payoff.certain(self.model) for payoff in self.payoffs])

    @cached_property
    def ceiling(self):
        """Prices that the true ones do not exceed, shape (n_payoffs,)."""
        return np.array([self._ceiling(payoff) for payoff in self.payoffs])

    def _ceiling(self, payoff):
        """The price of options that pay at least as much, with its own error."""
        spot = self.model.discount(payoff.maturity) * self.model.forward(payoff.maturity)
        return max(payoff.ceiling(self.model), 0.0) + SLACK * spot

    def unseen(self, n_paths, ignored=0.0):
        """Return what payments that n_paths have not shown may add, shape (n_payoffs,).

        Args:
            n_paths: shape (n_payoffs,), or one number for all.
            ignored: sizes up to which ceilings are not asked for.
        """
        size = -np.log(self.risk) * self.scale / n_paths
        return np.minimum(size, self.ceiling) if np.any(size > ignored) else size

    @property
    def widest(self):
        """Bounds that no path is needed for, shape (rows,)."""
        return self.ceiling

    def added(self, base, steps, price, ignored, useless):
        """Return what unseen payments add to a bound, shape (rows,).

        Args:
            base, steps: Levels.
            price: of the levels.
            ignored: sizes up to which ceilings are not asked for.
            useless: without arguments, the result of `useless` as it stands.
        """
        paths = min(base.moments.paths, steps.moments.paths)
        few = paths < self.payment_paths(price)
        return np.where(few, self.unseen(paths, np.where(few, ignored, np.inf)), 0.0)

    def paths_for(self, size, price):
        """Return the paths after which unseen payments add `size` at most, or are known."""
        return np.minimum(self.needed(size), self.payment_paths(price))

    def useless(self, most, price, variance, n_paths, accepted):
        """Return for which rows paths are no use, of which there may be `most`, shape (rows,).

        Args:
            most: all paths that there may be.
            price, variance: of one path, as known from n_paths of the base.
            accepted: prices (rows,) -> largest accepted bounds.
        """
        return self.beyond(most, price, self.silent(price, variance), accepted)

    def needed(self, size):
        """Return how many paths are needed so that unseen payments add at most `size`.

        Ceilings are ignored.
        """
        return -np.log(self.risk) * self.scale / np.maximum(size, LEAST_SIZE)

    def payment_paths(self, price):
        """Return the paths from which on there have been PAYMENTS payments of unit G.

        Args:
            price: shape (n_payoffs,).
        """
        return PAYMENTS * self.scale / np.maximum(np.abs(price - self.certain), LEAST_SIZE)

    def silent(self, price, variance):
        """Return for which payoffs no path has paid anything, shape (n_payoffs,).

        A call that is made of its put and their parity is then not zero, but a rounding error.

        Args:
            price, variance: of one path, shape (n_payoffs,); in units of currency.
        """
        with np.errstate(invalid="ignore"):  # a path that is not finite is not silent
            return np.abs(price) + np.sqrt(variance) <= ROUNDED * self._terms

    @cached_property
    def _terms(self):
        """The sizes of the terms of a payment, discounted, shape (n_payoffs,)."""
        return np.array(
            [
                self.model.discount(payoff.maturity)
                * max(self.model.forward(payoff.maturity), getattr(payoff, "strike", 0.0))
                for payoff in self.payoffs
            ]
        )

    def beyond(self, n_paths, price, silent, tolerance):
        """Return for which payoffs n_paths are no use, shape (n_payoffs,).

        They say no more than the ceiling, or none has paid yet, and payments that they do not show
        may add more than is accepted of any price up to the ceiling.

        Args:
            n_paths: all that there may be.
            price: as known so far; ceilings are asked for only where it is small.
            silent: where no path has paid so far.
            tolerance: prices (n_payoffs,) -> largest accepted bounds.
        """
        size = -np.log(self.risk) * self.scale / n_paths
        if not np.any(silent | (np.abs(price) < SMALL * size)):
            return silent
        return (size >= self.ceiling) | (silent & (size > tolerance(self.ceiling)))


PATHS = 512
FARTHEST = 4


def is_ours(payoff: Payoff) -> bool:
    """Return whether what a payoff says of its size is known to hold: sciprec's own do."""
    return type(payoff).__module__.startswith("sciprec.heston.")


def measured_scales(
    model: Model, payoffs: Sequence[Payoff], scheme: str, seed: int
) -> np.ndarray:  # fmt: skip
    """Return the sizes of rare payments, discounted, shape (n_payoffs,); 0 where none was made.

    Args:
        model: a Model.
        payoffs: of any kind.
        scheme: name of a path scheme.
        seed: integer in [0, 2**64).
    """
    largest = np.zeros(len(payoffs))
    for k, payoff in enumerate(payoffs):
        deviation = spot_deviation(model, payoff.maturity) / model.forward(payoff.maturity)
        for shift in np.arange(-FARTHEST, FARTHEST + 1) * deviation:
            largest[k] = max(largest[k], _mean_size(model, payoff, scheme, seed, np.exp(shift)))
    return largest


def _mean_size(model: Model, payoff: Payoff, scheme: str, seed: int, factor: float) -> float:
    """Return the mean size of payments that are made with the spot moved by a factor, or 0."""
    try:
        moved = replace(model, spot=model.spot * factor)
        payoff.check(moved)
    except InputError:  # so far away the payoff or the model makes no sense
        return 0.0
    sampler = PaymentSampler(moved, [payoff], scheme, use_controls=False)
    (paid,), _ = sampler.raw(
        Block(0, PATHS), backend="fp64", n_steps=coarsest_steps(sampler), draws_per_step=1,
        seed=derived_seed(seed, "probe"),
    )  # fmt: skip
    sizes = np.abs(paid[np.isfinite(paid) & (paid != 0.0)])
    return float(np.mean(sizes)) if sizes.size else 0.0
