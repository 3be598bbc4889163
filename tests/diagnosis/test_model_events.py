"""Events of numbers of a model: in which step, call and pass, and which line causes it."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from sciprec import lift
from sciprec.tools.trace.models.traces import Results, trace_program
from sciprec.tools.trace.page import model_trace_page
from tests.diagnosis.short_kernels import line_of

START = np.array([0.75, 0.53, 0.31, 0.62]).astype(np.float16).astype(np.float64)


def of(kind, found):
    return next(event for event in found.events if event.kind == kind)


def inverse(x, far, out):
    for i in range(x.size):
        near = (x[i] + far) - far
        out[i] = 1.0 / near


def halved(x):
    for i in range(x.size):
        x[i] = 0.5 * x[i]


def inverse_of_halves(x, far, out, steps):
    for _ in range(steps):
        inverse(x, far, out)
        for i in range(x.size):
            x[i] = 0.5 * x[i]


def by_kernels(backend):
    x, out = START.copy(), np.zeros(4)
    shrink, kernel = lift(halved, backend), lift(inverse, backend)
    for _ in range(12):
        kernel(x, 16.0, out)
        shrink(x)
    return Results({"x": x, "out": out})


def inside_a_kernel(backend):
    x, out, kernel = START.copy(), np.zeros(4), lift(inverse_of_halves, backend)
    for some in (3, 5, 4):
        kernel(x, 16.0, out, some)
    return Results({"x": x, "out": out})


def first_infinity():
    """Step and index of the first difference that is zero in binary16."""
    x = START.copy()
    for step in range(1, 13):
        near = np.float16(np.float16(x + 16.0) - 16.0)
        if (near == 0.0).any():
            return step, int(np.argmax(near == 0.0))
        x = 0.5 * x
    raise AssertionError


@pytest.mark.parametrize("program", [by_kernels, inside_a_kernel])
def test_an_infinity_has_a_step_an_index_and_a_cause(program):
    found = trace_program(program, "fp16", model="m", samples=1)
    event, (step, index) = of("infinity", found), first_infinity()
    assert (event.function, event.line) == ("inverse", line_of(inverse, "1.0 / near"))
    assert event.step == step > 3 and f"i = {index}" in event.index.split(", ")
    near = line_of(inverse, "near =")
    assert event.cause == f"line {near} of 'inverse': near = (x[i] + far) - far"
    lines, first = inspect.getsourcelines(program)
    call = first + next(n for n, text in enumerate(lines) if " kernel(" in text)
    assert event.called_at == f"line {call} of '{program.__name__}'"
    if program is inside_a_kernel:
        assert event.calls == (line_of(inverse_of_halves, "inverse("),)
    assert f"in step {step} at " in repr(found) and "the cause is line" in found.verdict
    page = model_trace_page(found, None)
    assert f"first in step {step}" in page and f"caused by <code>line {near}" in page


def grown(x, y):
    for i in range(x.size):
        x[i] = x[i] * 2.0
        if x[i] > 1587.1 + y[i]:
            y[i] = y[i] + 1e-9


def test_ranges_that_are_left_and_branches_have_steps():
    """Numbers that double until they leave binary16; exact ones leave it, too."""
    start, exact = np.array([2.0, 3.1]), np.array([2.0, 3.1])

    def program(backend):
        x, y, kernel = start.copy(), np.zeros(2), lift(grown, backend)
        for _ in range(18):
            kernel(x, y)
        return Results({"y": y})

    found = trace_program(program, "fp16", model="m", samples=1)
    x, first = np.float16(start).astype(np.float64), {}
    for step in range(1, 19):
        with np.errstate(over="ignore"):
            x, exact = np.float64(np.float16(x * 2.0)), exact * 2.0
        for kind, some in (("infinity", np.isinf(x)), ("branch", (x > 1587.0) != (exact > 1587.1)),
                           ("underflow to zero", x > 1587.0)):  # fmt: skip
            if some.any():
                first.setdefault(kind, (step, f"i = {int(np.argmax(some))}"))
    for kind, (step, index) in first.items():
        event = of(kind, found)
        assert (event.step, event.index) == (step, index), kind
        assert event.cause == ""
    assert len(first) == 3
