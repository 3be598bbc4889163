"""The quickstart scenarios with the real models: same bits on threads and on processes."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import xarray as xr

from sciprec.batch import workflow
from sciprec.kinds import load_scenario

SCENARIOS = Path(__file__).parents[2] / "scenarios"


@pytest.fixture
def short():
    """Both quickstart scenarios, made small."""
    climate = load_scenario(SCENARIOS / "quickstart_climate.toml")
    heston = load_scenario(SCENARIOS / "quickstart_heston.toml")
    run = climate.climate.model_copy(
        update={"truncation": 21, "days": 0.5, "output_hours": 6.0, "step_seconds": 1200.0}
    )
    simulation = heston.heston.simulation.model_copy(update={"n_paths": 2048, "steps_per_year": 4})
    pricing = heston.heston.model_copy(update={"simulation": simulation})
    return [
        climate.model_copy(update={"climate": run}),
        heston.model_copy(update={"heston": pricing}),
    ]


@pytest.mark.slow
def test_small_quickstart_runs_to_its_page(short, tmp_path):
    batch = workflow.run(short, out=tmp_path)
    assert not batch.failures
    status = {(r["scenario"], r["backend"]): r["status"] for r in batch.table}
    for scenario in ("quickstart_climate", "quickstart_heston"):
        assert status[scenario, "fp64"] == "truth"
        assert status[scenario, "fp32"] == "good"
        assert status[scenario, "mlu370"] == "good"
    errors = {
        r["backend"]: r["errors"]["relative_l2"]
        for r in batch.table
        if r["scenario"] == "quickstart_climate"
    }
    assert errors["fp64"] == 0 < errors["fp32"] < errors["mlu370"] < errors["fp16"]
    text = batch.page.read_text(encoding="utf-8")
    assert text.count("<svg") == 14
    for label in ("mlu370", r"mlu370\+carry"):
        assert re.search(rf"<strong>{label}</strong> is good enough in quickstart_\w+: ", text)
    for file in batch.files:
        with xr.open_dataset(file) as plain:
            assert plain.attrs["Conventions"] == "CF-1.11"
            assert json.loads(plain.attrs["sciprec_scenario"])["source"]


@pytest.mark.slow
def test_a_script_without_a_main_guard_is_told_so(tmp_path):
    (tmp_path / "script.py").write_text(
        "import sciprec\n"
        f"sciprec.run({str(SCENARIOS / 'quickstart_heston.toml')!r}, out='made', workers=1)\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "1 worker processes could not be started" in last
    assert last.endswith("calls sciprec.run below `if __name__ == '__main__':`")
    assert not (tmp_path / "made").exists()


