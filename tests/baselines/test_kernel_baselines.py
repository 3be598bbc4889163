"""Baselines of kernels with their inputs, and of prices."""

import json
import shutil
from pathlib import Path

import pytest

from sciprec.cli.console import GOOD, NOT_MET, USAGE
from sciprec.foundation.sealed import sealed
from sciprec.instruments.assigning.scaling import with_scaling
from sciprec.precision.formats.backend import backends, resolve_backend
from sciprec.regression.baselines.asking import asked_again
from sciprec.regression.baselines.records import read_record
from sciprec.workbench.kinds import asked_price

KERNEL = '''
import numpy as np


def wave(u, c, path):
    """Upwind advection of `u`; `path` gets every state."""
    for t in range(path.shape[0]):
        for i in range(u.size - 1, 0, -1):
            u[i] = u[i] - c * (u[i] - u[i - 1])
        for i in range(u.size):
            path[t, i] = u[i]
    return np.sum(u)


def start():
    return {"u": 1.5 + np.sin(np.arange(16.0)), "c": 0.3, "path": np.zeros((5, 16))}


def shifted():
    return {**start(), "u": 2.0 + np.sin(np.arange(16.0))}


def other():
    return {"u": 2.5 + np.cos(np.arange(16.0)), "c": 0.2, "path": np.zeros((5, 16))}
'''
SAVE = ("baseline", "save", "waves.py:wave", "--inputs", "waves.py:start", "--inputs",
        "waves.py:other", "-b", "fp32", "--axes", "path=time,x", "-q")  # fmt: skip


@pytest.fixture
def written(repository):
    """The file of a kernel in a repository."""
    path = repository / "waves.py"
    path.write_text(KERNEL, encoding="utf-8")
    return path


@pytest.fixture
def kernel(written, call):
    """A repository with a kernel's baseline, and a function that edits the kernel."""
    path = written
    code, _, err = call(*SAVE)
    assert code == GOOD, err

    def edit(old, new):
        assert old in KERNEL
        path.write_text(KERNEL.replace(old, new), encoding="utf-8")

    return edit


def checked(call, *options):
    code, out, err = call("baseline", "check", "wave", "--json", *options)
    assert not err
    return code, json.loads(out)[0]


@pytest.mark.parametrize("backend", [
    *backends(), "fp16,round=sr", with_scaling("fp16", "dynamic", None), "float:p=11",
])  # fmt: skip
def test_another_process_describes_an_arithmetic_alike(backend):
    """Baselines compare what runs were asked for, written out, which no address may be in."""
    assert " at 0x" not in repr(resolve_backend(backend))


@pytest.mark.slow
def test_a_kernel_is_the_same_until_it_computes_otherwise_or_is_gone(kernel, call, repository):
    code, found = checked(call, "--exact")
    assert code == GOOD and found["found"] == {"identical": 12} and not found["notes"]
    kernel("u[i] = u[i] - c * (u[i] - u[i - 1])", "u[i] = (u[i] - c * (u[i] - u[i - 1]))")
    assert checked(call, "--exact")[0] == GOOD
    kernel("path[t, i] = u[i]", "path[t, i] = u[i] * 1.00001")
    code, found = checked(call)
    assert code == NOT_MET and found["found"]["changed"] == 4
    assert {row["variable"] for row in found["rows"] if row["verdict"] == "changed"} == {"path"}
    assert "the source behind it is not the baseline's" in found["notes"]
    kernel("range(path.shape[0])", "range(1, path.shape[0])")
    assert checked(call)[0] == NOT_MET
    kernel('"c": 0.2', '"c": 0.25')
    code, _, err = call("baseline", "check", "wave", "-q")
    assert code == USAGE and "is of something else: " in err and ".given was" in err
    (repository / "waves.py").unlink()
    code, _, err = call("baseline", "check", "-q")
    assert code == USAGE and "waves.py" in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("waves.py:wave", "-b", "fp32"), "with its arguments (--inputs) and arithmetics (--back"),
        (("waves.py:wave", "--inputs", "waves.py:start"), "(--inputs) and arithmetics (--backend)"),
        (("waves.py:wave", "--inputs", "waves.py:start", "-b", "fp32", "--set", "a.b=1"),
         "--set was given, and 'waves.py:wave' is a kernel: leave it out"),
        (("made_up.toml", "--inputs", "a.npz"),
         "--inputs was given, and 'made_up.toml' is a scenario: leave it out"),
        (("waves.py:none", "--inputs", "waves.py:start", "-b", "fp32"), "defines no 'none'"),
        (("made_up.toml", "--trace"), "--trace was given, and 'made_up.toml' is a scenario"),
        (("waves.py:wave", "--inputs", "waves.py:start", "-b", "fixed16", "--trace"),
         "fixed point; trace takes"),
    ],
)  # fmt: skip
def test_bad_input(written, call, arguments, words):
    code, _, err = call("baseline", "save", *arguments, "--name", "new", "-q")
    assert code == USAGE and words in err and err.count("\n") == 1


@pytest.mark.slow
def test_traces_say_which_line_makes_an_error_now(written, call):
    """Under the same names whatever the text of the lines, those that were not executed too."""
    code, _, err = call(*SAVE[:-5], "-b", "fp16", "--trace", "-q")
    assert code == GOOD, err
    code, out, _ = call("baseline", "check", "--exact", "--json")
    (found,) = json.loads(out)
    assert code == GOOD and found["name"] == "wave_trace"
    rows = {(row["run"], row["variable"]): row["verdict"] for row in found["rows"]}
    assert {run for run, _ in rows} == {"fp16", "fp16, member 1"}
    assert set(rows.values()) == {"identical"}
    written.write_text(KERNEL.replace("= u[i]\n", "= (u[i] + 9.0) - 9.0\n"))
    code, out, _ = call("baseline", "check", "-q")
    assert code == NOT_MET and "part: changed" in out and "at line wave 3" in out


@pytest.mark.slow
def test_prices_are_those_that_were_asked_for(repository, call, monkeypatch):
    """A model, a payoff, a tolerance: the same bits on any number of threads, and none of another
    seed's.
    """
    asked = ("price", "--model", "lewis", "--payoff", "call", "--strike", "100", "--maturity", "1",
             "--tolerance", "5%", "--greeks", "--greeks-tolerance", "50%")  # fmt: skip
    code, _, err = call("baseline", "save", "-q", "--", *asked)
    assert code == GOOD, err
    code, out, _ = call("baseline", "check", "--json", "--exact")
    (found,) = json.loads(out)
    assert code == GOOD and {row["run"] for row in found["rows"]} == {"fp32"}
    assert {"price", "bound", "greek_value"} < {row["variable"] for row in found["rows"]}
    assert call("baseline", "check", "-q", "--exact", "--threads", "1")[0] == GOOD
    arguments = asked_price.price_arguments
    monkeypatch.setattr(
        asked_price, "price_arguments", lambda given: arguments(given) | {"seed": given.seed + 1}
    )
    code, out, _ = call("baseline", "check", "-q")
    assert code == NOT_MET and "fp32, price: changed" in out
    assert "at option call, maturity 1, strike 100" in out


@pytest.mark.parametrize("name", ["means", "traced"])
def test_baselines_of_older_versions_are_read_for_ever(call, tmp_path, monkeypatch, name):
    """`result_0` is `return_0` today; a stored sample, but for the roundings, which are today's."""
    shutil.copytree(Path(__file__).parent / "older", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    record = read_record(name, "kept")
    file = Path("kept", name, "baseline.json")
    content = json.loads(file.read_text(encoding="utf-8"))
    for run, asked in asked_again(record).asked.items():
        content["asked"][run]["roundings"] = asked["roundings"]
    file.write_text(json.dumps(sealed(content)), encoding="utf-8")
    code, out, err = call("baseline", "check", name, "--folder", "kept", "-q", "--json")
    (found,) = json.loads(out)
    assert (code, err) == (GOOD, "") and set(found["found"]) <= {"identical", "noise"}
    names = {"means": {"return_0", "return_1"}, "traced": {"part", "rms", "error"}}
    assert {row["variable"] for row in found["rows"]} == names[name]
