"""Long accumulation from its scenario to its page, at small size."""

import json

import numpy as np
import pytest

from sciprec.report.page import table
from sciprec.report.stored.batch import read_batch
from sciprec.results.output import netcdf
from sciprec.workbench.batch import workflow
from sciprec.workbench.kinds import load_scenario, parse_scenario
from tests.shell.conftest import SUM

SMALL = SUM | {
    "tolerance": [
        {"variable": "largest_error_in_u", "metric": "max_abs", "at_most": 400.0, "reason": "none"}
    ],
}


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return workflow.run(parse_scenario(SMALL), out=tmp_path_factory.mktemp("sums"))


def test_every_run_is_stored_and_judged(result):
    assert not result.failures
    rows = {row["backend"]: row for row in table(read_batch(result.folder))}
    assert {name: row["status"] for name, row in rows.items()} == {
        "fp64": "truth", "fp32": "good", "mlu370": "beyond",
    }  # fmt: skip
    assert rows["mlu370"]["variable"] == "parameter"
    assert "largest_error_in_u: largest error" in rows["mlu370"]["reason"]


def test_files_hold_sums_errors_and_units(result):
    truth, _, run = (netcdf.read(path) for path in result.files)
    assert run["parameter"].dims == ("update", "member")
    assert run.sizes == {"update": 51, "member": 8}
    assert np.all(truth["largest_error_in_u"] == 0.0)
    u = json.loads(run.attrs["sciprec_backend_properties"])["storage"]["significand_bits"]
    error = (run["parameter"] - truth["parameter"]) / truth["parameter"] * 2.0**u
    assert np.array_equal(np.abs(error).max("member"), run["largest_error_in_u"])
    assert np.allclose(error.mean("member"), run["mean_error_in_u"], rtol=1e-12)
    assert run["update"].attrs["long_name"] and run["parameter"].attrs["units"] == "1"


def test_the_page_shows_sums_and_errors(result):
    page = result.page.read_text(encoding="utf-8")
    assert page.count("<svg") == 2
    for words in ("mean of all sums", "in u of the format", "has stagnated"):
        assert words in page


def test_the_shipped_scenario_is_the_published_one():
    """Increments of size 1e-7 to 1e-5, ten million of them (published description)."""
    given = load_scenario("long_accumulation").accumulation
    assert (given.updates, given.smallest, given.largest) == (10**7, 1e-7, 1e-5)
