"""Every kind of scenario of the repository in all its arithmetics, to its page; some runs end at
once. Scenarios are of one kind that have the same keys, arithmetics and equations.

The truth is run, a few steps of it at a low resolution. In place of the other arithmetics stands
the truth with errors of their size, so that nothing is compiled for them: what is looked for are
faults on the way from stored runs to the page. Models in all arithmetics are run by other tests.
"""

import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sciprec.batch import workflow
from sciprec.climate.catalogue import CASES
from sciprec.kinds import kinds, parse_scenario
from sciprec.scenario.variant import Variant
from tests.shell.conftest import put_in, unit_roundoff

SCENARIOS = sorted((Path(__file__).parents[2] / "scenarios").glob("*.toml"))
STEPS = 4
AT_ONCE = "blow-up between day 0 and day 0.01: vorticity not finite"


def keys(content):
    """The names in nested tables and the types of what they are given."""
    if isinstance(content, dict):
        return tuple((name, keys(value)) for name, value in sorted(content.items()))
    return tuple(map(keys, content)) if isinstance(content, list) else type(content)


def first_of_each_kind():
    """The scenarios whose pages are made here."""
    found = {}
    for path in SCENARIOS:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        equations = CASES[content["climate"]["case"]].equations if "climate" in content else None
        found.setdefault((keys(content), *content["backends"], equations), path)
    return list(found.values())


def shortened(path):
    """A scenario with a few steps, a coarse grid, few levels, members and paths."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    if content["kind"] == "climate":
        given = content["climate"]
        step = given.setdefault("step_seconds", 600.0)
        given |= {"truncation": 5, "days": STEPS * step / 86400, "output_hours": step / 3600}
        if "levels" in given.get("parameters", {}):
            given["parameters"]["levels"] = 3
    elif content["kind"] == "heston":
        simulation = content["heston"]["simulation"]
        bounded = "tolerance" in simulation
        simulation |= {"tolerance": "50%"} if bounded else {"n_paths": 256, "steps_per_year": 2}
    else:
        content["accumulation"] |= {"updates": 1000, "members": 2, "outputs": 4}
    if "ensemble" in content:
        content["ensemble"]["members"] = 3
    return parse_scenario(content)


@pytest.fixture
def standing_in(monkeypatch):
    """A function that lets arithmetics but fp64 be fp64 with errors of their size; figures are made
    and not written out, which takes longest.
    """

    def written(figure, buffer, **_):
        buffer.write('<svg viewBox="0 0 1 1"></svg>')

    def stand_in(kind):
        usual, truths, made = kinds()[kind], {}, []

        def run(table, variant, around):
            if around.member not in truths:
                truths[around.member] = usual.run(table, Variant("fp64"), around)
            dataset = truths[around.member].copy(deep=True)
            if variant.is_truth:
                return dataset
            carried = variant.compensation.resolved()
            error = unit_roundoff(variant.backend) * (0.1 if carried else 1.0)
            for name, field in dataset.data_vars.items():
                if field.ndim and not str(name).endswith("_bnds"):
                    wave = np.sin(np.arange(field.size)).reshape(field.shape)
                    dataset[name] = field * (1.0 + error * wave)
            made.append(variant)
            if kind != "climate" or len(made) % 2 == 0:
                return dataset
            return dataset.isel(time=slice(0, 1)).assign_attrs(blow_up=AT_ONCE)

        put_in(monkeypatch, replace(usual, run=run))

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", written)
    return stand_in


@pytest.mark.slow
@pytest.mark.parametrize("path", first_of_each_kind(), ids=lambda path: path.stem)
def test_a_scenario_in_all_its_arithmetics_reaches_its_page(path, standing_in, tmp_path):
    """Every second run of a flow ends at its first stored time, and is a failed run for that."""
    scenario = shortened(path)
    standing_in(scenario.kind)
    batch = workflow.run(scenario, out=tmp_path, threads=1)
    assert len(batch.table) >= 1 + len(scenario.backends)
    bad = [row["reason"] for row in batch.table if row["status"] in ("failed", "broken")]
    assert all(AT_ONCE in reason for reason in bad), bad
    assert bool(bad) == (scenario.kind == "climate")
    assert batch.page.read_text(encoding="utf-8").rstrip().endswith("</html>")
