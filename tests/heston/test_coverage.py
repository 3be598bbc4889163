"""The stated bound covers the truth as often as it says in every arithmetic, and is tight."""

import dataclasses
import itertools
import math
from pathlib import Path

import pytest

from sciprec import heston
from sciprec.foundation.errors import InputError
from sciprec.heston.bounds.bound_coverage import PricedPayoff, least_covered
from sciprec.heston.bounds.conditional import ConditionalSampler
from sciprec.heston.bounds.discretisation import MEMORY
from sciprec.heston.bounds.pilot import coarsest_steps
from sciprec.heston.bounds.random_cases import THIRDS, random_case, set_names, true_price
from sciprec.heston.options.catalogue import AsianArithmetic, Call
from tests.heston.examples import LEWIS

REFERENCES = Path(__file__).parents[2] / "data" / "heston" / "europeans.json"
QUICK = ("lewis_K100", "broadie_kaya_2", "andersen_3_r5_K100")
HEAVY = ("andersen_1_K100", "andersen_2_K100")


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
    rows = heston.coverage(cases, n_seeds=12, tolerance=0.01, threads=2, first_seed=1000)
    assert len(rows) == 12 and not failures(rows)
    assert all(row.met == row.n_seeds for row in rows)


@pytest.mark.slow
def test_bounds_cover_where_the_variance_stays_at_zero():
    cases = heston.reference_cases(REFERENCES, HEAVY)
    rows = heston.coverage(cases, backends=["fp32"], n_seeds=8, tolerance=0.03, threads=2)
    assert not failures(rows)


def test_a_wrong_truth_is_noticed():
    """The same prices cover no truth that is 3 % away."""
    (case,) = heston.reference_cases(REFERENCES, ["lewis_K100"])
    wrong = PricedPayoff(case.name, case.model, case.payoff, 1.03 * case.truth)
    (row,) = heston.coverage([wrong], backends=["fp32"], n_seeds=8)
    assert row.covered == 0 and not row.passed and row.share == 0


def test_threads_change_no_row():
    (case,) = heston.reference_cases(REFERENCES, ["lewis_K100"])
    one, three = (
        heston.coverage([case], backends=["bf16"], n_seeds=6, threads=n)[0] for n in (1, 3)
    )
    assert (one.covered, one.mean_bound, one.needed) == (
        three.covered, three.mean_bound, three.needed,
    )  # fmt: skip


def test_required_number():
    assert least_covered(400, 0.95) == 367  # 380 - 3 * 4.36
    assert least_covered(2, 0.5) == 0


def test_progress_sees_every_row():
    seen = []
    rows = heston.coverage(
        [("call", LEWIS, Call(strike=100, maturity=1))],
        backends=["fp32"], n_seeds=2, progress=seen.append,
    )  # fmt: skip
    assert seen == rows


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


def test_unknown_reference():
    with pytest.raises(InputError, match="has no case lewis_K101; accepted: andersen_1_K100"):
        heston.reference_cases(REFERENCES, ["lewis_K101"])


@pytest.mark.slow
def test_bounds_cover_with_fast_mean_reversion():
    """kappa T = 50: steps of half a year looked like second order by chance (17 of 24 held)."""
    model = dataclasses.replace(LEWIS, kappa=50.0)
    (row,) = heston.coverage(
        [("fast", model, Call(strike=100, maturity=1))],
        backends=["fp32"], n_seeds=24, tolerance=0.005,
    )  # fmt: skip
    assert row.passed and row.met == 24


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


@pytest.mark.slow
def test_random_models_are_drawn_again_and_span_their_range():
    drawn, again = (
        [random_case(name, 3, i, exact=1.0) for name in set_names() for i in range(3)]
        for _ in range(2)
    )
    assert drawn == again and len({case.seed for case in drawn}) == 12
    for k, (low, high) in enumerate(itertools.pairwise(THIRDS)):
        for case in drawn[3 * k : 3 * k + 3]:
            assert low <= case.model.kappa * case.payoff.maturity <= high


@pytest.mark.slow
def test_true_prices_of_arithmetic_asians(path_references):
    """The nearly exact scheme's difference from the geometric Asian agrees with a stored price."""
    model, payoff, price, error = path_references["fang_oosterlee_asian_arithmetic"]
    truth, deviation = true_price(model, payoff, 0.002, seed=1)
    assert abs(truth - price) <= 3 * deviation + 2 * error and 3 * deviation <= 0.002 * truth


@pytest.mark.parametrize(
    "given, message",
    [
        ({"n_prices": 1}, "n_prices is 1; accepted: an integer of at least 2"),
        ({"backends": ()}, "no backend was given; accepted: at least one"),
        ({"sets": ["all"]}, "unknown set 'all'; accepted: kappa T 0.006 to 0.378, "),
    ],
)
def test_bad_arguments_of_random_coverage(given, message):
    with pytest.raises(InputError, match=message):
        heston.random_coverage(**given)
