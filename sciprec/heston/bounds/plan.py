"""The course of a pricing: pilot, step differences, then as many paths as the bound needs."""

import math

import numpy as np

from sciprec.heston.bounds import aims
from sciprec.heston.bounds import levels as level
from sciprec.heston.bounds.interval import Bound, bias_of
from sciprec.heston.bounds.mixed import (
    LOST_COUPLING,
    coupled_cost,
    level_paths,
    mixed_gain,
    path_cost,
    step_cost,
)
from sciprec.heston.bounds.pilot import MOST_STEPS, rounding_variance, run_pilot
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
from sciprec.heston.schemes.stages import is_binary64

TOO_COARSE = 0.45  # share of the tolerance from which on the differences ask for shorter steps
DECIDED = 0.25  # and from which on their standard errors ask for more paths, to tell
MOST_LOOKS = 40
HOPELESS = 0.75  # share that the differences may take, once they are better known
MOST_ROUNDS = 12
RARE_SHARE = 0.8  # of the room for noise that unseen payments may take
CLEARLY_LARGER = 1.5  # times the variance of "steps" that was planned with: there is another plan


def run(pricing: Pricing) -> tuple[PricingState, Bound]:
    """Do everything; return what is known in the end, and the Bound."""
    state = start(pricing)
    return state, run_levels(state)


def start(pricing: Pricing) -> PricingState:
    """Run the pilot; return what it has found."""
    request = pricing.request

    def aim(pilot):
        return aims.steps_aim(PricingState(pricing, pilot, request.backend))

    pilot = run_pilot(pricing.sampler, aim, request.seed, pricing.budget)
    return PricingState(pricing, pilot, request.backend, pilot.looks)


def run_levels(state: PricingState) -> Bound:
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
    wanted = aims.aim(state, pilot.price)
    gain = mixed_gain(variance, lost, backend, pilot.n_steps, wanted)
    coupling = float(np.max(lost / wanted**2) / max(np.max(variance / wanted**2), 1e-300))
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
        extend(state, state.steps, paths, aims.steps_share(state))
        bias, wanted = bias_of(state.steps), aims.steps_aim(state)
        unclear = np.max(bias.factors * bias.deviations, axis=1) / (DECIDED * wanted)
        if aims.steps_exhausted(state):
            return
        coarse, times = bias.beyond(TOO_COARSE * wanted, state.looks)
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
    given = state.pilot.estimator, n_steps, state.pricing.request.seed
    return level.steps_level(*given, coupled_cost(n_steps))


def _start_base(state):
    """Choose the steps of the base, and open its level and that of its rounding."""
    n_steps = _base_steps(state)
    given = state.pilot.estimator, state.backend, n_steps, state.pricing.request.seed
    cost = path_cost(state.backend, n_steps)
    state.base = level.base_level(*given, cost)
    if state.backend != "fp64":
        state.rounding = level.rounding_level(*given, cost + path_cost("fp64", n_steps))


def _base_steps(state):
    """Return n, n/2 or n/4: the least modelled cost of the paths still needed."""
    n_steps, held = state.steps.n_steps, state.steps.moments.paths
    best, least = n_steps, math.inf
    for base_steps in (n_steps, n_steps // 2, n_steps // 4):
        variances = aims.planned_variances(state, base_steps), aims.step_variance(state, base_steps)
        each = np.append(aims.costs(state, base_steps), state.steps.cost)
        sizes = level_paths(np.vstack(variances), each, aims.noise_target(state))
        sizes = np.maximum(sizes, [*([level.LEAST_PATHS] * (len(sizes) - 1)), held])
        cost = float(np.sum(sizes * each))
        if cost < 0.9 * least:
            best, least = base_steps, cost
    return best


def _refine(state):
    """Add paths until the bound meets the tolerance or the budget ends; return the Bound."""
    variances = aims.planned_variances(state, state.base.n_steps)
    for _ in range(MOST_ROUNDS):
        planned = aims.step_variance(state, state.base.n_steps)
        _extend_steps(state, variances)
        if _hopeless(state):
            variances = _restart_with_shorter_steps(state)
            continue
        # few paths can miss those whose payments depend on the steps, and so nearly all of the
        # variance; the base may take all that is left
        larger = aims.step_variance(state, state.base.n_steps) > CLEARLY_LARGER * planned
        if np.any(larger) and not aims.steps_exhausted(state):
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
        variances = np.stack([one.variance() for one in state.paid])
    return bound_so_far(state)


def _hopeless(state):
    """Return whether the differences of the steps, better known by now, leave no room, and the
    budget leaves some for shorter ones."""
    wanted = HOPELESS * aims.steps_aim(state)
    taken, _ = bias_of(state.steps).beyond(wanted, state.looks)
    state.looks += 1
    early = np.all(spent(state) < 0.5 * state.pricing.budget.total)
    return taken and early and _may_shorten(state)


def _restart_with_shorter_steps(state):
    """Give all levels up for steps of half the length; return the variances."""
    state.given_up += used(state, *state.levels)
    n_steps = 2 * state.steps.n_steps
    state.base = state.rounding = state.steps = None
    _measure_steps(state, n_steps)
    _start_base(state)
    return aims.planned_variances(state, state.base.n_steps)


def _restart_in_binary64(state):
    """Give the cheap arithmetic up, whose range a path has left; return the variances."""
    state.notes.append(f"all paths in fp64: some in {state.base.backend} left its range")
    state.given_up += used(state, *state.paid)
    state.backend, state.rounding = "fp64", None
    _start_base(state)
    return aims.planned_variances(state, state.base.n_steps)


def _add_paths(state, variances):
    """Extend the base and its rounding to the sizes that the bound still needs."""
    base, needed = state.base, aims.noise_target(state)
    step_noise = aims.step_variance(state, base.n_steps) / state.steps.moments.paths
    target = np.maximum(needed - step_noise, 0.1 * needed)
    sizes = level_paths(variances, aims.costs(state, base.n_steps), target)
    sizes = np.maximum(sizes, level.LEAST_PATHS)
    # unseen payments are those that neither the base nor "steps" has seen enough of
    rare = _rare_paths(state, needed)
    sizes[0] = max(sizes[0], min(rare, state.steps.moments.paths))
    growth = 4.0 if np.any(base.moments.mean == 0) else 1.2
    sizes[0] = max(sizes[0], growth * base.moments.paths)
    uses = [use(state, one.name, one.n_steps) for one in state.paid]
    asked = sum(each * size for each, size in zip(uses, sizes, strict=True))
    room = state.pricing.budget.total - spent(state) + used(state, *state.paid)
    share = min(1.0, float(np.min(room / asked)))
    for one, size in zip(state.paid, sizes, strict=True):
        extend(state, one, share * size, 1.0)


def _extend_steps(state, variances):
    """Extend the level "steps", at most fourfold, to its share in the least cost of all levels.

    Args:
        variances: of a path of the base and of its rounding.
    """
    if aims.steps_exhausted(state):
        return
    base_steps, held = state.base.n_steps, state.steps.moments.paths
    own, target = aims.step_variance(state, base_steps), aims.noise_target(state)
    each = np.append(aims.costs(state, base_steps), state.steps.cost)
    sizes = level_paths(np.vstack([variances, own]), each, target)[:-1]
    sizes = np.maximum(sizes, max(level.LEAST_PATHS, state.base.moments.paths))
    others = np.sum(variances / sizes[:, None], axis=0)
    paths = np.max(own / np.maximum(target - others, 0.1 * target))
    paths = max(paths, _rare_paths(state, target))
    if paths > held:
        extend(state, state.steps, min(paths, 4.0 * held), aims.steps_share(state))


def _rare_paths(state, target):
    """Return the paths that payments too rare to be seen ask for, the budget at most.

    Args:
        target: variance of the interval, shape (n_payoffs,).
    """
    size = RARE_SHARE * aims.half_width(state) * np.sqrt(target)
    paths = state.pricing.rare.paths_for(size, price_so_far(state))
    if np.max(paths) <= level.LEAST_PATHS:
        return 0.0
    most = np.max(np.where(useless(state), 0.0, paths))
    return float(np.minimum(most, state.pricing.budget.paths))
