"""The stated bound covers the truth as often as it says in every arithmetic, and is tight."""

import dataclasses
import math
from pathlib import Path

import pytest

from sciprec import heston
from sciprec.foundation.errors import InputError
from sciprec.heston.bounds.bound_coverage import PricedPayoff
from sciprec.heston.bounds.discretisation import MEMORY
from sciprec.heston.bounds.estimators import ConditionalSampler
from sciprec.heston.bounds.pilot import coarsest_steps
from sciprec.heston.bounds.random_cases import set_names
from sciprec.heston.options.european_payoffs import Call
from sciprec.heston.options.path_payoffs import AsianArithmetic
from tests.heston.examples import LEWIS

REFERENCES = Path(__file__).parents[2] / "data" / "heston" / "europeans.json"
QUICK, HEAVY = ("lewis_K100", "andersen_3_r5_K100"), ("andersen_1_K100",)


def failures(rows):
    """Return the rows that failed, in words."""
    return [
        f"{r.case} {r.backend}: {r.covered} of {r.n_seeds}, width {r.width:.2f}"
        for r in rows
        if not r.passed
    ]


@pytest.mark.slow
def test_bounds_cover():
    cases = heston.reference_cases(REFERENCES, QUICK)
    rows = heston.coverage(cases, n_seeds=10, tolerance=0.01, threads=2, first_seed=1000)
    assert len(rows) == 8 and not failures(rows)
    assert all(row.met == row.n_seeds for row in rows)


@pytest.mark.slow
def test_bounds_cover_where_the_variance_stays_at_zero():
    cases = heston.reference_cases(REFERENCES, HEAVY)
    rows = heston.coverage(cases, backends=["fp32"], n_seeds=8, tolerance=0.03, threads=2)
    assert not failures(rows)


def test_a_wrong_truth_is_noticed():
    """These prices cover no truth that is 3 % away."""
    (case,) = heston.reference_cases(REFERENCES, ["lewis_K100"])
    wrong = PricedPayoff(case.name, case.model, case.payoff, 1.03 * case.truth)
    (row,) = heston.coverage([wrong], backends=["fp32"], n_seeds=8)
    assert row.covered == 0 and not row.passed and row.share == 0


@pytest.mark.parametrize(
    "given, message",
    [
        ({"cases": []}, "no case or no backend was given; accepted: at least one of each"),
        ({"n_seeds": 1}, "n_seeds is 1; accepted: an integer of at least 2"),
        (
            {"cases": [("asian", LEWIS, AsianArithmetic(strike=1, maturity=1, fixings=2))]},
            "payoff 'asian-arithmetic' has no semi-analytic price",
        ),
    ],
)
def test_bad_arguments(given, message):
    cases = given.pop("cases", [("call", LEWIS, Call(strike=100, maturity=1))])
    with pytest.raises(InputError, match=message):
        heston.coverage(cases, **given)


@pytest.mark.slow
def test_bounds_cover_with_fast_mean_reversion():
    """kappa T = 50: steps of half a year looked like second order by chance (17 of 24 held)."""
    model = dataclasses.replace(LEWIS, kappa=50.0)
    (row,) = heston.coverage(
        [("fast", model, Call(strike=100, maturity=1))],
        backends=["fp32"], n_seeds=12, tolerance=0.005,
    )  # fmt: skip
    assert row.passed and row.met == 12


@pytest.mark.parametrize("kappa, maturity", [(0.5, 15.0), (4.0, 0.1), (50.0, 1.0), (100.0, 15.0)])
def test_no_step_is_longer_than_the_memory_of_the_variance(kappa, maturity):
    model = dataclasses.replace(LEWIS, kappa=kappa)
    sampler = ConditionalSampler(
        model, (Call(strike=100, maturity=maturity),), "quadratic_exponential_martingale"
    )
    n_steps = coarsest_steps(sampler)
    assert n_steps >= maturity and kappa * maturity / n_steps <= MEMORY
    assert n_steps == math.ceil(maturity) or kappa * maturity / (n_steps / 2) > MEMORY


@pytest.mark.slow
def test_bounds_of_random_models_cover():
    rows = heston.random_coverage(n_prices=6, seed=11, tolerance=0.05, threads=2)
    assert [row.case for row in rows] == list(set_names()) and not failures(rows)
    assert all(row.met == 6 for row in rows if row.tight)
