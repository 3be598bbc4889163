"""The benchmark of batches has every row, and planning many runs takes little memory."""

import json

import pytest

import benchmarks as bench
from benchmarks import batch
from tests.benchmarks.fits import fits, timed


@pytest.mark.slow
def test_small_benchmark_of_batches(tmp_path, capsys, monkeypatch):
    """Its dry run on threads with 3,000 of 10^5 runs, in less than the 2 GB of all of them."""
    elsewhere = batch._elsewhere
    monkeypatch.setattr(batch, "_elsewhere", lambda n, workers: elsewhere(
        n if workers else 3_000, workers))  # fmt: skip
    out = tmp_path / "bench.json"
    bench.run("batch", out=out, json=True, small=True)
    stored = json.loads(out.read_text())
    assert stored == json.loads(capsys.readouterr().out)
    assert [(row["case"], row["threads"], row["runs"]) for row in stored["scaling"]] == [
        (case, threads, runs) for case in ("options", "flow") for threads in (1, 2)
        for runs in (2, 4)
    ]  # fmt: skip
    many, few = stored["dry_runs"]
    assert [(row["tasks"], row["workers"]) for row in (many, few)] == [(3_000, None), (20, 1)]
    assert many["peak_mb"] < 600
    tables = batch.tables(stored)
    assert timed(batch, stored, 8)
    scaling, dry = tables["Scaling"], tables["Dry runs"]
    assert (len(scaling), len(dry)) == (8, 2) and fits(tables)
    assert all(row["seconds"] >= 0 for row in scaling + dry)
    assert all(row["efficiency"] == 1.0 for row in scaling if row["on"] == "1 threads")
