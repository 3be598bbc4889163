"""Long accumulation from its scenario to its page, at small size."""

import json
from pathlib import Path

import numpy as np
import pytest

from sciprec.batch import workflow
from sciprec.errors import InputError
from sciprec.kinds import load_scenario, parse_scenario
from sciprec.output import netcdf
from sciprec.report.page import table
from sciprec.report.stored.batch import read_batch

SHIPPED = Path(__file__).parents[2] / "scenarios" / "long_accumulation.toml"
SMALL = {
    "name": "little_sum",
    "title": "A little sum",
    "source": "nobody (2000), case 2",
    "kind": "accumulation",
    "backends": ["fp32", "mlu370"],
    "accumulation": {"updates": 20_000, "members": 8, "smallest": 1e-7, "largest": 1e-5},
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
    assert page.count("<svg") == 3
    for words in ("mean of all sums", "in u of the format", "has stagnated"):
        assert words in page


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("updates", 0, "key 'accumulation.updates' was given 0"),
        ("members", 1.5, "accepted: a whole number of sums from 1 to 1e5; write for example `"),
        ("member", 3, "unknown key 'accumulation.member'"),
    ],
)
def test_keys_are_checked(key, value, words):
    wrong = SMALL | {"accumulation": SMALL["accumulation"] | {key: value}}
    with pytest.raises(InputError) as caught:
        parse_scenario(wrong)
    assert words in str(caught.value)


def test_increments_without_exact_sum_are_refused_before_computing(tmp_path):
    wrong = SMALL | {"accumulation": SMALL["accumulation"] | {"smallest": 1e-14}}
    with pytest.raises(InputError, match=r"'little_sum': table \[accumulation\]: increments from"):
        workflow.run(parse_scenario(wrong), out=tmp_path)


def test_the_shipped_scenario_is_the_published_one():
    """Increments of size 1e-7 to 1e-5, ten million of them (published description)."""
    given = load_scenario(SHIPPED).accumulation
    assert (given.updates, given.smallest, given.largest) == (10**7, 1e-7, 1e-5)
