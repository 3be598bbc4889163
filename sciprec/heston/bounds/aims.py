"""What a pricing aims at: the bound that it can reach, and the noise that leaves room for the rest.

With V_i of a path of level i that takes c_i, the paths that give the least noise are in proportion
to sqrt(V_i / c_i) (see level_paths), and s^2 = (sum sqrt(V_i c_i))^2 / budget.
"""

import math

import numpy as np

from sciprec.heston.bounds.interval import bias_of, interval_weights, step_weights
from sciprec.heston.bounds.mixed import path_cost
from sciprec.heston.bounds.rare import LEAST_SIZE
from sciprec.heston.bounds.state import exhausted, price_so_far, use, used, useless
from sciprec.heston.bounds.statistics import quantile

WORTH_WHILE = 2.2  # times the noise that the work leaves: shorter steps bring more noise than that
MARGIN = 0.94  # of the tolerance that is aimed at
LEAST_SHARE = 0.3  # of the budget that the level "steps" may take in any case
STEPS_BUDGET = 0.6  # share of the paths that the level "steps" may take


def aim(state, price):
    """Return the bound to aim at: the tolerance, or what the budget can reach where that is more:
    shorter steps, or differences better known, than that asks for are of no use. Where no paths are
    of use it is the ceiling.

    Args:
        price: the best there is.
    """
    wanted = np.maximum(state.pricing.accepted(price), np.max(_reaches(state), axis=0))
    if np.any(beyond := useless(state)):
        wanted = np.where(beyond, np.maximum(wanted, state.pricing.rare.widest), wanted)
    return np.maximum(wanted, LEAST_SIZE)


def steps_aim(state):
    """Return the bound that steps have to leave room in, shape (n_payoffs,): where the work is
    limited, one that shorter steps would make smaller."""
    wanted = aim(state, state.pilot.price)
    return np.maximum(wanted, WORTH_WHILE * _reaches(state)[1])


def steps_share(state):
    """Return the share of the budget that the level "steps" may take: where the tolerance is out of
    reach, that of the smallest noise of all levels."""
    reaches = _reaches(state)
    within = np.max(reaches, axis=0) <= state.pricing.accepted(state.pilot.price)
    scarce = np.argmax(reaches, axis=0), np.arange(reaches.shape[1])
    base, steps = (noise[scarce] for noise in _noise_per_budget(state))
    with np.errstate(invalid="ignore"):
        share = np.where(within, STEPS_BUDGET, steps / (base + steps))
    return min(STEPS_BUDGET, max(LEAST_SHARE, float(np.nanmax(share, initial=0.0))))


def steps_exhausted(state):
    """Return whether the level "steps" has used its share of the budget."""
    share = steps_share(state) * state.pricing.budget.total
    over = exhausted(state)
    return over or bool(np.any(used(state, state.steps) >= share))


def noise_target(state):
    """Return the largest variance of the interval with which the bound meets the tolerance."""
    wanted = MARGIN * aim(state, price_so_far(state))
    room = np.maximum(wanted - bias_of(state.steps).size(), 0.2 * wanted)
    rounding = state.rounding
    if not state.pricing.request.correction and rounding is not None and rounding.moments.groups:
        room = np.maximum(room - np.abs(rounding.moments.mean[:, 0]), 0.2 * wanted)
    return np.maximum(room / half_width(state), 1e-150) ** 2


def half_width(state):
    """Return how many standard errors the interval is long to each side, with many paths."""
    return quantile(0.5 * state.pricing.risk, 1e6)


def costs(state, base_steps):
    """Return the modelled costs of a path of base and rounding."""
    base = path_cost(state.backend, base_steps)
    if state.backend == "fp64":
        return np.array([base])
    return np.array([base, base + path_cost("fp64", base_steps)])


def planned_variances(state, base_steps):
    """Return the variances of the base and of its rounding that the pilot found."""
    known = state.pilot.variances
    variance = known.get(base_steps, known[state.pilot.n_steps])
    return np.stack([variance] + [state.rounding_variance] * (state.backend != "fp64"))


def step_variance(state, base_steps):
    """Return the variance that one path of the level "steps" brings into the interval."""
    bias, covariance = bias_of(state.steps), state.steps.moments.covariance()
    weights = step_weights(base_steps, state.steps.n_steps, bias.weight)
    return _largest_variance(covariance, bias, weights)


def _reaches(state):
    """Return the least part of the bound that the noise of the whole budget leaves, for each of the
    resources, shape (2, n_payoffs)."""
    noise = sum(_noise_per_budget(state))
    return half_width(state) * noise / np.sqrt(state.pricing.budget.total)[:, None]


def _noise_per_budget(state):
    """Return sqrt(V_i c_i) of the base and of the level "steps", each (2, n_payoffs).

    The noise of the differences enters the bound twice: in the interval t s, and in |m| beside
    it, whose mean is sqrt(2 / pi) of its deviation where there is nothing but noise. Before the
    level has begun, it is that of the pilot, and takes no paths from the base.
    """

    def noise(name, n_steps, variance):
        return np.sqrt(use(state, name, n_steps)[:, None] * variance)

    pilot, steps = state.pilot, state.steps
    base = noise("base", pilot.n_steps, pilot.variances[pilot.n_steps])
    twice = 1 + math.sqrt(2 / math.pi) / half_width(state)
    if steps is not None and steps.moments.groups > 1:
        return base, twice * noise("steps", steps.n_steps, step_variance(state, steps.n_steps))
    stepped = np.zeros_like(base)
    if math.isfinite(state.pricing.budget.work):
        weights = step_weights(pilot.n_steps, pilot.n_steps, pilot.bias.weight)
        variance = _largest_variance(pilot.differences, pilot.bias, weights)
        stepped[1] = twice * noise("steps", pilot.n_steps, variance)[1]
    return base, stepped


def _largest_variance(covariance, bias, weights):
    """Return the largest variance of one path in the intervals of a bound, shape (n_payoffs,).

    Args:
        covariance: of d_1 and d_2 of one path, shape (n_payoffs, 2, 2).
        bias: a StepBias.
        weights: of d_1 and d_2 in the price, shape (n_payoffs, 2).
    """
    found = [
        np.einsum("kq,kqr,kr->k", both, covariance, both)
        for _, both in interval_weights(bias, weights)
    ]
    return np.max(found, axis=0)
