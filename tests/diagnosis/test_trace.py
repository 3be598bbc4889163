"""`trace`: parts that add up to the error, tested values that are `lift`'s, shares of an oracle."""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import pytest
from numba import float64
from numba.experimental import jitclass

import sciprec
from benchmarks import traced
from sciprec import InputError, LiftError, trace
from sciprec.instruments.assigning.matching import program_of
from sciprec.instruments.assigning.origins import own_place
from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.operations.operation import OPERATIONS, Operation
from sciprec.tools.trace.attribution import TracedKernel
from tests.diagnosis.trace_checks import (
    BACKENDS,
    by_line,
    checked,
    exact_shares,
    generated,
    halved_sine,
    rational,
    with_own_function,
)
from tests.random_kernels.backends import MIXED

ROLES = list(MIXED.values())


@jitclass([("level", float64)])
class Held:
    """An object with a number."""

    def __init__(self, level):
        self.level = level


def smooth(x, weight, out):
    total = 0.1
    for i in range(1, x.size - 1):
        out[i] = x[i] + weight * (x[i - 1] - 2.0 * x[i] + x[i + 1])
        if out[i] > 0.5:
            total += math.exp(-out[i]) / math.sqrt(x[i] + 1.5)
    return total, np.sum(out)


def arguments():
    return np.sin(np.linspace(0.0, 3.0, 40)), 0.237, np.zeros(40)


@pytest.mark.slow
def test_parts_add_up_to_the_error():
    found = checked(smooth, "bf16", arguments())
    assert list(found.outputs) == ["out", "return_0", "return_1"]
    assert not found.unknown


@pytest.mark.slow
def test_the_whole_error_alone_is_the_first_of_eight_numbers_and_cheap():
    """Loops over arrays of pairs are vectorised, those of more numbers are not."""
    function, args = traced.cases(False)["stencil, 15 operations"]
    runs = {n: TracedKernel(function, resolve_backend("bf16"), "parts", n) for n in (1, 8)}
    alone, first = (k.run(args, k.table()) for k in runs.values())
    for one, of_eight in zip(alone, first, strict=True):
        assert np.array_equal(one.tested, of_eight.tested)
        np.testing.assert_allclose(one.beside[..., 0], of_eight.beside[..., 0], 1e-12, 1e-17)
    calls = [(k, k.table(), k.taken(args)) for k in runs.values()]
    times = [min(_timed(k, *given) for _ in range(5)) for k, *given in calls]
    assert times[0] < 0.5 * times[1]


def _timed(kernel, table, taken) -> float:
    table.begin()
    start = time.process_time()
    kernel.entered(table, taken)
    return time.process_time() - start


@pytest.mark.slow
@pytest.mark.parametrize("by", ["operation", "function", "call"])
def test_whatever_it_is_split_by(by):
    lines, other = (trace(smooth, "bf16", arguments(), by=b) for b in ("line", by))
    assert sum(n.share for n in other.lines) == pytest.approx(1.0, abs=1e-9)
    of_arguments = [{n.source: n.share for n in t.lines if n.source.startswith("argument")}
                    for t in (lines, other)]  # fmt: skip
    assert of_arguments[0] == pytest.approx(of_arguments[1])
    assert other.outputs == lines.outputs


@pytest.mark.parametrize(
    "backend",
    ["bf16", "float:p=13,emin=-60,emax=60,round=rz", "mlu370", ROLES[0]],
    ids=lambda b: getattr(b, "name", b),
)
def test_shares_are_those_of_exact_arithmetic(backend):
    rng = np.random.default_rng(5)
    for x, c in rng.uniform(0.5, 2.0, (8, 2)).tolist():
        expected = exact_shares(x, c, resolve_backend(backend))
        found = trace(rational, backend, (x, c), by="variable", samples=1)
        shares = {n.name: n.share for n in found.lines}
        if "results" not in shares:  # where roles have one format these are not rounded
            assert not expected.pop("results")
        assert shares == pytest.approx(expected, abs=1e-6)


def elementary(x, y, out):
    for i in range(x.size):
        wave = math.exp(math.sin(x[i]) * y[i])
        out[i] = math.atan2(wave, y[i]) + math.log(wave + 1.5) ** 1.7


def test_what_is_not_seen_is_a_row(monkeypatch, tmp_path):
    row = Operation("halved_sine", 1, evaluate=halved_sine)
    monkeypatch.setitem(OPERATIONS, "halved_sine", row)
    found = trace(with_own_function, "fp64", (0.7,))
    last = found.lines[-1]
    assert (last.name, last.share) == ("unknown", 0.0) and last.source in repr(found)
    assert found.unknown == (found.lines[1].name,) and found.closure < 1e-6
    assert sum(n.share for n in found.lines) == pytest.approx(1.0)
    assert last.source in found.html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert not trace(with_own_function, "fp16", (0.7,)).unknown


def over_lines(x):
    y = (
        x * 1.1 + 0.3
    ) / (x
         - 0.7)  # fmt: skip
    return min(y,
               0.9) * x  # fmt: skip


@pytest.mark.parametrize(
    "backend",
    ["bf16", sciprec.Assignment({}, default="bf16", kernel=over_lines)],
    ids=["bf16", "by line"],
)
def test_a_literal_is_booked_where_its_operation_begins(backend):
    """Whichever line it stands on: as assignments have it, whose bits are those of `lift`."""
    found = checked(over_lines, backend, (1.3,))
    first = over_lines.__code__.co_firstlineno
    assert {n.line - first for n in found.lines if n.runs and n.name.startswith("line")} == {
        1,
        2,
        3,
        5,
    }
    places = {
        own_place(program_of(over_lines), row).line for row in program_of(over_lines).layout.rows
    }
    assert {n.line for n in found.lines} <= places | {first}


def narrowing(x, y):
    for i in range(x.size):
        y[i] = x[i] / 3.0


def test_where_numbers_become_narrower():
    """A conversion is booked on the argument, a narrower array's on the line that stores."""
    x = np.linspace(0.1, 1.0, 9)
    found = trace(narrowing, "fp64", (x, np.zeros(9, np.float32)))
    first = found.ranked[0]
    assert "y[i]" in first.source and first.share == pytest.approx(1.0, abs=1e-6)
    found = trace(narrowing, "fp32", {"y": np.zeros(9, np.float32), "x": x})
    shares = {n.source: n.share for n in found.lines}
    assert 0.1 < abs(shares["argument x"]) and shares["argument y"] == 0.0


def exact(x):
    return x + 1.0


def by_masks(x, y, out):
    positive = x > y[0]
    out[:] = np.where(x >= y, 0.1 * x, 0)
    out += np.where(x[0] > 0.0, 0.3 * y, y / 7.0)
    grid = np.where(x.reshape(3, 4) != y[:4], 0.7, x[:3].reshape(3, 1))
    return x[positive & (y < 0.9)].sum() + np.sum(grid) + np.where(x[1] < y[1], x[2], y[2]) * 1.1


def test_whole_arrays_are_compared_and_chosen_from(backend="bf16"):
    """By tested values, broadcast; a decision that exact values make otherwise is a branch."""
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=12), rng.normal(size=12)
    x[3] = y[3] - 2.0**-30  # the same in the format
    found = checked(by_masks, backend, (x, y, np.zeros(12)))
    assert sum(line.share for line in found.lines) == pytest.approx(1.0)
    assert [">= y" in branch.source for branch in found.branches].count(True) == 1


def called_with(f, x):
    return f(x) + 0.1


def recursive(x, n):
    if n == 0:
        return x
    return recursive(x * 0.3, n - 1)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: trace(exact, "fixed32", (1.0,)), "fixed point; trace takes floating-point"),
        (lambda: trace(exact, "mlu370-noise", (1.0,)), "random bits; trace takes"),
        (lambda: trace(exact, "mix-fp32-fix16", (1.0,)), "trace takes"),
        (lambda: trace(exact, "bf16", (1.0,), by="lines"), "by"),
        (lambda: trace(exact, "bf16", (1.0,), lanes=5), "4, 8, 16 or 32"),
        (lambda: trace(exact, "bf16", (1.0,), output="y"), "accepted: return"),
        (lambda: trace(exact, "bf16", {"y": 1.0}), "called wrongly"),
        (lambda: trace(exact, "bf16", 1.0), "a tuple of the kernel's arguments"),
        (lambda: trace(exact, "bf16", (1j,)), "complex numbers; trace takes real ones"),
        (lambda: trace(exact, "bf16", (Held(1.0),)), "object of class Held; trace takes numbers"),
        (lambda: trace(exact, "bf16", ("a",)), "the string 'a' as 'x', and computes with it"),
        (lambda: trace(exact, "bf16", (None,)), "is given None as 'x', and computes with it"),
        (lambda: trace(called_with, "bf16", (exact, 1.0)), "only inside this kernel, in a trace"),
        (lambda: trace(recursive, "bf16", (1.0, 3)), "calls itself; in a trace every call"),
        (lambda: trace(narrowing, "bf16", (z := np.ones(4), z[1:])), "share memory"),
        (lambda: trace("f", "bf16", (1.0,)), "takes a Python function"),
    ],
)
def test_refusals(call, sentence):
    with pytest.raises((InputError, LiftError), match=sentence):
        call()


@pytest.mark.parametrize(
    "backends",
    [pytest.param(BACKENDS, id="one format", marks=pytest.mark.slow),
     pytest.param(ROLES, id="roles", marks=pytest.mark.survey)],
)  # fmt: skip
def test_random_kernels(backends, tmp_path):
    """Of whatever the generator draws, complex numbers and singular matrices left out."""
    with np.errstate(all="ignore"):
        checked(*next(generated(range(300, 400), tmp_path, backends=backends)))


@pytest.mark.survey
def test_a_random_kernel_with_formats_by_line(tmp_path):
    """Of whatever the generator draws: `lift`'s bits, and parts that add up."""
    with np.errstate(all="ignore"):
        kernel, _, args = next(itertools.islice(generated(range(500, 600), tmp_path), 2, None))
        checked(kernel, by_line(kernel, 2), args)


def moved(x):
    return 0.3 * x + x * x


def twice_moved(x, out):
    s = 0.0
    for i in range(x.size):
        y = moved(x[i])
        out[i] = moved(y) - max(y, 0.25)
        s += out[i]
    return s / x.size


MOVED = np.linspace(0.5, 1.5, 40).astype(np.float32), np.zeros(40)


def test_formats_by_chain_of_calls_and_what_they_say():
    """One function in two formats: what its caller's line 12 gives is exact, that of 13 is not."""
    first = twice_moved.__code__.co_firstlineno
    own = {f"line {first + 4} > moved": "e5m2"}
    mixed = sciprec.Assignment(own, by="call", kernel=twice_moved)
    found = checked(twice_moved, mixed, MOVED)
    lines = {n.line: n for n in found.lines}
    assert lines[moved.__code__.co_firstlineno + 1].share == pytest.approx(1.0, abs=1e-9)
    assert found.outputs["out"] > 0.01 and found.verify().checks[0].measured < 1e-9
    wide = checked(twice_moved, sciprec.Assignment({first + 5: "bf16"}), MOVED)
    shares = {n.line: n.share for n in wide.lines if abs(n.share) > 1e-9}
    assert shares == {first + 5: pytest.approx(1.0)} and wide.outputs["out"] < 1e-15
