"""Shares of prices within their stated bound: the bound's own test.

A case is priced with many seeds in each arithmetic. With N seeds a bound that holds with the stated
probability c covers the truth in at least c N - 3 sqrt(N c (1 - c)) of them, but once in a
thousand times. How tight it is: the mean bound over the width needed, which is the quantile c of
the errors' sizes.

Random models are priced once each, every one with a seed of its own, and counted by set
(bounds.random_cases). Where the truth has a standard error, the bound is widened by its
interval, in quadrature.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sciprec.foundation.arguments import at_least
from sciprec.foundation.errors import InputError
from sciprec.heston.bounds.pricing import price
from sciprec.heston.bounds.random_cases import RARE, random_case, set_names
from sciprec.heston.bounds.statistics import quantile
from sciprec.heston.options.european_payoffs import Call
from sciprec.heston.parameters import Model
from sciprec.heston.payoff_registry import Payoff
from sciprec.heston.semianalytic import analytic
from sciprec.heston.simulation.monitoring import payoff_tuple

CASES = (
    "andersen_1_K100",
    "andersen_2_K100",
    "andersen_3_r5_K100",
    "lewis_K100",
    "broadie_kaya_1",
    "broadie_kaya_2",
    "fang_oosterlee_T1",
    "benchop_S100",
    "smith_tse_wan",
)
BACKENDS = ("fp32", "mlu370", "fp16", "bf16")
DEVIATIONS = 3.0  # binomial standard errors by which the share may fall short by chance
WIDEST = 4.0  # mean bound over the width needed
IN_TURN = "in turn"  # the arithmetics of random models, where there are several
RANDOM_PATHS = 2**20  # that the price of a random model may take
EXACT = 0.15  # share of the tolerance that the error of a random model's truth may have
_PARAMETERS = ("spot", "v0", "kappa", "theta", "sigma", "rho", "rate", "dividend_yield")


@dataclass(frozen=True)
class PricedPayoff:
    """A payoff in a model, and its true price.

    Args:
        name: for people.
        model: a Model.
        payoff: a payoff.
        truth: in units of currency.
    """

    name: str
    model: Model
    payoff: Payoff
    truth: float


@dataclass(frozen=True)
class CoverageRow:
    """The results of the seeds of one case in one arithmetic.

    Attributes:
        case, backend: what was priced, and in which arithmetic.
        confidence: with which the bound was stated.
        n_seeds: prices.
        covered: of them with |price - truth| <= bound.
        required: the least number that passes.
        mean_bound, needed: mean bound, and quantile `confidence` of |price - truth|; over truth.
        mean_error: mean of price - truth over truth; three standard errors of it.
        met: prices whose bound met the tolerance.
        seconds: wall-clock of each price, summed.
        tight: whether the width counts: not where payments are rare.
    """

    case: str
    backend: str
    confidence: float
    n_seeds: int
    covered: int
    required: int
    mean_bound: float
    needed: float
    mean_error: float
    mean_error_interval: float
    met: int
    seconds: float
    tight: bool = True

    @property
    def share(self) -> float:
        """The share of the seeds that were covered."""
        return self.covered / self.n_seeds

    @property
    def width(self) -> float:
        """The mean bound over the width needed."""
        return self.mean_bound / self.needed if self.needed > 0 else math.inf

    @property
    def passed(self) -> bool:
        """Whether the bound holds often enough and, where that counts, is no wider than WIDEST."""
        return self.covered >= self.required and (self.width <= WIDEST or not self.tight)


def coverage(
    cases: Sequence[PricedPayoff | tuple[str, Model, Payoff]],
    *,
    backends: Sequence[str] = BACKENDS,
    n_seeds: int = 400,
    first_seed: int = 0,
    tolerance: float = 0.01,
    confidence: float = 0.95,
    threads: int = 1,
    progress: Callable[[CoverageRow], Any] | None = None,
    **options: Any,
) -> list[CoverageRow]:
    """Price every case with many seeds and count how often the bound covers the truth.

    Args:
        cases: Cases, see `reference_cases`, or (name, model, payoff) with a semi-analytic price.
        backends: names of arithmetics.
        n_seeds: integer of at least 2; seeds first_seed to first_seed + n_seeds - 1.
        tolerance: of the bound, relative to the price.
        confidence: with which the bound is stated.
        threads: prices that are made at a time.
        progress: None, or a function that is called with every CoverageRow.
        options: further arguments of sciprec.heston.price.

    Returns:
        A list of CoverageRows, by case and backend.

    Raises:
        InputError: no case, too few seeds, or an argument outside its domain.
    """
    cases_given = [_case(case) for case in cases]
    if not cases_given or not backends:
        raise InputError("no case or no backend was given; accepted: at least one of each")
    n_seeds = at_least("n_seeds", n_seeds, 2)
    rows = []
    for case in cases_given:
        for backend in backends:
            price_case = functools.partial(
                _priced, case, backend=backend, tolerance=tolerance, confidence=confidence,
                **options,
            )  # fmt: skip
            with ThreadPoolExecutor(threads) as pool:
                results = list(pool.map(price_case, range(first_seed, first_seed + n_seeds)))
            truths = np.full(n_seeds, case.truth)
            rows.append(coverage_row(case.name, backend, confidence, results, truths))
            if progress is not None:
                progress(rows[-1])
    return rows


def random_coverage(
    *,
    n_prices: int = 400,
    seed: int = 0,
    backends: Sequence[str] = BACKENDS,
    tolerance: float = 0.02,
    confidence: float = 0.95,
    threads: int = 1,
    progress: Callable[[CoverageRow], Any] | None = None,
    sets: Sequence[str] | None = None,
) -> list[CoverageRow]:
    """Price random models, each once, and count by set how often the bound covers the truth.

    Args:
        n_prices: of every set, an integer of at least 2.
        seed: of the sets: the same one draws the same models.
        backends: names of arithmetics, which take turns.
        tolerance, confidence: of the bounds.
        threads: prices that are made at a time.
        progress: None, or a function that is called with every CoverageRow.
        sets: some of sciprec.heston.bounds.random_cases.set_names(), or None: all.

    Returns:
        A list of CoverageRows, one for each set. Shares are of the price, of the spot where
        payments are rare.

    Raises:
        InputError: too few prices, no backend, an unknown set, or an argument outside its domain.
    """
    n_prices, names = at_least("n_prices", n_prices, 2), tuple(sets or set_names())
    if not backends:
        raise InputError("no backend was given; accepted: at least one")
    for unknown in set(names) - set(set_names()):
        raise InputError(f"unknown set {unknown!r}; accepted: {', '.join(set_names())}")
    rows = []
    for name in names:
        job = functools.partial(
            _random_price, name, seed, backends=backends, tolerance=tolerance, confidence=confidence
        )
        with ThreadPoolExecutor(threads) as pool:
            pairs = list(pool.map(job, range(n_prices)))
        cases, results = zip(*pairs, strict=True)
        truths, errors = (np.array([getattr(c, key) for c in cases]) for key in ("truth", "error"))
        backend = backends[0] if len(backends) == 1 else IN_TURN
        over = np.array([c.model.spot for c in cases]) if name == RARE else truths
        rows.append(
            coverage_row(
                name, backend, confidence, results, truths, errors, over=over, tight=name != RARE
            )
        )
        if progress is not None:
            progress(rows[-1])
    return rows


def _random_price(name, seed, number, *, backends, tolerance, confidence):
    """Return a random case and its PriceResult."""
    case = random_case(name, seed, number, exact=EXACT * tolerance)
    result = price(
        case.model, case.payoff, backend=backends[number % len(backends)], tolerance=tolerance,
        confidence=confidence, seed=case.seed, max_paths=RANDOM_PATHS,
    )  # fmt: skip
    return case, result


def _priced(case, seed, **options):
    """Return the PriceResult of a case and a seed."""
    return price(case.model, case.payoff, seed=seed, **options)


def coverage_row(
    case, backend, confidence, results, truths, deviations=0.0, *, over=None, tight=True
):
    """Return the CoverageRow of some PriceResults.

    Args:
        case, backend: for people.
        confidence: with which the bounds are stated.
        results: PriceResults.
        truths: true prices, shape (n,); deviations: their standard errors.
        over: what errors and bounds are divided by; the truths where this is None.
        tight: whether the width counts.
    """
    over = np.abs(truths if over is None else over)
    interval = quantile(0.5 * (1 - confidence), 1e6) * deviations
    errors = (np.array([result.price for result in results]) - truths) / over
    bounds = np.hypot([result.bound for result in results], interval) / over
    return CoverageRow(
        case=case,
        backend=backend,
        confidence=confidence,
        n_seeds=len(results),
        covered=int(np.count_nonzero(np.abs(errors) <= bounds)),
        required=least_covered(len(results), confidence),
        mean_bound=float(bounds.mean()),
        needed=float(np.quantile(np.abs(errors), confidence)),
        mean_error=float(errors.mean()),
        mean_error_interval=float(DEVIATIONS * errors.std(ddof=1) / math.sqrt(len(results))),
        met=sum(result.met for result in results),
        seconds=sum(result.seconds for result in results),
        tight=tight,
    )


def least_covered(n_seeds, confidence):
    """Return c N - 3 sqrt(N c (1 - c)), rounded up: the least number of covered prices."""
    spread = math.sqrt(n_seeds * confidence * (1 - confidence))
    return max(0, math.ceil(confidence * n_seeds - DEVIATIONS * spread))


def reference_cases(path: str | Path, names: Sequence[str] = CASES) -> list[PricedPayoff]:
    """Return Cases of calls from a file of reference prices such as data/heston/europeans.json.

    Args:
        path: of the file.
        names: of its cases.

    Raises:
        InputError: the file has no such case.
    """
    cases = {case["name"]: case for case in json.loads(Path(path).read_text())["cases"]}
    missing = [name for name in names if name not in cases]
    if missing:
        raise InputError(
            f"{path} has no case {', '.join(missing)}; accepted: {', '.join(sorted(cases))}"
        )
    return [
        PricedPayoff(
            name,
            Model(**{key: cases[name][key] for key in _PARAMETERS}),
            Call(strike=cases[name]["strike"], maturity=cases[name]["maturity_years"]),
            float(cases[name]["call"]),
        )
        for name in names
    ]


def _case(case):
    """Return a Case; its truth is the semi-analytic price where none is given."""
    if isinstance(case, PricedPayoff):
        return case
    name, model, payoff = case
    (payoff,) = payoff_tuple(payoff)
    return PricedPayoff(name, model, payoff, analytic.price(model, payoff))
