"""Scenarios of the repository in all their arithmetics, to their pages; some runs end at once. They
have every key, every set of equations, and arithmetics by name, format, policy and assignment.

No flow is computed: made-up fields stand in for its truth, and the truth with errors of their size
for all other runs. With SCIPREC_EVERY_SCENARIO set nothing stands in, and every scenario is run for
a few steps at a low resolution (all 44 on 2026-11-26): a quarter of an hour.
"""

import os
import tomllib
from dataclasses import replace

import numpy as np
import pytest

from sciprec.climate.catalogue import CASES
from sciprec.instruments.assigning.assignment import AssignedBackend
from sciprec.scenario.variant import Variant
from sciprec.workbench.batch import workflow
from sciprec.workbench.kinds import kinds, parse_scenario
from sciprec.workbench.kinds.files import read_scenario
from tests.random_scenarios.stand_ins import made_up_flow
from tests.shell.conftest import SHIPPED, put_in, unit_roundoff

ALL = bool(os.environ.get("SCIPREC_EVERY_SCENARIO"))
STEPS = 4
AT_ONCE = "blow-up between day 0 and day 0.01: vorticity is not finite"


def keys(content, place=""):
    """The places of values in nested tables and arrays, each with its type."""
    if isinstance(content, dict | list):
        items = content.items() if isinstance(content, dict) else (("", one) for one in content)
        return {key for name, value in items for key in keys(value, f"{place}.{name}")}
    return {(place, type(content))}


def covering():
    """Few scenarios that have among them every key, kind of arithmetic and set of equations."""
    features = {}
    for path in SHIPPED:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        given = content.get("backends", content.get("policy"))
        features[path] = keys(content) | {
            CASES[content["climate"]["case"]].equations if "climate" in content else "none",
            *(name.split(":")[0] if ":" in name else "a name" for name in given),
        }
    found, missing = [], set().union(*features.values())
    while missing:
        found.append(max(features, key=lambda path: len(features[path] & missing)))
        missing -= features[found[-1]]
    return sorted(found)


def shortened(path):
    """A scenario with a few steps, a coarse grid, few levels, members and paths."""
    content = read_scenario(path)  # which finds assignments beside it
    if content["kind"] == "climate":
        given = content["climate"]
        step = given.setdefault("step_seconds", 600.0)
        coarse = 16 if "stages" in content else 5  # some keep orders up to 15
        given |= {"truncation": coarse, "days": STEPS * step / 86400, "output_hours": step / 3600}
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
def cut_short(monkeypatch, blank_figures):
    """A function that lets every second run of a flow end at its first stored time."""

    def cut(kind):
        usual, made, truths = kinds()[kind], [], {}

        def truth(table, around):
            if around.member not in truths:
                exact = made_up_flow if kind == "climate" and not ALL else usual.run
                truths[around.member] = exact(table, Variant("fp64"), around).load()
            return truths[around.member].copy()

        def run(table, variant, around):
            if variant.is_truth:
                return truth(table, around)
            dataset = usual.run(table, variant, around) if ALL else truth(table, around)
            if not ALL:
                disturb(dataset, unit_roundoff(variant.backend))
            made.append(variant)
            if kind != "climate" or len(made) % 2 == 0:
                return dataset
            return dataset.isel(time=slice(0, 1)).assign_attrs(blow_up=AT_ONCE)

        put_in(monkeypatch, replace(usual, run=run))

    return cut


def disturb(dataset, error):
    """Relative errors of a size in all fields."""
    for name, field in dataset.data_vars.items():
        if field.ndim and not str(name).endswith("_bnds"):
            wave = np.sin(np.arange(field.size)).reshape(field.shape)
            dataset[name] = field * (1.0 + error * wave)


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", SHIPPED if ALL else covering(), ids=lambda path: path.stem
)
def test_a_scenario_in_all_its_arithmetics_reaches_its_page(path, cut_short, tmp_path, monkeypatch):
    """Runs that ended are failed runs for that; others that failed have left their few bits."""
    scenario = shortened(path)
    cut_short(scenario.kind)
    monkeypatch.setattr(AssignedBackend, "require_all_met", lambda self: None)  # it has stood in
    batch = workflow.run(scenario, out=tmp_path, threads=1)
    assert len(batch.table) >= 1 + len(scenario.backends)
    bad = [row["reason"] for row in batch.table if row["status"] in ("failed", "broken")]
    assert all("blow-up between day 0 and day 0.0" in reason for reason in bad), bad
    assert any(AT_ONCE in reason for reason in bad) == (scenario.kind == "climate")
    assert batch.page.read_text(encoding="utf-8").rstrip().endswith("</html>")
