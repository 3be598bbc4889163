"""Groups of lines of models, and what is left of an error when they are computed wider."""

from __future__ import annotations

import numpy as np
import pytest

from sciprec import InputError, lift, quantize, trace
from sciprec.precision.formats.backend import resolve_backend
from sciprec.tools.trace.models import inputs
from sciprec.tools.trace.models.census import Census
from sciprec.tools.trace.models.inputs import MANY
from sciprec.tools.trace.models.splitting import Splitting
from sciprec.tools.trace.models.traces import Results, trace_program
from sciprec.tools.trace.page import model_trace_page
from tests.diagnosis.faulty_kernels import advected, flow
from tests.diagnosis.faulty_pipelines import pipeline
from tests.diagnosis.short_kernels import line_of
from tests.diagnosis.test_model_steps import START, STEPS, by_update
from tests.diagnosis.test_model_steps import added as added_once


def third(x, y):
    for i in range(x.size):
        y[i] = x[i] / 3.0


def added(x, y, out):
    for i in range(x.size):
        out[i] = x[i] + y[i]


def in_two_kernels(x, between):
    """x / 3 and x + x / 3, something done to the former on the way."""

    def program(backend):
        y, out = np.zeros(x.size), np.zeros(x.size)
        lift(third, backend)(x, y)
        lift(added, backend)(x, between(y, backend), out)
        return Results({"out": out})

    return program


@pytest.mark.parametrize("between", [lambda y, b: y, quantize, lambda y, b: y.copy().reshape(-1)])
def test_what_is_computed_wider_stays_so_between_kernels(between):
    """Against NumPy: the quotient in binary64, the sum rounded once."""
    x = np.random.default_rng(1).uniform(0.5, 2.0, 300).astype(np.float16).astype(float)
    found = trace_program(in_two_kernels(x, between), "fp16", model="two", samples=1)
    check = next(c for c in found.verify(3) if "'third'" in c.lines[0])
    exact = x / 3.0 + x
    usual = np.float64(np.float16(np.float64(np.float16(x / 3.0)) + x)) - exact
    wider = np.float64(np.float16(exact)) - exact
    assert check.measured == pytest.approx(np.linalg.norm(wider) / np.linalg.norm(usual), rel=1e-9)
    assert check.agrees or check.moved_to.startswith(f"line {line_of(added, 'out[i]')}")
    assert check.lines == (f"line {line_of(third, '3.0')} in 'third'",)


def test_a_rounding_between_kernels_computed_wider():
    x = np.random.default_rng(2).uniform(0.5, 2.0, 300)

    def program(backend):
        y, out = quantize(x, backend), np.zeros(300)
        lift(added, backend)(y, y, out)
        return Results({"out": out})

    found = trace_program(program, "fp16", model="doubled", samples=1)
    assert found.verdict.startswith("100% of the error")  # a sum of equal numbers is exact
    check = next(iter(found.verify()))
    assert (check.predicted, check.moved_to) == (0.0, "all lines in 'added'")
    wider = np.float64(np.float16(2.0 * x)) - 2.0 * x
    usual = 2.0 * np.float64(np.float16(x)) - 2.0 * x
    assert check.measured == pytest.approx(np.linalg.norm(wider) / np.linalg.norm(usual))


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_model_of_one_kernel_is_checked_as_the_kernel(seed, tmp_path):
    """Random pipelines: predictions and measurements, line by line."""
    kernel, args, _ = pipeline(seed, tmp_path, faulty=False)

    def program(backend):
        out = np.zeros(args[2].size)
        lift(kernel, backend)(*args[:2], out)
        return Results({"out": out})

    model = trace_program(program, "fp16", model="m", samples=1)
    known = trace(kernel, "fp16", args, samples=1)
    ours, theirs = model.verify(6), known.verify(6)
    assert len(model.groups) == len(known.groups) > 2
    assert [g.lines[0].source for g in model.groups] == [g.lines[0].source for g in known.groups]
    for one, other in zip(ours, theirs, strict=True):
        assert one.predicted == pytest.approx(other.predicted, rel=1e-6)
        assert one.measured == pytest.approx(other.measured, rel=1e-6)
        assert one.agrees == other.agrees and bool(one.moved_to) == bool(other.moved_to)


def flows(u):
    """A model of one kernel whose fluxes out of a cell and into the next cancel."""

    def program(backend):
        state, steps = u.copy(), lift(advected, backend)
        for _ in range(4):
            steps(state, np.zeros(u.size), 10)
        return Results({"u": state})

    return program


@pytest.mark.parametrize("size", [60, pytest.param(MANY, marks=pytest.mark.slow)])
def test_parts_that_cancel_are_one_group(size):
    """Of few numbers over perturbed inputs; with one input and few numbers nothing is grouped."""
    u = flow(size)
    found = trace_program(flows(u), "bf16", model="flow")
    assert found.inputs == 16 and "groups over 16 inputs" in repr(found)
    pair = [n for n in found.lines if "_cell = " in n.source]
    group = next(g for g in found.groups if pair[0] in g.lines)
    assert pair[1] in group.lines and group.correlation < -0.5
    if size < MANY:
        alone = trace_program(flows(u), "bf16", model="flow", samples=1)
        assert all(len(g.lines) == 1 for g in alone.groups) and alone.passes < found.passes - 10
        assert [n.share for n in alone.lines] == [n.share for n in found.lines]
        with pytest.raises(InputError, match="samples"):
            trace_program(flows(u), "bf16", model="flow", samples=0)


def test_of_long_runs_the_beginning_is_repeated(monkeypatch):
    """With perturbed inputs; shares are of the whole run, as without."""
    u = flow()
    whole = trace_program(flows(u), "bf16", model="flow", samples=1)
    monkeypatch.setattr(inputs, "MOST_OPERATIONS", 2 * whole.operations)
    monkeypatch.setattr(inputs, "MOST_WIDER", whole.operations)
    found = trace_program(flows(u), "bf16", model="flow")
    assert (found.inputs, found.inputs_until, found.steps) == (16, 10, 40)
    assert "groups over 16 inputs, until step 10 of 40" in repr(found)
    assert "Over 16 inputs, until step 10 of 40 (the" in model_trace_page(found, None)
    assert [n.share for n in found.lines] == [n.share for n in whole.lines]
    assert found.passes == whole.passes
    pair = [n for n in found.lines if "_cell = " in n.source]
    group = next(g for g in found.groups if pair[0] in g.lines)
    assert pair[1] in group.lines and group.correlation < -0.5
    assert found.verify(1).inputs == 1
    monkeypatch.setattr(inputs, "MOST_WIDER", 5 * whole.operations)
    some = found.verify(2)
    assert some.inputs == 5 and found.verify(1).inputs == 5
    usual = trace_program(flows(u), "bf16", model="flow", samples=16)
    assert usual.inputs_until == 0 and usual.verify(1).inputs == 5
    first, one = next(iter(usual.verify(1))), next(iter(some))
    assert (one.lines, one.words) == (first.lines, first.words)
    assert (one.predicted, one.measured) == pytest.approx((first.predicted, first.measured))


@pytest.mark.parametrize("steps", [1, 4])
def test_what_the_beginning_of_a_run_leaves(steps):
    """Its state after a step, as it is there in an ordinary run, and no work arrays."""
    census = Census(by_update, resolve_backend("fp16"))
    split = Splitting(by_update, resolve_backend("fp16"), ("x",), 8, census)
    split.split("function")
    beginning = split.steps.beginning(steps / STEPS)
    assert split.steps.at(beginning[1] - 1, 0) == steps
    run = split.run(list(split.groups), list(split.groups), beginning=beginning)
    x = START
    for _ in range(steps):
        x = np.float64(added_once(x))
    [state] = [v for v in run.tested.values() if v.size == x.size]
    assert np.array_equal(state, x) and all("plain_update" in name for name in run.tested)
    for name, error in run.errors.items():
        total = sum(part[name] for part in run.parts.values())
        assert np.allclose(total, error, rtol=0.0, atol=1e-15) and np.any(error)


def alike(x, out):
    for i in range(x.size):
        more = x[i] / 3.0
        less = x[i] / 3.0
        out[i] = 4.0 * more - 2.0 * less


def test_the_verdict_names_lines_that_go_together():
    def program(backend):
        out = np.zeros(40)
        lift(alike, backend)(quantize(np.linspace(0.1, 1.0, 40), backend), out)
        return Results({"out": out})

    found = trace_program(program, "fp16", model="pair")
    first, second = line_of(alike, "more ="), line_of(alike, "less =")
    assert "go together, none to be changed alone: " in found.verdict
    assert all(f"line {n} in 'alike'" in found.verdict for n in (first, second))
    assert all(c.agrees or c.moved_to for c in found.verify())


def scaled(c, x, out):
    for i in range(x.size):
        out[i] = c[i] * x[i]


def test_errors_that_cancel_are_none():
    """0.07 times 25 is 1.75 in fp16, but for what binary64 rounds; the other result has shares."""
    c, x = np.array([0.07, 0.14]), np.array([25.0, 25.0])

    def program(backend):
        made = {"cancels": np.zeros(2), "other": np.zeros(2)}
        lift(scaled, backend)(c, x, made["cancels"])
        lift(scaled, backend)(c, quantize(c + 1.0, backend), made["other"])
        return Results(made)

    alone = trace_program(program, "fp16", model="m", output="cancels")
    assert "fp16 cancel: " in alone.verdict and "counts as none" in alone.verdict
    assert 0.0 < alone.outputs["cancels"] < 1e-15
    assert not any(n.share for n in alone.lines) and any(n.rms > 1e-5 for n in alone.lines)
    assert not alone.groups and not list(alone.verify()) and alone.closure == 0.0
    both = trace_program(program, "fp16", model="m")
    assert not any(n.shares["cancels"] for n in both.lines)
    assert sum(n.shares["other"] for n in both.lines) == pytest.approx(1.0)


def test_inputs_are_perturbed_in_the_format_and_alike_in_every_run():
    """Those of kernels, and what is rounded before the first of them."""
    seen, start = [], np.linspace(0.5, 1.5, 50)

    def program(backend):
        x, out = quantize(start, backend), np.zeros(50)
        kernel = lift(added, backend)
        kernel(x, start[::-1].copy(), out)
        seen.append((np.array(x, np.float64), np.array(out, np.float64)))
        return Results({"out": out, "x": x})

    found = trace_program(program, "fp16", model="m", samples=3, lanes=4)
    tested: dict = {}
    for x, out in seen:  # of each run the tested values first
        if np.array_equal(np.float16(x), x):
            tested.setdefault(tuple(x), out)
    assert found.inputs == 3 and len(tested) == 3
    own, second, unmoved = np.float16(start), np.float16(start[::-1]), 0
    for x, out in tested.items():
        assert 0.0 <= np.abs(np.array(x) - own).max() <= 8.0 * 2.0**-11 * 1.5
        unmoved += np.array_equal(np.float16(x) + second, out)
    assert unmoved == 1
