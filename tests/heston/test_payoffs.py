"""Payoffs: what they pay on given paths, their names, and their domains, a sentence each."""

import math
import re

import numpy as np
import pytest

from sciprec.foundation.errors import InputError
from sciprec.foundation.limits import PAYOFF
from sciprec.heston.parameters import Model
from sciprec.heston.payoff_registry import payoff_named, payoffs
from tests.heston.examples import Path

GOOD = {"strike": 100.0, "maturity": 1.0, "barrier": 90.0, "start": 0.5, "moneyness": 1.0}
NAMES = pytest.mark.parametrize("name", sorted(payoffs()))


def made(name, **change):
    """Return the payoff of a name with parameters from GOOD, changed."""
    entry = payoff_named(name)
    given = {key: GOOD[key] for key in entry.parameters if key in GOOD}
    if "fixings" in entry.parameters and "fixings" not in entry.optional:
        given["fixings"] = 4
    return entry(**given | change)


def paid(payoff, *spots):
    """Return the payments on paths that show these spots at the payoff's dates."""
    watch = payoff.observation
    dates = watch.dates
    assert len(dates) == len(spots) and dates[-1] == payoff.maturity
    assert all(early < late for early, late in zip(dates, dates[1:], strict=False))
    rows = watch.start(len(spots[0]))
    for k, (date, spot) in enumerate(zip(dates, spots, strict=True)):
        watch.observe(rows, k, Path(date, spot), None)
    return payoff.payment(rows).tolist()


@NAMES
def test_every_name_makes_a_payoff_of_that_name(name):
    payoff = made(name)
    assert payoff.name == name
    assert payoff == made(name) and hash(payoff) == hash(made(name))
    assert name.endswith("put") == (payoff.kind == "put")


@NAMES
def test_payoff_domain(name):
    entry = payoff_named(name)
    for field in set(entry.parameters) & set(GOOD):
        for bad, words in [
            (0.0, f"is 0.0; accepted: {PAYOFF[field].words}"),
            (-5.0, f"is -5.0; accepted: {PAYOFF[field].words}"),
            (math.nan, f"is nan; accepted: {PAYOFF[field].words}"),
            (1.1 * PAYOFF[field].most, f"accepted: {PAYOFF[field].words}"),
            ("100", f"is '100'; accepted: {PAYOFF[field].words}"),
        ]:
            with pytest.raises(InputError, match=f"{field} .*{re.escape(words)}"):
                made(name, **{field: bad})
    if "fixings" in entry.parameters:
        for bad in (0, -1, 2.5, True, "5", 10**7):
            with pytest.raises(InputError, match=r"fixings is .*; accepted: an integer from 1 to"):
                made(name, fixings=bad)


def test_europeans():
    spots = [80.0, 100.0, 130.0]
    assert paid(made("call"), spots) == [0.0, 0.0, 30.0]
    assert paid(made("put"), spots) == [20.0, 0.0, 0.0]
    assert paid(made("digital-call"), spots) == [0.0, 0.0, 1.0]
    assert paid(made("digital-put"), spots) == [1.0, 0.0, 0.0]
    assert paid(made("spot"), spots) == spots
    assert math.isnan(made("digital-put").at_maturity(math.nan))


def test_averages():
    spots = [[100.0, 64.0], [120.0, 64.0], [140.0, 125.0], [120.0, 125.0]]
    assert paid(made("asian-arithmetic"), *spots) == [20.0, 0.0]
    assert paid(made("asian-arithmetic-put"), *spots) == [0.0, 5.5]
    geometric = [(100.0 * 120 * 140 * 120) ** 0.25 - 90, math.sqrt(64 * 125.0) - 50]
    assert paid(made("asian-geometric", strike=90), *spots)[0] == pytest.approx(geometric[0])
    assert paid(made("asian-geometric", strike=50), *spots)[1] == pytest.approx(geometric[1])
    assert paid(made("asian-geometric-put"), *spots)[0] == 0.0


def test_lookbacks():
    spots = [[110.0, 95.0], [130.0, 90.0], [80.0, 85.0], [120.0, 88.0]]
    assert paid(made("lookback-fixed"), *spots) == [30.0, 0.0]
    assert paid(made("lookback-fixed-put"), *spots) == [20.0, 15.0]
    assert paid(made("lookback-floating"), *spots) == [40.0, 3.0]
    assert paid(made("lookback-floating-put"), *spots) == [10.0, 7.0]


def test_forward_start():
    assert paid(made("forward-start", moneyness=1.1), [100.0, 80.0], [120.0, 80.0]) == [
        pytest.approx(10.0),
        0.0,
    ]
    assert paid(made("forward-start-put", moneyness=1.0), [100.0, 80.0], [90.0, 81.0]) == [10, 0]
    with pytest.raises(InputError, match="start is 1.0 with maturity 1.0; accepted: a start befo"):
        made("forward-start", start=1.0)


def test_discrete_barriers():
    spots = [[110.0, 95.0], [80.0, 100.0], [120.0, 130.0]]
    given = {"fixings": 3, "barrier": 90.0}
    assert paid(made("barrier-down-out", **given), *spots) == [0.0, 30.0]
    assert paid(made("barrier-down-in", **given), *spots) == [20.0, 0.0]
    given = {"fixings": 3, "barrier": 125.0, "strike": 150.0}
    assert paid(made("barrier-up-out-put", **given), *spots) == [30.0, 0.0]
    assert paid(made("barrier-up-in-put", **given), *spots) == [0.0, 20.0]


@pytest.mark.slow
@pytest.mark.parametrize("direction, side", [("down", 1), ("up", -1)])
def test_a_continuous_barrier_is_met_as_a_brownian_bridge_meets_it(direction, side):
    """Against 1 - exp(-2 a b / w), and simulated bridges of 400 pieces, which meet it less often
    by the distance 0.5826 sqrt(w / 400) (Broadie, Glasserman and Kou 1997)."""
    a, b, w = 0.2, 0.1, 0.09
    ends = [math.exp(side * a), math.exp(side * b)]
    payoff = made(f"barrier-{direction}-out", barrier=1.0, strike=0.5)
    watch = payoff.observation
    rows = watch.start(4)
    start = Path(1.0, [ends[0], ends[0], 1.0, ends[0]], np.array([0.1, 0.1, 0.1, 0.0]))
    end = Path(1.5, [ends[1], 1 / ends[1], ends[1], ends[1]], np.array([0.26, 0.26, 0.26, 0.0]))
    watch.observe(rows, 1, end, start)
    survival = 1 - math.exp(-2 * a * b / w)
    assert rows[1].tolist() == pytest.approx([survival, 0.0, 0.0, 1.0], rel=1e-14)
    payment = np.maximum(end.spot - 0.5, 0.0)
    assert payoff.payment(rows).tolist() == pytest.approx(list(payment * rows[1]))
    inside = made(f"barrier-{direction}-in", barrier=1.0, strike=0.5).payment(rows)
    assert (inside + payoff.payment(rows)).tolist() == pytest.approx(list(payment))

    pieces, n_paths = 400, 20_000
    steps = np.random.default_rng(1).normal(0, math.sqrt(w / pieces), (n_paths, pieces))
    walk = steps.cumsum(axis=1)
    share = np.arange(1, pieces + 1) / pieces
    bridge = a + walk + share * (b - a - walk[:, -1:])
    alive = np.mean(bridge.min(axis=1) > 0.5826 * math.sqrt(w / pieces))
    assert abs(alive - survival) < 4 * math.sqrt(survival * (1 - survival) / n_paths)


def test_a_barrier_already_hit():
    model = Model(spot=100, v0=0.04, kappa=1, theta=0.04, sigma=0.5, rho=0)
    with pytest.raises(
        InputError, match="barrier is 100.0 with spot 100.0, already hit; accepted: a barrier below"
    ):
        made("barrier-down-in", barrier=100).check(model)
    with pytest.raises(InputError, match="a barrier above the spot for up-and-out"):
        made("barrier-up-out-put").check(model)
    made("barrier-down-in", barrier=99).check(model)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("put-down-out", "'barrier-down-out-put'"),
        ("call-down-out", "'barrier-down-out'"),
        ("down_and_out_put", "'barrier-down-out-put'"),
        ("put-asian", "'asian-arithmetic-put' or 'asian-geometric-put'"),
        ("geometric-asian", "'asian-geometric'"),
        ("lookback put", "'lookback-fixed-put' or 'lookback-floating-put'"),
        ("digital", "'digital-call'"),
        ("asian-aritmetic-put", "'asian-arithmetic-put'"),
    ],
)
def test_words_of_a_payoff_may_be_in_any_order(name, meant):
    with pytest.raises(InputError, match=re.escape(f"; did you mean {meant}?") + "$"):
        payoff_named(name)


@pytest.mark.parametrize("given", [{"strike": 1}, {"strike": 1, "maturity": 1, "barrier": 2}, {}])
def test_wrong_parameters(given):
    words = ", ".join(given) or "nothing"
    with pytest.raises(InputError, match=f"payoff 'call' was given {words}; accepted: strike, mat"):
        payoff_named("call")(**given)
