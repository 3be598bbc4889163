"""The benchmark of transforms measures what it promises; peers and integers transform right."""

import json

import numpy as np
import pytest

import benchmarks as bench
from benchmarks import (
    climate,
    climate_dinosaur,
    climate_peers,
    climate_steps,
)
from sciprec.climate.transform.grid import resolve_truncation
from tests.benchmarks.fits import timed

MISSING = climate_dinosaur.MISSING


GREETING = """
import os
os.write(1, b"a greeting")
sht_gauss = 0

class sht:
    nlm, m = 1, 0

    def __init__(self, lmax, mmax, nthreads):
        assert nthreads == 1

    def set_grid(self, nlat, nphi, kind, polar_opt): pass
    def spec_array(self): pass
    def spat_array(self): pass
"""


def test_a_peer_has_one_thread_and_its_greeting_is_no_part_of_the_output(
    tmp_path, monkeypatch, capfd
):
    (tmp_path / "shtns.py").write_text(GREETING)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(climate_peers.sys.modules, "shtns", raising=False)
    assert "SHTns" in climate_peers.round_trips(resolve_truncation("T42"), 1)
    assert capfd.readouterr() == ("", "a greeting")
    monkeypatch.delitem(climate_peers.sys.modules, "shtns")


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_step_takes_time_whatever_a_run_begins_with(rounds, monkeypatch):
    """Runs of small models whose beginnings take up to as long as many of their steps."""
    noise = np.random.default_rng(3)
    monkeypatch.setattr(
        climate_steps, "_run", lambda model, backend, n: 1e-5 * n + noise.exponential(2e-2)
    )
    for model in [climate_steps.mountain("T10", 1200.0)] * 50:
        assert climate_steps.step_seconds(model, "fp64", rounds, 0.01) > 0.0


@pytest.mark.slow
def test_small_benchmark_has_every_row(tmp_path, capsys, monkeypatch):
    """Of shallow water, whose kernels are compiled in half the time."""
    few, more = (climate_steps.mountain(name, 1200.0) for name in ("T5", "T10"))
    for table, models in {
        "SMALL_STEPS": ((more, climate_steps.FLOATS[:2]),), "SMALL_SCALING": (few, more),
        "SMALL_THREADED": ((few, ("fp64",)),), "SMALL_MEMBERS": few,
    }.items():  # fmt: skip
        monkeypatch.setattr(climate_steps, table, models)
    out = tmp_path / "bench.json"
    bench.run("climate", out=out, small=True)
    stored = json.loads(out.read_text())
    wanted = {*climate.BACKENDS[:2], climate.MATRIX, "ducc0"}
    of_pairs = {climate.LEGENDRE, climate.INTEGERS}
    for batch, rows in ((1, wanted), (2, wanted | of_pairs)):
        entries = [e for e in stored["transforms"] if e["batch"] == batch]
        assert rows <= {e["row"] for e in entries}
        assert all(e["seconds"] > 0 and e["times_fp64"] > 0 for e in entries)
    assert [(e["model"], e["backend"]) for e in stored["steps"]] == [
        (model.name, backend) for model, b in climate_steps.SMALL_STEPS for backend in b
    ]
    assert all(e["seconds"] > 0 and e["years_per_day"] > 0 for e in stored["steps"])
    assert [row["truncation"] for row in stored["scaling"]["truncations"]] == ["T5", "T10"]
    assert stored["members"]["efficiency"] > 0
    assert [(e["truncation"], e["backend"]) for e in stored["blocks"]] == [
        ("T10", "fp32"), ("T10", "fp64")
    ]  # fmt: skip
    for row in stored["blocks"]:
        assert row["left_out"] == [0.0, 0.0] and row["errors"]["whole"] == row["errors"]["without"]
        assert row["least"] > 0 and row["whole"]["least"] <= row["whole"]["median"]
    assert timed(climate, stored, 4 + len(stored["steps"]))
    (row,) = stored["threads"]
    assert all(row[name]["least"] > 0 for name in ("one", "threads", "side_by_side"))
    printed = capsys.readouterr().out
    assert "Round trip at T" in printed and all(row in printed for row in wanted | of_pairs)
