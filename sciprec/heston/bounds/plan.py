"""The course of a pricing: pilot, step differences, then as many paths as the bound needs.

It aims at the bound that it can reach, and at the noise that leaves room for the rest. With V_i of
a path of level i that takes c_i, the paths that give the least noise are in proportion to
sqrt(V_i / c_i) (see level_paths), and s^2 = (sum sqrt(V_i c_i))^2 / budget.
"""

from __future__ import annotations

import math

import numpy as np

from sciprec.heston.bounds import levels as level
from sciprec.heston.bounds.interval import BoundedPrices, bias_of, interval_weights, step_weights
from sciprec.heston.bounds.mixed import (
    LOST_COUPLING,
    coupled_cost,
    level_paths,
    mixed_gain,
    path_cost,
    step_cost,
)
from sciprec.heston.bounds.pilot import MOST_STEPS, rounding_variance, run_pilot
from sciprec.heston.bounds.rare import LEAST_SIZE
from sciprec.heston.bounds.state import (
    Pricing,
    PricingState,
    bound_so_far,
    exhausted,
    extend,
    price_so_far,
    spent,
    use,
    used,
    useless,
)
from sciprec.heston.bounds.statistics import quantile
from sciprec.heston.schemes.stages import is_binary64

TOO_COARSE = 0.45  # share of the tolerance from which on the differences ask for shorter steps
DECIDED = 0.25  # and from which on their standard errors ask for more paths, to tell
MOST_LOOKS = 40
HOPELESS = 0.75  # share that the differences may take, once they are better known
MOST_ROUNDS = 12
RARE_SHARE = 0.8  # of the room for noise that unseen payments may take
CLEARLY_LARGER = 1.5  # times the variance of "steps" that was planned with: there is another plan


def run(pricing: Pricing) -> tuple[PricingState, BoundedPrices]:
    """Do everything; return what is known in the end, and the Bound."""
    state = start(pricing)
    return state, run_levels(state)


def start(pricing: Pricing) -> PricingState:
    """Run the pilot; return what it has found."""
    request = pricing.request

    def aim(pilot):
        return steps_aim(PricingState(pricing, pilot, request.backend))

    pilot = run_pilot(pricing.sampler, aim, request.seed, pricing.budget)
    return PricingState(pricing, pilot, request.backend, pilot.looks)


def run_levels(state: PricingState) -> BoundedPrices:
    """Do what follows the pilot; return the Bound."""
    state.backend = _arithmetic(state)
    _measure_steps(state, state.pilot.n_steps)
    _start_base(state)
    return _refine(state)


def _arithmetic(state):
    """Return the backend to use: the one asked for, or fp64 where that costs less."""
    request, pilot = state.pricing.request, state.pilot
    backend = request.backend
    if not backend.fixed and is_binary64(backend):
        return "fp64"
    lost = state.rounding_variance = rounding_variance(pilot, backend, request.seed)
    variance = pilot.variances[pilot.n_steps]
    aims = aim(state, pilot.price)
    gain = mixed_gain(variance, lost, backend, pilot.n_steps, aims)
    coupling = float(np.max(lost / aims**2) / max(np.max(variance / aims**2), 1e-300))
    if coupling > LOST_COUPLING:
        state.notes.append(
            f"coupling is lost: paths in {backend.name} are far from those in fp64, variance "
            f"of the difference over variance of the price {coupling:.2g} (above "
            f"{LOST_COUPLING}); quadratic_exponential_martingale loses least"
        )
    if gain > 1 or (not request.correction and math.isfinite(gain)):
        return backend
    state.notes.append(
        f"all paths in fp64: some in {backend.name} left its range"
        if not math.isfinite(gain)
        else f"all paths in fp64: with those in {backend.name}, modelled at "
        f"{step_cost(backend):g} of a step in fp64, and their correction the same would "
        f"cost {1 / gain:.2g} times as much"
    )
    return "fp64"


def _measure_steps(state, n_steps):
    """Find steps, n_steps or more, whose differences leave room for the noise.

    Where the budget ends before that, the steps are those found so far.
    """
    paths = level.LEAST_PATHS
    state.steps = _steps_level(state, n_steps)
    for _ in range(MOST_LOOKS):
        extend(state, state.steps, paths, steps_share(state))
        bias, aims = bias_of(state.steps), steps_aim(state)
        unclear = np.max(bias.factors * bias.deviations, axis=1) / (DECIDED * aims)
        if steps_exhausted(state):
            return
        coarse, times = bias.beyond(TOO_COARSE * aims, state.looks)
        state.looks += 1
        times = max(times, 1.1 * float(np.max(unclear)) ** 2)
        if coarse and _may_shorten(state):
            n_steps *= 2
            state.given_up += used(state, state.steps)
            state.steps = _steps_level(state, n_steps)
        elif times > 1.1:
            paths = np.clip(times, 1.5, 4.0) * state.steps.moments.paths
        else:
            return


def _may_shorten(state):
    """Return whether there may be steps of half the length."""
    n_steps, work = 2 * state.steps.n_steps, spent(state)[1]
    return n_steps <= MOST_STEPS and state.pricing.budget.allows_levels(
        work, n_steps, state.pricing.sampler.width
    )


def _steps_level(state, n_steps):
    """Return a new level of step differences."""
    arguments = state.pilot.estimator, n_steps, state.pricing.request.seed
    return level.steps_level(*arguments, coupled_cost(n_steps))


def _start_base(state):
    """Choose the steps of the base, and open its level and that of its rounding."""
    n_steps = _base_steps(state)
    arguments = state.pilot.estimator, state.backend, n_steps, state.pricing.request.seed
    cost = path_cost(state.backend, n_steps)
    state.base = level.base_level(*arguments, cost)
    if state.backend != "fp64":
        state.rounding = level.rounding_level(*arguments, cost + path_cost("fp64", n_steps))


def _base_steps(state):
    """Return n, n/2 or n/4: the least modelled cost of the paths still needed."""
    n_steps, paths = state.steps.n_steps, state.steps.moments.paths
    best, least = n_steps, math.inf
    for base_steps in (n_steps, n_steps // 2, n_steps // 4):
        variances = planned_variances(state, base_steps), step_variance(state, base_steps)
        each = np.append(costs(state, base_steps), state.steps.cost)
        sizes = level_paths(np.vstack(variances), each, noise_target(state))
        sizes = np.maximum(sizes, [*([level.LEAST_PATHS] * (len(sizes) - 1)), paths])
        cost = float(np.sum(sizes * each))
        if cost < 0.9 * least:
            best, least = base_steps, cost
    return best


def _refine(state):
    """Add paths until the bound meets the tolerance or the budget ends; return the Bound."""
    variances = planned_variances(state, state.base.n_steps)
    for _ in range(MOST_ROUNDS):
        planned = step_variance(state, state.base.n_steps)
        _extend_steps(state, variances)
        if _hopeless(state):
            variances = _restart_with_shorter_steps(state)
            continue
        # few paths can miss those whose payments depend on the steps, and so nearly all of the
        # variance; the base may take all that is left
        larger = step_variance(state, state.base.n_steps) > CLEARLY_LARGER * planned
        if np.any(larger) and not steps_exhausted(state):
            continue
        _add_paths(state, variances)
        bound = bound_so_far(state)
        missed = ~(bound.total <= state.pricing.accepted(bound.price))
        if exhausted(state) or np.all(useless(state)[missed]):
            return bound
        if not np.all(np.isfinite(bound.price)):
            if state.backend == "fp64":
                return bound
            variances = _restart_in_binary64(state)
            continue
        if _hopeless(state):
            variances = _restart_with_shorter_steps(state)
            continue
        variances = np.stack([each.variance() for each in state.paid])
    return bound_so_far(state)


def _hopeless(state):
    """Return whether the differences of the steps, better known by now, leave no room, and the
    budget leaves some for shorter ones."""
    aims = HOPELESS * steps_aim(state)
    is_beyond, _ = bias_of(state.steps).beyond(aims, state.looks)
    state.looks += 1
    early = np.all(spent(state) < 0.5 * state.pricing.budget.total)
    return is_beyond and early and _may_shorten(state)


def _restart_with_shorter_steps(state):
    """Give all levels up for steps of half the length; return the variances."""
    state.given_up += used(state, *state.levels)
    n_steps = 2 * state.steps.n_steps
    state.base = state.rounding = state.steps = None
    _measure_steps(state, n_steps)
    _start_base(state)
    return planned_variances(state, state.base.n_steps)


def _restart_in_binary64(state):
    """Give the cheap arithmetic up, whose range a path has left; return the variances."""
    state.notes.append(f"all paths in fp64: some in {state.base.backend} left its range")
    state.given_up += used(state, *state.paid)
    state.backend, state.rounding = "fp64", None
    _start_base(state)
    return planned_variances(state, state.base.n_steps)


def _add_paths(state, variances):
    """Extend the base and its rounding to the sizes that the bound still needs."""
    base, needed = state.base, noise_target(state)
    step_noise = step_variance(state, base.n_steps) / state.steps.moments.paths
    target = np.maximum(needed - step_noise, 0.1 * needed)
    sizes = level_paths(variances, costs(state, base.n_steps), target)
    sizes = np.maximum(sizes, level.LEAST_PATHS)
    # unseen payments are those that neither the base nor "steps" has seen enough of
    rare = _rare_paths(state, needed)
    sizes[0] = max(sizes[0], min(rare, state.steps.moments.paths))
    growth = 4.0 if np.any(base.moments.mean == 0) else 1.2
    sizes[0] = max(sizes[0], growth * base.moments.paths)
    uses = [use(state, paid.name, paid.n_steps) for paid in state.paid]
    planned = sum(each * size for each, size in zip(uses, sizes, strict=True))
    room = state.pricing.budget.total - spent(state) + used(state, *state.paid)
    share = min(1.0, float(np.min(room / planned)))
    for term, size in zip(state.paid, sizes, strict=True):
        extend(state, term, share * size, 1.0)


def _extend_steps(state, variances):
    """Extend the level "steps", at most fourfold, to its share in the least cost of all levels.

    Args:
        variances: of a path of the base and of its rounding.
    """
    if steps_exhausted(state):
        return
    base_steps, paths_before = state.base.n_steps, state.steps.moments.paths
    of_steps, target = step_variance(state, base_steps), noise_target(state)
    each = np.append(costs(state, base_steps), state.steps.cost)
    sizes = level_paths(np.vstack([variances, of_steps]), each, target)[:-1]
    sizes = np.maximum(sizes, max(level.LEAST_PATHS, state.base.moments.paths))
    of_levels = np.sum(variances / sizes[:, None], axis=0)
    paths = np.max(of_steps / np.maximum(target - of_levels, 0.1 * target))
    paths = max(paths, _rare_paths(state, target))
    if paths > paths_before:
        extend(state, state.steps, min(paths, 4.0 * paths_before), steps_share(state))


def _rare_paths(state, target):
    """Return the paths that payments too rare to be seen ask for, the budget at most.

    Args:
        target: variance of the interval, shape (n_payoffs,).
    """
    size = RARE_SHARE * half_width(state) * np.sqrt(target)
    paths = state.pricing.rare.paths_for(size, price_so_far(state))
    if np.max(paths) <= level.LEAST_PATHS:
        return 0.0
    most = np.max(np.where(useless(state), 0.0, paths))
    return float(np.minimum(most, state.pricing.budget.paths))


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
    aims = np.maximum(state.pricing.accepted(price), np.max(_reaches(state), axis=0))
    if np.any(beyond := useless(state)):
        aims = np.where(beyond, np.maximum(aims, state.pricing.rare.widest), aims)
    return np.maximum(aims, LEAST_SIZE)


def steps_aim(state):
    """Return the bound that steps have to leave room in, shape (n_payoffs,): where the work is
    limited, one that shorter steps would make smaller."""
    aims = aim(state, state.pilot.price)
    return np.maximum(aims, WORTH_WHILE * _reaches(state)[1])


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
    aims = MARGIN * aim(state, price_so_far(state))
    room = np.maximum(aims - bias_of(state.steps).size(), 0.2 * aims)
    rounding = state.rounding
    if not state.pricing.request.correction and rounding is not None and rounding.moments.groups:
        room = np.maximum(room - np.abs(rounding.moments.mean[:, 0]), 0.2 * aims)
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
    variances = state.pilot.variances
    variance = variances.get(base_steps, variances[state.pilot.n_steps])
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
    variances = [
        np.einsum("kq,kqr,kr->k", both, covariance, both)
        for _, both in interval_weights(bias, weights)
    ]
    return np.max(variances, axis=0)
