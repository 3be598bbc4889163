"""A pricing of payoffs that share their paths: what was asked, what is known, what was spent."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sciprec.heston.bounds.budget import Budget
from sciprec.heston.bounds.interval import BoundedPrices, bound_of, price_of
from sciprec.heston.bounds.levels import LEAST_PATHS, MultilevelTerm, Sampler
from sciprec.heston.bounds.pilot import Pilot
from sciprec.heston.bounds.rare import Rare
from sciprec.heston.bounds.request import Accepted, PricingRequest
from sciprec.precision import Backend


@dataclass(frozen=True)
class Pricing:
    """Payoffs that are priced from the same paths; all of it is fixed before their levels begin.

    Args:
        request: what was asked for, of these payoffs and perhaps of others.
        sampler: of payments.
        accepted: prices (n_payoffs,) -> largest accepted bounds.
        risk: with which the interval of the levels may miss.
        budget: what may be simulated.
        rare: of the payoffs.
    """

    request: PricingRequest
    sampler: Sampler
    accepted: Accepted
    risk: float
    budget: Budget
    rare: Rare


@dataclass
class PricingState:
    """The state of a pricing: its pilot, its paths and its sums so far.

    Args:
        pricing: a Pricing.
        pilot: a Pilot.
        backend: of the base: as asked for, or "fp64" where that costs less or goes farther.
        looks: how often the steps were judged.
        notes: sentences for the result.
        rounding_variance: of one path, found by the pilot; None where the base is in binary64.
        base, rounding, steps: levels; rounding is None where the base runs in binary64.
        bumps: of greeks, the level of their differences.
        given_up: resources of levels that were replaced by finer or exact ones (see Budget).
    """

    pricing: Pricing
    pilot: Pilot
    backend: str | Backend
    looks: int = 0
    notes: list[str] = field(default_factory=list)
    rounding_variance: np.ndarray | None = None
    base: MultilevelTerm | None = None
    rounding: MultilevelTerm | None = None
    steps: MultilevelTerm | None = None
    bumps: MultilevelTerm | None = None
    given_up: np.ndarray | float = 0.0

    @property
    def paid(self):
        """The levels of payments in the backend, and of their rounding."""
        return [term for term in (self.base, self.rounding) if term is not None]

    @property
    def levels(self):
        """The levels that the price is the sum of."""
        return [*self.paid, self.steps] if self.steps is not None else self.paid


def use(state, name, n_steps):
    """Return the resources of a path of the level of a name."""
    pricing = state.pricing
    return pricing.budget.use(name, n_steps, pricing.sampler.width, state.backend != "fp64")


def used(state, *levels):
    """Return the resources of some levels so far."""
    return sum(level.moments.paths * use(state, level.name, level.n_steps) for level in levels)


def spent(state):
    """Return the resources of the pilot and all levels."""
    pilot = np.array([state.pilot.n_paths, state.pilot.work])
    total = pilot + state.given_up + used(state, *state.levels)
    return total + (used(state, state.bumps) if state.bumps else 0.0)


def exhausted(state):
    """Return whether paths, work or time are used up."""
    budget = state.pricing.budget
    return bool(np.any(spent(state) >= budget.total)) or budget.late


def extend(state, term, paths, share):
    """Extend a level as far as its share of the budget allows, to LEAST_PATHS at least."""
    budget, threads = state.pricing.budget, state.pricing.request.threads
    elsewhere = spent(state) - state.given_up - used(state, term)
    room = share * (budget.total - state.given_up) - elsewhere
    paths = min(paths, float(np.min(room / use(state, term.name, term.n_steps))))
    term.extend(max(LEAST_PATHS, paths), threads, budget.deadline_of(term.name))


def bound_so_far(state) -> BoundedPrices:
    """Return the Bound of the levels as they stand."""
    pricing, levels = state.pricing, (state.base, state.rounding, state.steps)
    arguments = pricing.risk, pricing.request.correction, pricing.rare
    return bound_of(*levels, *arguments, lambda: useless(state))


def price_so_far(state):
    """Return the best price there is."""
    if state.base is None or not state.base.moments.groups:
        return state.pilot.price
    correction = state.pricing.request.correction
    return price_of(state.base, state.rounding, state.steps, correction)


def useless(state):
    """Return for which payoffs the paths of the budget are no use: see Rare."""
    pricing, pilot, base = state.pricing, state.pilot, state.base
    price, variance, paths = pilot.price, pilot.variances[pilot.n_steps], 0
    if base is not None and base.moments.groups > 1:
        price, variance, paths = price_so_far(state), base.variance(), base.moments.paths
    return pricing.rare.useless(pricing.budget.paths, price, variance, paths, pricing.accepted)
