"""The key `compensation`: from the scenario's text to labelled runs, files and the page."""

import json
import tomllib

import pytest

from sciprec import compare
from sciprec.batch import workflow
from sciprec.errors import InputError
from sciprec.kinds import parse_scenario
from sciprec.output import netcdf
from sciprec.precision.sums.compensation import Compensation
from sciprec.report.stored.batch import read_batch
from sciprec.scenario.compensation_choice import CompensationChoice, choice_of
from tests.shell.conftest import CLIMATE, HESTON, little_climate, stand_in

LAYERED = """
[[compensation]]
name = "carry"

[[compensation]]
name = "layered"
variables = { vorticity = { reset_every = 10 }, geopotential = { alpha = 0.15, beta = 0.85 } }

[[compensation]]
name = "weak"
alpha = 0.5
"""


def loaded(more="", text=CLIMATE):
    return parse_scenario(tomllib.loads(text + more), "file")


def with_key(value, text=CLIMATE):
    return parse_scenario(tomllib.loads(text) | {"compensation": value}, "file")


def test_tables_and_names_become_compensations():
    carry, layered, weak = loaded(LAYERED).compensation
    assert carry.resolved() == Compensation()
    assert layered.resolved() == {
        "vorticity": Compensation(reset_every=10), "geopotential": Compensation(0.15, 0.85),
    }  # fmt: skip
    assert weak.resolved() == Compensation(0.5, 0.0)
    assert [c.resolved() for c in with_key(["none", "published-10-90"]).compensation] == [
        None, Compensation(0.1, 0.9),
    ]  # fmt: skip
    assert loaded().compensation == ()


def test_dumped_compensations_load_again():
    scenario = loaded(LAYERED)
    assert parse_scenario(scenario.model_dump(mode="json")) == scenario


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (["karry"], "unknown compensation 'karry'; known: none, carry, "),
        (["karry"], "did you mean 'carry'?"),
        (["karry"], '; or give it coefficients, such as { name = "karry", alpha = 0.5 }'),
        (["none", "none"], "key 'compensation' was given "),
        (["none", "none"], "(a compensation is named twice); accepted: an array of names"),
        ("carry", "key 'compensation' was given 'carry' (a string); accepted: an array of names"),
        ([{"alpha": 0.5}], "the key 'compensation.0.name' is missing"),
        ([{"name": "w", "alpha": 3.0}], "key 'compensation.0.alpha' was given 3.0 (a number)"),
        (
            [{"name": "w", "alpha": 3.0}],
            "accepted: a number from 0 to 2: the share of the residual",
        ),
        ([{"name": "w", "beta": -1.0}], "accepted: a number from 0 to 2: the share of an update"),
        ([{"name": "w", "alpha": 1.0, "reset_every": 0}], "accepted: a whole number of updates"),
        ([{"name": "w", "alpha": 1.0, "gamma": 0}], "unknown key 'compensation.0.gamma'; known: "),
        ([{"name": "W", "alpha": 1.0}], "or a name of your own with coefficients: lower-case"),
        ([{"name": "carry", "alpha": 0.5}], "'carry' has coefficients of its own already; give"),
        (
            [{"name": "w", "alpha": 0.5, "variables": {"vorticity": {}}}],
            "has coefficients for all variables and a table 'variables'; give one of them",
        ),
    ],
)
def test_complaints_name_file_key_given_accepted(value, words):
    with pytest.raises(InputError) as caught:
        with_key(value)
    assert str(caught.value).startswith("file: ")
    assert words in str(caught.value)


def test_paths_of_heston_carry_unless_told_otherwise():
    assert [choice.name for choice in with_key(["none", "carry"], HESTON).choices()] == [
        "none", "carry",
    ]  # fmt: skip
    with pytest.raises(InputError, match='accepted: "none" .no residuals., "carry" .* or "corre'):
        with_key(["kahan"], HESTON)
    with pytest.raises(InputError, match="only prices with a 'tolerance' are corrected; accepted"):
        with_key(["correction"], HESTON)
    with pytest.raises(InputError, match="a compensation is named twice"):
        with_key(["none", "none"], HESTON)


def test_unknown_variables_are_refused_before_anything_is_computed(tmp_path):
    scenario = with_key([{"name": "w", "variables": {"vorticty": {}}}])
    with pytest.raises(InputError) as caught:
        workflow.run(scenario, out=tmp_path / "out")
    assert str(caught.value) == (
        "scenario 'little_climate': table [climate]: compensation names the unknown variable "
        "'vorticty'; known: vorticity, divergence, geopotential; did you mean 'vorticity'?"
    )
    assert not (tmp_path / "out").exists()


def test_compensations_from_elsewhere_have_a_name():
    assert choice_of("environment", Compensation()).name == "carry"
    assert choice_of("environment", Compensation(0.1, 0.9)).name == "published-10-90"
    own = choice_of("environment", Compensation(0.3, 0.1, 7))
    assert own.name == "environment" and own.resolved() == Compensation(0.3, 0.1, 7)
    assert isinstance(own, CompensationChoice)


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    """A small scenario whose stand-in model is four times better with compensation."""
    seen = []

    def model(given, backend, compensation=None):
        seen.append((backend, compensation))
        dataset = little_climate(given, backend)
        if compensation is not None:
            truth = little_climate(given, "fp64")
            dataset["height"] = truth["height"] + (dataset["height"] - truth["height"]) / 4
        return dataset

    with pytest.MonkeyPatch.context() as patch:
        stand_in(patch)["climate"] = model
        out = tmp_path_factory.mktemp("out")
        return workflow.run(with_key(["none", "carry"]), out=out), seen


def test_runs_are_told_apart_by_their_labels(batch):
    result, seen = batch
    expected = [(b, c) for b in ("fp16", "fp32") for c in (Compensation(), None)]
    assert sorted(seen, key=str) == sorted([("fp64", None), *expected], key=str)
    assert [row["label"] for row in result.table] == [
        "fp64", "fp32", "fp32+carry", "fp16", "fp16+carry",
    ]  # fmt: skip
    assert [row["compensation"] for row in result.table][:3] == ["none", "none", "carry"]
    plain, carried = (result.table[i]["errors"]["relative_l2"] for i in (3, 4))
    assert plain == pytest.approx(4 * carried, rel=1e-6)


def test_files_say_their_compensation(batch):
    result, _ = batch
    run = netcdf.read(result.folder / "little_climate__fp16+carry.nc")
    assert run.attrs["title"] == "A little flow (fp16+carry)"
    assert run.attrs["sciprec_backend"] == "fp16"
    assert json.loads(run.attrs["sciprec_compensation"])["name"] == "carry"
    truth = netcdf.read(result.folder / "little_climate__fp64.nc")
    assert json.loads(truth.attrs["sciprec_compensation"])["name"] == "none"


def test_the_page_has_a_card_and_a_line_for_each_label(batch):
    result, _ = batch
    stored = read_batch(result.folder)
    assert stored.labels == ("fp64", "fp32", "fp32+carry", "fp16", "fp16+carry")
    page = result.page.read_text(encoding="utf-8")
    for label in stored.labels[1:]:
        assert f"<h3>{label} " in page
    assert "1 scenario in 4 arithmetics, against fp64" in page


def test_compensated_files_compare_with_the_truth_of_an_uncompensated_scenario(
    models, undrawn, tmp_path
):
    plain, carried = (
        workflow.run(with_key([name]), out=tmp_path / name) for name in ("none", "carry")
    )
    assert compare(plain.files[0], carried.files[0]).row("height").severity == "identical"
    assert compare(plain.files[1], carried.files[1]).row("height").severity == "identical"
