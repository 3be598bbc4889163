"""Matrix units from a scenario to its page: what files say, what the page shows, and bad input."""

import json
import re

import pytest

from sciprec.facets.matrix_unit.attributes import MATRIX_UNITS
from sciprec.facets.matrix_unit.section import matrix_units_section
from sciprec.foundation.errors import InputError
from sciprec.report.stored.batch import read_batch
from sciprec.results.output import netcdf
from sciprec.results.output.stated import STAGE_WORK
from sciprec.workbench.batch import workflow
from sciprec.workbench.batch.plan import plan
from sciprec.workbench.batch.resume import run_digest
from sciprec.workbench.kinds import parse_scenario

GIVEN = {
    "name": "units", "title": "Units", "source": "Williamson et al. (1992), case 5",
    "kind": "climate", "backends": ["fp64"],
    "stages": [
        {"name": "int8", "legendre": "matrix:field=int8,table=int8"},
        {"name": "pair", "legendre": "matrix:table=fp16,field=fp16,sparsity=2:4",
         "kept": "matrix:table=int8,field=int8,slices=4", "kept_orders": 2},
    ],
    "climate": {"case": "williamson_5", "truncation": 10, "days": 0.05, "step_seconds": 1080.0,
                "count_operations": True},
}  # fmt: skip


def test_runs_in_fp64_with_a_unit_are_not_the_truth():
    runs = plan([parse_scenario(GIVEN)])
    assert [(run.label, run.is_truth) for run in runs] == [
        ("fp64", True), ("fp64, stages int8", False), ("fp64, stages pair", False),
    ]  # fmt: skip
    assert len({run_digest(run) for run in runs}) == 3
    assert runs[1].variant.stages.legendre == "matrix:table=int8,field=int8"


@pytest.mark.slow
def test_a_batch_counts_operations_and_its_page_shows_them_and_the_units(blank_figures, tmp_path):
    made = workflow.run(parse_scenario(GIVEN), out=tmp_path / "out")
    truth, whole, pair = (netcdf.read(file) for file in made.files)
    assert MATRIX_UNITS.read(truth) is None
    (unit,) = MATRIX_UNITS.read(whole)["units"]
    assert unit["unit"] == "matrix:table=int8,field=int8" and unit["products"] == 1
    batch = read_batch(made.folder)
    section = matrix_units_section(batch.runs)
    rows = {row["label"]: row for row in section["rows"]}
    assert list(rows) == ["fp64, stages int8", "fp64, stages pair"]
    int8, mixed = rows.values()
    assert int8["error"] > 0 < int8["wind"] and int8["drift"] is not None
    assert int8["kilobytes"] > 0.5 and int8["products"] == 1
    assert "int8 x int8, a scale per channel, sums in int32, 4 slices, lowest" in mixed["unit"]
    assert mixed["speeds"] == [None] * 4 and all(0 < s[0] < 10 for s in int8["speeds"])
    page = made.page.read_text(encoding="utf-8")
    heading, table = page.split("<h3>Matrix units</h3>")
    assert "A100, modelled" in table and "nothing was measured" in table
    assert len(re.findall(r"<code>fp64, stages \w+</code></th><td>", table)) >= 2
    told = {one["stage"]: one for one in json.loads(truth.attrs[STAGE_WORK])}
    elements = 6 * 77  # of a state of shallow water at T10
    assert told["state update"]["counts"] == {
        "add": 2 * elements, "load": 5 * elements, "mul": elements, "store": elements,
        "sub": elements,
    }  # fmt: skip
    assert not any(STAGE_WORK in run.attrs for run in (whole, pair))
    for said in (
        "stages pair: transforms with arithmetics of their own are not shown here",
        "Legendre products of a step on", "Stages beside the roofline", unit["unit"],
    ):  # fmt: skip
        assert said in page, said


@pytest.mark.parametrize(
    ("backend", "words"),
    [("fixed32", "'fixed32' beside stages of .*, which is in fixed point; accepted"),
     ("mlu370-noise", "'mlu370-noise' beside stages .*, which is rounded at random")],
)  # fmt: skip
def test_arithmetics_in_place_of_the_scenarios_own_are_checked_as_those(backend, words, tmp_path):
    for what in (workflow.forecast, workflow.run):
        with pytest.raises(InputError, match=words):
            what(parse_scenario(GIVEN), out=tmp_path / "out", backends=["fp32", backend])
    assert not (tmp_path / "out").exists()
