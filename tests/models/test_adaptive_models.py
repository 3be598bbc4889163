"""A user's model whose steps follow a tolerance: identities, tolerances, refusals, its batch."""

import textwrap

import numpy as np
import pytest

import sciprec
from sciprec.facets.adaptive.attributes import history_of
from sciprec.results.output import files
from sciprec.tools.adapt.plan import checked_plan
from sciprec.workbench.models import ModelArithmetic

LADDER = ("fp16", "fp32")
RATES = np.linspace(0.5, 1.5, 40)


def slopes(x, v, rates, dx, dv):
    for i in range(x.size):
        dx[i] = v[i]
        dv[i] = -(rates[i] * x[i])


def step(lift, x, v):
    """Symplectic Euler of oscillators, increments in binary64."""
    dx, dv = np.zeros(x.size), np.zeros(x.size)
    lift(slopes)(x, v, RATES, dx, dv)
    v += 2.0**-8 * dv
    x += 2.0**-8 * v


def oscillate(arithmetic, count=240, calls=1):
    """x and v at the end."""
    x, v = np.cos(np.arange(40.0)), np.sin(np.arange(40.0))
    for _ in range(calls):
        arithmetic.advance(step, count // calls, of=count, x=x, v=v)
    return x, v


def adaptive(tolerance, every=10, variable=None, ladder=LADDER):
    plan = checked_plan(tolerance, ladder, every, variable)
    return ModelArithmetic(ladder[-1], adaptive=plan)


def test_without_a_tolerance_it_is_a_loop():
    x, v = np.cos(np.arange(40.0)), np.sin(np.arange(40.0))
    by_hand = ModelArithmetic("fp16")
    for _ in range(240):
        step(by_hand.lift, x, v)
    made = oscillate(ModelArithmetic("fp16"))
    assert made[0].tobytes() == x.tobytes() and made[1].tobytes() == v.tobytes()
    assert ModelArithmetic("fp16").adapted is None


@pytest.mark.parametrize(("tolerance", "rung"), [(0.9, "fp16"), (1e-6, "fp32")])
def test_on_one_rung_it_has_the_bits_of_that_rung(tolerance, rung):
    arithmetic = adaptive(tolerance)
    made, alone = oscillate(arithmetic), oscillate(ModelArithmetic(rung))
    assert set(arithmetic.adapted.history[:, 2]) == {LADDER.index(rung)}
    assert made[0].tobytes() == alone[0].tobytes() and made[1].tobytes() == alone[1].tobytes()


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-6])
def test_tolerances_are_met_with_both_rungs(tolerance):
    truth = oscillate(ModelArithmetic("fp64"))[0]
    made = oscillate(adaptive(tolerance))[0]
    assert np.linalg.norm(made - truth) <= tolerance * np.linalg.norm(truth)


def test_parts_of_a_run_go_on_where_the_last_one_ended():
    """Calls of 60 steps and blocks of 10: the same blocks, and the same bits."""
    whole, parts = adaptive(3e-4), adaptive(3e-4)
    assert oscillate(whole)[0].tobytes() == oscillate(parts, calls=4)[0].tobytes()
    assert whole.adapted.history.tobytes() == parts.adapted.history.tobytes()
    assert len(set(whole.adapted.history[:, 2])) == 2 and parts.adapted.variable == "x, v"


def test_what_does_not_fit_is_said():
    x = np.zeros(3)
    for arithmetic, given, said in (
        (adaptive(0.1), {}, "was given no state"),
        (adaptive(0.1), {"x": x.astype(np.float32)}, "x of type float32; give arrays of float64"),
        (adaptive(0.1), {"x": [1.0]}, "x of type list"),
        (adaptive(0.1, variable="y"), {"x": x}, "the variable 'y'; known: x"),
        (adaptive(0.1), {"x": x, "of": 4}, "5 steps after 0 of 4; give of="),
    ):
        with pytest.raises(sciprec.InputError, match=said):
            arithmetic.advance(lambda lift, x: None, 5, **given)
    arithmetic = adaptive(0.1)
    arithmetic.advance(lambda lift, x: None, 5, of=10, x=x)
    with pytest.raises(sciprec.InputError, match=r"of=11 and \(3,\) values of x, and before of=10"):
        arithmetic.advance(lambda lift, x: None, 5, of=11, x=x)


MODEL = '''
from dataclasses import dataclass

import numpy as np
import xarray as xr

import sciprec


@dataclass(frozen=True)
class Rotor:
    """Of the rotors."""

    steps: int = 200
    used: bool = True


def slopes(x, v, dx, dv):
    for i in range(x.size):
        dx[i] = v[i]
        dv[i] = -x[i]


@sciprec.model("rotor")
def rotor(given: Rotor, arithmetic):
    x, v = np.cos(np.arange(30.0)), np.sin(np.arange(30.0))

    def step(lift, x, v):
        dx, dv = np.zeros(x.size), np.zeros(x.size)
        lift(slopes)(x, v, dx, dv)
        v += 2.0**-8 * dv
        x += 2.0**-8 * v

    states = [(x.copy(), v.copy())]
    for _ in range(4):
        if given.used:
            arithmetic.advance(step, given.steps // 4, of=given.steps, x=x, v=v)
        states.append((x.copy(), v.copy()))
    made = {
        name: (("time", "site"), np.array(states)[:, place], {"units": "1"})
        for place, name in enumerate("xv")
    }
    return xr.Dataset(made, coords={"time": ("time", np.arange(5.0), {"units": "s"})})
'''
SCENARIO = """
name = "rotors"
title = "Rotors"
source = "nobody (2026)"
kind = "rotor"

[adaptive]
tolerance = {tolerance}
ladder = ["fp16", "fp32"]
every = 10

[rotor]
used = {used}
"""


@pytest.mark.slow
def test_a_batch_of_a_model_has_its_history_and_its_section(tmp_path, call, blank_figures):
    (tmp_path / "rotor.py").write_text(textwrap.dedent(MODEL))

    def run(tolerance, used="true"):
        file = tmp_path / "rotors.toml"
        file.write_text(SCENARIO.format(tolerance=tolerance, used=used))
        out = tmp_path / "out"
        code, _, err = call("run", file, "--plugin", tmp_path / "rotor.py", "--out", out)
        return code, err, out / "rotors__fp32-adaptive.nc"

    code, err, stored = run("3e-4")
    assert code == 0, err
    made = files.read(stored)
    said, history = history_of(made)
    assert said["ladder"] == ["fp16", "fp32"] and said["variable"] == "x, v"
    assert set(history["rung"]) == {0, 1}
    truth = files.read(stored.with_name("rotors__fp64.nc"))["x"].values[-1]
    wrong = np.linalg.norm(made["x"].values[-1] - truth) / np.linalg.norm(truth)
    assert 0.0 < wrong <= 3e-4
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "of the error of x, v 3.0e-04 was allowed" in page and "the tolerance is met" in page
    code, err, stored = run("1e-12")
    assert code == 1 and "the tolerance of 1e-12 is less than the ladder keeps" in err, err
    assert np.isfinite(files.read(stored)["x"].values).all()  # its row is red, and has its states
    code, err, _ = run("3e-4", "false")
    assert code == 2 and "makes no steps by arithmetic.advance" in err, err
