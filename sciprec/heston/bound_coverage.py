"""How often the stated bound covers the true price: the bound's own test.

A case is priced with many seeds in each arithmetic. With N seeds a bound that holds with the stated
probability c covers the truth in at least c N - 3 sqrt(N c (1 - c)) of them, but once in a
thousand times. How tight it is: the mean bound over the width needed, which is the quantile c of
the errors' sizes.
"""

import functools
import json
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sciprec.errors import InputError
from sciprec.heston import analytic
from sciprec.heston.model import Model
from sciprec.heston.monitoring import payoff_tuple
from sciprec.heston.payoffs import Call
from sciprec.heston.pricing import price

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
_PARAMETERS = ("spot", "v0", "kappa", "theta", "sigma", "rho", "rate", "dividend_yield")


@dataclass(frozen=True)
class Case:
    """A payoff in a model, and its true price.

    Args:
        name: for people.
        model: a Model.
        payoff: a payoff.
        truth: in units of currency.
    """

    name: str
    model: Model
    payoff: object
    truth: float


@dataclass(frozen=True)
class CoverageRow:
    """What the seeds of one case in one arithmetic have shown.

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

    @property
    def share(self):
        """The share of the seeds that were covered."""
        return self.covered / self.n_seeds

    @property
    def width(self):
        """The mean bound over the width needed."""
        return self.mean_bound / self.needed if self.needed > 0 else math.inf

    @property
    def passed(self):
        """Whether the bound holds often enough and is no wider than WIDEST."""
        return self.covered >= self.required and self.width <= WIDEST


def coverage(
    cases,
    *,
    backends=BACKENDS,
    n_seeds=400,
    first_seed=0,
    tolerance=0.01,
    confidence=0.95,
    n_threads=1,
    progress=None,
    **options,
):
    """Price every case with many seeds and count how often the bound covers the truth.

    Args:
        cases: Cases, see `reference_cases`, or (name, model, payoff) with a semi-analytic price.
        backends: names of arithmetics.
        n_seeds: integer of at least 2; seeds first_seed to first_seed + n_seeds - 1.
        tolerance: of the bound, relative to the price.
        confidence: with which the bound is stated.
        n_threads: prices that are made at a time.
        progress: None, or a function that is called with every CoverageRow.
        options: further arguments of sciprec.heston.price.

    Returns:
        A list of CoverageRows, by case and backend.

    Raises:
        InputError: no case, too few seeds, or an argument outside its domain.
    """
    cases = [_case(case) for case in cases]
    if not cases or not backends:
        raise InputError("no case or no backend was given; accepted: at least one of each")
    if isinstance(n_seeds, bool) or not hasattr(n_seeds, "__index__") or n_seeds < 2:
        raise InputError(f"n_seeds is {n_seeds!r}; accepted: an integer of at least 2")
    rows = []
    for case in cases:
        for backend in backends:
            one = functools.partial(
                _priced, case, backend=backend, tolerance=tolerance, confidence=confidence,
                **options,
            )  # fmt: skip
            with ThreadPoolExecutor(n_threads) as pool:
                results = list(pool.map(one, range(first_seed, first_seed + int(n_seeds))))
            rows.append(coverage_row(case, backend, confidence, results))
            if progress is not None:
                progress(rows[-1])
    return rows


def _priced(case, seed, **options):
    """Return the PriceResult of a case and a seed."""
    return price(case.model, case.payoff, seed=seed, **options)


def coverage_row(case, backend, confidence, results):
    """Return the CoverageRow of the PriceResults of one case and arithmetic."""
    errors = np.array([result.price - case.truth for result in results]) / abs(case.truth)
    bounds = np.array([result.bound for result in results]) / abs(case.truth)
    return CoverageRow(
        case=case.name,
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
    )


def least_covered(n_seeds, confidence):
    """Return c N - 3 sqrt(N c (1 - c)), rounded up: the least number of covered prices."""
    spread = math.sqrt(n_seeds * confidence * (1 - confidence))
    return max(0, math.ceil(confidence * n_seeds - DEVIATIONS * spread))


def reference_cases(path, names=CASES):
    """Return Cases of calls from a file of reference prices such as data/heston/europeans.json.

    Args:
        path: of the file.
        names: of its cases.

    Raises:
        InputError: the file has no such case.
    """
    known = {case["name"]: case for case in json.loads(Path(path).read_text())["cases"]}
    missing = [name for name in names if name not in known]
    if missing:
        raise InputError(
            f"{path} has no case {', '.join(missing)}; accepted: {', '.join(sorted(known))}"
        )
    return [
        Case(
            name,
            Model(**{key: known[name][key] for key in _PARAMETERS}),
            Call(strike=known[name]["strike"], maturity=known[name]["maturity_years"]),
            float(known[name]["call"]),
        )
        for name in names
    ]


def _case(given):
    """Return a Case; its truth is the semi-analytic price where none is given."""
    if isinstance(given, Case):
        return given
    name, model, payoff = given
    (payoff,) = payoff_tuple(payoff)
    return Case(name, model, payoff, analytic.price(model, payoff))
