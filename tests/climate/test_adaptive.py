"""Adaptive runs: identity with uniform runs, tolerances, restarts, files, refusals."""

import json

import numpy as np
import pytest

import sciprec
from sciprec.facets.adaptive.attributes import history_of
from sciprec.results.output import files
from sciprec.tools.adapt.blocks import block
from sciprec.tools.adapt.control import COLUMNS, Control, vain_attempts
from sciprec.tools.adapt.plan import checked_ladder, checked_plan
from tests.climate.small_models import SMALL, Stopped, stirred, stop_at

STEP = 1200.0
LADDER = ("fp16", "fp32")


def run(steps, tolerance, *, backend=None, hours=None, **more):
    """An adaptive run of so many steps, or a uniform one with its state in fp64."""
    days = steps * STEP / 86400.0
    how = {"backend": backend, "stored": None if backend == "fp64" else "fp64"}
    if backend is None:
        how = {"adaptive": more.pop("adaptive", None)}
        how["adaptive"] = how["adaptive"] or {"tolerance": tolerance, "ladder": LADDER, "every": 4}
    return sciprec.climate.run(
        "williamson_5", SMALL, days, step_seconds=STEP, output_hours=hours or 24.0 * days,
        **how, **more,
    )  # fmt: skip


def bits(dataset, history=False):
    """All variables but the history, or the history, too."""
    return {
        n: v.values.tobytes() for n, v in dataset.variables.items()
        if history or not n.startswith("adaptive_")
    }  # fmt: skip


def column(dataset, name):
    return history_of(dataset)[1][name]


MORE_BELOW, MORE_ABOVE = "float:p=11,emin=-20,emax=15", "float:p=11,emin=-14,emax=20"
WIDER = (
    ("fp16", MORE_BELOW), ("fp16", MORE_ABOVE), ("fp16", "tf32"), ("bf16", "fp16"),
    ("e5m2", "e4m3fn"), (MORE_BELOW, "tf32"),
    ("float:p=11,emin=-14,emax=15,subnormals=flush", "fp16"),
)  # fmt: skip


def test_a_wider_rung_has_more_bits_or_a_range_that_holds_the_other():
    for narrow, wide in WIDER:
        assert len(checked_ladder([narrow, wide])) == 2
        with pytest.raises(sciprec.InputError, match="it is no wider"):
            checked_ladder([wide, narrow])
    for one, other in ((MORE_BELOW, MORE_ABOVE), ("fp16", "fp16"), (MORE_ABOVE, MORE_BELOW)):
        with pytest.raises(sciprec.InputError, match="it is no wider"):
            checked_ladder([one, other])


# ---- decisions alone ---------------------------------------------------------------------------


class Ladder:
    """Rungs whose steps add so much: a share that all have in common, and a random rest."""

    def __init__(self, same, random, size=300):
        self.draws = np.random.default_rng(5)
        self.same = [amount * self.draws.normal(size=size) for amount in same]
        self.random, self.size = random, size

    def difference(self, rung):
        return self.same[rung] + self.random[rung] * self.draws.normal(size=self.size)

    def go(self, tolerance, steps=720, every=36):
        """Blocks to the end; the control, and the true error."""
        plan = checked_plan(tolerance, ["bf16", "fp16", "fp32"][: len(self.same)], every)
        control, state = Control(plan, steps, [np.ones(self.size)]), np.ones(self.size)
        rungs = range(len(self.same))
        control.begin({rung: self.difference(rung) for rung in rungs}, state)
        error, done = np.zeros(self.size), 0
        while done < steps and not control.ended:
            rung = control.rung
            made = [self.difference(rung) for _ in range(every)]
            tried = {r: self.difference(r) for r in range(rung)} | {rung: made[-1]}
            if control.keep(done, every, tried, state):
                error, done = error + np.sum(made, axis=0), done + every
        return control, float(np.sqrt(np.mean(error**2)))


def rungs_of(control):
    return [int(row[COLUMNS.index("rung")]) for row in control.history]


@pytest.mark.parametrize("random", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("tolerance", [1e-1, 1e-2, 1e-3, 1e-4])
def test_tolerances_are_met_whether_errors_are_systematic_or_random(random, tolerance):
    """Rungs a hundred times apart, at whose rates 720 steps would add 0.1, 1e-3 and 1e-5."""
    same = np.array([1e-1, 1e-3, 1e-5]) / 720.0
    control, error = Ladder(same, random * same).go(tolerance)
    assert error <= tolerance and not control.ended
    assert vain_attempts(np.array(control.history)) <= 3
    estimate = control.history[-1][COLUMNS.index("estimate")]
    assert error / 2 < estimate < 3 * error


def test_a_rung_that_keeps_the_tolerance_runs_alone():
    control, _ = Ladder([1e-6, 1e-8], [0.0, 0.0]).go(0.1)
    assert set(rungs_of(control)) == {0}
    control, _ = Ladder([1e-1, 1e-8], [0.0, 0.0]).go(1e-4)
    assert set(rungs_of(control)) == {1}


class Counting:
    """A state that counts its steps; the narrow rung adds more, once it has become worse."""

    def __init__(self):
        self.worse = 0.0

    def copied(self, state):
        return state.copy()

    def advanced(self, state, rung, before, count):
        state += count * (1.0 + (1e-9 + self.worse) * (rung == 0))

    def exact(self, state, before):
        return state + 1.0

    def apart(self, state, exact):
        return state - exact

    def judged(self, state):
        return state


def test_a_block_of_a_rung_that_has_become_worse_is_made_again_from_its_beginning():
    rungs, state = Counting(), np.full(3, 100.0)
    control = Control(checked_plan(1e-2, LADDER, 10), 100, [np.ones(3)])
    after = block(rungs, control, state, 0, 10)
    assert (state == 100.0).all() and control.rung == 0
    rungs.worse, before = 10.0, control.arrays()["sum"]
    again = block(rungs, control, after, 10, 10)
    assert [row[COLUMNS.index("kept")] for row in control.history] == [1.0, 0.0, 1.0]
    assert again.tolist() == (after + 10.0).tolist() and control.rung == 1
    assert np.abs(control.arrays()["sum"] - before).max() < 1e-4  # nothing of what was repeated


def test_a_control_goes_on_from_its_arrays():
    """Of any moment: the same decisions afterwards."""
    same = [1e-4, 1e-6]
    draws = np.random.default_rng(3)
    given = [
        {rung: amount * (1.0 + draws.normal(size=50)) for rung, amount in enumerate(same)}
        for _ in range(30)
    ]
    given[28][0] = np.ones(50)  # is made again, and its rung left for some blocks
    plan, state = checked_plan(1e-2, LADDER, 10), np.ones(50)
    first = Control(plan, 300, [np.ones(50)])
    first.begin(given[0], state)
    for n in range(30):
        other = Control(plan, 300, [np.ones(50)])
        other.restore(first.arrays())
        tried = {rung: given[n][rung] for rung in range(first.rung + 1)}
        assert first.keep(10 * n, 10, tried, state) == other.keep(10 * n, 10, tried, state)
        assert first.history == other.history and first.rung == other.rung
        for name, value in first.arrays().items():
            assert value.tobytes() == other.arrays()[name].tobytes(), name
    assert {0, 1} <= set(rungs_of(first)) and vain_attempts(np.array(first.history)) > 0


# ---- climate -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_restarts_and_threads_give_the_same_bits_with_both_rungs(tmp_path):
    """Stopped after each stored state, of which one is no end of a whole block."""
    whole = run(30, 5e-4, hours=2.0)  # outputs after 6, 12, ... steps, blocks of 4
    assert len(set(column(whole, "rung"))) == 2
    assert column(whole, "steps").tolist()[:5] == [4, 2, 2, 4, 4]

    for day in (0.1, 0.2, 0.3):
        with pytest.raises(Stopped):
            run(30, 5e-4, hours=2.0, checkpoints=tmp_path, progress=stop_at(day))
    gone_on = run(30, 5e-4, hours=2.0, checkpoints=tmp_path)
    assert bits(gone_on, True) == bits(whole, True)
    assert bits(run(30, 5e-4, hours=2.0, threads=2), True) == bits(whole, True)
    longer = run(36, 5e-4, hours=2.0, checkpoints=tmp_path)  # other shares: it begins again
    assert bits(longer, True) == bits(run(36, 5e-4, hours=2.0), True)


FORCED = {
    "forcing": stirred, "forcing_parameters": {"rate": 5.0}, "hours": 2.0,
    "tracers": {"dye": "northern"},
    "variables": ["vorticity", "dye", "time_mean_u", "time_maximum_dye"],
    "time_scheme": "semi_implicit_leapfrog", "sample_every": 2,
}  # fmt: skip


@pytest.mark.parametrize(
    ("tolerance", "rung", "threads"),
    [(0.99, "fp16", 1), pytest.param(1e-9, "fp64", 2, marks=pytest.mark.slow)],
)
def test_forced_on_one_rung_it_has_the_bits_of_a_uniform_run(tolerance, rung, threads):
    """Its statistics, too: of the state between steps, which is in fp64. Of two threads, which once
    left the ladder out where its widest rung was fp64.
    """
    keeping = {"tolerance": tolerance, "ladder": ("fp16", "fp64"), "every": 4}
    made = run(12, None, adaptive=keeping, threads=threads, **FORCED)
    assert set(column(made, "rung")) == {("fp16", "fp64").index(rung)}
    assert bits(made) == bits(run(12, None, backend=rung, **FORCED))


@pytest.mark.slow
def test_forced_with_both_rungs_it_goes_on_with_the_same_bits(tmp_path):
    """Blocks are made again, and the tendencies that a leapfrog holds with them."""
    keeping = {"adaptive": {"tolerance": 2e-3, "ladder": ("fp16", "fp64"), "every": 4}} | FORCED
    whole = run(30, None, **keeping)
    assert len(set(column(whole, "rung"))) == 2
    for day in (0.1, 0.3):
        with pytest.raises(Stopped):
            run(30, None, checkpoints=tmp_path, progress=stop_at(day), **keeping)
    gone_on = run(30, None, checkpoints=tmp_path, **keeping)
    assert bits(gone_on, True) == bits(whole, True)


SCENARIO = """
name = "adapted"
title = "Flow over a mountain"
source = "Williamson et al. (1992), case 5"
kind = "climate"

[climate]
case = "williamson_5"
truncation = 10
days = 0.25
step_seconds = 1200.0
output_hours = 3.0
variables = ["height", "vorticity"]

[adaptive]
"""
GOOD = 'tolerance = 2e-3\nladder = ["fp16", "fp32"]\nevery = 3\n'


@pytest.mark.slow
def test_a_batch_has_a_run_a_history_and_a_section(tmp_path, call, blank_figures):
    file = tmp_path / "adapted.toml"
    file.write_text(SCENARIO + GOOD)
    code, _, err = call("run", file, "--out", tmp_path / "out")
    assert code == 0, err
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "Arithmetics that follow a tolerance" in page and "the tolerance is met" in page
    made = files.read(tmp_path / "out" / "adapted__fp32-adaptive.nc")
    said, history = history_of(made)
    assert said["tolerance"] == 2e-3 and said["variable"] == "vorticity"
    steps = history["steps"][history["kept"] == 1]
    assert steps.sum() == 18 and (steps == 3).all()
    alone = sciprec.climate.run(
        "williamson_5", 10, 0.25, step_seconds=1200.0, output_hours=3.0,
        variables=["height", "vorticity"],
        adaptive={"tolerance": 2e-3, "ladder": ["fp16", "fp32"], "every": 3},
    )  # fmt: skip
    for name in ("height", "vorticity", "adaptive_rung", "adaptive_estimate"):
        assert (made[name].values == alone[name].values).all(), name
    code, _, err = call("run", file, "--out", tmp_path / "out")
    assert code == 0 and "kept" in err, err
    listed = json.loads((tmp_path / "out" / "batch.json").read_text())
    assert "fp32, adaptive" in json.dumps(listed)


WRONG = {
    "it is no wider": 'tolerance = 1e-3\nladder = ["fp32", "fp16"]',
    "'adaptive.ladder': ladder is ['fp32']; accepted: two": 'tolerance = 1e-3\nladder = ["fp32"]',
    "'adaptive.ladder': ladder names 'bf16' after": 'tolerance = 1e-3\nladder = ["fp16", "bf16"]',
    "floats that are rounded alike": 'tolerance = 1e-3\nladder = ["fixed16", "fp32"]',
    "key 'adaptive.every' was given 0": 'tolerance = 1e-3\nladder = ["fp16", "fp32"]\nevery = 0',
    "key 'adaptive.tolerance' was given 0": 'tolerance = 0.0\nladder = ["fp16", "fp32"]',
    "did you mean 'vorticity'": f'{GOOD}variable = "vortcity"',
    "adaptive.ladder": "tolerance = 1e-3",
}


@pytest.mark.parametrize("said", WRONG)
def test_what_is_wrong_in_a_scenario_is_said(said, tmp_path, call):
    file = tmp_path / "wrong.toml"
    file.write_text(f"{SCENARIO}{WRONG[said]}\n")
    code, _, err = call("run", file, "--out", tmp_path / "out")
    assert code == 2 and said in err, err
    assert not (tmp_path / "out").exists()


def test_what_does_not_go_together_is_said():
    keeping = {"tolerance": 1e-3, "ladder": ["fp16", "fp32"]}
    for more, said in (
        ({"backend": "bf16"}, "backend 'bf16' is given with adaptive"),
        ({"compensation": "carry"}, "compensation is given with adaptive"),
        ({"stored": "fp32"}, "stored is given with adaptive"),
        ({"monitor": {"watch": ["vorticity"]}}, "monitor is given with adaptive"),
        ({"adaptive": {"tolerance": 1e-3}}, "adaptive has no key 'ladder'"),
        ({"adaptive": keeping | {"evry": 3}}, "unknown key 'evry'.*did you mean 'every'"),
        ({"adaptive": keeping | {"tolerance": 1.0}}, "tolerance is 1.0; accepted"),
        ({"adaptive": keeping | {"every": 0}}, "every is 0; accepted"),
        ({"adaptive": 3}, "adaptive is 3; accepted"),
    ):
        with pytest.raises(sciprec.InputError, match=said):
            sciprec.climate.run("williamson_5", SMALL, 1, **({"adaptive": keeping} | more))
