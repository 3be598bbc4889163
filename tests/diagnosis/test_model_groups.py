"""Groups of lines of models, and what is left of an error when they are computed wider."""

from __future__ import annotations

import numpy as np
import pytest

from sciprec import lift, quantize, trace
from sciprec.tools.trace.models import inputs
from sciprec.tools.trace.models.traces import Results, trace_program
from sciprec.tools.trace.page import model_trace_page
from tests.diagnosis.faulty_kernels import advected, flow
from tests.diagnosis.faulty_pipelines import pipeline
from tests.diagnosis.short_kernels import line_of


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


def test_a_model_of_one_kernel_is_checked_as_the_kernel(tmp_path):
    """A random pipeline: predictions and measurements, line by line."""
    kernel, args, _ = pipeline(0, tmp_path, faulty=False)

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


@pytest.mark.slow
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


def test_inputs_are_perturbed_in_the_format_and_alike_in_every_run():
    """Inputs of kernels, and arrays that are rounded before the first of them."""
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
