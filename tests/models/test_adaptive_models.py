"""A user's model that is watched, or whose steps follow a tolerance: no bit of it changes."""

import numpy as np
import pytest

import sciprec
from sciprec.tools.adapt.control import SHARE
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


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-6])
def test_tolerances_are_met_with_both_rungs(tolerance):
    truth = oscillate(ModelArithmetic("fp64"))[0]
    made = oscillate(adaptive(tolerance))[0]
    assert np.linalg.norm(made - truth) <= tolerance * np.linalg.norm(truth)


def test_a_run_on_a_ladder_has_the_bits_of_the_rungs_that_its_history_names():
    """Its blocks follow one another; one is repeated on the next rung if it errs by more than its
    share.
    """
    tolerance, count, every = 8e-4, 240, 40
    arithmetic = adaptive(tolerance, every)
    made = oscillate(arithmetic, count, calls=3)
    lifts, done, rungs = [ModelArithmetic(name).lift for name in LADDER], 0, []
    x, v = np.cos(np.arange(40.0)), np.sin(np.arange(40.0))
    for first, steps, rung, kept, estimate, _ in arithmetic.adapted.history.tolist():
        assert first == done + 1 and (done + steps) % every == 0
        share = SHARE * tolerance * (done + steps) / count
        assert kept == (rung == 1 or estimate <= share)
        for _ in range(int(steps) if kept else 0):
            step(lifts[int(rung)], x, v)
        done += steps if kept else 0
        rungs.append((rung, kept))
    assert done == count and {(0, 1), (0, 0), (1, 1)} == set(rungs)
    assert (x.tobytes(), v.tobytes()) == (made[0].tobytes(), made[1].tobytes())


@pytest.mark.parametrize("compensation", [None, "carry"])
def test_a_monitor_changes_no_bit_and_sees_whole_states(compensation):
    def ran(monitor):
        arithmetic = ModelArithmetic("fp16", compensation, monitor=monitor)
        state = {"x": arithmetic.quantize(RATES), "v": arithmetic.quantize(-RATES)}
        dx, dv, states = np.zeros(40), np.zeros(40), []
        for _ in range(12):
            arithmetic.lift(slopes)(*state.values(), RATES, dx, dv)
            for array, slope in zip(state.values(), (dx, dv), strict=True):
                arithmetic.update(array, 2.0**-5 * slope)
            arithmetic.watch(**state)
            states.append([array.copy() for array in state.values()])
        return np.array(states), arithmetic.observer

    plain, _ = ran(None)
    for level in range(4):
        states, observer = ran({"watch": ["x"], "level": level, "every": 5})
        assert states.tobytes() == plain.tobytes() and (observer is None) == (level == 0)
    seen = observer.observed_at_end().history
    assert seen.steps.tolist() == [5, 10]
    np.testing.assert_array_equal(seen.values_of("x"), states[[4, 9], 0])


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
