"""A model of a user's own goes from its file to its page, with all that other kinds have."""

import json
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from pydantic import BaseModel

import sciprec
from sciprec.foundation.errors import InputError
from sciprec.foundation.loading import load_files
from sciprec.machine.footprint import compensation_footprint
from sciprec.report.page import write_page
from sciprec.report.stored.batch import read_batch
from sciprec.results.output import files as stored
from sciprec.workbench.batch.plan import plan, variants_of
from sciprec.workbench.kinds import kind, kinds
from sciprec.workbench.models import ModelArithmetic
from sciprec.workbench.models.parameters import as_given, table_of
from tests.models.conftest import MODEL, SCENARIO


def run(files, **how):
    how = {"out": files / "out", "plugins": files / "ring_model.py", "threads": 1} | how
    return sciprec.run(files / "ring.toml", **how)


def by_hand(backend, steps=8, sites=8, pull=0.25):
    """The model, written again with plain NumPy and rounding by `quantize`."""
    def q(x):
        return np.asarray(sciprec.quantize(np.asarray(x, float), backend))

    x = q(2.0 + np.cos(np.arange(sites)))
    states = [x]
    for _ in range(steps):
        after, before = np.roll(x, -1), np.roll(x, 1)
        dx = q(q(pull) * q(q(after - q(2.0 * x)) + before))
        x = q(x + dx)
        states.append(x)
    return np.array(states)


@pytest.mark.slow
def test_a_model_goes_from_its_file_to_its_page(files, monkeypatch):
    result = run(files)
    assert [(r["label"], r["status"]) for r in result.table] == [
        ("fp64", "truth"), ("fp32", "good"), ("fp16", "good"),
    ]  # fmt: skip
    for path, backend in zip(result.files, ("fp64", "fp32", "fp16"), strict=True):
        made = stored.read(path)
        np.testing.assert_array_equal(made["x"].values, by_hand(backend))
        assert made["x"].dtype == np.float64 and "site" in made.coords
        assert made.attrs["sciprec_primary"] == "x" and made.attrs["processor_seconds"] > 0.0
    page = result.page.read_text(encoding="utf-8")
    for said in ("Error of x against fp64", "power of its error", "heat, per s", "at time 8 s"):
        assert said in page
    assert "Every operation of the kernels that the model lifts" in page
    # the page is made without the model
    monkeypatch.setattr("sciprec.workbench.kinds.kind._KINDS", {})
    page = result.page.read_bytes()
    assert write_page(read_batch(files / "out")).read_bytes() == page


@pytest.mark.slow
def test_runs_are_kept_until_model_or_module_beside_it_change(files, undrawn):
    def kept():
        seen = []
        run(files, on_done=lambda outcome: seen.append(outcome.kept))
        for name in ("sciprec_plugin_ring_model", "helper_of_ring"):
            del sys.modules[name]
        return seen

    assert kept() == [False] * 3
    assert kept() == [True] * 3
    (files / "helper_of_ring.py").write_text("START = 3.0  # now\n")
    assert kept() == [False] * 3
    text = (files / "ring_model.py").read_text()
    (files / "ring_model.py").write_text(text.replace("2.0 * x[i]", "2.0 * x[i] + 0.0"))
    assert kept() == [False] * 3
    scenario = (files / "ring.toml").read_text()
    (files / "ring.toml").write_text(scenario.replace("sites = 8", "sites = 7"))
    assert kept() == [False] * 3


@pytest.mark.slow
def test_members_differ_and_compensation_carries(files, undrawn):
    text = (files / "ring.toml").read_text()
    more = text.replace("[ring]", 'compensation = ["none", "carry"]\n\n[ring]')
    (files / "ring.toml").write_text(
        more + "\n[ensemble]\nmembers = 3\nperturbation = 1.0e-3\nseed = 4\n"
    )
    result = run(files)
    assert not result.failures and len(result.files) == 15
    starts = [stored.read(p)["x"].values[0] for p in result.files if "fp64" in p.name]
    assert len({x.tobytes() for x in starts}) == 3
    assert max(np.abs(x / starts[0] - 1.0).max() for x in starts) <= 1.0e-3
    plain, carried = (
        np.abs(stored.read(files / "out" / f"little_ring__fp16{what}.nc")["heat"].values
               - stored.read(files / "out" / "little_ring__fp64.nc")["heat"].values)[-1]
        for what in ("", "+carry")
    )  # fmt: skip
    assert carried < plain


@pytest.mark.slow
def test_a_script_with_a_model_needs_no_plugin(files):
    """Its own file is what workers import; it runs below `if __name__ == "__main__":`."""
    (files / "ring.toml").write_text(SCENARIO.replace('"fp32", "fp16"', '"fp32"'))
    text = MODEL.replace("growth lines spectrum", "lines")
    (files / "script.py").write_text(
        text + "\n\nif __name__ == '__main__':\n"
        "    done = sciprec.run('ring.toml', out='made', workers=1)\n"
        "    print([row['status'] for row in done.table], done.page.exists())\n"
    )
    made = subprocess.run(
        [sys.executable, "script.py"], cwd=files, capture_output=True, text=True, check=False
    )
    assert made.stdout == "['truth', 'good'] True\n", made.stderr
    page = (files / "made" / "index.html").read_text(encoding="utf-8")
    assert "--plugin" in page and "script.py" in page


def test_a_model_of_a_prompt_is_not_sent_to_other_processes(files, monkeypatch):
    load_files(files / "ring_model.py")
    here = replace(kinds()["ring"], file="", origin=("__main__", "ring"))
    monkeypatch.setitem(kind._KINDS, "ring", here)
    with pytest.raises(InputError, match="'ring' is defined in a notebook or at a prompt, where"):
        sciprec.run(files / "ring.toml", out=files / "out", workers=1)
    assert not (files / "out").exists()


def test_the_same_model_may_be_defined_again_and_no_other(files):
    load_files(files / "ring_model.py")
    first = kinds()["ring"]
    del sys.modules["sciprec_plugin_ring_model"]
    load_files(files / "ring_model.py")
    assert kinds()["ring"] is not first
    (files / "other.py").write_text((files / "ring_model.py").read_text())
    with pytest.raises(InputError, match="the kind 'ring' is there already in .*ring_model.py'"):
        load_files(files / "other.py")


def test_a_key_of_the_table_may_have_any_name(write, undrawn):
    """Names that tables of sciprec's own kinds give a meaning have none here."""
    plugin, scenario = write(
        """
        x = arithmetic.quantize(np.full(4, given.stored + given.checkpoints))
        return xr.Dataset({"x": ("n", x, {"units": "1"})})
        """,
        parameters="stored: int = 20\n    checkpoints: int = 1\n    search: str = 'a'",
        scenario="[mine]\ncheckpoints = 2",
    )
    result = sciprec.run(scenario, out=plugin.parent / "out", plugins=plugin, threads=1)
    assert [r["label"] for r in result.table] == ["fp64", "fp16"]
    scenario.write_text(scenario.read_text().replace("checkpoints = 2", "checkpoints = 3"))
    kept = []
    sciprec.run(
        scenario, out=plugin.parent / "out", plugins=plugin, on_done=lambda o: kept.append(o.kept)
    )
    assert kept == [False, False]
    described = json.loads(stored.attributes(result.files[0])["sciprec_scenario"])
    assert described["mine"]["stored"] == 20


@pytest.mark.parametrize("name", ["given", "original", "parameters", "model", "table"])
def test_a_method_of_parameters_may_have_any_name(name):
    namespace = {name: property(lambda self: 2.0 * self.a), "__annotations__": {"a": float}}
    table = table_of(type("Parameters", (BaseModel,), namespace), "mine")
    assert getattr(as_given(table(a=1.5)), name) == 3.0


def test_a_model_whose_kernels_add_asks_for_the_compensation(write):
    """Its additions are a use of it, and what is carried has a size."""
    plugin, scenario = write(
        """
        chosen = arithmetic.compensation_of("x")
        x = np.full(3, 0.0 if chosen is None else chosen.alpha)
        return xr.Dataset({"x": ("n", x, {"units": "1"})})
        """,
        decorator="'mine', carried=lambda given: {'x': (given.steps, 2)}",
        scenario="[[compensation]]\nname = 'own'\nvariables = { x = { alpha = 0.5 } }",
    )
    load_files(plugin)
    loaded = sciprec.load_scenario(scenario)
    made = [kind.kind_of(loaded).run(loaded.table, v, kind.Surroundings())["x"].values[0]
            for v in variants_of(loaded, ["fp64", "fp16"])]  # fmt: skip
    assert made == [0.5, 0.5]
    (row,) = compensation_footprint(loaded, "fp16").variables
    assert (row.variable, row.elements, row.levels, row.size_bytes) == ("x", 3, 2, 12)
    by_name = ModelArithmetic("fp16", {"x": "carry", "y": "none"})
    assert by_name.compensation_of("x").is_carry and by_name.compensation_of("y") is None


def test_a_scenario_is_sent_by_the_name_of_its_kind(files, monkeypatch):
    load_files(files / "ring_model.py")
    scenario = sciprec.load_scenario(files / "ring.toml")
    (first, *_) = plan([scenario])
    sent = pickle.dumps(first)
    assert pickle.loads(sent) == first
    monkeypatch.setattr("sciprec.workbench.kinds.kind._KINDS", {})
    with pytest.raises(InputError, match="the model 'ring' is not known here; give the file"):
        pickle.loads(sent)
