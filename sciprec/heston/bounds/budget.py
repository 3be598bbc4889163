"""The budget of a pricing: simulated paths and, where time is limited, an amount of modelled work.

Work is counted in steps of binary64. How much of it the time allows is found once, before the
pilot, from the pace of a few paths; from then on no decision reads a clock, so that a seed gives
the same bits wherever the same amount was found. Amounts are rounded down to a quarter of an
octave: paces that differ by a few per cent usually give the same one. The clock ends what takes
longer than it was thought to.

Resources are pairs (simulated paths, work).
"""

import math
import time

import numpy as np

from sciprec.heston.bounds.levels import LEAST_PATHS, derived_seed
from sciprec.heston.bounds.mixed import coupled_cost, path_cost
from sciprec.heston.schemes.stages import is_binary64
from sciprec.heston.simulation.paths import Block
from sciprec.precision import resolve_backend

PACE_PATHS = 2048
PACE_TIMES = 3  # the quickest of these counts: others were disturbed
ANOTHER_THREAD = 0.7  # what each thread after the first adds to the pace
PILOT_SHARE = 0.15  # of the work, that the pilot may take
BEGIN_SHARE = 0.5  # of the work, that may be spent once all levels have their least paths
STEPS_SECONDS = 0.65  # share of the time for all but the base, whose share is set aside


class Budget:
    """The resources that a pricing may use.

    Args:
        paths: simulated paths of everything.
        deadline: of time.perf_counter; infinite without a limit of time.
        work: what that time allows, in steps of binary64.
        speed: how long a step of the cheap arithmetic takes, in those of binary64.

    Attributes:
        total: resources.
        steps_deadline: until when the base is not yet extended.
    """

    def __init__(self, paths, deadline=math.inf, work=math.inf, speed=1.0):
        self.paths, self.deadline, self.work, self.speed = paths, deadline, work, speed
        self.total = np.array([paths, work], dtype=float)
        now = time.perf_counter()
        self.steps_deadline = now + STEPS_SECONDS * (deadline - now)

    @property
    def late(self):
        """Whether the time is over."""
        return time.perf_counter() > self.deadline

    def deadline_of(self, name):
        """Return until when a level is extended."""
        return self.deadline if name in ("base", "rounding") else self.steps_deadline

    def use(self, name, n_steps, width, cheap):
        """Return the resources of a path of a level.

        Args:
            name: "base", "rounding", "steps" or "bumps".
            n_steps: of its longest paths.
            width: simulated paths for each path of the sampler.
            cheap: whether the base is in the cheap arithmetic.
        """
        exact, speed = path_cost("fp64", n_steps), self.speed if cheap else 1.0
        paths, work = {
            "base": (1, speed * exact),
            "rounding": (2, (1 + speed) * exact),
            "steps": (3, coupled_cost(n_steps)),
            "bumps": (2, 2 * exact),
        }[name]
        return width * np.array([paths, work])

    def allows_rung(self, n_paths, spent, n_steps, width):
        """Return whether the work allows a rung of the pilot.

        Args:
            n_paths: of the rung; spent: work so far; n_steps: of the rung; width: of the sampler.
        """
        return spent + rung_work(n_paths, n_steps, width) <= PILOT_SHARE * self.work

    def allows_levels(self, spent, n_steps, width):
        """Return whether the work allows the least paths of all levels, and leaves as much."""
        least = coupled_cost(n_steps) + (1 + self.speed) * path_cost("fp64", n_steps)
        return spent + LEAST_PATHS * width * least <= BEGIN_SHARE * self.work


def rung_work(n_paths, n_steps, width):
    """Return the work of a rung of the pilot."""
    return n_paths * width * (path_cost("fp64", n_steps) + coupled_cost(n_steps))


def timed_budget(sampler, n_steps, backend, seed, paths, deadline, threads):
    """Return the Budget of a pricing that has until `deadline`; what is finite is measured.

    Args:
        sampler: of payments.
        n_steps: of the paths that are timed.
        backend: the cheap arithmetic.
        seed: integer in [0, 2**64).
        paths, deadline: as of Budget.
        threads: blocks of paths that are simulated at a time.
    """
    if math.isinf(deadline):
        return Budget(paths)
    seed = derived_seed(seed, "pace")
    exact = _seconds(sampler, n_steps, "fp64", seed)
    resolved = resolve_backend(backend)
    plain = not resolved.fixed and is_binary64(resolved)
    cheap = exact if plain else _seconds(sampler, n_steps, backend, seed)
    pace = PACE_PATHS * sampler.width * path_cost("fp64", n_steps) / exact
    seconds = max(deadline - time.perf_counter(), 0.0) * (1 + ANOTHER_THREAD * (threads - 1))
    return Budget(paths, deadline, _rounded(max(pace * seconds, 1.0)), _rounded(cheap / exact))


def _seconds(sampler, n_steps, backend, seed):
    """Return how long PACE_PATHS paths take, at least, after those that may compile."""
    least = math.inf
    for number in range(1 + PACE_TIMES):
        start = time.perf_counter()
        sampler.raw(
            Block(0, PACE_PATHS), backend=backend, n_steps=n_steps, draws_per_step=1, seed=seed
        )
        if number:
            least = min(least, time.perf_counter() - start)
    return max(least, 1e-9)


def _rounded(amount):
    """Return the largest power of 2^(1/4) up to an amount; infinity of itself."""
    if math.isinf(amount):
        return amount
    return 2.0 ** (math.floor(4 * math.log2(amount)) / 4)
