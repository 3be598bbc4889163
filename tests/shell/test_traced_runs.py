"""The table [trace] of a scenario: its runs' files and page say which line makes the error."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import xarray as xr

from sciprec.workbench.batch import traced as traced_runs
from sciprec.workbench.kinds.programs import loaded

ROOT = Path(__file__).parents[2]
SCENARIO = """
name = "squall"
title = "A squall"
source = "nobody"
kind = "squall"
backends = ["fp16", "fp32", "mlu370-noise"]

[squall]
size = 10.0
"""


@pytest.fixture
def batch(tmp_path, call, monkeypatch, blank_figures):
    """Runs the scenario with a further text -> (exit code, output, folder)."""
    monkeypatch.chdir(ROOT)

    def run(more: str = ""):
        file = tmp_path / "squall.toml"
        file.write_text(SCENARIO + more)
        folder = tmp_path / "out"
        status, out, said = call("run", str(file), "--plugin", "tests/damage/squall.py", "--out",
                                 str(folder))  # fmt: skip
        return status, out + said, folder

    return run


def traced(folder: Path, label: str) -> dict | None:
    file = next(folder.glob(f"squall__{label}*.nc"))
    with xr.open_dataset(file, decode_times=False) as stored:
        said = stored.attrs.get("sciprec_trace")
    return said and json.loads(said)


@pytest.mark.parametrize(("by", "words"), [("stage", 11), ("line", 0)])
def test_a_table_that_asks_for_stages_gives_them(by, words, monkeypatch):
    """Stages of a climate; a trace by line keeps none of them wider."""
    given = {}
    monkeypatch.setattr(traced_runs, "trace_variant", lambda *_, **more: given.update(more) or None)
    scenario = loaded("quickstart_climate", {"trace": {"by": by}})
    run = SimpleNamespace(scenario=scenario, variant=None, backend="fp16", member=0, is_truth=False)
    with pytest.raises(AttributeError):  # of None, which has no content
        traced_runs.with_trace(xr.Dataset(), run)
    assert given["by"] == by and sum(not s.always for s in given["stages"]) == words


@pytest.mark.slow
def test_a_run_is_traced_where_that_is_asked_for(batch):
    status, _, folder = batch()
    assert status == 0 and traced(folder, "fp16") is None
    before = {p.name: p.stat().st_mtime_ns for p in folder.glob("*.nc")}
    status, _, _ = batch('\n[trace]\nbackends = ["fp16", "mlu370-noise"]\n')
    assert status == 0
    changed = {p.name for p in folder.glob("*.nc") if p.stat().st_mtime_ns != before[p.name]}
    found = traced(folder, "fp16")
    assert found["until"] == 9.0 and found["closure"] < 1e-9 and traced(folder, "fp32") is None
    assert sum(line["share"] for line in found["lines"]) == pytest.approx(1.0)
    assert "random bits" in traced(folder, "mlu370-noise")["refused"]
    with xr.open_dataset(folder / next(n for n in before if "fp32" in n)) as other:
        assert json.loads(other.attrs["sciprec_scenario"])["trace"]["by"] == "line"
    assert {n.split("__")[1].removesuffix(".nc") for n in changed} >= {"fp16", "mlu370-noise"}
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert page.count(">Which line makes the error</h3>") == 1
    largest = max(found["lines"], key=lambda line: abs(line["share"]))
    assert f"{100 * largest['share']:+.1f} %" in page and "is not traced" in page
    after = {p.name: p.stat().st_mtime_ns for p in folder.glob("*.nc")}
    batch('\n[trace]\nbackends = ["fp16", "mlu370-noise"]\n')
    assert after == {p.name: p.stat().st_mtime_ns for p in folder.glob("*.nc")}
