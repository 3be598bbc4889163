"""Compensations, stages and fixed point, from a scenario's text to labelled runs, files and page.

One batch is made, of a flow whose errors are known, and read by all.
"""

import html
import json
import tomllib
from dataclasses import replace

import numpy as np
import pytest

from sciprec import compare, lift
from sciprec.arrays.sums.compensation import Compensation, plain_update
from sciprec.facets.compensation.section import drift_rows
from sciprec.facets.stages.section import stage_rows
from sciprec.precision.lifting.fixed_lifting import fixed_point_summary
from sciprec.report.sections.suggestions import suggestions
from sciprec.report.stored.batch import read_batch
from sciprec.results.output import netcdf
from sciprec.results.output.dataset import trajectory_dataset
from sciprec.workbench.batch import workflow
from sciprec.workbench.batch.course import estimate
from sciprec.workbench.batch.plan import plan
from sciprec.workbench.batch.resume import run_digest
from sciprec.workbench.kinds import parse_scenario
from tests.conftest import without_figures
from tests.shell.conftest import CLIMATE, HESTON, little_trajectory, stand_in

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
OWN = {"name": "own", "legendre": "fp16", "kept": "fp32", "kept_orders": 2, "kept_degrees": 1}
OF_OWN = {key: value for key, value in OWN.items() if key != "name"}
PLACE = {
    "function": "grid_fluxes", "line": 150, "column": 12, "operation": "mul", "text": "a[i] * b<c",
    "unit_exponents": [-30, -28], "largest": 3.0, "saturations": 0, "invalid": 0,
    "bits_short": 9, "lost_share": 0.254,
}  # fmt: skip
SUMMARY = {
    "calls": 1305, "adaptations": 13, "careful_calls": 0, "saturations": 0, "invalid": 0,
    "places_short_of_bits": 17, "short": [PLACE], "saturated": [],
}  # fmt: skip
ERRORS = {
    ("mlu370", False): (4e-8, 1e-9), ("fp32", False): (1e-8, 0.0),
    ("mlu370", True): (4e-4, 1e-4), ("fp32", True): (2e-8, 2e-8),
}  # fmt: skip
"""Of an arithmetic without stages and with some: a day's error without a residual and with it."""


def given(text=CLIMATE, **keys):
    return parse_scenario(tomllib.loads(text) | keys)


# ---- what the keys mean -------------------------------------------------------------------------


def test_tables_and_names_become_compensations():
    carry, layered, weak = given(CLIMATE + LAYERED).compensation
    assert carry.resolved() == Compensation()
    assert layered.resolved() == {
        "vorticity": Compensation(reset_every=10), "geopotential": Compensation(0.15, 0.85),
    }  # fmt: skip
    assert weak.resolved() == Compensation(0.5, 0.0)
    published = given(compensation=["none", "published-10-90"]).compensation
    assert [choice.resolved() for choice in published] == [None, Compensation(0.1, 0.9)]
    assert given().compensation == ()
    paths = given(HESTON, compensation=["none", "carry"]).choices()
    assert [choice.name for choice in paths] == ["none", "carry"]


def test_names_and_tables_become_stages():
    chosen = given(stages=["none", "mixed", OWN]).stages
    assert [choice.resolved() for choice in chosen] == [None, "mixed", OF_OWN]
    assert given().stages == ()


def test_digests_tell_stages_apart_and_forecasts_count_them():
    runs = plan([given(stages=["none", "mixed", "mixed-m0"])])
    assert [run.label for run in runs[:4]] == [
        "fp64", "fp32", "fp32, stages mixed", "fp32, stages mixed-m0"
    ]  # fmt: skip
    assert runs[3].file == "little_climate__fp32-stages-mixed-m0.nc"
    assert len({run_digest(run) for run in runs}) == len({run.file for run in runs}) == 7
    assert run_digest(plan([given(stages=["mixed"])])[1]) == run_digest(runs[2])
    assert run_digest(replace(runs[2], variant=runs[3].variant)) == run_digest(runs[3])
    plain, staged = (estimate(run).seconds for run in runs[1:3])
    assert staged == pytest.approx(3.0 * plain)


def test_what_fixed_point_did_has_the_keys_of_a_summary():
    updates = [lift(plain_update, backend) for backend in ("fixed16", "fp32")]
    for update in updates:
        update(np.ones(3), np.ones(3))
    assert set(fixed_point_summary(updates[:1])) == set(SUMMARY)
    assert fixed_point_summary(updates[1:]) is None


# ---- a batch of all of them ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    """A flow whose error is proportional to time and whose energy drains in mlu370; what the model
    is told. The runs in fp32 say what fixed point did.
    """
    told = []

    def model(table, backend, compensation=None, stages=None):
        told.append((backend, compensation, stages))
        made = little_trajectory(times=9)
        plain, carried = ERRORS.get((backend, stages is not None), (0.0, 0.0))
        error = plain if compensation is None else carried
        drain = error / 4 if backend == "mlu370" else 0.0
        made.fields["height"] *= 1.0 + error * made.time_days[:, None, None]
        made.budgets = {"mass": np.full(9, 2500.0), "energy": 4e7 * (1 - drain * made.time_days)}
        made.fixed_point = SUMMARY if backend == "fp32" else None
        return trajectory_dataset(made)

    scenario = given(
        backends=["mlu370", "fp32"], compensation=["none", "carry"], stages=["none", "mixed", OWN]
    )
    with pytest.MonkeyPatch.context() as patch:
        without_figures(patch)
        stand_in(patch)["climate"] = model
        return workflow.run(scenario, out=tmp_path_factory.mktemp("out")), told


@pytest.fixture(scope="module")
def runs(batch):
    """Its stored runs."""
    return read_batch(batch[0].folder).runs


@pytest.fixture
def rows(batch):
    """The rows of the table by their labels."""
    return {row["label"]: row for row in batch[0].table}


@pytest.fixture
def text(batch):
    """The page's."""
    return html.unescape(" ".join(batch[0].page.read_text(encoding="utf-8").split()))


@pytest.mark.slow
def test_the_model_is_told_and_runs_have_their_labels(batch, runs, rows, text):
    _, told = batch
    of = ["", ", stages mixed", ", stages own"]
    labels = [f"{backend}{stages}{residual}" for backend in ("mlu370", "fp32") for stages in of
              for residual in ("", "+carry")]  # fmt: skip
    assert list(rows) == [run.label for run in runs] == ["fp64", *labels]
    assert sorted(told, key=str) == sorted(
        [("fp64", None, None), *((backend, residual, stages) for backend in ("mlu370", "fp32")
         for stages in (None, "mixed", OF_OWN) for residual in (None, Compensation()))], key=str,
    )  # fmt: skip
    assert [rows[label]["compensation"] for label in labels[:2]] == ["none", "carry"]
    assert all(f'<th scope="row"><code title="{label}">' in text for label in labels)
    assert "of 12 arithmetics are good enough</h1>" in text


@pytest.mark.slow
def test_files_say_their_compensation_their_stages_and_what_fixed_point_did(batch):
    result, _ = batch
    attributes = {path.stem.partition("__")[2]: netcdf.read(path).attrs for path in result.files}
    carried = attributes["fp32+carry"]
    assert carried["title"] == "A little flow (fp32+carry)"
    assert carried["sciprec_backend"] == "fp32"
    assert json.loads(carried["sciprec_compensation"])["name"] == "carry"
    assert json.loads(attributes["fp64"]["sciprec_compensation"])["name"] == "none"
    assert attributes["fp32-stages-mixed"]["title"] == "A little flow (fp32, stages mixed)"
    assert json.loads(attributes["fp32-stages-mixed"]["sciprec_stages"])["sums"] == "fp32"
    assert "sciprec_stages" not in carried and "sciprec_fixed_point" not in attributes["mlu370"]
    assert json.loads(carried["sciprec_fixed_point"]) == SUMMARY


def test_drift_stands_beside_that_without_compensation(rows, text):
    plain, carried = (rows[label]["drift"] for label in ("mlu370", "mlu370+carry"))
    assert plain["energy"] == pytest.approx(-1e-8, rel=1e-5) and plain["energy_gain"] is None
    assert carried["energy"] == pytest.approx(-2.5e-10, rel=1e-3)
    assert carried["energy_gain"] == pytest.approx(40, rel=1e-3)
    assert carried["error"] == pytest.approx(8e-9, rel=1e-3)
    assert carried["error_gain"] == pytest.approx(40, rel=1e-3)
    assert carried["mass"] == 0.0 and carried["mass_gain"] is None
    assert "relative l2 of height, day 8" in text
    assert '<td class="n">-2.5e-10</td><td class="n">40 ×</td>' in text
    assert "The mass drifts in no run: in flux form the tendency of its coefficient is zero" in text


@pytest.mark.slow
def test_runs_are_held_against_runs_of_the_same_stages(runs):
    """Gains of compensation, and what helps."""
    gains = {row["label"]: row["error_gain"] for row in drift_rows(runs)}
    assert gains["mlu370, stages mixed"] is None
    assert gains["mlu370+carry"] == pytest.approx(40.0, rel=1e-3)
    assert gains["mlu370, stages mixed+carry"] == pytest.approx(4.0, rel=1e-3)
    helped = [one for one in suggestions(runs, "x") if "residual" in one.change]
    assert [one.label for one in helped] == ["mlu370, stages mixed", "mlu370, stages own"]
    assert helped[0].gain == pytest.approx(4.0, rel=1e-3)


def test_the_page_says_which_law_describes_the_error(rows, text):
    assert "Proportional to n, as a bias adds up: mlu370, mlu370+carry, mlu370, stages mix" in text
    assert rows["mlu370"]["growth"]["described_by"] == "linear"
    assert rows["fp32+carry"]["growth"] is None
    # 4e-8 a day of 144 steps, in u = 2^-21: 5.8e-4 n u
    assert '<td>linear</td><td>5.8e-04 n u</td> <td class="n">100%</td>' in text


def test_the_page_says_what_fixed_point_did(rows, text):
    assert (
        '>fp32</strong>: no saturation, no NaN that became zero and 13 changes of units '
        "in 1,305 calls of kernels; 17 places are short of bits."
    ) in text
    assert "<code>a[i] * b<c</code></td><td>2^-30 … 2^-28</td>" in text
    assert '<td class="n">9</td><td class="n">25.4%</td><td class="n">0</td>' in text
    assert "And 16 more." in text and ">mlu370</strong>: no saturation" not in text
    assert rows["fp32"]["fixed_point"] == SUMMARY and rows["mlu370"]["fixed_point"] is None


def test_the_page_has_a_table_of_stages(runs, text):
    found = {row["label"]: row for row in stage_rows(runs)}
    assert found["fp32, stages mixed"] == {
        "label": "fp32, stages mixed", "legendre": "fp16", "sums": "fp32", "fourier": "fp32",
        "kept": "–",
    }  # fmt: skip
    assert found["fp32, stages own"] == {
        "label": "fp32, stages own", "legendre": "fp16", "sums": "fp16", "fourier": "fp32",
        "kept": "m = 0 to 1 and l = 0 in fp32",
    }  # fmt: skip
    about = "IEEE binary32, but for the transforms: Legendre products in fp16, "
    assert f"{about}their sums in fp32, Fourier stage in fp32<" in text
    assert f"{about}Fourier stage in fp32, m = 0 to 1 and l = 0 in fp32<" in text
    assert "Arithmetics of the transforms" in text


def test_compensated_files_compare_with_the_truth_of_an_uncompensated_scenario(
    models, undrawn, tmp_path
):
    plain, carried = (
        workflow.run(given(compensation=[name]), out=tmp_path / name) for name in ("none", "carry")
    )
    for one, other in zip(plain.files, carried.files, strict=True):
        assert compare(one, other).row("height").verdict == "identical"
