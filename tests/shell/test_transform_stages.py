"""The key `stages`: from the scenario's text to labelled runs, files and the page."""

import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from sciprec.batch import workflow
from sciprec.batch.estimate import estimate
from sciprec.batch.plan import plan
from sciprec.batch.resume import run_digest
from sciprec.errors import InputError
from sciprec.kinds import load_scenario, parse_scenario
from sciprec.output import netcdf
from sciprec.output.dataset import trajectory_dataset
from sciprec.precision.formats.stages import STAGES
from sciprec.report.drawing.svg import label_style, short
from sciprec.report.sections.drift import drift_rows
from sciprec.report.sections.stages import stage_rows
from sciprec.report.sections.suggestions import suggestions
from sciprec.report.stored.batch import read_batch
from tests.shell.conftest import CLIMATE, HESTON, little_climate, little_trajectory, stand_in

SCENARIO = Path(__file__).parents[2] / "scenarios" / "transform_stages.toml"
OWN = {"name": "own", "legendre": "fp16", "kept": "fp32", "kept_orders": 2, "kept_degrees": 1}


def with_stages(*values, text=CLIMATE):
    return parse_scenario(tomllib.loads(text) | {"stages": list(values)}, "file")


def test_names_and_tables_become_stages():
    scenario = with_stages("none", "mixed", OWN)
    assert [choice.resolved() for choice in scenario.stages] == [
        None, "mixed", {key: value for key, value in OWN.items() if key != "name"}
    ]  # fmt: skip
    assert parse_scenario(scenario.model_dump(mode="json")) == scenario
    assert with_stages().stages == ()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["mixt"], "stages is 'mixt'; accepted: none, fp16, "),
        (["mixt"], "did you mean 'mixed'?"),
        (["mixed", "mixed"], "(stages are named twice); accepted: an array of names of stages"),
        ([{"name": "mixed", "legendre": "bf16"}], "'mixed' have arithmetics already; give yours"),
        ([{"name": "own", "legendre": 16}], "key 'stages.0.legendre' was given 16 (a whole number"),
        ([{"name": "own", "kept_orders": -1}], "accepted: a whole number >= 0"),
        ([{"name": "own", "lower": "fp16"}], "unknown key 'stages.0.lower'; known: name, legendre"),
        ([{"legendre": "fp16"}], "the key 'stages.0.name' is missing"),
    ],
)
def test_complaints_name_file_key_given_accepted(values, words):
    with pytest.raises(InputError) as caught:
        with_stages(*values)
    assert str(caught.value).startswith("file: ") and words in str(caught.value)


def test_models_without_transforms_have_no_stages():
    with pytest.raises(InputError, match="unknown key 'stages'"):
        with_stages("mixed", text=HESTON)


def test_what_the_model_does_not_take_is_said_before_anything_is_computed(tmp_path):
    given = tomllib.loads(CLIMATE) | {"stages": ["mixed"], "backends": ["fixed32"]}
    with pytest.raises(InputError, match="backend is 'fixed32' beside stages of the transforms"):
        workflow.run(parse_scenario(given), out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_labels_and_digests_tell_runs_apart():
    runs = plan([with_stages("none", "mixed", "mixed-m0")])
    assert [run.label for run in runs[:4]] == [
        "fp64", "fp32", "fp32, stages mixed", "fp32, stages mixed-m0"
    ]  # fmt: skip
    assert runs[3].file == "little_climate__fp32-stages-mixed-m0.nc"
    assert len({run_digest(run) for run in runs}) == len({run.file for run in runs}) == 7
    fewer = plan([with_stages("mixed")])[1]
    assert run_digest(fewer) == run_digest(runs[2])
    renamed = replace(runs[2], variant=runs[3].variant)
    assert run_digest(renamed) == run_digest(runs[3])


def test_stages_make_a_run_longer():
    runs = plan([with_stages("none", "mixed")])
    plain, staged = (estimate(run).seconds for run in runs[1:3])
    assert staged == pytest.approx(3.0 * plain)


def test_the_shipped_scenario_compares_every_known_choice():
    scenario = load_scenario(SCENARIO)
    assert [choice.name for choice in scenario.stages] == ["none", *STAGES]
    labels = [run.label for run in plan([scenario])]
    looks = [label_style(label, labels) for label in labels]
    assert len({(look["color"], look["linestyle"]) for look in looks}) == len(labels)
    assert len({short(label) for label in labels}) == len(labels)


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    """A small scenario with a stand-in model that is told the stages."""
    seen = []

    def model(given, backend, compensation=None, stages=None):
        seen.append((backend, stages))
        return little_climate(given, backend if stages is None else "fp16")

    given = tomllib.loads(CLIMATE) | {"stages": ["none", "mixed", OWN], "backends": ["fp32"]}
    with pytest.MonkeyPatch.context() as patch:
        stand_in(patch)["climate"] = model
        return workflow.run(parse_scenario(given), out=tmp_path_factory.mktemp("out")), seen


def test_the_model_is_told_and_the_file_says_it(batch):
    result, seen = batch
    own = {key: value for key, value in OWN.items() if key != "name"}
    assert sorted(seen, key=str) == sorted(
        [("fp64", None), ("fp32", None), ("fp32", "mixed"), ("fp32", own)], key=str
    )
    assert [row["label"] for row in result.table] == [
        "fp64", "fp32", "fp32, stages mixed", "fp32, stages own"
    ]  # fmt: skip
    run = netcdf.read(result.files[2])
    assert run.attrs["title"] == "A little flow (fp32, stages mixed)"
    assert json.loads(run.attrs["sciprec_stages"])["sums"] == "fp32"
    assert "sciprec_stages" not in netcdf.read(result.files[1]).attrs


def test_the_page_has_a_table_of_them(batch):
    result, _ = batch
    runs = read_batch(result.folder).runs
    assert stage_rows(runs) == [
        {"label": "fp32, stages mixed", "legendre": "fp16", "sums": "fp32", "fourier": "fp32",
         "kept": "–"},
        {"label": "fp32, stages own", "legendre": "fp16", "sums": "fp16", "fourier": "fp32",
         "kept": "m = 0 to 1 and l = 0 in fp32"},
    ]  # fmt: skip
    page = result.page.read_text(encoding="utf-8")
    about = "IEEE binary32, but for the transforms: Legendre products in fp16, "
    assert f"{about}their sums in fp32, Fourier stage in fp32." in page
    assert f"{about}Fourier stage in fp32, m = 0 to 1 and l = 0 in fp32." in page
    assert "Arithmetics of the transforms" in page and "<h3>fp32, stages mixed " in page


def test_runs_are_held_against_runs_of_the_same_stages(models, tmp_path, monkeypatch):
    """Gains of compensation, and what helps: not against runs without stages."""
    monkeypatch.setattr("sciprec.report.page.write_page", lambda batch: batch.folder / "index.html")
    errors = {(None, 0): 4e-8, (None, 1): 1e-9, ("mixed", 0): 4e-4, ("mixed", 1): 1e-4}

    def model(given, backend, compensation=None, stages=None):
        made = little_trajectory(times=9)
        error = 0.0 if backend == "fp64" else errors[stages, int(compensation is not None)]
        made.fields["height"] *= 1.0 + error * made.time_days[:, None, None]
        return trajectory_dataset(made)

    models["climate"] = model
    keys = {"stages": ["none", "mixed"], "compensation": ["none", "carry"], "backends": ["fp32"]}
    result = workflow.run(parse_scenario(tomllib.loads(CLIMATE) | keys), out=tmp_path / "out")
    runs = read_batch(result.folder).runs
    gains = {row["label"]: row["error_gain"] for row in drift_rows(runs)}
    assert gains == {
        "fp32": None, "fp32+carry": pytest.approx(40.0, rel=1e-3),
        "fp32, stages mixed": None, "fp32, stages mixed+carry": pytest.approx(4.0, rel=1e-3),
    }  # fmt: skip
    (helped,) = suggestions(runs, "x")
    assert helped.label == "fp32, stages mixed" and helped.gain == pytest.approx(4.0, rel=1e-3)


def test_the_docs_show_stages_that_are_known():
    page = SCENARIO.parents[1] / "docs" / "notes" / "climate_transform.md"
    text = page.read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```toml\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    scenario = with_stages(*tomllib.loads(shown)["stages"])
    assert [choice.name for choice in scenario.stages] == ["none", "fp16-legendre", "mixed-m0"]
    for command in re.findall(r"`sciprec run (scenarios/transform_stages\S*)`", text):
        assert load_scenario(SCENARIO.parents[1] / command).stages
