"""Names of version 0.1: modules and public names stand for those of today, with a warning."""

import importlib
import pickle
import subprocess
import sys
import warnings

import pytest

import sciprec
from sciprec.foundation.moved import GONE, MOVED, moved_to


@pytest.mark.parametrize("old", sorted(MOVED))
def test_a_module_under_its_older_name_is_the_one_of_today(old):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        module = importlib.import_module(f"sciprec.{old}")
    assert module is importlib.import_module(moved_to(f"sciprec.{old}"))
    assert module.__name__ == moved_to(f"sciprec.{old}") != f"sciprec.{old}"


PROGRAM = """
import warnings
warnings.simplefilter("always")
from sciprec.checks.arguments import whole
import sciprec.checks.arguments
import sciprec
sciprec.fixed_matmul, sciprec.fixed_matmul
from sciprec import fixed_matmul
"""


@pytest.mark.slow
def test_each_older_name_warns_once_and_says_the_new_one():
    command = [sys.executable, "-c", PROGRAM]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    warned = [line.partition(": ")[2] for line in said.splitlines() if "Warning" in line]
    assert warned == [
        f"DeprecationWarning: {text}; the older name goes with version 0.3"
        for text in (
            "the module 'sciprec.checks' is 'sciprec.foundation' now",
            "the module 'sciprec.checks.arguments' is 'sciprec.foundation.arguments' now",
            "'sciprec.fixed_matmul' is 'sciprec.arrays.fixed_matmul' now",
        )
    ]


@pytest.mark.parametrize("name", sorted(sciprec._ELSEWHERE))
def test_a_public_name_of_before_is_what_it_was(name):
    vars(sciprec).pop(name, None)
    said = f"'sciprec.{name}' is '{sciprec._ELSEWHERE[name]}' now"
    with pytest.warns(DeprecationWarning, match=said):
        found = getattr(sciprec, name)
    assert found.__name__ in (name, "run") and name not in sciprec.__all__
    del vars(sciprec)[name]


@pytest.mark.parametrize(
    ("room", "old", "new", "module"),
    [
        ("sciprec.extend", "Pair", "VariablePair", "sciprec.results.comparison.pointwise.pairing"),
        ("sciprec.machine", "Estimate", "RooflineEstimate", "sciprec.cost.peak_rates"),
    ],
)
def test_an_older_name_of_a_room_warns_once_and_is_that_of_today(room, old, new, module):
    given = importlib.import_module(room)
    vars(given).pop(old, None)
    with pytest.warns(DeprecationWarning, match=f"'{room}.{old}' is '{room}.{new}' now") as told:
        found = getattr(given, old), getattr(given, old)
    assert found == (getattr(given, new),) * 2 and len(told) == 1
    assert told[0].filename == __file__ and old not in (*given.__all__, *dir(given))
    older = pickle.dumps(found[0], 0).replace(f"\n{new}\n".encode(), f"\n{old}\n".encode())
    assert f"{module}\n{old}".encode() in older and pickle.loads(older) is found[0]
    del vars(given)[old]


def test_a_pickle_with_an_older_name_opens():
    text = pickle.dumps(sciprec.InputError("said"), protocol=0)
    old = text.replace(b"sciprec.foundation.errors", b"sciprec.errors")
    assert old != text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        opened = pickle.loads(old)
    assert type(opened) is sciprec.InputError and str(opened) == "said"


@pytest.mark.parametrize("name", sorted(GONE))
def test_a_module_that_is_gone_says_what_to_do(name):
    with pytest.raises(ImportError) as raised:
        importlib.import_module(f"{name}.kernels")
    assert str(raised.value) == GONE[name] and f"'{name}' " in GONE[name]


@pytest.mark.parametrize("name", ["bench", "accumulation"])
def test_an_attribute_that_is_gone_says_what_to_do(name):
    with pytest.raises(AttributeError) as raised:
        getattr(sciprec, name)
    assert str(raised.value) == GONE[f"sciprec.{name}"]


def test_a_module_that_moved_twice_is_found():
    assert moved_to("sciprec.tuning.results") == "sciprec.tools.tune.tuned"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with pytest.raises(ImportError, match="keeps a number in a whole byte"):
            importlib.import_module("sciprec.precision.matrix_unit.storage")


def test_a_name_that_never_was_is_refused():
    with pytest.raises(ModuleNotFoundError, match="sciprec.checking"):
        importlib.import_module("sciprec.checking")
    with pytest.raises(AttributeError, match="no attribute 'lifted'"):
        sciprec.lifted  # noqa: B018
