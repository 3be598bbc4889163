"""Time steps of models: which calls belong to which, and what part of the error arises in each."""

from __future__ import annotations

import itertools
import random
import re
import weakref

import numpy as np
import pytest

import sciprec
from sciprec import lift
from sciprec.foundation.loading import load_files
from sciprec.foundation.time_steps import listening, step_begins, steps_end
from sciprec.precision.formats.backend import resolve_backend
from sciprec.tools.trace.models.census import Census
from sciprec.tools.trace.models.steps import IN_WORDS, Calls, StepLog
from sciprec.tools.trace.models.traces import Results, trace_program
from sciprec.tools.trace.origins import BY
from sciprec.workbench import trace_scenario
from sciprec.workbench.models.arithmetic import ModelArithmetic
from tests.diagnosis.model_programs import ROOT

STEPS, START = 9, np.linspace(0.26, 1.74, 25).astype(np.float16).astype(np.float64)


def shrunk(x):
    for i in range(x.size):
        x[i] = 0.75 * x[i] + 0.1


def shrunk_often(x, steps):
    for _ in range(steps):
        for i in range(x.size):
            x[i] = 0.75 * x[i] + 0.1


def change(x, dx):
    for i in range(x.size):
        dx[i] = (0.75 * x[i] + 0.1) - x[i]


def by_loop(backend):
    x, kernel, other = START.copy(), lift(shrunk, backend), lift(change, backend)
    other(x, np.zeros(x.size))  # before the loop
    for _ in range(STEPS):
        kernel(x)
    return Results({"x": x})


def by_kernel(backend):
    x, kernel = START.copy(), lift(shrunk_often, backend)
    for some in (2, 0, 3, 4):
        kernel(x, some)
    return Results({"x": x})


def by_what_is_said(backend):
    """As prices are made: two halves, each in blocks of steps."""
    halves, kernel = np.split(START.copy(), [12]), lift(shrunk_often, backend)
    for x in halves:
        for first, some in ((1, 4), (5, 1), (6, 4)):
            step_begins(first, inside=True)
            kernel(x, some)
    steps_end()
    return Results({"x": np.concatenate(halves)})


def by_watch(backend):
    x, arithmetic = START.copy(), ModelArithmetic(backend)
    kernel = arithmetic.lift(shrunk)
    for _ in range(STEPS):
        for half in (x[:5], x[5:]):
            kernel(half)
        arithmetic.watch(x=x)
    return Results({"x": x})


def by_advance(backend):
    x, arithmetic = START.copy(), ModelArithmetic(backend)
    for some in (4, 5):
        arithmetic.advance(lambda lift, x: lift(shrunk)(x), some, of=STEPS, x=x)
    return Results({"x": x})


def by_update(backend):
    x, y, arithmetic = START.copy(), START[:3].copy(), ModelArithmetic(backend)
    kernel = arithmetic.lift(change)
    for _ in range(STEPS):
        for state in (x, y):
            kernel(state, slope := np.zeros(state.size))
            arithmetic.update(state, slope)
    return Results({"x": x})


def added(x):
    """A step with an increment, rounded operation by operation."""
    increment = np.float16(np.float16(np.float16(0.75 * x) + np.float16(0.1)) - x)
    return np.float16(x + np.float64(increment))


def replaced(x):
    return np.float16(np.float16(0.75 * x) + np.float64(np.float16(0.1)))


@pytest.mark.parametrize(
    ("program", "step", "kind"),
    [(by_loop, replaced, "loop"), (by_kernel, replaced, "kernel"),
     (by_what_is_said, replaced, "said"), (by_watch, replaced, "shown"),
     (by_advance, replaced, "said"), (by_update, added, "updates")],
)  # fmt: skip
def test_parts_of_steps_are_what_these_round(program, step, kind):
    """Of a linear model, whose roundings shrink from step to step as its numbers do."""
    x, rounded = START, []
    for _ in range(STEPS):
        made = np.float64(step(x))
        rounded.append(made - (0.75 * x + 0.1))
        x = made
    parts = [0.75 ** (STEPS - n) * r for n, r in enumerate(rounded, 1)]
    error = sum(parts)
    found = trace_program(program, "fp16", model="m", by="step")
    assert (found.steps, found.steps_are) == (STEPS, IN_WORDS[kind])
    shares = {n.name: n.share for n in found.lines if n.name.startswith("step")}
    expected = {f"step {n}": part @ error / (error @ error) for n, part in enumerate(parts, 1)}
    assert shares == pytest.approx(expected, abs=1e-9)
    assert found.outputs["x"] == pytest.approx(np.linalg.norm(error) / np.linalg.norm(x - error))


def weighted(x, weights, steps):
    for _ in range(steps):
        for i in range(x.size):
            x[i] = weights[i] * x[i]


@pytest.mark.parametrize("some", [1, 3])
def test_arguments_and_arrays_that_are_rounded_in_a_step(some):
    """Conversions of a call are of its step; those of several steps of all of them."""

    def program(backend):
        x, kernel = START / 3.0, lift(weighted, backend)
        for n in range(4):
            step_begins(some * n + 1, inside=True)
            x = sciprec.quantize(x / 1.1, backend)
            kernel(x, np.full(x.size, 0.9), some)
        return Results({"x": x})

    found = trace_program(program, "fp16", model="m", by="step")
    assert found.closure < 1e-12 and found.steps == 4 * some
    assert sum(n.share for n in found.lines) == pytest.approx(1.0)
    by_name = {n.name: n for n in found.lines}
    assert by_name["what belongs to no step"].rms == by_name["float32 arrays"].rms == 0.0
    several = by_name.get("arguments of calls of several steps")
    assert (several is None) is (some == 1) and (several is None or several.rms > 1e-4)


def moved(x, away):
    for i in range(x.size):
        x[i] = (x[i] + away) - away


@pytest.mark.slow
@pytest.mark.parametrize(("count", "bad"), [(40, 17), (130, 71)])
def test_a_step_with_much_of_the_error_has_a_row_of_its_own(count, bad):
    """Of long runs other rows are of several steps, which they name."""

    def program(backend):
        x, kernel = START.copy(), lift(moved, backend)
        for n in range(1, count + 1):
            kernel(x, 64.0 if n == bad else 0.0)
        return Results({"x": x})

    found = trace_program(program, "fp16", model="m", by="step")
    assert f"step {bad}" in found.verdict
    row = next(n for n in found.lines if n.name == f"step {bad}")
    assert row.share == pytest.approx(1.0) and len(found.lines) <= 60
    numbers = [re.fullmatch(r"steps? (\d+)(?: to (\d+))?", n.name) for n in found.lines[2:]]
    spans = [(int(m[1]), int(m[2] or m[1])) for m in numbers]
    assert spans[0][0] == 1 and spans[-1][1] == count
    assert sum(n.runs for n in found.lines) == count
    assert all(after[0] == before[1] + 1 for before, after in itertools.pairwise(spans))
    assert (len(spans) < count) is (count > 56)


@pytest.mark.slow
def test_growth_by_line_adds_up_to_shares_by_step():
    """Line by line over steps, and step by step over lines."""
    found = trace_program(by_update, "fp16", model="m")
    grown, steps = found.by_step(), trace_program(by_update, "fp16", model="m", by="step")
    for line in found.lines:
        if (name := f"line {line.line} in '{line.function}'") in grown.shares:
            total = grown.shares[name].sum() + grown.before[name]
            assert total == pytest.approx(line.share, abs=1e-9)
    by_step = [n.share for n in steps.lines if n.name.startswith("step")]
    assert sum(grown.shares.values()).tolist() == pytest.approx(by_step, abs=1e-9)
    assert [s.last for s in grown.steps] == list(range(1, STEPS + 1)) and grown.unit == "time step"
    assert steps.by_step() is None


def drawn_program(rng: random.Random) -> tuple[str, list[int]]:
    """The source of a model that calls kernels, and the pass of its loop that each call is in."""
    helpers = rng.randrange(4)
    text = ["def h0(met):", "    met()"]
    for n in range(1, helpers + 1):
        text += [f"def h{n}(met):", *(f"    h{rng.randrange(n)}(met)" for _ in range(2))]
    calls = [1]
    for n in range(1, helpers + 1):
        inner = [int(m[1]) for line in text for m in [re.match(r" +h(\d)\(met\)", line)] if m]
        calls.append(sum(calls[k] for k in inner[2 * (n - 1) : 2 * n]))
    before, inside = ([rng.randrange(helpers + 1) for _ in range(k)] for k in (rng.randrange(3), 2))
    passes, deep = rng.randrange(2, 6), rng.random() < 0.5
    text += ["def model(met):", *(f"    h{n}(met)" for n in before)]
    text += [f"    for _ in range({passes}):", *(f"        h{n}(met)" for n in inside)]
    if deep:
        text += ["def outer(met):", "    model(met)"]
    first, one = sum(calls[n] for n in before), sum(calls[n] for n in inside)
    expected = [0] * first + [n for n in range(1, passes + 1) for _ in range(one)]
    return "\n".join([*text, f"program = {'outer' if deep else 'model'}"]), expected


@pytest.mark.parametrize("seed", range(40))
def test_passes_of_a_models_own_loop(seed):
    """Of random functions that call each other: loops are seen by the places of calls alone."""
    text, expected = drawn_program(random.Random(seed))
    exec(text, made := {})
    log, calls = StepLog(), Calls()

    def met():
        log.met()
        calls.kernels.append(0)
        calls.ticks.append(0)

    def called():
        met()

    with listening(log):
        made["program"](called)
    found = log.steps(calls, [0], [False])
    assert found.first.tolist() == expected and found.count == max(expected)


@pytest.mark.parametrize("program", [by_loop, by_what_is_said, by_update])
def test_nothing_of_an_ordinary_run_lives_on(program):
    """Its arrays do not, but for results, whichever way steps are seen."""
    made = []

    def noted(backend):
        room = np.zeros(1000)
        made.append(weakref.ref(room))
        return program(backend)

    census = Census(noted, resolve_backend("fp16"))
    assert made[0]() is None and census.calls > 5


EULER = {
    "heston.simulation.n_paths": 256, "heston.payoffs.maturities_years": [0.25],
    "heston.simulation.scheme": "full_truncation_euler",
}  # fmt: skip
LORENZ = {"lorenz96.days": 1.0, "lorenz96.output_days": 0.5, "lorenz96.spin_up_days": 0.0}
SOIL = {"soil_column.years": 0.002, "soil_column.stored": 2, "soil_column.depth": 9}
SUMS = {"accumulation.updates": 5000, "accumulation.members": 4, "accumulation.outputs": 2}
KINDS = {
    "user's": ("examples/lorenz96.toml", LORENZ, 4, "steps that end", BY),
    "user's in a kernel": ("examples/soil_column.toml", SOIL, 35, "passes of a kernel", ("step",)),
    "sums": ("long_accumulation", SUMS, 2, "steps that end", ("step", "call")),
    "Euler": ("quickstart_heston", EULER, 8, "time steps", ("step",)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_every_kind_by_everything(name, monkeypatch, forgotten_plugins):
    """All splits are of the same error, and add up to it; steps are the model's own."""
    monkeypatch.chdir(ROOT)
    load_files(["examples/lorenz96.py", "examples/soil_column.py"])
    scenario, changes, steps, kind, asked = KINDS[name]
    errors = set()
    for by in asked:
        found = trace_scenario(scenario, "fp16", changes=changes, by=by, samples=1)
        assert found.closure < 1e-9 and found.steps == steps and found.steps_are.startswith(kind)
        assert sum(n.share for n in found.lines) == pytest.approx(1.0, abs=1e-9)
        assert any(n.share for n in found.lines if n.function or by == "step")
        errors.add(tuple(found.outputs.items()))
        if by == "step":
            assert f"step {steps}" in {n.name for n in found.lines} or steps > 56
    assert len(errors) == 1
