"""The benchmark of comparisons has its rows, and its contenders agree on what they share."""

import json

import pytest

import benchmarks as bench
from benchmarks import comparison as compare
from tests.benchmarks.fits import fits, timed


def test_small_benchmark_has_every_row(tmp_path, capsys):
    out = tmp_path / "bench.json"
    bench.run("compare", out=out, small=True)
    stored = json.loads(out.read_text())
    assert [case["tool"] for case in stored["cases"]] == list(compare.contenders())
    assert all(case["seconds"] > 0 and case["pairs"] == 16_000 for case in stored["cases"])
    assert timed(compare, stored, 1)
    printed = capsys.readouterr().out
    assert compare.TITLE in printed and "numpy.testing.assert_allclose" in printed
    assert fits(compare.tables(stored))


def test_the_contenders_compute_the_same():
    golden, actual = compare._arrays(16_000)
    found, plain = compare._ours(golden, actual), compare._numpy(golden, actual)
    largest, mean, rms, bias, relative, percentiles, correlation = plain
    assert (found.absolute["max"], found.relative["max"]) == (largest, relative)
    assert found.absolute["mean"] == pytest.approx(mean, rel=1e-12)
    assert found.absolute["rms"] == pytest.approx(rms, rel=1e-12)
    assert found.absolute["bias"] == pytest.approx(bias, rel=1e-9, abs=1e-12 * rms)
    assert found.correlation == pytest.approx(correlation, rel=1e-12)
    for numbers, expected in zip((found.absolute, found.relative), percentiles, strict=True):
        for percent, value in zip((50, 90, 95, 99), expected, strict=True):
            assert numbers[f"p{percent}"] == pytest.approx(value, rel=0.01)
