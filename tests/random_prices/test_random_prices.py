"""Noise does not shorten steps, lists cost no more than their parts, more work buys more."""

import numpy as np
import pytest

from sciprec import heston
from sciprec.heston.bounds.budget import Budget, timed_budget
from sciprec.heston.bounds.discretisation import NOISE_RISK, step_bias
from sciprec.heston.bounds.estimators import ConditionalSampler
from sciprec.heston.options.european_payoffs import Call
from sciprec.heston.options.path_payoffs import Barrier
from tests.heston.examples import LEWIS
from tests.random_prices.generator import ListCase, list_case
from tests.random_prices.survey import MOST_WORK, WORKS, beyond
from tests.random_prices.trials import by_work, priced

WEEKLY = [
    Barrier(strike=100, barrier=barrier, maturity=749 / 365, direction="down", knock="out",
            fixings=107)
    for barrier in (80, 85, 90)
]  # fmt: skip
KNOCKED_OUT_PUT = ListCase(
    1, "continuous barriers", LEWIS,
    (Barrier(strike=100, barrier=80, maturity=1.0, direction="down", knock="out", kind="put"),),
    0.01,
)  # fmt: skip


@pytest.mark.slow
def test_the_noise_of_three_barriers_leaves_their_steps_as_long_as_they_are():
    """Weekly fixings are dates of the grid; four steps a week went to 512, seed by seed."""
    given = {"tolerance": 0.04, "max_paths": 2**16}
    together = [heston.price(LEWIS, WEEKLY, seed=seed, **given) for seed in range(2)]
    assert [one.n_steps for one in together] == [4 * 107] * 2
    works = [one.work for one in together]
    assert max(works) < 3 * min(works)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 3, 100])
def test_noise_alone_is_seldom_taken_for_steps_that_are_too_long(rows):
    """In 500 pricings of up to ten looks each, whose differences are nothing but noise."""
    rng, wrong, deviations = np.random.default_rng(5), 0, np.ones((rows, 2))
    for _ in range(500):
        looks = (step_bias(rng.normal(size=(rows, 2)), deviations) for _ in range(10))
        wrong += any(bias.beyond(np.full(rows, 0.1), k)[0] for k, bias in enumerate(looks))
    assert wrong <= 500 * NOISE_RISK + 3 * np.sqrt(500 * NOISE_RISK)


def test_what_is_too_large_is_told_and_what_may_be_asks_for_paths():
    """One of three payoffs is four times what is accepted, by 10 and by 2 standard errors."""
    accepted, means = np.full(3, 1.0), np.array([[0.1, 0.2], [4.0, 1.0], [0.0, 0.1]])
    assert step_bias(means, np.full((3, 2), 0.4)).beyond(accepted, 0) == (True, 1.0)
    coarse, times = step_bias(means, np.full((3, 2), 2.0)).beyond(accepted, 0)
    assert not coarse and 2 < times < 4  # (z / 2)^2
    later = step_bias(means, np.full((3, 2), 2.0)).beyond(accepted, 9)[1]
    assert later > times  # doubt grows with the looks
    assert step_bias(means, np.full((3, 2), 0.4)).beyond(np.full(3, 5.0), 0) == (False, 1.0)


def test_time_is_a_budget_of_work():
    """As long as it is enough, a limit of time changes no bit, and no decision reads a clock."""
    option = Call(strike=100, maturity=1)
    given = {"tolerance": 0.002, "seed": 3}
    free = heston.price(LEWIS, option, **given)
    for seconds in (900, 1e308):  # more work than a number can hold
        limited = heston.price(LEWIS, option, max_seconds=seconds, **given)
        found = limited.price, limited.bound, limited.n_paths
        assert found == (free.price, free.bound, free.n_paths)
    sampler = ConditionalSampler(LEWIS, (option,), "quadratic_exponential_martingale")
    assert timed_budget(sampler, 4, "fp16", 0, 2**16, np.inf, 1).work == np.inf
    octaves = 4 * np.log2(timed_budget(sampler, 4, "fp16", 0, 2**16, 1e9, 1).work)
    assert octaves == pytest.approx(round(octaves), abs=1e-9)


def test_steps_that_the_work_cannot_pay_are_not_tried():
    budget = Budget(2**20, work=1e8)
    assert budget.allows_rung(2048, 0.0, 1024, 1) and not budget.allows_rung(2048, 0.0, 4096, 1)
    assert budget.allows_levels(0.0, 1024, 1) and not budget.allows_levels(4.5e7, 1024, 1)
    assert budget.allows_rung(2048, 1e7, 2**16, 1) is False
    assert Budget(2**20).allows_rung(2048, 1e30, 2**16, 1)


def test_payoffs_that_are_watched_at_other_dates_have_paths_of_their_own():
    """A list's prices are those of its sets alone, bit for bit, in the order of the list."""
    at = {"strike": 100, "maturity": 0.5}
    calls = [Call(**at), Call(strike=110, maturity=0.5)]
    weekly, ever = (
        Barrier(**at, barrier=80, direction="down", knock="out", fixings=fixings)
        for fixings in (26, None)
    )
    given = {"tolerance": 0.05, "max_paths": 2**16, "seed": 4}
    together = heston.price(LEWIS, [calls[0], weekly, ever, calls[1]], **given)
    alone = [heston.price(LEWIS, rows, **given) for rows in (calls, [ever], [weekly])]
    first, second, third = (list(one.price) for one in alone)
    assert list(together.price) == [first[0], *third, *second, first[1]]
    assert together.work == sum(one.work for one in alone)
    assert together.extrapolation[3] == alone[0].extrapolation[1]
    assert len(together.levels) == sum(len(one.levels) for one in alone)


@pytest.mark.parametrize("seed", [23, 29])
def test_a_mixed_list_costs_no_more_than_its_rows_alone(seed):
    """A digital beside a barrier took 1.4 times as long; five options on a common grid 2.2."""
    case = list_case(seed)
    together = priced(case, list(case.payoffs))
    assert together.work <= MOST_WORK * sum(priced(case, [one]).work for one in case.payoffs)


@pytest.mark.slow
@pytest.mark.parametrize("case", [KNOCKED_OUT_PUT, list_case(17)], ids=["ever", "weekly"])
def test_more_work_never_widens_the_bound_of_a_barrier(case):
    """Two puts that a barrier knocks out, watched continuously and weekly.

    The first had 0.017 in 3 s, 0.059 in 20 s. Of the second few paths show what its steps do: where
    the first 4096 had missed them, 0.0015 became 0.0024, as the base took the work that was left.
    """
    bounds = [by_work(case, work, seeds=2) for work in WORKS]
    assert not beyond({"bounds": bounds})
    assert bounds[-1] < 0.6 * bounds[0]
