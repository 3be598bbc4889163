"""The plugin of pytest, in sessions of its own: blessed, checked, and failing with a place."""

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import numba
import numpy as np
import pytest

import sciprec
from sciprec.regression.baselines import checking, pytest_plugin
from sciprec.regression.baselines.records import read_record
from sciprec.regression.baselines.saving import write_new
from sciprec.regression.baselines.values import values_answers, values_request

TESTS = '''
import numpy as np
import pytest
import xarray as xr

import sciprec

CHANGE = {change}


def halved(x, y):
    for i in range(x.size):
        y[i] = x[i] / 3.0 * CHANGE


def plain(x):
    return x / 7.0 * CHANGE, x.size


def labelled(x):
    t = xr.DataArray(x * CHANGE, {{"place": ["a", "b", "c"]}}, attrs={{"units": "K", "more": None}})
    return t.to_dataset(name="t").assign_attrs(odd=[True, None])


X = np.array([1.0, 2.0, 3.0])


def test_array(precision_baseline):
    precision_baseline(X * CHANGE)
    precision_baseline({{"one": X, "two": X.astype(np.float16) * np.float16(CHANGE)}})
    precision_baseline(X > 1.5, name="flags")


@pytest.mark.parametrize("name", ["fp32", "float:p=9,round=sr"])
def test_lifted(precision_baseline, name):
    precision_baseline(sciprec.lift(halved, name), (X, np.zeros(3)))


def test_function(precision_baseline):
    precision_baseline(plain, {{"x": X.astype(np.float32)}})


class TestClass:
    def test_labelled(self, precision_baseline):
        precision_baseline(labelled, (X,))


def test_samples(precision_baseline):
    rng = np.random.default_rng(1)
    precision_baseline(X * CHANGE, samples=[X + 1e-6 * rng.standard_normal(3) for _ in range(8)])
'''
BASELINES = {
    "test_it.test_array", "test_it.test_array-2", "flags", "test_it.test_function",
    "test_it.TestClass.test_labelled", "test_it.test_samples",
}  # fmt: skip


def warm(x):
    return x * 0.1


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """All that a session needs is imported: what it imports itself it forgets, and some of Numba
    cannot be imported twice.
    """
    numba.njit(warm)(1.0)
    folder, args = tmp_path_factory.mktemp("warm"), (np.ones(2),)
    lifted = sciprec.lift(warm, "fp32")
    made = values_answers(lifted, args, noisy=True)
    write_new(values_request("warm", lifted, args), "warm", folder, made, "")
    assert read_record("warm", folder) and checking


@pytest.fixture
def session(pytester, monkeypatch, imported):
    """A function that runs the tests above in a session with the plugin, its numbers changed."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # tests change within a second

    def run(*options, change=1.0, tests=TESTS):
        pytester.path.joinpath("test_it.py").write_text(tests.format(change=change))
        plugin = ("-p", pytest_plugin.__name__, "-p", "no:cacheprovider")
        return pytester.runpytest_inprocess(*plugin, *options)

    run.folder = pytester.path / pytest_plugin.FOLDER
    return run


@pytest.mark.slow
def test_from_the_first_blessing_to_a_regression(session):
    done = session()
    done.assert_outcomes(failed=6)
    done.stdout.fnmatch_lines(["*there is no precision baseline 'test_it.test_array' in *"])
    assert not session.folder.exists()
    session("--precision-bless", "new").assert_outcomes(passed=6)
    names = {path.name for path in session.folder.iterdir()}
    assert len(names) == 8 and names > BASELINES
    before = {path: path.read_bytes() for path in session.folder.rglob("*.json")}
    session("--precision-bless", "nothing new").assert_outcomes(passed=6)
    assert before == {path: path.read_bytes() for path in session.folder.rglob("*.json")}
    session("--junit-xml", "out.xml").assert_outcomes(passed=6)
    told = {one.get("name") for one in ElementTree.parse("out.xml").iter("property")}
    assert {"test_it.test_array.values", "test_it.test_array.values.max_abs"} <= told
    session(change=1.0 + 1e-8).assert_outcomes(passed=4, failed=2)  # within the noise, if any
    done = session(change=1.5)
    done.assert_outcomes(failed=6)
    done.stdout.fnmatch_lines([
        "*values: changed: largest difference 1.5, and the noise is not known (values without*",
        "*y: changed: *is beyond * the spread of 8 runs whose inputs are one unit of the format*",
        "*t: changed: * K is beyond *; the largest is 1.5 K at place c (3.0 then, 4.5 now)*",
        "*right? --precision-bless REASON*",
    ], consecutive=False)  # fmt: skip
    session("--precision-bless", "three halves", change=1.5).assert_outcomes(passed=6)
    session(change=1.5).assert_outcomes(passed=6)
    record = json.loads((session.folder / "test_it.test_function" / "baseline.json").read_text())
    assert [one["reason"] for one in record["history"]] == ["new", "three halves"]


BAD = {
    "lambda x: x": "a function was given without arguments; give them as a tuple",
    "1.0, (2.0,)": "arguments were given for a float, which is no function; leave them out",
    "'word'": "str cannot be compared",
    "{'a': np.array([1j])}": "dtype complex128, which cannot be compared",
    "xr.Dataset()": "nothing was given that can be compared; give real numbers in arrays",
    "1.0, samples=[1.0] * 7": "7 samples were given; noise takes 8 or more",
    "lambda x: 1 / x, (0,)": "it ends with ZeroDivisionError",
    "1.0, name='a/b'": "cannot be called 'a/b'",
}


def test_bad_input(session):
    tests = "import numpy as np, xarray as xr\n"
    for k, call in enumerate(BAD):
        tests += f"def test_{k}(precision_baseline):\n    precision_baseline({call})\n"
    done = session("--precision-bless", "why", tests=tests.replace("{", "{{").replace("}", "}}"))
    done.assert_outcomes(failed=len(BAD))
    said = done.stdout.str()
    assert not [words for words in BAD.values() if words not in said]
    assert not list(session.folder.glob("*"))


def test_the_example_of_the_page(session):
    page = (Path(__file__).parents[2] / "docs/how_to/baselines.md").read_text(encoding="utf-8")
    tests = page.partition("```python\n")[2].partition("```")[0]
    assert "{" not in tests
    session("--precision-bless", "new", tests=tests).assert_outcomes(passed=1)
    session(tests=tests).assert_outcomes(passed=1)
    done = session(tests=tests.replace("/ 3.0", "/ 2.0"))
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["  y: changed: difference of the * is beyond *; the largest is *"])
