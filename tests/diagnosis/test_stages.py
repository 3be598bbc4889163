"""Traces of models by stage: the stage to blame is named, and the error left is measured."""

from __future__ import annotations

import re
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sciprec import InputError
from sciprec.cli import progress
from sciprec.precision.formats.backend import resolve_backend
from sciprec.tools.trace.models.stages import StagePart, shares_alone
from sciprec.tools.trace.models.traces import trace_program
from sciprec.workbench import trace_scenario
from sciprec.workbench.kinds import load_scenario
from sciprec.workbench.kinds.scenario_mend import patch_of
from tests.diagnosis.model_programs import ROOT
from tests.diagnosis.staged_program import STAGES, with_fault

WAVES = ("--plugin", ROOT / "examples/lorenz96.py", "trace", ROOT / "examples/lorenz96.toml")
SHORT = ("--set", "lorenz96.days=5", "--set", "lorenz96.spin_up_days=5", "--samples", "1")


def fault(ruined: int, by: str, backend: str = "fp16", **options):
    """A trace of a model one of whose stages is ruined, of numbers drawn anew for each."""
    rng = np.random.default_rng(ruined)
    program = with_fault(ruined, float(rng.integers(64, 500)), rng.uniform(0.2, 1.2, 30))
    return trace_program(
        program, backend, model="m", stages=STAGES, by=by, samples=1, **options
    )


@pytest.mark.parametrize("ruined", [0, 3])
def test_a_ruined_stage_is_named_and_run_wider(ruined):
    found, name = fault(ruined, "stage"), STAGES[ruined].name
    assert found.verdict.startswith(f"Keep the {name} in fp32: "), found.verdict
    assert sum(n.share for n in found.lines) == pytest.approx(1.0) and found.closure < 1e-9
    largest = max(found.stages, key=lambda part: abs(part.share))
    assert largest.name == name == found.ranked[0].name and largest.share > 0.8
    assert largest.left < 0.2 and largest.wide == "fp32" and largest.operations >= 360
    for part in found.stages:
        assert part is largest or part.left is None or part.left > 0.7, part


def test_a_trace_by_line_begins_with_stages():
    found = fault(1, "line")
    assert found.verdict.startswith("Keep the stage of bent in fp32: ")
    assert "line 2" in found.verdict
    assert "\nby stage: stage of bent +" in repr(found) and found.ranked[0].function == "bent"
    by_stage = {part.name: part.share for part in fault(1, "stage").stages}
    for part in found.stages:
        assert part.share == pytest.approx(by_stage[part.name], abs=1e-6)


@pytest.mark.parametrize(("changes", "backend", "words"), [
    ({}, "fp64", "nothing is wider than 'fp64' here"),
    ({"climate.stored": "fp32"}, "fp16", "beside the scenario's own formats"),
])  # fmt: skip
def test_why_stages_have_shares_alone(changes, backend, words):
    parts = (StagePart("a", 0.9, 10), StagePart("b", 0.1, 10))
    assert words in shares_alone(parts, resolve_backend(backend))
    assert not shares_alone(tuple(replace(p, left=0.1) for p in parts), resolve_backend(backend))
    several = resolve_backend("policy:O2,narrow=fp16,wide=fp32")
    assert "is no arithmetic of one format" in shares_alone(parts, several)


# ---- remedies ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_patch_of_a_scenario_applies_and_runs_as_it_says(tmp_path, call, monkeypatch):
    for name in ("SECONDS_IN_SILENCE", "SECONDS_BETWEEN_LINES", "_SECONDS_BETWEEN_LOOKS"):
        monkeypatch.setattr(progress, name, 0.02)
    file = tmp_path / "waves.toml"
    file.write_text((ROOT / "examples/lorenz96.toml").read_text())
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    page = tmp_path / "page.html"
    status, out, said = call(*WAVES[:3], file, "-b", "bf16", *SHORT, "--mend", "--html", page)
    assert status == 0 and "Mend 'lorenz96' in bf16 by " in out and "as it is" in out
    assert re.search(r"waves.toml in bf16 \((compiling.*; )?\d+ s so far\)\n", said)
    assert re.search(r"in bf16: runs with the error in parts(, about .* left)?: \d+ of \d+", said)
    heads = re.findall(r"<h2>(.*?)</h2>", page.read_text())
    assert heads[:3] == ["What is wrong", "Where: lines", "What to do"]
    changes = {"lorenz96.days": 5.0, "lorenz96.spin_up_days": 5.0}
    found = trace_scenario(file, "bf16", changes=changes, samples=1)
    mend = found.mend()
    with pytest.raises(InputError, match="there is nothing to mend: no stage or line of 'lorenz9"):
        replace(found, sizes=0.0).mend()
    errors = [p.error for p in mend.proposals]
    assert errors == sorted(errors) and len(errors) == 5
    assert all(p.left == pytest.approx(p.error / mend.error) for p in mend.proposals)
    carried = next(p for p in mend.proposals if p.title == "carry of the update")
    assert carried.operations > 0 and carried.bits > 1.0 and carried.source == "Kahan (1965)"
    assert carried.changes == {"compensation": ["carry"]}
    assert mend.notes[0].startswith("all was run with your changes")
    for proposal in mend.proposals:
        before = file.read_text()
        subprocess.run(["git", "apply", "-"], input=proposal.patch, text=True, check=True,
                       cwd=tmp_path)  # fmt: skip
        scenario = load_scenario(file)
        carries = [choice.name for choice in scenario.compensation]
        kept = [
            resolve_backend(f"assignment:{tmp_path / name.partition(':')[2]}").name
            if name.startswith("assignment:") else name for name in scenario.backends
        ]  # fmt: skip
        now = {"backends": kept, "compensation": carries}
        assert proposal.changes.items() <= now.items()
        file.write_text(before)
    again = trace_scenario(file, "bf16", changes=changes | carried.changes, samples=1)
    assert again.ordinary_runs.error == pytest.approx(carried.error)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_patches_of_every_scenario_apply(end, tmp_path):
    """Of one that says its arithmetics otherwise there is none."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    keys = {"backends": ["policy:O3,narrow=fp16,wide=fp32,deny=state update", "bf16"],
            "compensation": ["carry"]}  # fmt: skip
    shipped = sorted([*ROOT.glob("scenarios/*.toml"), *ROOT.glob("examples/*.toml")])
    patches = {}
    for number, file in enumerate(shipped):
        copy = tmp_path / file.name
        text = file.read_text(encoding="utf-8").rstrip("\n" if number % 2 else "")
        copy.write_bytes(text.replace("\n", end).encode())
        before = tomllib.loads(text)
        if patch := patch_of(copy, keys):
            patches[copy] = before
            subprocess.run(["git", "apply", "-"], input=patch.encode(), check=True, cwd=tmp_path)
            assert tomllib.loads(copy.read_bytes().decode()) == before | keys
        else:
            assert "policy" in before or isinstance(before["compensation"][-1], dict), file
    assert len(patches) > 0.8 * len(shipped)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--by", "stage", "-b", "fp16"), "the model of 'lorenz96' has no stages; split by 'funct"),
        (("--by", "stages", "-b", "fp16"), "--by 'stages' is unknown; accepted: stage, line, "),
    ],
)
def test_refusals(call, more, message):
    status, _, said = call(*WAVES, *SHORT[:4], *more)
    assert status == 2 and message in said, said


def test_a_file_of_several_models_is_refused(tmp_path, call):
    file = tmp_path / "two.toml"
    text = Path(ROOT / "scenarios/quickstart_climate.toml").read_text()
    file.write_text(f"{text}\n[heston]\nmodel = \"lewis\"\n")
    status, _, said = call("trace", file, "-b", "fp16", "--by", "stage")
    assert status == 2 and "heston" in said and said.count("\n") == 1, said
