"""Sections of the page: drift and gain of compensation, laws of growth, what fixed point did."""

import html
import json
import tomllib
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from sciprec.accumulation import accumulate
from sciprec.batch import workflow
from sciprec.comparison.wording import gain_in_words, times
from sciprec.kinds import parse_scenario
from sciprec.output import netcdf
from sciprec.output.dataset import trajectory_dataset
from sciprec.report.drawing.svg import label_style
from sciprec.report.page import write_page
from sciprec.report.sections.fixed_point import fixed_point_sections
from sciprec.report.stored.batch import read_batch
from tests.shell.conftest import CLIMATE, little_trajectory, stand_in

PLACE = {
    "function": "grid_fluxes", "line": 150, "column": 12, "operation": "mul", "text": "a[i] * b<c",
    "unit_exponents": [-30, -28], "largest": 3.0, "saturations": 0, "invalid": 0,
    "bits_short": 9, "lost_share": 0.254,
}  # fmt: skip
SUMMARY = {
    "calls": 1305, "adaptations": 13, "careful_calls": 0, "saturations": 0, "invalid": 0,
    "places_short_of_bits": 17, "short": [PLACE], "saturated": [],
}  # fmt: skip
ERRORS = {("mlu370", None): 4e-8, ("mlu370", 1): 1e-9, ("fixed32", None): 1e-8, ("fixed32", 1): 0.0}


def model(given, backend, compensation=None):
    """A flow whose error is proportional to time, and whose energy drains where it is mlu370's."""
    error = ERRORS.get((backend, compensation and 1), 0.0)
    made = little_trajectory(0.0, times=9)
    days = made.time_days[:, None, None]
    fields = made.fields | {"height": made.fields["height"] * (1.0 + error * days)}
    drained = 4e7 * (1.0 - (error / 4 if backend == "mlu370" else 0.0) * made.time_days)
    budgets = {"mass": np.full(9, 2500.0), "energy": drained}
    summary = SUMMARY if backend == "fixed32" else None
    return trajectory_dataset(
        SimpleNamespace(**vars(made) | {"fields": fields, "budgets": budgets,
                                        "fixed_point": summary})
    )  # fmt: skip


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    """A batch of that model, made once."""
    given = tomllib.loads(CLIMATE) | {
        "backends": ["mlu370", "fixed32"], "compensation": ["none", "carry"],
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        stand_in(patch)["climate"] = model
        return workflow.run(parse_scenario(given), out=tmp_path_factory.mktemp("out"))


def words(batch):
    return html.unescape(" ".join(batch.page.read_text(encoding="utf-8").split()))


def test_drift_stands_beside_that_without_compensation(batch):
    plain, carried = (row["drift"] for row in batch.table[1:3])
    assert plain["energy"] == pytest.approx(-1e-8, rel=1e-5) and plain["energy_gain"] is None
    assert carried["energy"] == pytest.approx(-2.5e-10, rel=1e-3)
    assert carried["energy_gain"] == pytest.approx(40, rel=1e-3)
    assert carried["error"] == pytest.approx(8e-9, rel=1e-3)
    assert carried["error_gain"] == pytest.approx(40, rel=1e-3)
    assert carried["mass"] == 0.0 and carried["mass_gain"] is None
    text = words(batch)
    assert "relative l2 of height, day 8" in text
    assert '<td class="n">-2.5e-10</td><td class="n">40 ×</td>' in text
    assert "The mass drifts in no run: in flux form the tendency of its coefficient is zero" in text


def test_a_gain_without_an_error_left_is_infinite(batch):
    carried = batch.table[4]["drift"]
    assert carried["error"] == 0.0 and carried["error_gain"] == np.inf
    assert carried["energy_gain"] is None
    assert [gain_in_words(x) for x in (None, np.inf, 1160.8)] == ["–", "∞", "1,200 ×"]
    assert [times(x, "above") for x in (1.0, 5.2)] == ["just above", "5.2 times above"]


def test_the_page_says_which_law_describes_the_error(batch):
    text = words(batch)
    assert "Proportional to n, as a bias adds up: mlu370, mlu370+carry, fixed32." in text
    assert "No run follows the exponential law of the MLU370's description." in text
    assert batch.table[1]["growth"]["described_by"] == "linear"
    assert batch.table[4]["growth"] is None
    # 4e-8 a day of 144 steps, in u = 2^-21: 5.8e-4 n u
    assert '<td>linear</td><td>5.8e-04 n u</td> <td class="n">100%</td>' in text


def test_the_page_says_what_fixed_point_did(batch):
    text = words(batch)
    assert (
        "<strong>fixed32</strong>: no saturation, no NaN that became zero and 13 changes of units "
        "in 1,305 calls of kernels; 17 places are short of bits."
    ) in text
    assert "<code>a[i] * b<c</code></td><td>2^-30 … 2^-28</td>" in text
    assert '<td class="n">9</td><td class="n">25.4%</td><td class="n">0</td>' in text
    assert "And 16 more." in text and "<strong>mlu370</strong>: no saturation" not in text
    assert batch.table[3]["fixed_point"] == SUMMARY and batch.table[1]["fixed_point"] is None


def test_saturations_are_listed_though_no_place_is_short_of_bits(batch):
    run = read_batch(batch.folder).runs[3]
    saturated = PLACE | {"saturations": 12_000, "bits_short": 0}
    done = SUMMARY | {
        "saturations": 12_000, "places_short_of_bits": 0, "short": [], "saturated": [saturated],
    }  # fmt: skip
    dataset = run.dataset.assign_attrs(sciprec_fixed_point=json.dumps(done))
    (section,) = fixed_point_sections([replace(run, dataset=dataset)])
    assert section.sentence.startswith("12,000 saturations, no NaN")
    assert section.sentence.endswith("no place is short of bits") and section.more == 0
    assert [row["saturations"] for row in section.rows] == ["12,000"]
    unknown = run.dataset.assign_attrs(
        sciprec_fixed_point=json.dumps(done | {"places_short_of_bits": None})
    )
    (section,) = fixed_point_sections([replace(run, dataset=unknown)])
    assert section.sentence.endswith("so that nothing is said of places short of bits")


@pytest.mark.slow
def test_files_of_runs_in_fixed_point_say_what_it_did(batch):
    assert json.loads(netcdf.read(batch.files[3]).attrs["sciprec_fixed_point"]) == SUMMARY
    assert "sciprec_fixed_point" not in netcdf.read(batch.files[1]).attrs
    before = batch.page.read_bytes()
    assert write_page(read_batch(batch.folder)).read_bytes() == before


def test_an_accumulation_says_it_too():
    given = {"updates": 1000, "members": 2, "outputs": 2}
    run = accumulate(**given, backend="fixed16")
    assert run.fixed_point["calls"] >= 1 and run.fixed_point["places_short_of_bits"] is None
    assert set(run.fixed_point) == set(SUMMARY)
    assert accumulate(**given).fixed_point is None


def test_runs_of_one_arithmetic_share_colour_and_marker():
    order = ["fp64", "fp32", "fp32+carry", "mlu370", "mlu370+carry", "mlu370+carry-sums"]
    looks = [label_style(label, order) for label in order]
    assert looks[1]["color"] == looks[2]["color"] != looks[3]["color"]
    assert len({(look["color"], look["linestyle"]) for look in looks}) == len(order)
