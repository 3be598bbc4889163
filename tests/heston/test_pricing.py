"""A price with its bound: holds, adds up, the same bits on any threads, says what it did."""

import dataclasses
import json
import tracemalloc

import numpy as np
import pytest

from sciprec import heston
from sciprec.foundation.errors import InputError
from sciprec.heston.bounds import plan
from sciprec.heston.bounds.pricing import _open_ends
from sciprec.heston.options.european_payoffs import Call, Digital, Put, Spot
from sciprec.heston.options.path_payoffs import AsianArithmetic, Barrier
from sciprec.heston.semianalytic import analytic, black
from tests.heston.examples import LEWIS

CALL = Call(strike=100, maturity=1)
LEAST = 2**16
ORDERED = ("bf16,round=sr", "fixed32")
"""Arithmetics in which results could depend on the order of calls."""


@pytest.fixture(scope="module")
def surface():
    """Return strikes and maturities of one surface, priced from one set of paths."""
    payoffs = [
        kind(strike=strike, maturity=maturity)
        for kind in (Call, Put)
        for strike in (80, 120)
        for maturity in (0.5, 1.0)
    ]
    payoffs += [Digital(strike=100, maturity=1.0), Spot(maturity=1.0)]
    return payoffs, heston.price(LEWIS, payoffs, backend="mlu370", tolerance=0.02, seed=6)


@pytest.mark.parametrize("backend", ["fp64", "fp32", "mlu370", "bf16"])
def test_bound_holds_in_every_arithmetic(backend):
    result = heston.price(LEWIS, CALL, backend=backend, tolerance=0.003, seed=1)
    assert result.met and result.bound <= 0.003 * result.price == result.tolerance
    assert abs(result.price - analytic.price(LEWIS, CALL)) <= result.bound
    parts = result.statistical + result.discretisation + result.rounding
    assert parts == pytest.approx(result.bound, rel=1e-12)
    names = ["base", "steps"] if backend == "fp64" else ["base", "rounding", "steps"]
    assert [row.level for row in result.levels] == names


def test_surface_from_one_set_of_paths(surface):
    payoffs, result = surface
    truths = np.array([analytic.price(LEWIS, payoff) for payoff in payoffs])
    assert result.met and np.all(np.abs(result.price - truths) <= result.bound)
    spot = payoffs[-1]
    assert result.price[-1] == pytest.approx(analytic.price(LEWIS, spot), abs=1e-9)


@pytest.mark.parametrize(
    "backend", ["fp16", *(pytest.param(b, marks=pytest.mark.slow) for b in ORDERED)]
)
def test_threads_change_no_bit(backend):
    given = {"backend": backend, "tolerance": 0.002, "seed": 3}
    one, three = (heston.price(LEWIS, CALL, threads=n, **given) for n in (1, 3))
    for field in dataclasses.fields(one):
        if field.name not in ("seconds", "levels"):
            assert getattr(one, field.name) == getattr(three, field.name)
    assert one.price != heston.price(LEWIS, CALL, **given | {"seed": 4}).price


def test_rounding_left_in_the_price_is_bounded():
    """Without correction in 8 bits the bound takes the measured error, and is missed."""
    given = {"backend": "bf16", "seed": 2, "max_paths": LEAST}
    left = heston.price(LEWIS, CALL, tolerance=1e-4, compensation="carry", **given)
    assert left.rounding >= abs(left.rounding_error) > 0
    assert abs(left.price - analytic.price(LEWIS, CALL)) <= left.bound
    removed = heston.price(LEWIS, CALL, tolerance=1e-4, **given)
    assert removed.rounding < abs(left.rounding_error) + left.rounding


def test_correction_removes_the_error_of_3_bits_and_says_that_the_coupling_is_lost():
    """The rounding error is larger than the bound that holds without it; the paths have little to
    do with those in binary64.
    """
    result = heston.price(LEWIS, CALL, backend="e5m2", tolerance=0.005, seed=1)
    assert result.met and [row.level for row in result.levels] == ["base", "rounding", "steps"]
    assert result.rounding_error > result.bound
    assert abs(result.price - analytic.price(LEWIS, CALL)) <= result.bound
    text = " ".join(result.sentences)
    assert "coupling is lost" in text and "above 0.01" in text


def test_path_dependent_prices(path_references):
    for name in ("fang_oosterlee_asian_arithmetic", "fang_oosterlee_asian_geometric"):
        model, payoff, price, error = path_references[name]
        result = heston.price(model, payoff, tolerance=0.005, seed=2)
        assert result.met and abs(result.price - price) <= result.bound + 2 * error
        assert "asian-geometric" in result.variance_reduction or "put" in result.variance_reduction


def test_a_missed_tolerance_is_said():
    result = heston.price(LEWIS, CALL, tolerance=1e-7, seed=2, max_paths=LEAST)
    assert not result.met and result.n_paths < 2 * LEAST
    assert abs(result.price - analytic.price(LEWIS, CALL)) <= result.bound
    assert "misses the tolerance 1.6" in result.sentences[-1]
    assert result.sentences[-1].endswith("allow more paths or a larger tolerance")


def test_paths_out_of_range_fall_back():
    """A format that ends at 2 holds no log spot: all paths run in binary64, and it says so."""
    result = heston.price(LEWIS, CALL, backend="float:p=8,emin=-6,emax=0", tolerance=0.02)
    assert "all paths in fp64" in result.sentences[0] and "left its range" in result.sentences[0]
    assert [row.level for row in result.levels] == ["base", "steps"] and result.met


def test_steps_that_prove_too_long_are_halved(references):
    """A seed whose first step differences look smaller than they are: all levels start again."""
    model, strike, maturity, call = references["smith_tse_wan"]
    option = Call(strike=strike, maturity=maturity)
    result = heston.price(model, option, tolerance=0.005, seed=335)
    assert result.met and result.n_steps == 32 and result.n_paths < 2**18
    assert result.n_paths > 2**16 + sum(row.n_paths for row in result.levels)
    assert abs(result.price - call) <= result.bound


def test_datasets(surface):
    payoffs, result = surface
    dataset = result.to_dataset()
    assert dataset.price.dims == ("payoff", "maturity", "strike", "backend")
    for k, payoff in enumerate(payoffs[:-1]):
        cell = dataset.bound.sel(
            payoff=payoff.name, maturity=payoff.maturity, strike=payoff.strike, backend="mlu370"
        )
        assert float(cell) == result.bound[k]
    assert int(dataset.price.notnull().sum()) == len(payoffs)
    assert [row["level"] for row in json.loads(dataset.attrs["levels"])][0] == "base"
    assert dataset.attrs["tolerance_met"] == 1


def test_estimators_agree():
    """The spot integrated out, controls alone, and nothing: three ways to one price."""
    truth = analytic.price(LEWIS, CALL)
    seen = set()
    for choice in ("conditional", "control", "none"):
        result = heston.price(LEWIS, CALL, tolerance=0.02, seed=7, variance_reduction=choice)
        assert abs(result.price - truth) <= result.bound
        seen.add(result.variance_reduction)
    assert len(seen) == 3


def test_a_tolerance_in_per_cent_is_the_share_and_rows_are_a_table():
    given = [Call(100, 1.0), Put(90, 0.5), Digital(100, 1.0, "put")]
    result = heston.price(LEWIS, given, tolerance=" 5 %", seed=3)
    share = heston.price(LEWIS, given, tolerance=0.05, seed=3)
    assert np.array_equal(result.price, share.price)
    frame = result.to_dataframe()
    assert frame.price.tolist() == result.price.tolist()
    assert frame.strike.tolist() == [100, 90, 100] and frame.maturity.tolist() == [1.0, 0.5, 1.0]
    years, kinds = np.array([1.0, 0.5]), ["call", "put"]
    forward, discount = ([of(one) for one in years] for of in (LEWIS.forward, LEWIS.discount))
    how = (forward, [100.0, 90.0], years, discount, kinds)
    for name, side in (("_low", -1), ("", 0), ("_high", 1)):
        prices = (frame.price + side * frame.bound)[:2]
        column = frame[f"implied_volatility{name}"]
        again = black.implied_volatility(prices, *how)
        assert column[:2].tolist() == again.tolist() and np.isnan(column[2])
    greeks = heston.greeks(LEWIS, given[0], tolerance="20%").to_dataframe()
    assert set(greeks.greek) >= {"delta", "gamma"} and (greeks.bound > 0).all()


def test_intervals_of_volatilities_may_be_open():
    """Below where the intrinsic value is within the bound, above where the largest price is."""
    result = heston.price(LEWIS, [Call(20.0, 0.1), Call(100.0, 1.0)], tolerance="1%", seed=3)
    assert np.isnan(result.implied_volatility_low).tolist() == [True, False]
    assert np.isfinite(result.implied_volatility_high).all()
    assert result.sentences[-1] == (
        "the interval of implied volatilities of the call at strike 20 and maturity 0.1 has no "
        "lower end: the price less its bound does not exceed the intrinsic value"
    )
    ends = np.array([0.5, np.nan]), np.array([np.nan, np.nan])
    given = [Call(100.0, 1.0), Put(90.0, 0.5)]
    assert [words.partition(" has no ")[0] for words in _open_ends(given, *ends)] == [
        "the interval of implied volatilities of the put at strike 90 and maturity 0.5",
        "the interval of implied volatilities of 2 of 2 payoffs",
    ]


def test_options_by_place_are_those_by_name():
    assert Call(100, 1.0) == Call(strike=100, maturity=1.0)
    assert Spot(2.0) == Spot(maturity=2.0)
    assert AsianArithmetic(90, 1.0, 12) == AsianArithmetic(strike=90, maturity=1.0, fixings=12)
    assert heston.ForwardStart(0.5, 1.0) == heston.ForwardStart(start=0.5, maturity=1.0)
    assert heston.LookbackFloating(1.0, 4) == heston.LookbackFloating(maturity=1.0, fixings=4)
    with pytest.raises(TypeError, match="positional"):
        Barrier(100, 90, 1.0, "down", "out")


@pytest.mark.parametrize(
    "change, message",
    [
        ({"tolerance": 0}, "tolerance is 0; accepted: a share > 0, at most 1"),
        ({"tolerance": float("nan")}, "tolerance is nan; accepted: a share > 0"),
        ({"tolerance": "1.5 %%"}, "tolerance is '1.5 %%'; accepted: a share > 0, at most 1, such"),
        ({"tolerance": "200%"}, "tolerance is 2.0; accepted: a share > 0, at most 1"),
        ({"tolerance": "5%", "relative": False}, "tolerance is '5%'; accepted: an amount > 0"),
        ({"confidence": 1}, "confidence is 1; accepted: a probability above 0 and below 1, such"),
        ({"confidence": 0}, "confidence is 0; accepted: a probability above 0 and below 1"),
        ({"scheme": "milstein"}, "unknown scheme 'milstein'; known:"),
        ({"scheme": "gamma_expansion"}, "paths of different steps have nothing in common"),
        ({"backend": "bf61"}, "unknown backend 'bf61'"),
        ({"seed": -1}, r"seed is -1; accepted: an integer from 0 to 2\*\*64 - 1"),
        ({"max_paths": 10}, "max_paths is 10; accepted: an integer from 65536 to"),
        ({"max_seconds": 0}, "max_seconds is 0; accepted: a number of seconds > 0"),
        ({"threads": 0}, "threads is 0; accepted: an integer from 1 to"),
        ({"compensation": "carri"}, "known: none, carry, correction; did you mean 'carry'"),
        ({"compensation": True}, "unknown compensation True; known: none, carry, correction"),
        ({"payoffs": 100}, "payoff is 100; accepted: a payoff such as Call"),
        ({"variance_reduction": "all"}, "unknown variance_reduction 'all'; known: auto,"),
        ({"payoffs": []}, "no payoff was given"),
        ({"payoffs": AsianArithmetic(strike=1, maturity=1, fixings=2),
          "variance_reduction": "conditional"},
         "variance_reduction is 'conditional' with asian-arithmetic"),
        ({"payoffs": Barrier(strike=1, maturity=1, barrier=101, direction="down", knock="in")},
         "already hit"),
    ],
)  # fmt: skip
def test_bad_arguments(change, message):
    with pytest.raises(InputError, match=message):
        heston.price(LEWIS, change.pop("payoffs", CALL), **change)


def test_antithetic_pairs(path_references):
    """The mean of a pair varies less than half as much as a path, and the bound holds."""
    model, payoff, price, error = path_references["fang_oosterlee_asian_geometric"]
    pairs, single = (
        heston.price(model, payoff, tolerance=0.01, seed=4, variance_reduction=choice)
        for choice in ("antithetic", "control")
    )
    assert pairs.variance_reduction == single.variance_reduction + ", antithetic pairs"
    assert pairs.levels[0].variance < 0.5 * single.levels[0].variance
    for result in (pairs, single):
        assert result.met and abs(result.price - price) <= result.bound + 2 * error


def test_a_path_out_of_range_after_the_pilot(monkeypatch):
    """Where the pilot's paths stay in range but later ones leave it, all are done in binary64."""
    monkeypatch.setattr(plan, "rounding_variance", lambda *_: np.array([1e-9]))
    result = heston.price(LEWIS, CALL, backend="float:p=8,emin=-6,emax=0", tolerance=0.01, seed=1)
    assert result.met and [row.level for row in result.levels] == ["base", "steps"]
    assert "all paths in fp64: some in float:p=8" in result.sentences[-1]
    assert abs(result.price - analytic.price(LEWIS, CALL)) <= result.bound


@pytest.mark.parametrize("change", [{"rho": 0.5}, {"rho": 1.0}, {"rho": -1.0}, {"v0": 0.0}])
def test_edges_of_the_domain(change):
    model = dataclasses.replace(LEWIS, **change)
    result = heston.price(model, CALL, tolerance=0.01, seed=3)
    assert result.met and abs(result.price - analytic.price(model, CALL)) <= result.bound


def test_memory_does_not_grow_with_the_paths():
    def peak(max_paths):
        heston.price(LEWIS, CALL, tolerance=0.1)  # compiles
        tracemalloc.start()
        result = heston.price(LEWIS, CALL, tolerance=1e-7, max_paths=max_paths, seed=1)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most, result.n_paths

    (small, few), (large, many) = peak(2**16), peak(2**19)
    assert many > 6 * few and large < 1.1 * small
