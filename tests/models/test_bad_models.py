"""A fault of a model or its file gets one sentence and exit code 2, before half a batch."""

import re

import pytest

from sciprec.foundation.errors import InputError
from sciprec.foundation.loading import load_files
from sciprec.workbench.kinds import load_scenario

GOOD = 'return xr.Dataset({"x": ("n", np.ones(3), {"units": "1"})})'
RETURNED = [
    ("return 1", "returned a int; a model returns an xarray.Dataset"),
    ("pass", "returned a NoneType; a model returns"),
    ("return xr.Dataset()", "a Dataset without a variable"),
    ('return xr.Dataset({"x": ("n", np.ones(3))})', "the variable 'x' has no unit; say it"),
    ('return xr.Dataset({"x": ("n", np.ones(3) * 1j, {"units": "1"})})', "type complex128, which"),
    ('return xr.Dataset({"x": ("n", ["a"], {"units": "1"})})', "holds values of type <U1"),
    ('return xr.Dataset({"x": (("time", "n"), np.full((2, 2), np.nan), {"units": "1"})})',
     "'x' is not finite in fp64 at time 0, at its beginning"),
    ('return xr.Dataset({"x": ("n", np.ones(3 if arithmetic.backend == "fp64" else 4),'
     ' {"units": "1"})})', "let the model give the same variables on the same points"),
    (GOOD[:-1] + ', attrs={"primary": "y"})', "'primary' of its Dataset names 'y'; known: x"),
    (GOOD[:-1] + ', attrs={"pictures": "line"})', "names 'line'; .* did you mean 'lines'"),
    (GOOD[:-1] + ', attrs={"pictures": "growth"})', "'growth', which needs the first axis 'time'"),
    (GOOD[:-1] + ', attrs={"pictures": "lines map"})', "'map', which needs two axes beside"),
    (GOOD[:-1] + ', attrs={"budgets": "x"})', "a budget is one number at each time"),
    ("arithmetic.update(1.0, 2.0)", "a state that is a float; give a contiguous"),
    ("arithmetic.update(np.ones((4, 4))[:, 1], 2.0)", "an array that is not contiguous"),
    ("arithmetic.update(np.ones(4), np.ones(3))", r"shape \(4,\) and an increment of shape \(3,\)"),
    ("for _ in range(300):\n    arithmetic.update(np.ones(4), 1.0)", "the same array at each step"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("body", "said"), RETURNED)
def test_what_a_model_does_wrong_gets_a_sentence(write, call, body, said):
    plugin, scenario = write(body)
    out = plugin.parent / "out"
    code, _, error = call("run", scenario, "--plugin", plugin, "--out", out)
    last = error.strip().splitlines()[-1]
    assert code == 2 and re.search(said, last), error
    assert last.startswith("sciprec: scenario 'mine': ") and "Traceback" not in error
    assert not (out / "index.html").exists()


def test_an_error_of_the_model_names_its_line(write, call):
    plugin, scenario = write("x = 1\nreturn x / (given.steps - 3)")
    code, out, error = call("run", scenario, "--plugin", plugin, "--out", plugin.parent / "out")
    assert code == 1 and "model 'mine' ended in fp16 with ZeroDivisionError" in out + error
    assert "(mine.py, line 21); mend it there" in out + error


@pytest.mark.parametrize(
    ("scenario", "said"),
    [
        ("[[tolerance]]\nvariable = 'y'\nmetric = 'relative_l2'\nat_most = 1.0\nreason = 'r'",
         "the unknown variable 'y'; known for runs of kind 'mine' with these keys: x"),
        ("[ensemble]\nmembers = 2", "all members are the same; let the model call"),
        ("compensation = ['carry']", "adds no increment by arithmetic.update.*compensation_of"),
        ("[[compensation]]\nname = 'own'\nvariables = { y = { alpha = 0.5 } }",
         "compensation of 'y': model 'mine' carries x"),
        ("[mine]\nstep = 1", "unknown key 'mine.step'; known: steps; did you mean 'steps'"),
        ("[mine]\nsteps = 1.5", "'mine.steps' was given 1.5 .*; accepted: a whole number"),
    ],
)  # fmt: skip
def test_what_a_scenario_of_a_model_asks_for_wrongly(write, call, scenario, said):
    said_by = "'mine', variables=['x'], carried=lambda given: {'x': (3, 1)}"
    plugin, file = write(GOOD, scenario=scenario, decorator=said_by)
    code, _, error = call("run", file, "--plugin", plugin, "--out", plugin.parent / "out")
    assert code == 2 and re.search(said, error.strip().splitlines()[-1]), error


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("@sciprec.model('Bad name')\ndef f(given: Given, a): pass", "cannot be called 'Bad name'"),
        ("@sciprec.model('title')\ndef f(given: Given, a): pass", "a key of every scenario"),
        ("@sciprec.model('copy')\ndef f(given: Given, a): pass", "cannot be called 'copy'"),
        ("@sciprec.model('climate')\ndef f(given: Given, a): pass", "'climate' is there already"),
        ("@sciprec.model('m')\ndef f(given, a): pass", "annotated with nothing; accepted: a datac"),
        ("@sciprec.model('m')\ndef f(given: int, a): pass", "annotated with <class 'int'>"),
        ("@sciprec.model('m')\ndef f(given: 'No', a): pass", "'No' of 'given' is no name"),
        ("@sciprec.model('m')\ndef f(given: Given): pass", r"takes \(given\); a model takes two"),
        ("@sciprec.model('m')\ndef f(given: Given, a, *b): pass", "a model takes two arguments"),
        ("@sciprec.model('m')\nclass F: pass", "is a type; decorate a function"),
        ("@sciprec.model('m', perturbs=['x'])\ndef f(given: Given, a): pass", "names 'x'; acc"),
        ("@sciprec.model('m', brief={'y': 1})\ndef f(given: Given, a): pass", "brief names 'y'"),
        ("@dataclass\nclass D:\n    x: dict = None\n\n\n@sciprec.model('m')\n"
         "def f(given: D, a): pass", "'x' is of type dict, which no table of a scenario can hold"),
        ("@dataclass\nclass D:\n    copy: int = 1\n\n\n@sciprec.model('m')\n"
         "def f(given: D, a): pass", "a parameter cannot be called 'copy'"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)  # fmt: skip
def test_a_declaration_that_cannot_be_one_is_refused(tmp_path, fresh, text, said):
    (tmp_path / "bad.py").write_text(
        "from dataclasses import dataclass\nimport sciprec\n\n\n@dataclass\nclass Given:\n"
        f"    steps: int = 1\n\n\n{text}\n"
    )
    with pytest.raises(InputError, match=said):
        load_files(tmp_path / "bad.py")


def test_a_scenario_of_an_unknown_model_is_refused(tmp_path, fresh):
    file = tmp_path / "a.toml"
    file.write_text('name = "a"\nkind = "nobodys"\n')
    with pytest.raises(InputError, match="'kind' was given 'nobodys'; accepted: climate"):
        load_scenario(file)
