"""The course of a pricing: pilot, step differences, then as many paths as the bound needs."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sciprec.heston.bounds import levels as level
from sciprec.heston.bounds.budget import Budget
from sciprec.heston.bounds.interval import bias_of, bound_of, interval_weights, step_weights
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
from sciprec.heston.bounds.statistics import quantile
from sciprec.heston.schemes.stages import is_binary64
from sciprec.precision import resolve_backend

TOO_COARSE = 0.45  # share of the tolerance from which on the differences ask for shorter steps
DECIDED = 0.25  # and from which on their standard errors ask for more paths, to tell
MOST_LOOKS = 40
WORTH_WHILE = 2.2  # times the noise that the work leaves: shorter steps bring more noise than that
HOPELESS = 0.75  # share that the differences may take, once they are better known
MARGIN = 0.94  # of the tolerance that is aimed at
MOST_ROUNDS = 12
RARE_SHARE = 0.8  # of the room for noise that unseen payments may take
LEAST_SHARE = 0.3  # of the budget that the level "steps" may take in any case
STEPS_BUDGET = 0.6  # share of the paths that the level "steps" may take
CLEARLY_LARGER = 1.5  # times the variance of "steps" that was planned with: there is another plan


@dataclass
class Pricing:
    """One pricing on its way.

    Args:
        sampler: of payments.
        backend: the arithmetic that was asked for.
        tolerance: prices (n_payoffs,) -> largest accepted bounds.
        risk: 1 - confidence.
        seed, correction, threads: see sciprec.heston.bounds.pricing.price.
        budget: a Budget: what may be simulated.
        rare: a Rare of the payoffs, or None: unseen payments are left out of the bound.

    Attributes:
        pilot: a Pilot.
        base, rounding, steps: Levels; rounding is None where the base runs in binary64.
        notes: sentences for the result.
        given_up: resources of levels that were replaced by finer or exact ones (see Budget).
        looks: how often the steps were judged.
    """

    sampler: Any
    backend: Any
    tolerance: Any
    risk: float
    seed: int
    correction: bool
    threads: int
    budget: Budget
    rare: Any = None
    notes: list = field(default_factory=list)
    pilot: Any = None
    base: Any = None
    rounding: Any = None
    steps: Any = None
    rounding_variance: Any = None
    given_up: Any = 0.0
    looks: int = 0

    def run(self):
        """Do everything; return the Bound."""
        self.pilot = run_pilot(self.sampler, self._steps_aim, self.seed, self.budget)
        self.looks = self.pilot.looks
        self._after_pilot()
        self.backend = self._arithmetic()
        self._measure_steps(self.pilot.n_steps)
        self._start_base()
        return self._refine()

    def _after_pilot(self):
        """Do what has to precede the levels: nothing for prices."""

    @property
    def levels(self):
        """The levels that there are."""
        return [one for one in (self.base, self.rounding, self.steps) if one is not None]

    @property
    def spent(self):
        """The resources of the pilot and all levels."""
        pilot = np.array([self.pilot.n_paths, self.pilot.work])
        return pilot + self.given_up + sum(map(self._used, self.levels))

    @property
    def n_paths(self):
        """Simulated paths of the pilot and all levels."""
        return int(self.spent[0])

    @property
    def exhausted(self):
        """Whether paths, work or time are used up."""
        return bool(np.any(self.spent >= self.budget.total)) or self.budget.late

    def _use(self, name, n_steps):
        """Return the resources of a path of the level of a name."""
        return self.budget.use(name, n_steps, self.sampler.width, self.backend != "fp64")

    def _used(self, one):
        """Return the resources of a level so far."""
        return one.moments.paths * self._use(one.name, one.n_steps)

    def _aim(self, pilot, price=None):
        """Return the bound to aim at: the tolerance, or what the budget can reach where that is
        more: shorter steps, or differences better known, than that asks for are of no use. Where
        no paths are of use it is the ceiling.

        Args:
            pilot: a Pilot.
            price: the best there is; left out, the pilot's.
        """
        price = pilot.price if price is None else price
        aim = np.maximum(self.tolerance(price), self._reach(pilot))
        if np.any(beyond := self._beyond(pilot)):
            aim = np.where(beyond, np.maximum(aim, self._ceiling()), aim)
        return np.maximum(aim, LEAST_SIZE)

    def _ceiling(self):
        """Return bounds that no path is needed for, shape (n_payoffs,)."""
        return self.rare.ceiling

    def _steps_aim(self, pilot):
        """Return the bound that steps have to leave room in, shape (n_payoffs,): where the work
        is limited, one that shorter steps would make smaller."""
        return np.maximum(self._aim(pilot), WORTH_WHILE * self._reaches(pilot)[1])

    def _reach(self, pilot):
        """Return the least part of the bound that the noise of the whole budget leaves."""
        return np.max(self._reaches(pilot), axis=0)

    def _reaches(self, pilot):
        """Return that part for each of the resources, shape (2, n_payoffs).

        With V_i of a path that takes c_i, the paths that give it are in proportion to
        sqrt(V_i / c_i) (see level_paths), and s^2 = (sum sqrt(V_i c_i))^2 / budget.
        """
        noise = sum(self._noise_per_budget(pilot))
        return self._quantile * noise / np.sqrt(self.budget.total)[:, None]

    def _noise_per_budget(self, pilot):
        """Return sqrt(V_i c_i) of the base and of the level "steps", each (2, n_payoffs).

        The noise of the differences enters the bound twice: in the interval t s, and in |m| beside
        it, whose mean is sqrt(2 / pi) of its deviation where there is nothing but noise. Before the
        level has begun, it is that of the pilot, and takes no paths from the base.
        """
        base = self._noise("base", pilot.n_steps, pilot.variances[pilot.n_steps])
        twice = 1 + math.sqrt(2 / math.pi) / self._quantile
        if self.steps is not None and self.steps.moments.groups > 1:
            n_steps = self.steps.n_steps
            return base, twice * self._noise("steps", n_steps, self._step_variance(n_steps))
        steps = np.zeros_like(base)
        if math.isfinite(self.budget.work):
            weights = step_weights(pilot.n_steps, pilot.n_steps, pilot.bias.weight)
            variance = _largest_variance(pilot.differences, pilot.bias, weights)
            steps[1] = twice * self._noise("steps", pilot.n_steps, variance)[1]
        return base, steps

    def _noise(self, name, n_steps, variance):
        """Return sqrt(V c) of a level for both resources, shape (2, n_payoffs)."""
        return np.sqrt(self._use(name, n_steps)[:, None] * variance)

    def _steps_share(self):
        """Return the share of the budget that the level "steps" may take: where the tolerance is
        out of reach, that of the smallest noise of all levels."""
        reaches = self._reaches(self.pilot)
        within = np.max(reaches, axis=0) <= self.tolerance(self.pilot.price)
        scarce = np.argmax(reaches, axis=0), np.arange(reaches.shape[1])
        base, steps = (noise[scarce] for noise in self._noise_per_budget(self.pilot))
        with np.errstate(invalid="ignore"):
            share = np.where(within, STEPS_BUDGET, steps / (base + steps))
        return min(STEPS_BUDGET, max(LEAST_SHARE, float(np.nanmax(share, initial=0.0))))

    def _arithmetic(self):
        """Return the backend to use: the one asked for, or fp64 where that costs less."""
        resolved = resolve_backend(self.backend)
        if not resolved.fixed and is_binary64(resolved):
            return "fp64"
        pilot = self.pilot
        lost = rounding_variance(pilot, self.backend, self.seed)
        self.rounding_variance = lost
        variance = pilot.variances[pilot.n_steps]
        aim = self._aim(pilot)
        gain = mixed_gain(variance, lost, self.backend, pilot.n_steps, aim)
        coupling = float(np.max(lost / aim**2) / max(np.max(variance / aim**2), 1e-300))
        if coupling > LOST_COUPLING:
            self.notes.append(
                f"coupling is lost: paths in {resolved.name} are far from those in fp64, variance "
                f"of the difference over variance of the price {coupling:.2g} (above "
                f"{LOST_COUPLING}); quadratic_exponential_martingale loses least"
            )
        if gain > 1 or (not self.correction and math.isfinite(gain)):
            return self.backend
        self.notes.append(
            f"all paths in fp64: some in {resolved.name} left its range"
            if not math.isfinite(gain)
            else f"all paths in fp64: with those in {resolved.name}, modelled at "
            f"{step_cost(self.backend):g} of a step in fp64, and their correction the same would "
            f"cost {1 / gain:.2g} times as much"
        )
        return "fp64"

    def _measure_steps(self, n_steps):
        """Find steps, n_steps or more, whose differences leave room for the noise.

        Where the budget ends before that, the steps are those found so far.
        """
        paths = level.LEAST_PATHS
        self.steps = self._steps_level(n_steps)
        for _ in range(MOST_LOOKS):
            self._extend(self.steps, paths, self._steps_share())
            bias, aim = bias_of(self.steps), self._steps_aim(self.pilot)
            unclear = np.max(bias.factors * bias.deviations, axis=1) / (DECIDED * aim)
            if self._steps_exhausted:
                return
            coarse, times = bias.beyond(TOO_COARSE * aim, self.looks)
            self.looks += 1
            times = max(times, 1.1 * float(np.max(unclear)) ** 2)
            if coarse and self._may_shorten():
                n_steps *= 2
                self.given_up += self._used(self.steps)
                self.steps = self._steps_level(n_steps)
            elif times > 1.1:
                paths = np.clip(times, 1.5, 4.0) * self.steps.moments.paths
            else:
                return

    def _may_shorten(self):
        """Return whether there may be steps of half the length."""
        n_steps, spent = 2 * self.steps.n_steps, self.spent[1]
        return n_steps <= MOST_STEPS and self.budget.allows_levels(
            spent, n_steps, self.sampler.width
        )

    def _start_base(self):
        """Choose the steps of the base, and open its level and that of its rounding."""
        n_steps = self._base_steps()
        self.base = level.base_level(
            self.pilot.estimator, self.backend, n_steps, self.seed, self._base_cost(n_steps)
        )
        if self.backend != "fp64":
            cost = path_cost(self.backend, n_steps) + path_cost("fp64", n_steps)
            self.rounding = level.rounding_level(
                self.pilot.estimator, self.backend, n_steps, self.seed, cost
            )

    def _base_steps(self):
        """Return n, n/2 or n/4: the least modelled cost of the paths still needed."""
        n_steps, held = self.steps.n_steps, self.steps.moments.paths
        best, least = n_steps, math.inf
        for base_steps in (n_steps, n_steps // 2, n_steps // 4):
            variances = np.vstack([self._planned(base_steps), self._step_variance(base_steps)])
            costs = np.append(self._costs(base_steps), self.steps.cost)
            sizes = level_paths(variances, costs, self._noise_target())
            sizes = np.maximum(sizes, [*([level.LEAST_PATHS] * (len(sizes) - 1)), held])
            cost = float(np.sum(sizes * costs))
            if cost < 0.9 * least:
                best, least = base_steps, cost
        return best

    def _refine(self):
        """Add paths until the bound meets the tolerance or the budget ends; return the Bound."""
        variances = self._planned(self.base.n_steps)
        for _ in range(MOST_ROUNDS):
            planned = self._step_variance(self.base.n_steps)
            self._extend_steps(variances)
            if self._hopeless():
                variances = self._restart_with_shorter_steps()
                continue
            # few paths can miss those whose payments depend on the steps, and so nearly all of the
            # variance; the base may take all that is left
            larger = self._step_variance(self.base.n_steps) > CLEARLY_LARGER * planned
            if np.any(larger) and not self._steps_exhausted:
                continue
            self._add_paths(variances)
            bound = self._bound()
            missed = ~(bound.total <= self.tolerance(bound.price))
            if self.exhausted or np.all(self._beyond(self.pilot)[missed]):
                return bound
            if not np.all(np.isfinite(bound.price)):
                if self.backend == "fp64":
                    return bound
                variances = self._restart_in_binary64()
                continue
            if self._hopeless():
                variances = self._restart_with_shorter_steps()
                continue
            used = [one for one in (self.base, self.rounding) if one is not None]
            variances = np.stack([one.variance() for one in used])
        return self._bound()

    def _bound(self):
        """Return the Bound of the levels as they stand."""
        return self._measured()

    def _measured(self):
        """Return the Bound that the levels' means and variances make."""
        given = self.base, self.rounding, self.steps, self.risk, self.correction
        return bound_of(*given, self.rare)

    @property
    def beyond(self):
        """For which payoffs more paths would have been no use: see Rare.beyond."""
        return self._beyond(self.pilot)

    def _beyond(self, pilot):
        """Return for which payoffs the paths of the budget are no use: see Rare.beyond."""
        if self.rare is None:
            return np.zeros(len(self.sampler.payoffs), dtype=bool)
        price, variance = pilot.price, pilot.variances[pilot.n_steps]
        if self.base is not None and self.base.moments.groups > 1:
            price, variance = self._price_so_far(), self.base.variance()
        silent = self.rare.silent(price, variance)
        return self.rare.beyond(self.budget.paths, price, silent, self.tolerance)

    def _hopeless(self):
        """Return whether the differences of the steps, better known by now, leave no room, and
        the budget leaves some for shorter ones."""
        taken, _ = bias_of(self.steps).beyond(HOPELESS * self._steps_aim(self.pilot), self.looks)
        self.looks += 1
        early = np.all(self.spent < 0.5 * self.budget.total)
        return taken and early and self._may_shorten()

    def _restart_with_shorter_steps(self):
        """Give all levels up for steps of half the length; return the variances."""
        self.given_up += sum(map(self._used, self.levels))
        n_steps = 2 * self.steps.n_steps
        self.base = self.rounding = self.steps = None
        self._measure_steps(n_steps)
        self._start_base()
        return self._planned(self.base.n_steps)

    def _restart_in_binary64(self):
        """Give the cheap arithmetic up, whose range a path has left; return the variances."""
        self.notes.append(f"all paths in fp64: some in {self.base.backend} left its range")
        self.given_up += sum(map(self._used, (self.base, self.rounding)))
        self.backend, self.rounding = "fp64", None
        self._start_base()
        return self._planned(self.base.n_steps)

    def _add_paths(self, variances):
        """Extend the base and its rounding to the sizes that the bound still needs."""
        used = [one for one in (self.base, self.rounding) if one is not None]
        needed = self._noise_target()
        step_noise = self._step_variance(self.base.n_steps) / self.steps.moments.paths
        target = np.maximum(needed - step_noise, 0.1 * needed)
        sizes = self._sizes(variances, self.base.n_steps, target)
        rare = self._rare_paths(RARE_SHARE * self._quantile * np.sqrt(needed))
        # unseen payments are those that neither the base nor "steps" has seen enough of
        sizes[0] = max(sizes[0], min(rare, self.steps.moments.paths))
        growth = 4.0 if np.any(self.base.moments.mean == 0) else 1.2
        sizes[0] = max(sizes[0], growth * self.base.moments.paths)
        uses = [self._use(one.name, one.n_steps) for one in used]
        asked = sum(use * size for use, size in zip(uses, sizes, strict=True))
        room = self.budget.total - self.spent + sum(map(self._used, used))
        share = min(1.0, float(np.min(room / asked)))
        for one, size in zip(used, sizes, strict=True):
            self._extend(one, share * size, 1.0)

    def _extend_steps(self, variances):
        """Extend the level "steps", at most fourfold, to its share in the least cost of all levels.

        Args:
            variances: of a path of the base and of its rounding.
        """
        if self._steps_exhausted:
            return
        base_steps, held = self.base.n_steps, self.steps.moments.paths
        own, target = self._step_variance(base_steps), self._noise_target()
        costs = np.append(self._costs(base_steps), self.steps.cost)
        sizes = level_paths(np.vstack([variances, own]), costs, target)[:-1]
        sizes = np.maximum(sizes, max(level.LEAST_PATHS, self.base.moments.paths))
        others = np.sum(variances / sizes[:, None], axis=0)
        paths = np.max(own / np.maximum(target - others, 0.1 * target))
        paths = max(paths, self._rare_paths(RARE_SHARE * self._quantile * np.sqrt(target)))
        if paths > held:
            self._extend(self.steps, min(paths, 4.0 * held), self._steps_share())

    def _rare_paths(self, size):
        """Return the paths that payments too rare to be seen ask for, the budget at most.

        Args:
            size: that unseen payments may add, shape (n_payoffs,).
        """
        if self.rare is None:
            return 0.0
        paths = np.minimum(self.rare.needed(size), self.rare.known(self._price_so_far()))
        if np.max(paths) <= level.LEAST_PATHS:
            return 0.0
        return float(
            np.minimum(np.max(np.where(self._beyond(self.pilot), 0.0, paths)), self.budget.paths)
        )

    def _noise_target(self):
        """Return the largest variance of the interval with which the bound meets the tolerance."""
        aim = MARGIN * self._aim(self.pilot, self._price_so_far())
        room = np.maximum(aim - bias_of(self.steps).size(), 0.2 * aim)
        if not self.correction and self.rounding is not None and self.rounding.moments.groups:
            room = np.maximum(room - np.abs(self.rounding.moments.mean[:, 0]), 0.2 * aim)
        return np.maximum(room / self._quantile, 1e-150) ** 2

    def _planned(self, base_steps):
        """Return the variances of the base and of its rounding that the pilot found."""
        known = self.pilot.variances
        variance = known.get(base_steps, known[self.pilot.n_steps])
        return np.stack([variance] + [self.rounding_variance] * (self.backend != "fp64"))

    def _sizes(self, variances, base_steps, target):
        """Return the paths of base and rounding for a variance of their sum."""
        sizes = level_paths(variances, self._costs(base_steps), target)
        return np.maximum(sizes, level.LEAST_PATHS)

    def _costs(self, base_steps):
        """Return the modelled costs of a path of base and rounding."""
        base = self._base_cost(base_steps)
        if self.backend == "fp64":
            return np.array([base])
        return np.array([base, base + path_cost("fp64", base_steps)])

    def _base_cost(self, n_steps=None):
        """Return the modelled cost of a path of the base."""
        return path_cost(self.backend, n_steps or self.pilot.n_steps)

    def _step_variance(self, base_steps):
        """Return the variance that one path of the level "steps" brings into the interval."""
        bias, covariance = bias_of(self.steps), self.steps.moments.covariance()
        weights = step_weights(base_steps, self.steps.n_steps, bias.weight)
        return _largest_variance(covariance, bias, weights)

    @property
    def _quantile(self):
        """How many standard errors the interval is long to each side, with many paths."""
        return quantile(0.5 * self.risk, 1e6)

    def _steps_level(self, n_steps):
        """Return a new level of step differences."""
        return level.steps_level(self.pilot.estimator, n_steps, self.seed, coupled_cost(n_steps))

    def _price_so_far(self):
        """Return the best price there is."""
        if self.base is None or not self.base.moments.groups:
            return self.pilot.price
        return self._measured().price

    @property
    def _steps_exhausted(self):
        """Whether the level "steps" has used its share of the budget."""
        share = self._steps_share() * self.budget.total
        return self.exhausted or bool(np.any(self._used(self.steps) >= share))

    def _extend(self, one, paths, share):
        """Extend a level as far as its share of the budget allows, to LEAST_PATHS at least."""
        others = self.spent - self.given_up - self._used(one)
        room = share * (self.budget.total - self.given_up) - others
        paths = min(paths, float(np.min(room / self._use(one.name, one.n_steps))))
        one.extend(max(level.LEAST_PATHS, paths), self.threads, self.budget.deadline_of(one.name))


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
