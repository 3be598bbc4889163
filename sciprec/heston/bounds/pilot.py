"""The pilot: few paths that fix the steps, the controls' coefficients and the variances.

Nothing of it enters the price: coefficients, by least squares of payments on controls, and sizes
are fixed before the paths that count are drawn, so that the means of those stay unbiased.
"""

import time
from dataclasses import dataclass, replace

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.heston.bounds.budget import Budget, rung_work, timed_budget
from sciprec.heston.bounds.discretisation import MEMORY, StepBias, step_bias
from sciprec.heston.bounds.levels import Estimator, Sampler, derived_seed, step_differences
from sciprec.heston.bounds.request import PricingRequest
from sciprec.heston.schemes.catalogue import scheme_named
from sciprec.heston.schemes.registry import Units
from sciprec.heston.simulation.monitoring import steps_for
from sciprec.heston.simulation.paths import Block

PATHS = 2048
MOST_STEPS = 2**16
ACCEPTED = 0.35  # share of the tolerance that the differences of the steps may take
NEGLIGIBLE = 1e-13  # singular values below this share of the largest one are no controls


@dataclass(frozen=True)
class Pilot:
    """The choices of the pilot run.

    Attributes:
        estimator: sampler and coefficients.
        n_steps: n; the coarser paths have n/2 and n/4 steps.
        price: shape (n_payoffs,), without extrapolation.
        variances: {steps: shape (n_payoffs,)} of one path with n, n/2 and n/4 steps.
        differences: covariance of one path's d_1 and d_2, shape (n_payoffs, 2, 2).
        bias: the StepBias of d_1 and d_2.
        n_paths: simulated paths; work: in steps of binary64.
        looks: how often the steps were judged.
    """

    estimator: Estimator
    n_steps: int
    price: np.ndarray
    variances: dict[int, np.ndarray]
    differences: np.ndarray
    bias: StepBias
    n_paths: int
    work: float
    looks: int


def run_pilot(sampler, aim, seed, budget):
    """Refine the steps until they are no longer clearly too long for the bound that is aimed at.

    Where the paths of a rung cannot tell, those of the level "steps" will: they count for the
    price, and cost less than a rung that noise asks for.

    Args:
        sampler: a Sampler.
        aim: a Pilot -> bounds (n_payoffs,).
        seed: integer in [0, 2**64).
        budget: a Budget.

    Returns:
        A Pilot.
    """
    n_steps, width = 4 * coarsest_steps(sampler), sampler.width
    seed, simulated, work, looks = derived_seed(seed, "pilot"), 0, 0.0, 0
    while True:
        pilot = _rung(sampler, n_steps, seed)
        simulated += pilot.n_paths * width
        work += rung_work(PATHS, n_steps, width)
        coarse, _ = pilot.bias.beyond(ACCEPTED * aim(pilot), looks)
        looks += 1
        if (
            not coarse
            or not np.all(np.isfinite(pilot.bias.size()))
            or 2 * n_steps > MOST_STEPS
            or not budget.allows_rung(PATHS, work, 2 * n_steps, width)
            or time.perf_counter() > budget.steps_deadline
        ):
            return replace(pilot, n_paths=simulated, work=work, looks=looks)
        n_steps *= 2


def budget_of(request: PricingRequest, sampler: Sampler, share: float = 1.0) -> Budget:
    """Return the Budget of what is asked for, in a share of the time that is left."""
    now = time.perf_counter()
    return timed_budget(
        sampler, coarsest_steps(sampler), request.backend, request.seed, request.max_paths,
        now + share * (request.deadline - now), request.threads,
    )  # fmt: skip


def coarsest_steps(sampler):
    """Return the least number of steps: one a year, every date on the grid, not too long.

    Too long is what the scheme refuses, or a step beyond the variance's memory (MEMORY, see
    sciprec.heston.bounds.discretisation), unless 4 n of it are more than MOST_STEPS.

    Raises:
        InputError: the scheme refuses any step.
    """
    longest = max(payoff.maturity for payoff in sampler.payoffs)
    n_steps = steps_for(sampler.payoffs, max(1, int(np.ceil(longest))))
    scheme = scheme_named(sampler.scheme)
    forgotten = sampler.model.kappa * longest / MEMORY
    while n_steps < forgotten and 8 * n_steps <= MOST_STEPS:
        n_steps *= 2
    while True:
        step_years = longest / n_steps
        try:
            scheme.constants(sampler.model, step_years, Units.of(sampler.model, step_years))
            return n_steps
        except InputError:
            if 2 * n_steps > MOST_STEPS:
                raise
            n_steps *= 2


def rounding_variance(pilot, backend, seed):
    """Return the variance of one path's price in binary64 less that in the backend.

    Returns:
        Shape (n_payoffs,); NaN where a path is not finite.
    """
    block, seed = Block(0, PATHS), derived_seed(seed, "pilot")
    exact, cheap = (
        pilot.estimator(block, backend=b, n_steps=pilot.n_steps, seed=seed)
        for b in ("fp64", backend)
    )
    with np.errstate(invalid="ignore", over="ignore"):
        return np.var(exact - cheap, axis=1)


def _rung(sampler, n_steps, seed):
    """Return the Pilot at n_steps."""
    block = Block(0, PATHS)
    values, controls = sampler.raw(
        block, backend="fp64", n_steps=n_steps, draws_per_step=1, seed=seed
    )
    estimator = Estimator(sampler, regress(values, controls, sampler.controls))
    differences, three = step_differences(estimator, block, n_steps, seed)
    with np.errstate(invalid="ignore", over="ignore"):
        covariance = np.stack([np.cov(both) for both in differences])
        means = differences.mean(axis=2)
        deviations = np.sqrt(np.einsum("kqq->kq", covariance) / PATHS)
        bias = step_bias(means, deviations)
        variances = {n_steps // r: np.var(y, axis=1) for r, y in zip((1, 2, 4), three, strict=True)}
    return Pilot(
        estimator, n_steps, three[0].mean(axis=1), variances, covariance, bias, 4 * PATHS, 0.0, 0
    )


def regress(values, controls, rows):
    """Return the coefficients b of least squares of values on controls, with an intercept.

    Fixed before the paths that they are used on are drawn, they leave the mean as it is.

    Args:
        values: shape (payoffs, paths); controls: shape (controls, paths).
        rows: per payoff the rows of the controls that may be used.

    Returns:
        Shape (payoffs, controls); zero where a path is not finite.
    """
    coefficients = np.zeros((len(values), len(controls)))
    for k, used in enumerate(rows):
        chosen = controls[used]
        if used and np.isfinite(chosen).all() and np.isfinite(values[k]).all():
            centred = chosen - chosen.mean(axis=1, keepdims=True)
            scale = np.maximum(np.sqrt(np.mean(centred**2, axis=1)), np.finfo(float).tiny)
            design = (centred / scale[:, None]).T
            right = values[k] - values[k].mean()
            solution = np.linalg.lstsq(design, right, rcond=NEGLIGIBLE)[0]
            coefficients[k, used] = solution / scale
    return coefficients
