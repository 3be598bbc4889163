"""docs/verdicts.md: its table is accepted, and its script tells the verdicts of an ensemble."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from sciprec.batch import workflow
from sciprec.comparison.evidence.consistency import LEAST_MEMBERS, MEMBERS_PER_COMPONENT
from sciprec.comparison.evidence.error_budget import error_budget
from sciprec.kinds import parse_scenario
from sciprec.output.dataset import trajectory_dataset
from sciprec.report.stored.batch import read_batch
from sciprec.scenario.ensemble import Ensemble
from tests.shell.conftest import Models, little_trajectory

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", TEXT, flags=re.DOTALL | re.MULTILINE)
MEMBERS = LEAST_MEMBERS + 3


@pytest.fixture
def stand_in(monkeypatch):
    """A flow whose members differ in the amplitudes of three waves, more from day to day."""

    def run(given, backend, compensation=None, perturbation=None):
        made = little_trajectory()
        lon, lat = np.radians(made.lon), np.radians(made.lat)[:, None]
        member = 0 if perturbation is None else perturbation.member
        drawn = np.random.default_rng(member).uniform(-1.0, 1.0, 3) * (member > 0)
        bias = {"fp64": 0.0, "fp32": 1e-9, "bf16": 3e-3}[backend]
        for name, values in made.fields.items():
            for number, share in enumerate(drawn, start=1):
                wave = np.cos(number * lon) * np.cos(lat) ** number
                growth = (1e-4 * share + bias) * 10.0 ** made.time_days[:, None, None]
                values += (name == "height") * growth * wave + (name == "u") * 2 * growth * wave
        return trajectory_dataset(made)

    Models(monkeypatch)["climate"] = run
    monkeypatch.setattr("sciprec.report.page.write_page", lambda batch: batch.folder / "index.html")


def blocks(language):
    found = [text for kind, text in BLOCKS if kind == language]
    assert found
    return found


def test_the_table_of_an_ensemble_is_accepted():
    (text,) = blocks("toml")
    table = Ensemble.model_validate(tomllib.loads(text)["ensemble"])
    assert (table.members, table.amplitude) == (60, 1e-4)


@pytest.mark.slow
def test_the_script_tells_verdicts_and_evidence(stand_in, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    content = {
        "name": "ensemble_jet", "title": "A jet", "source": "nobody (2000)", "kind": "climate",
        "backends": ["fp32", "bf16"],
        "climate": {"case": "galewsky", "truncation": 21, "days": 3.0},
        "ensemble": {"members": MEMBERS, "perturbation": 1e-4},
    }  # fmt: skip
    batch = workflow.run([parse_scenario(content)], out="reports/ensemble_jet")
    assert not batch.failures
    capsys.readouterr()
    script = blocks("python")[0]
    exec(compile(script, "docs/verdicts.md", "exec"), {})
    said = capsys.readouterr().out
    assert "fp32 good " in said and "bf16 beyond " in said
    assert "; statistically indistinguishable from fp64: 0 of 3 principal components" in said
    assert "\nyes [" in said and "\nno [" in said
    found = {run.label: run.evidence for run in read_batch("reports/ensemble_jet").runs}
    assert found["fp64"] is None
    assert found["fp32"]["consistency"]["members"] == LEAST_MEMBERS
    assert found["fp32"]["variability"]["members"] == MEMBERS - 1
    assert found["fp32"]["perturbation"] == 1e-4


@pytest.mark.slow
def test_the_budget_of_a_wave_has_the_published_discretisation_error(monkeypatch, capsys):
    """NCAR's spectral transform shallow water model 2.0, T42: l2 of h at day 7 is 1.79e-3."""
    monkeypatch.chdir(ROOT)
    names = {}
    exec(compile(blocks("python")[1], "docs/verdicts.md", "exec"), names)
    found = error_budget(names["golden"], names["actual"], "height", reference=names["finer"])
    assert found.parts["discretisation"] == pytest.approx(1.79e-3, rel=0.02)
    said = capsys.readouterr().out.strip()
    assert said == found.sentence
    (promised,) = re.findall(r'prints "(.*?)"', TEXT)
    assert said.startswith(promised)


def test_numbers_of_the_text_are_those_of_the_code():
    assert f"fewer than {LEAST_MEMBERS} that count in fp64" in TEXT
    words = {8: "eight"}
    assert f"one for every {words[MEMBERS_PER_COMPONENT]} members" in TEXT
