"""Scenarios whose arithmetic is an assignment in a file beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import xarray as xr

import sciprec

ROOT = Path(__file__).parents[2]
SCENARIO = """
name = "lorenz96"
title = "Waves"
source = "Lorenz and Emanuel (1998)"
kind = "lorenz96"
backends = ["fp16", "assignment:narrow.toml"]

[lorenz96]
days = 1.0
output_days = 0.5
"""
NARROW = """
schema = 1
unit = "function"
default = "fp64"

[[format]]
function = "PLACE"
format = "FORMAT"
"""


@pytest.fixture
def batch(tmp_path, call, monkeypatch, blank_figures):
    """Runs the scenario with a format for a function -> (exit code, output, folder)."""
    monkeypatch.chdir(ROOT)

    def run(place: str, fmt: str):
        file = tmp_path / "waves.toml"
        file.write_text(SCENARIO)
        (tmp_path / "narrow.toml").write_text(NARROW.replace("PLACE", place).replace("FORMAT", fmt))
        folder = tmp_path / "out"
        status, out, said = call("run", str(file), "--plugin", "examples/lorenz96.py", "--out",
                                 str(folder))  # fmt: skip
        return status, out + said, folder

    return run


def opened(folder: Path) -> list[xr.Dataset]:
    return [xr.load_dataset(p, decode_times=False) for p in folder.glob("*assignment*.nc")]


@pytest.mark.slow
def test_a_run_has_the_formats_of_the_file_beside_its_scenario(batch):
    status, said, folder = batch("slope", "fp16")
    assert status == 0 and "assignment:narrow@" in said
    (found,) = opened(folder)
    properties = json.loads(found.attrs["sciprec_backend_properties"])
    assert properties["assignment"]["format"] == [
        {"format": "fp16", "function": "slope"}
    ]
    truth, alone = (xr.load_dataset(folder / f"lorenz96__{n}.nc", decode_times=False)
                    for n in ("fp64", "fp16"))  # fmt: skip
    name = next(iter(truth.data_vars))
    error = abs(found[name] - truth[name]).max()
    assert 0 < error < abs(alone[name] - truth[name]).max()
    before = {p.name: p.stat().st_mtime_ns for p in folder.glob("*.nc")}
    assert batch("slope", "fp16")[0] == 0
    assert before == {p.name: p.stat().st_mtime_ns for p in folder.glob("*.nc")}
    assert batch("slope", "fp64")[0] == 0  # edited: computed again
    same = [xr.Dataset.equals(truth, d) for d in opened(folder)]
    assert any(same)


def test_a_place_that_the_model_does_not_have_fails_the_run(batch):
    status, said, _ = batch("slopes", "fp16")
    assert status == 1 and "function 'slopes', which no kernel of the model has" in said


def test_a_file_that_is_not_there_is_refused_with_the_key(tmp_path, call):
    file = tmp_path / "waves.toml"
    file.write_text(SCENARIO.replace("narrow", "nowhere"))
    status, _, said = call("run", str(file), "--plugin", str(ROOT / "examples/lorenz96.py"))
    assert status == 2 and "nowhere.toml' cannot be read" in said and "backends" in said


def test_a_scenario_by_name_finds_its_assignments(tmp_path, monkeypatch):
    """From any folder: they lie beside the file that the name stands for."""
    monkeypatch.chdir(tmp_path)
    found = sciprec.load_scenario("tuned_mountain").backends
    assert sum(name.startswith("assignment:") for name in found) == 2
