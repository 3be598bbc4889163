"""The cost of a list beside its parts and with other seeds, and the gain of more work."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sciprec import heston
from sciprec.heston.bounds.budget import Budget
from sciprec.heston.bounds.plan import run
from sciprec.heston.bounds.pricing import PriceResult, pricing_of
from sciprec.heston.bounds.request import PricingRequest
from sciprec.heston.semianalytic import analytic
from tests.random_prices.generator import ListCase

MOST_PATHS = 2**18
SEEDS = 4


def priced(case: ListCase, payoffs: list, seed: int | None = None, **given) -> PriceResult:
    """Return the prices of some payoffs of a case."""
    given = {"tolerance": case.tolerance, "max_paths": MOST_PATHS} | given
    seed = case.seed if seed is None else seed
    return heston.price(case.model, payoffs, seed=seed, **given)


@dataclass(frozen=True)
class Trial:
    """The cost of a list.

    Attributes:
        steps: of the list over those of its worst row alone.
        work: of the list over the sum of its rows' alone.
        spread: the largest over the least work of the list with SEEDS seeds.
        met: whether the list meets its tolerance; alone: whether every row alone does.
        known, covered: rows of all seeds with a semi-analytic price, and those whose bound holds.
    """

    steps: float
    work: float
    spread: float
    met: bool
    alone: bool
    known: int
    covered: int


def trial(case: ListCase) -> Trial:
    """Price a list, its rows alone, and the list with other seeds."""
    rows = list(case.payoffs)
    together = [priced(case, rows, case.seed + 1000 * k) for k in range(SEEDS)]
    first, works = together[0], [one.work for one in together]
    alone = [priced(case, [payoff]) for payoff in rows]
    known = [k for k, payoff in enumerate(rows) if analytic.has_price(payoff)]
    truths = np.array([analytic.price(case.model, rows[k]) for k in known])
    held = [np.abs(one.price[known] - truths) <= one.bound[known] for one in together]
    return Trial(
        first.n_steps / max(one.n_steps for one in alone),
        first.work / sum(one.work for one in alone),
        max(works) / min(works), first.met, all(one.met for one in alone),
        SEEDS * len(known), int(np.sum(held)),
    )  # fmt: skip


def by_work(case: ListCase, work: float, seeds: int = SEEDS) -> float:
    """Return the mean bound of the first payoff with some seeds, where it is allowed an amount
    of work and misses its tolerance: what max_seconds asks for, without a clock."""
    return float(np.mean([_by_work(case, case.seed + 1000 * k, work) for k in range(seeds)]))


def _by_work(case: ListCase, seed: int, work: float) -> float:
    """Return the bound with one seed."""
    payoffs = case.payoffs[:1]
    request = PricingRequest.of(
        case.model, payoffs, backend="fp32", tolerance=1e-6, confidence=0.95, seed=seed,
        scheme="quadratic_exponential_martingale", max_paths=MOST_PATHS, max_seconds=None,
        compensation="correction", threads=1,
    )  # fmt: skip
    pricing = replace(pricing_of(request, [0]), budget=Budget(2**40, work=work))
    return float(run(pricing)[1].total[0])
