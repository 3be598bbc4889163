"""The benchmark runs, writes its file, and measures every row it promises."""

import ctypes.util
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import benchmarks as bench
from benchmarks import (
    compensation,
    fixed,
    kernels,
    mixed,
    monitoring_cost,
    pairs,
    peers,
    precision,
    start,
    traced,
)
from benchmarks.__main__ import main
from sciprec import InputError, quantize
from sciprec.cli.exit_codes import USAGE
from sciprec.precision import lift, resolve_backend
from tests.benchmarks.fits import fits, timed


@pytest.mark.slow
def test_small_benchmark_has_every_row(tmp_path, capsys, monkeypatch):
    """Of arithmetics that are each rounded in another way; the others only compile for longer."""
    chosen = ("fp32", "mlu370", "bf16")
    assert set(chosen) <= set(precision.BACKENDS)
    for table in ("BACKENDS", "GOALS"):
        kept = {row: value for row, value in getattr(precision, table).items() if row in chosen}
        monkeypatch.setattr(precision, table, kept)
    out = tmp_path / "bench.json"
    bench.run("precision", out=out, json=True, small=True)
    printed, stored = json.loads(capsys.readouterr().out), json.loads(out.read_text())
    assert printed == stored and len(stored["cases"]) == len(precision.cases(True))
    for case in stored["cases"]:
        measured = {(r["row"], r["column"]) for r in case["ratios"]}
        assert {(row, c) for row in precision.BACKENDS for c in ("trusted", "rounded")} <= measured
        assert all(r["ratio"] >= r["least"] >= 0 for r in case["ratios"])
    ours = {row: count for row, count in stored["wrong"].items() if row in precision.BACKENDS}
    assert ours == {"bf16": 0} and stored["wrong"]["NumPy float16"] == 0
    assert stored["absent"] == peers.absent()
    tables = precision.tables(stored)
    assert timed(precision, stored, 2 * len(chosen) * len(stored["cases"]))
    assert {row["arithmetic"] for row in tables[precision.TITLE]} >= set(precision.BACKENDS)
    assert fits(tables)


@pytest.mark.slow
def test_small_benchmark_of_a_monitor(tmp_path, capsys):
    bench.run("monitor", out=tmp_path / "bench.json", small=True)
    assert "Cost of a monitor" in capsys.readouterr().out
    stored = json.loads((tmp_path / "bench.json").read_text())
    (row,) = stored["cases"]
    assert timed(monitoring_cost, stored, 2 + 2 * len(stored["lost"]))
    assert row["look_ms"] > 0 and row["share"] > 0


@pytest.mark.slow
def test_small_benchmark_of_mixtures(tmp_path):
    """Both runs of "faster on this processor" in one, a kernel, and a model with a table."""
    stored = bench.run("mixed", out=tmp_path / "bench.json", small=True)
    assert stored == json.loads((tmp_path / "bench.json").read_text())
    found = mixed.tables(stored)
    faster, forms, from_a_table = found.values()
    assert [(row["run"], row["policy"]) for row in faster] == [
        ("case 5, T42", "O2"), ("Heston, Euler", "O1")
    ]  # fmt: skip
    assert all(0.0 < one["errors"]["policy"] < one["errors"]["fp32"] for one in stored["faster"])
    assert len(forms) == 1 and len(from_a_table) == 5 and fits(found)
    assert all(row["most"] >= row["median"] > 0.0 for row in from_a_table)
    assert timed(mixed, stored, 6 + 5 + 5)


@pytest.mark.slow
def test_small_benchmark_of_matrix_products(tmp_path, capsys):
    """Every row is there, with the error that its number of bits leads to expect."""
    out = tmp_path / "bench.json"
    bench.run("fixed", out=out, small=True)
    stored, printed = json.loads(out.read_text()), capsys.readouterr().out
    assert fixed.TITLE in printed and all(row in printed for row in fixed.ROWS)
    assert [case["size"] for case in stored["cases"]] == list(fixed.sizes(True))
    for case in stored["cases"]:
        assert [entry["row"] for entry in case["rows"]] == list(fixed.ROWS)
        for entry in case["rows"]:
            bits = {"fp32": 24, "fp64": 53, "int8": 6, "int16": 12, "int32": 25}
            unit = 2.0 ** -bits[entry["row"].split(",")[0]]
            assert entry["ratio"] > 0 and entry["error"] < case["size"] * unit
    (rows,) = fixed.tables(stored).values()
    assert timed(fixed, stored, len(fixed.ROWS) * len(fixed.sizes(True)))
    assert len(rows) == len(fixed.ROWS) + 1 and fits(fixed.tables(stored))


@pytest.mark.slow
def test_small_benchmark_of_compensation(tmp_path, capsys):
    out = tmp_path / "bench.json"
    bench.run("compensation", out=out, small=True)
    stored = json.loads(out.read_text())
    found = [(case["case"], case["backend"]) for case in stored["cases"]]
    assert found == [(c.name, b) for c in compensation.CASES for b in compensation.BACKENDS]
    assert all(case["ratio"] > 0 for case in stored["cases"])
    assert timed(compensation, stored, len(found))
    printed = capsys.readouterr().out
    assert compensation.TITLE in printed and all(c.name in printed for c in compensation.CASES)


@pytest.mark.slow
def test_small_benchmark_of_traces(tmp_path, capsys):
    bench.run("trace", out=tmp_path / "bench.json", small=True)
    stored = json.loads((tmp_path / "bench.json").read_text())
    seconds = stored["cases"][0]["seconds"]
    assert set(seconds) == {"native", "lifted", "twin", *map(str, traced.LANES)}
    assert traced.TITLE in capsys.readouterr().out
    rows = traced.tables(stored)[traced.TITLE]
    assert timed(traced, stored, 2 + len(traced.LANES))
    assert rows[-1]["8"] == traced.GOALS[8] and fits(traced.tables(stored))


@pytest.mark.slow
def test_small_benchmark_of_pairs(tmp_path, capsys):
    bench.run("pairs", out=tmp_path / "bench.json", small=True)
    stored = json.loads((tmp_path / "bench.json").read_text())
    rows = pairs.tables(stored)[pairs.TITLE]
    assert [r["kernel"] for r in rows[:-1]] == list(pairs.cases(True))
    assert pairs.TITLE in capsys.readouterr().out
    assert timed(pairs, stored, 3 * len(pairs.cases(True)))
    assert rows[-1]["dd, the run"] == pairs.GOAL and fits(pairs.tables(stored))


def test_compensated_stencil_is_the_stencil_and_keeps_what_it_loses():
    q, u, v = quantize(np.random.default_rng(1).uniform(-1, 1, (3, 8, 9)), "mlu370")
    numbers = (0.125, 0.125, 2.0**-12, 4.0)
    plain, carried, residual = (np.zeros((8, 9)) for _ in range(3))
    lift(kernels.advect, "mlu370")(q, u, v, *numbers, plain)
    lift(compensation.carried_advect, "mlu370")(q, u, v, *numbers, carried, residual)
    inner = np.s_[1:-1, 1:-1]
    np.testing.assert_allclose(carried[inner], plain[inner], atol=2.0**-18)
    assert 0 < np.abs(residual).max() <= 2.0**-20


def test_unknown_benchmark(tmp_path):
    with pytest.raises(
        InputError, match="unknown benchmark 'speed'; known: precision, fixed, compensation"
    ):
        bench.run("speed", out=tmp_path / "x.json")


def test_the_verb_of_before_says_how_benchmarks_are_run(call):
    code, out, said = call("bench", "fixed", "--out", "x.json")
    assert (code, out) == (USAGE, "") and "are run by `python -m benchmarks NAME` in a che" in said
    for name in bench.BENCHMARKS:
        assert callable(bench.benchmark_named(name).measure)


def test_unwritable_file(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written .its folder does not exist.; give"):
        bench.run("precision", out=tmp_path / "file" / "x.json")
    with pytest.raises(InputError, match="cannot be written .it is a folder.; give another one"):
        bench.run("precision", out=tmp_path)


def test_the_command_writes_its_file_or_says_why_not(tmp_path, monkeypatch, capsys):
    measured = SimpleNamespace(
        measure=lambda small, say: {"benchmark": "fixed", "machine": {"processor": "none"}},
        tables=lambda result: {"times": [{"row": "one", "seconds": 1.0}]}, CAPTION="Nothing",
    )  # fmt: skip
    monkeypatch.setattr(bench, "benchmark_named", lambda name: measured)
    monkeypatch.chdir(tmp_path)
    assert main(["fixed"]) == 0 and "processor none" in capsys.readouterr().out
    kept = json.loads((tmp_path / "reports" / "bench-fixed.json").read_text())
    assert main(["fixed", "--json"]) == 0 and json.loads(capsys.readouterr().out) == kept
    (tmp_path / "ours.json").write_text("{}")
    assert main(["fixed", "--out", "ours.json"]) == USAGE
    assert "is not the result of a benchmark); give another one" in capsys.readouterr().err


def test_the_folder_of_results_that_cannot_be_made(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reports").write_text("in the way")
    assert main(["precision"]) == USAGE
    words = "the folder 'reports' cannot be made (File exists); give a file"
    assert words in capsys.readouterr().err


def test_goals_are_for_rows():
    assert set(precision.GOALS) <= set(precision.BACKENDS)
    for name in precision.BACKENDS.values():
        resolve_backend(name)


@pytest.mark.parametrize("case", precision.cases(True), ids=lambda c: c.name)
def test_peers_compute_the_same(case):
    """Written on whole arrays without rounding, a peer's form is the kernel."""
    form = peers.FORMS.get(case.kernel)
    if form is None:
        pytest.skip("peers do not run the matrix product")
    arguments = case.arguments(precision.np.dtype("f8"))
    case.kernel(*arguments)
    inner = (slice(1, -1),) * 2 if case.kernel is kernels.advect else slice(None)
    assert (form(*arguments) == arguments[-1][inner]).all()


def test_sums_that_are_rounded_twice_are_counted():
    """binary32's sum rounded to 16 bits is wrong where the first rounding made a tie."""

    def twice(operation):
        return lambda a, b: quantize(operation(a, b), "float:p=16")

    wrong = peers.wrong_results("float:p=16", twice(np.add), twice(np.multiply))
    assert 50 < wrong < 5000
    exact = peers.wrong_of_ours("float:p=16")
    assert exact == 0


def test_cpfloat_is_absent_until_it_is_built(monkeypatch, tmp_path):
    monkeypatch.delenv(peers.LIBRARY, raising=False)
    assert peers.cpfloat_library() is None and peers.absent()[0].startswith("CPFloat: not built")
    (tmp_path / "none.so").write_bytes(b"none")
    standard = ctypes.util.find_library("c") or "libc"
    for wrong in (tmp_path, tmp_path / "missing.so", tmp_path / "none.so", standard):
        monkeypatch.setenv(peers.LIBRARY, str(wrong))
        with pytest.raises(InputError, match="CPFLOAT_LIBRARY names .* not the library of"):
            peers.absent()


@pytest.mark.slow
def test_small_benchmark_of_first_starts(tmp_path):
    """A kernel costs time the first time, next to nothing the second, and importing is less."""
    result = bench.run("start", out=tmp_path / "bench.json", small=True)
    bare, kernel = result["starts"]
    assert (bare["start"], kernel["start"]) == tuple(start.STARTS)[:2]
    assert kernel["cold"]["processor"] > kernel["again"]["processor"] > 0
    (rows,) = start.tables(result).values()
    assert timed(start, result, 4)
    assert len(rows) == 2 and fits(start.tables(result))


def test_a_start_that_fails_says_why(tmp_path):
    with pytest.raises(RuntimeError, match="no such thing$"):
        start.cost([sys.executable, "-c", "raise ValueError('no such thing')"], tmp_path)
