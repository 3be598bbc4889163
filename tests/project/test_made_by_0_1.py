"""What version 0.1 has left is read by this one: a run, baselines, an assignment, pickles and what
it kept in the cache folder. It ran on Python 3.11, and later ones read its pickles, too.
"""

import json
import pickle
import shutil
import sys
from pathlib import Path

import pytest

import sciprec
from sciprec.precision.formats.backend import resolve_backend

GOOD = 0


@pytest.fixture
def left(tmp_path, monkeypatch):
    """A copy of what version 0.1 has left, as the working folder."""
    shutil.copytree(Path(__file__).parent / "made_by_0_1", tmp_path / "left")
    monkeypatch.chdir(tmp_path / "left")
    monkeypatch.syspath_prepend(str(tmp_path / "left"))
    yield tmp_path / "left"
    sys.modules.pop("squares", None)


@pytest.mark.slow
def test_a_run_is_compared_verified_and_found_done(left, call):
    made = json.loads((left / "run/batch.json").read_text(encoding="utf-8"))
    assert made["made_by"]["sciprec"] == "0.1.0"
    assert call("report", "run")[0] == GOOD
    code, text, _ = call("report", "run", "--verify")
    assert (code, text.count(" verified")) == (GOOD, 4)
    assert "sciprec run tiny.toml" in (left / "run/index.html").read_text(encoding="utf-8")
    assert call("compare", left / "run", left / "run")[0] == GOOD
    code, text, said = call("run", "tiny.toml", "--out", "run")
    assert code == GOOD and "5.4e-04" in text, said


def test_what_it_kept_in_the_cache_folder_changes_nothing(left, call, monkeypatch):
    said = {}
    for folder in ("kept", "empty"):
        monkeypatch.setenv("SCIPREC_CACHE_DIR", str(left / folder))
        said[folder] = call("report", "run")
    assert said["kept"] == said["empty"] and said["kept"][0] == GOOD
    assert len(list((left / "kept").iterdir())) > 2


def test_baselines_are_checked(left, call):
    code, text, said = call("baseline", "check", "tiny", "kernel")
    assert code == GOOD, said
    assert text.count(" identical") == 8


def test_an_assignment_is_that_of_its_lines(left):
    import squares

    made = sciprec.Assignment.load("narrow_sum.toml")
    assert (made.name, made.default, dict(made)) == ("narrow_sum", "fp64", {7: "fp16"})
    assert squares_of(sciprec.lift(squares.kernel, made)) == 2.5130208333333335


def squares_of(kernel):
    """The last element that a kernel of squares.py writes."""
    import squares

    given = squares.given()
    kernel(given["x"], given["out"])
    return given["out"][-1]


@pytest.mark.filterwarnings("ignore:the module .sciprec:DeprecationWarning")  # has moved
@pytest.mark.parametrize(
    ("name", "last"),
    [("lifted", 2.513671875), ("assigned", 2.5130208333333335), ("fixed", 2.5140350870788097)],
)
def test_a_pickled_kernel_gives_what_it_gave(left, name, last):
    assert squares_of(pickle.loads((left / f"pickles/{name}.pickle").read_bytes())) == last


def test_pickled_results_and_arithmetics_are_what_they_were(left):
    def read(name):
        return pickle.loads((left / f"pickles/{name}.pickle").read_bytes())

    assert read("arithmetic") == resolve_backend("mlu370")
    assert "batch in reports/mine: 2 runs" in str(read("study"))
    assert {place.function for place in read("places").places} == {"kernel"}
    assert "All digits of 'kernel' in fp64 are right." in str(read("digits"))
