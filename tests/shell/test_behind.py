"""Results know the code, the values and the initial state behind them: an edit is never missed."""

import importlib
import subprocess
import sys

import pytest

from sciprec import climate
from sciprec.climate.cases.registry import CASES, case
from sciprec.climate.cases.williamson import flow_over_mountain
from sciprec.climate.transform.grid import Truncation
from sciprec.foundation.definitions import digest_of
from sciprec.workbench.batch import execute, workflow
from sciprec.workbench.kinds import load_scenario
from tests.shell.conftest import little_climate

SMALL = Truncation(10, 16, 32, 1200.0)

WRITTEN = '''
import collections
import functools
import math
import threading
import types
import numpy as np
from numba import njit
import behind_helpers
from behind_helpers import drop

MEAN = 8000.0
TABLE = {"waves": [3, 4], "names": ("a", "b")}
PROFILE = np.linspace(0.0, 1.0, 4)


class Ground:
    width = 20.0

    def height(self, lat):
        return 2000.0 * lat + self.top

    def __init__(self, top):
        self.top = top


GROUND = Ground(7.0)


@njit
def crest(x):
    return 0.25 * x


@functools.lru_cache
def slow(x):
    return x - 31.0


def closed(value):
    def inner(x):
        return x + value
    return inner


ADD = closed(11.0)
PART = functools.partial(closed, 13)


class Start:
    @functools.cached_property
    def height(self):
        return 41.0


class Named(list):
    """A list with a name."""


class Field(np.ndarray):
    """An array with a unit."""


class Scaled:
    def __init__(self, function, factor):
        functools.update_wrapper(self, function)
        self.factor = factor

    def __call__(self, x):
        return self.factor * self.__wrapped__(x)


exec("""
class Made:
    def height(self):
        return 43.0
""")


def counted(x):
    return x + counted.base


counted.base = 47.0
START, NAMED, UNIT = Start(), Named([1.0]), np.zeros(2).view(Field)
NAMED.title, UNIT.scale = 53.0, 59.0
SCALED = Scaled(math.cos, 61.0)
HIDDEN = 67.0
FOUND = collections.defaultdict(lambda: 71.0)
SPACE = types.SimpleNamespace(f=lambda x: x * 73.0, lock=threading.Lock())
MASKED = np.ma.array([1.0, 2.0], mask=[False, True])
ON_ALL = np.vectorize(lambda x: x * 79.0)


@functools.singledispatch
def of_type(x):
    return 83.0


def held(lat):
    many = [START.height, NAMED.title, UNIT.scale, SCALED(lat), Made().height(), counted(lat)]
    more = [globals()["HIDDEN"], FOUND[3], SPACE.f(lat), ON_ALL(lat), of_type(lat)]
    many += [MASKED.sum()]
    return sum(many) + sum(more)


def initial(lon, lat, angle=45.0):
    """What is registered."""
    from behind_late import late
    if angle in {17, 19}:
        return None
    terms = [drop(lat), behind_helpers.rise(lon), math.sin(angle), crest(lat), ADD(1.0)]
    turn = lambda x: x * 23.0
    waves = TABLE["waves"][0] + PROFILE
    return MEAN + sum(terms) + waves + GROUND.height(lat) + turn(slow(late(3))) + held(lat)
'''
HELPERS = (
    "FACTOR = 29.0\n\ndef drop(x):\n    return FACTOR * x\n\ndef rise(x):\n    return x - 5.0\n"
)
LATE = "def late(x):\n    return 37.0 * x\n"
EDITS = {
    "a value": ("MEAN = 8000.0", "MEAN = 3000.0"),
    "an array": ("(0.0, 1.0, 4)", "(0.0, 2.0, 4)"),
    "in a container": ("[3, 4]", "[3, 5]"),
    "an attribute of a class": ("width = 20.0", "width = 21.0"),
    "a method": ("2000.0 * lat", "2100.0 * lat"),
    "an attribute of an object": ("Ground(7.0)", "Ground(8.0)"),
    "a compiled function": ("0.25 * x", "0.5 * x"),
    "a cached function": ("x - 31.0", "x - 32.0"),
    "a value closed over": ("closed(11.0)", "closed(12.0)"),
    "a default": ("angle=45.0", "angle=46.0"),
    "a set of constants": ("{17, 19}", "{17, 18}"),
    "a lambda": ("x * 23.0", "x * 24.0"),
    "another name": ("math.sin", "math.cos"),
    "an operator": ("MEAN + sum", "MEAN - sum"),
    "a function of another module": ("x - 5.0", "x - 6.0"),
    "a value that it reads there": ("FACTOR = 29.0", "FACTOR = 28.0"),
    "a module that is imported late": ("37.0 * x", "38.0 * x"),
    "a cached property": ("41.0", "42.0"),
    "a method of code without a file": ("43.0", "44.0"),
    "an attribute of a function": ("47.0", "48.0"),
    "an attribute of a list": ("53.0", "54.0"),
    "an attribute of an array": ("59.0", "60.0"),
    "an object in a function's clothes": ("61.0", "62.0"),
    "a global by its text": ("67.0", "68.0"),
    "what a dictionary makes": ("71.0", "72.0"),
    "a function beside a lock": ("73.0", "74.0"),
    "a function inside NumPy's": ("79.0", "80.0"),
    "a function of some type": ("83.0", "84.0"),
    "a mask": ("[False, True]", "[True, False]"),
}
HARMLESS = {
    "a comment": ("MEAN = 8000.0", "# higher than the others\nMEAN = 8000.0"),
    "what is not read": ("PART = functools.partial(closed, 13)", "PART = 14"),
    "an empty line": ("def initial", "\n\ndef initial"),
}


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A function that writes the modules, one text replaced, and returns `initial`."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    names = {"behind_helpers": HELPERS, "behind_late": LATE, "behind_case": WRITTEN}

    def write(old="", new=""):
        assert sum(text.count(old) for text in names.values()) == 1 or not old
        for name, text in names.items():
            (tmp_path / f"{name}.py").write_text(text.replace(old, new) if old else text)
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module("behind_case").initial

    yield write
    for name in names:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("edit", EDITS)
def test_every_edit_changes_the_digest(written, edit):
    before = digest_of(written())
    assert digest_of(written()) == before != digest_of(written(*EDITS[edit]))


@pytest.mark.parametrize("edit", HARMLESS)
def test_what_no_number_depends_on_changes_nothing(written, edit):
    assert digest_of(written()) == digest_of(written(*HARMLESS[edit]))


def test_another_process_finds_the_same_digest(written, tmp_path):
    found = digest_of(written())
    script = (
        "import behind_case, sciprec.foundation.definitions as d; "
        "print(d.digest_of(behind_case.initial))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True,
        env={"PYTHONHASHSEED": "1", "PYTHONPATH": ":".join([str(tmp_path), *sys.path])},
    )  # fmt: skip
    assert done.stdout.strip() == found


def register(height):
    """A case of a user, whose mean height is a value that its function closes over."""

    @case("own_mountain", source="nobody (2000), case 1")
    def own_mountain(lon, lat):
        state = flow_over_mountain(lon, lat)
        return type(state)(**(vars(state) | {"height": state.height + height}))


@pytest.fixture
def own():
    """`register`, whose case is gone afterwards."""
    yield register
    CASES.pop("own_mountain", None)


def test_an_edited_case_is_not_taken_from_checkpoints(own, tmp_path):
    run = {"truncation": SMALL, "days": 0.25, "output_hours": 6.0, "checkpoints": tmp_path}
    heights = []
    for mean in (0.0, 100.0, 0.0):
        own(mean)
        heights.append(float(climate.run("own_mountain", **run)["height"][0].mean()))
    assert heights[1] == pytest.approx(heights[0] + 100.0, abs=1.0)
    assert heights[2] == heights[0]
    assert len(list(tmp_path.glob("*.npz"))) == 2


def test_an_edited_case_is_not_taken_from_a_batch_folder(
    own, models, undrawn, scenario_files, tmp_path
):
    computed = []

    def counted(given, backend, compensation=None):
        computed.append(backend)
        return little_climate(given, backend)

    models["climate"] = counted
    text = scenario_files[0].read_text().replace("williamson_5", "own_mountain")
    scenario_files[0].write_text(text)
    for mean, count in ((8000.0, 3), (8000.0, 0), (3000.0, 3)):
        own(mean)
        computed.clear()
        assert not workflow.run(scenario_files[0], out=tmp_path / "out").failures
        assert len(computed) == count


def test_a_worker_with_other_code_says_so(own, models, scenario_files, tmp_path):
    scenario_files[0].write_text(
        scenario_files[0].read_text().replace("williamson_5", "own_mountain")
    )
    own(8000.0)
    run, *_ = workflow.planned([load_scenario(scenario_files[0])], None, ".nc")
    how = {"action": None, "folder": str(tmp_path), "debug": False, "topic": None, "fresh": False}
    own(3000.0)
    outcome = execute.on_worker(run, **how)
    assert "is not the same on the worker" in outcome.failure
