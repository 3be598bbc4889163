"""Peers price what we price; the benchmark measures every row it promises."""

import math

import pytest

import benchmarks as bench
from benchmarks import heston, heston_peers
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


@pytest.mark.slow
def test_small_benchmark_has_every_row(tmp_path, monkeypatch):
    """Of two arithmetics; the others only compile for longer."""
    monkeypatch.setattr(heston, "BACKENDS", heston.BACKENDS[:2])
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
