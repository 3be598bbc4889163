"""Peers price what we price; the benchmark measures every row it promises."""

import math

import pytest

import benchmarks as bench
from benchmarks import heston, heston_peers
from sciprec.heston.schemes.catalogue import schemes
from sciprec.heston.semianalytic import analytic
from tests.benchmarks.fits import fits, timed

CASES = pytest.mark.parametrize("case", sorted(heston.CASES))


@pytest.mark.parametrize("row", sorted(heston_peers.PRICES))
@CASES
def test_peers_price_the_same_option(case, row):
    function, module = heston_peers.PRICES[row]
    if heston_peers.missing(module):
        pytest.skip(heston_peers.missing(module))
    model, option = heston.CASES[case]
    price, error = function(model, option, 32, 2**13, 1)
    truth = analytic.price(model, option)
    assert 0 < error < 0.02 * truth
    assert abs(price - truth) < 4 * error + 0.005 * truth  # and the bias of 32 steps


@pytest.mark.parametrize("scheme", sorted(heston_peers.NUMPY))
def test_numpys_schemes_keep_the_martingale(scheme):
    model, option = heston.CASES["Lewis"]
    ratio = math.e ** heston_peers.NUMPY[scheme](model, option.maturity, 32, 5000, 1)
    assert abs(ratio.mean() - 1) < 4 * ratio.std() / math.sqrt(ratio.size)


@pytest.mark.parametrize("cores", [2, 16, 128])
def test_tables_fit_for_any_number_of_cores(cores):
    ratios = {"times_fp64": 0.123, "times_fp32": 0.123, "times_numpy": 25.6}
    kernels = [
        {"scheme": scheme, "case": case, "backend": backend, "threads": threads,
         "times_one_thread": 0.976 * threads, "million_path_steps_per_second": 1234.5, **ratios}
        for scheme, case in heston.KERNELS
        for backend in (*heston.BACKENDS, heston.NUMPY)
        for threads in (1, cores)
    ]  # fmt: skip
    assert fits(heston.tables({"kernels": kernels, "prices": []}))


def test_missing_peers_are_named():
    assert heston_peers.missing("numpy") == ""
    assert heston_peers.missing("no_such_package") == "no_such_package is not installed"


def test_names_are_registered():
    assert {scheme for scheme, _ in heston.KERNELS} | set(heston_peers.NUMPY) <= set(schemes())
    rows = {*heston.CONTENDERS, *heston_peers.PRICES}
    assert {heston.OURS, *heston.SCALED} <= rows
    for goal in heston.GOALS:
        known = {(s, b) for s, _ in heston.KERNELS for b in heston.BACKENDS}
        assert goal in (known if isinstance(goal, tuple) else rows)


def test_peers_that_are_not_there_are_rows_with_a_reason():
    done = {"case": "Lewis", "row": heston.OURS, "seconds": 1.0, "times_ours": 1.0, "scaled": False}
    same = done | {"row": "fp64, same estimator", "seconds": 1.5, "times_ours": 1.5}
    plain = done | {"row": "fp64, plain Monte Carlo", "seconds": 30.0, "times_ours": 30.0}
    skipped = {"case": "Lewis", "row": "PyFENG", "skipped": "pyfeng is not installed"}
    prices = [done, same, plain | {"scaled": True}, skipped]
    table, absent = heston.tables({"kernels": [], "prices": prices}).values()
    assert [row["arithmetic"] for row in table] == [entry["row"] for entry in prices[:3]]
    assert table[2]["seconds"] == "~30" and table[2]["precision's"] == "1.5"
    assert absent == [{"arithmetic": "PyFENG", "why": "pyfeng is not installed"}]


def test_plain_peers_are_rated_with_our_bound_too():
    """A peer with a quarter of our path steps a second needs four times our plain time."""
    plain = {"case": "Lewis", "row": heston.PLAIN, "seconds": 30.0, "times_ours": 30.0}
    numpy, quantlib = (
        {"case": "Lewis", "row": row, "seconds": 3.0, "times_ours": 3.0, "scaled": True}
        for row in heston_peers.PLAIN
    )
    numpy["million_path_steps_per_second"] = 20.0
    quantlib["skipped"] = "not there"
    kernel = {"case": "Lewis", "scheme": heston.QEM, "backend": "fp64", "threads": 1}
    kernels = [kernel | {"backend": "fp32", "million_path_steps_per_second": 500.0}]
    kernels += [kernel | {"million_path_steps_per_second": 80.0}]
    heston._with_the_same_bound([plain, numpy, quantlib], kernels)
    assert numpy["times_with_bound"] == pytest.approx(120.0)
    assert plain["times_with_bound"] == 30.0 and "times_with_bound" not in quantlib


@pytest.mark.slow
def test_small_benchmark_has_every_row(tmp_path, monkeypatch):
    """Of three arithmetics; the others only compile for longer."""
    monkeypatch.setattr(heston, "BACKENDS", heston.BACKENDS[:3])
    result = bench.run("heston", out=tmp_path / "bench.json", json=True, small=True)
    kernels = {(r["scheme"], r["case"], r["backend"]) for r in result["kernels"]}
    for scheme, case in heston.KERNELS:
        assert {(scheme, case, backend) for backend in heston.BACKENDS} <= kernels
    assert all(r["million_path_steps_per_second"] > 0 for r in result["kernels"])
    rows = {(r["case"], r["row"]) for r in result["prices"]}
    assert rows == {
        (case, row) for case in heston.CASES for row in (*heston.CONTENDERS, *heston_peers.PRICES)
    }
    tables = heston.tables(result)
    ours = len(heston.KERNELS) * len(heston.BACKENDS) + len(heston.CASES) * len(heston.CONTENDERS)
    assert timed(heston, result, ours)
    assert sum(map(len, tables.values())) == len(result["kernels"]) + len(result["prices"])
    assert fits(tables)
