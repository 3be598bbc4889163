"""The benchmark runs, writes its file, and measures every row it promises."""

import json
from types import SimpleNamespace

import pytest

import benchmarks as bench
from benchmarks import (
    climate_forcing,
    fixed,
    kernels,
    peers,
    precision,
)
from benchmarks.__main__ import main
from sciprec import InputError
from sciprec.cli.console import USAGE
from tests.benchmarks.fits import fits, timed


@pytest.mark.slow
def test_small_benchmark_has_every_row(tmp_path, capsys, monkeypatch):
    """Of two arithmetics; the others only compile for longer."""
    chosen = ("fp32", "bf16")
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
def test_small_benchmark_of_a_forcing(tmp_path, capsys, monkeypatch):
    """Without tracers and its longer forcing, which only compile for longer."""
    contenders = dict(list(climate_forcing.CONTENDERS.items())[:2])
    monkeypatch.setattr(climate_forcing, "CONTENDERS", contenders)
    stored = bench.run("forcing", out=tmp_path / "bench.json", small=True)
    assert climate_forcing.TITLE in capsys.readouterr().out
    rows = climate_forcing.tables(stored)[climate_forcing.TITLE]
    assert [row["a step with"] for row in rows] == list(climate_forcing.CONTENDERS)
    assert timed(climate_forcing, stored, len(rows)) and fits(climate_forcing.tables(stored))
    assert stored["cases"][0]["ratio"] == 1.0


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
