"""Traces of models: what goes on between kernels is carried, the parts are those of one kernel."""

from __future__ import annotations

import inspect
import json
import re
import tracemalloc

import numpy as np
import pytest

import sciprec
from sciprec import InputError, lift, quantize, trace
from sciprec.arrays.sums.compensation import plain_update
from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.operations.operation import OPERATIONS, Operation
from sciprec.tools.trace import needed_memory
from sciprec.tools.trace.models import census as model_census
from sciprec.tools.trace.models import course
from sciprec.tools.trace.models.traces import Results, trace_program
from sciprec.tools.trace.page import model_trace_page
from tests.diagnosis.model_programs import (
    ROOT,
    advance,
    both,
    by_kernels,
    faulty_increment,
    start,
    trace_of_a_bell,
)  # fmt: skip
from tests.diagnosis.trace_checks import halved_sine, with_own_function

BY_PLACE = sciprec.Assignment(
    {"advance": "fp16", "measures": "float:p=9,round=rz"}, by="function", default="fp32",
    kernel=both,
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["fp16", BY_PLACE])
def test_kernels_one_by_one_are_split_as_one_kernel(backend):
    """Parts arise at the lines where they arise in one kernel of the same operations; arguments'
    are rounded where the first kernel takes them.
    """
    found, near = trace_program(by_kernels, backend, model="kernels"), _near(backend)
    x, share, weights = start()
    known = trace(both, backend, (x, share, np.zeros(20), weights, np.zeros(20)),
                  output=["y", "root", "return"])  # fmt: skip
    assert found.closure < near and sum(n.share for n in found.lines) == pytest.approx(1.0)
    expected = {(n.function, n.source): n.rms for n in known.lines if n.function != "both"}
    lines = {(n.function, n.source): n.rms for n in found.lines}
    lost = [k for k in expected if k not in lines and expected[k] > 0.05 * _size(known)]
    assert not lost and len(set(expected) & set(lines)) >= 3
    least = 1e-12 if near < 1e-6 else near * _size(known)
    for place in set(expected) & set(lines):
        assert lines[place] == pytest.approx(expected[place], rel=near, abs=least), place
    of_arguments = {n.source: n.rms for n in known.lines if n.function == "both"}
    assert found.can_be_wider
    if backend is BY_PLACE:  # operations round what they take
        assert not found.outputs["y"] == 0.0 and not of_arguments.get("argument share")
        return
    assert lines["advance", "argument share"] == pytest.approx(of_arguments["argument share"])


def _near(backend) -> float:
    """How near parts are that are differences of copies: these are stretched in wide formats."""
    return 1e-6 if backend in ("fp64", "float:p=40,round=rz") else 1e-9


def _size(found) -> float:
    return sum(n.rms for n in found.lines)


def between(backend):
    """Work between kernels reaches them again."""
    x, share, _ = start()
    x = quantize(x, backend)
    step, y = lift(advance, backend), np.zeros(20)
    for _ in range(3):
        step(x, share, y)
        share = 0.2 + 0.01 * float(np.max(y)) ** 2
        x += 0.5 * np.exp(-y) * (y - x)
    return Results({"x": x, "mean": np.mean(x**3)})


@pytest.mark.slow
@pytest.mark.parametrize(
    "backend",
    ["fp16", pytest.param("fp64", marks=pytest.mark.slow)],
)
def test_what_numpy_does_between_kernels_is_carried(backend):
    """Parts add up to the difference to a twin, whatever is done, in whichever run they are
    followed.
    """
    near, wide = _near(backend), backend == "fp64"
    found, more = (
        trace_program(between, backend, model="m", by="variable", lanes=n) for n in (8, 4)
    )
    assert (wide or more.passes > found.passes + 1) and more.closure < near
    assert [n.share for n in more.lines] == pytest.approx([n.share for n in found.lines], abs=near)
    assert found.closure < near and found.passes >= 1
    assert sum(n.share for n in found.lines) == pytest.approx(1.0, abs=near)
    named = {"y"} if wide else {"y", "argument share"}
    assert {n.name for n in found.lines if n.share} >= named
    source = "x = quantize(x, backend)"
    assert wide or next(n for n in found.lines if n.source == source).share


def test_what_is_not_seen_is_a_row(monkeypatch):
    row = Operation("halved_sine", 1, evaluate=halved_sine)
    monkeypatch.setitem(OPERATIONS, "halved_sine", row)

    def program(backend):
        return Results({"x": lift(with_own_function, backend)(0.7)})

    found = trace_program(program, "fp64", model="m", samples=1)
    assert found.lines[-1].name == "unknown" and found.lines[-1].source in repr(found)
    assert len(found.unknown) == 1 and "of 'with_own_function'" in found.unknown[0]
    said = "unknown: own rounding of functions in line"
    assert said in model_trace_page(found, None) and found.closure < 1e-6
    assert not trace_program(program, "fp16", model="m", samples=1).unknown


def decayed(backend):
    """A state that the engine's own kernel steps, in two lines."""
    decay, update = lift(halved, backend), lift(plain_update, backend)
    x, change = np.linspace(0.3, 1.7, 20), np.zeros(20)
    for _ in range(3):
        decay(x, change)
        update(x, change)
    update(x, -change)
    return Results({"x": x})


def halved(x, change):
    for i in range(x.size):
        change[i] = -0.37 * x[i]


def test_a_line_of_the_engine_is_the_line_of_the_model_that_calls_it():
    found = trace_program(decayed, "fp16", model="decay", samples=1)
    lines, first = inspect.getsourcelines(decayed)
    number = first + next(n for n, text in enumerate(lines) if "update(x, change)" in text)
    line = next(n for n in found.lines if "state[i] = " in n.source)
    assert (line.function, line.line, line.name) == ("decayed", number, f"line {number}")
    assert line.source.startswith("update(x, change) and 1 more line: state[i] = ")
    own = [n.source for n in found.lines if n.function == "decayed"]
    given = [source for source in own if source.startswith("argument ")]
    assert "plain_update" not in found.verdict + repr(found)
    assert given and all(" of update(x, change)" in one for one in given), own
    assert sum(n.share for n in found.lines) == pytest.approx(1.0)


@pytest.mark.slow
def test_how_long_a_trace_takes_is_told(monkeypatch):
    """Of one that is a matter of seconds nothing is said."""
    said: list[str] = []
    trace_program(by_kernels, "fp16", model="kernels", on_estimate=said.append)
    assert not said
    monkeypatch.setattr(course, "_LONG", 1e-9)
    found = trace_program(by_kernels, "fp16", model="kernels", lanes=4, on_estimate=said.append)
    (sentence,) = said
    told = re.fullmatch(
        r"a run of 'kernels' with its error in parts takes (\S+) s, and some (\d+) are made: "
        r"about (\d+) minutes", sentence)  # fmt: skip
    assert told and float(told[1]) < 10.0
    assert found.passes / 3 < int(told[2]) < 3 * found.passes


def within(arrays):
    """Reads one view of a tuple's memory, writes others."""
    whole, part, other = arrays
    for i in range(part.shape[0]):
        part[i, 0] = whole[i] / 3.0
        other[i] = part[i, 0] * whole[-1 - i]


def test_arrays_of_a_tuple_may_share_memory():
    def program(backend):
        kernel, room = lift(within, backend), np.linspace(0.1, 1.3, 24)
        views = room[:10], room[6:12].reshape(3, 2), np.zeros(3)
        for _ in range(2):
            kernel(views)
        return Results({"room": room, "other": views[2]})

    found = trace_program(program, "fp16", model="room")
    assert found.closure < 1e-9 and found.outputs["room"] > 0.0


def test_without_a_loop_steps_are_calls():
    """What is rounded in the first calls is what a run has whose later calls are exact."""
    found, lines, more = (
        trace_program(by_kernels, "fp16", model="k", by=by, lanes=n)
        for by, n in (("step", 8), ("line", 8), ("step", 4))
    )
    assert [n.share for n in more.lines] == pytest.approx([n.share for n in found.lines], abs=1e-9)
    steps = [f"step {n}" for n in range(1, 5)]
    assert [n.name for n in found.lines[1:]] == ["what belongs to no step", *steps]
    assert found.closure < 1e-9 and found.outputs == lines.outputs
    assert sum(n.share for n in found.lines) == pytest.approx(1.0, abs=1e-9)
    last = next(n for n in lines.lines if n.function == "measures" and n.share)
    assert found.lines[-1].rms >= 0.9 * last.rms
    for name in found.outputs:
        assert sum(n.shares[name] for n in found.lines) == pytest.approx(1.0, abs=1e-9)


def partly(x, y):
    y[3] = x[2] / 3.0
    return x[1]


def decided(backend):
    x, y, step = np.full(4, 1.0), np.zeros(4), lift(advance, backend)
    step(np.array([1.0, 0.2, 0.3, 0.1]), 0.3, y)
    if np.float16(y[1]) == y[1]:
        step(y, 0.3, x)
    return Results({"x": x})


def ended(backend):
    y = np.zeros(4)
    step = lift(partly, backend)
    step(np.array([0.1, 0.2, 0.4, 0.1]), y)
    if np.float16(y[3]) != y[3]:
        step(y, y)
    return Results({"y": y})


def whole_numbers(backend):
    y = np.zeros(4)
    lift(partly, backend)(np.array([0.1, 0.2, 0.4, 0.1]), y)
    lift(repeated, backend)(y, int(np.float16(y[3]) == y[3]))
    return Results({"y": y})


def repeated(y, count):
    for _ in range(count):
        y[0] += 0.1


def narrow(backend):
    x, y = np.ones(4), np.zeros(4, np.float32)
    lift(partly, backend)(x, y)
    return Results({"y": y})


def overlapping(backend):
    x = np.ones(8)
    lift(partly, backend)(x[:5], x[1:])
    return Results({"x": x})


def failing(backend):
    lift(partly, backend)(np.ones(4), np.ones(4))
    raise ZeroDivisionError("a model's own")


def other_numbers(backend):
    y = np.random.default_rng().uniform(0.0, 1.0, 4)
    lift(partly, backend)(np.ones(4), y)
    return Results({"y": y})


@pytest.mark.parametrize(
    ("program", "backend", "error", "sentence"),
    [
        (decided, "fp16", InputError, "after 1 calls .* 'advance', and on exact numbers it ends"),
        (ended, "fp16", InputError, "ends, and on exact numbers it calls 'partly'"),
        (whole_numbers, "fp16", InputError, "'repeated' is given whole numbers or shapes that"),
        (narrow, "fp16", InputError, "writes an array of float32 .* without a dtype"),
        (overlapping, "fp16", InputError, "shares memory with another .* x.copy"),
        (failing, "fp16", ZeroDivisionError, "a model's own"),
        (other_numbers, "fp16", InputError, "another 'y' when it is run again"),
        (decided, "fixed32", InputError, "fixed point; trace takes"),
    ],
)
def test_refusals(program, backend, error, sentence):
    with pytest.raises(error, match=sentence):
        trace_program(program, backend, model="m")


@pytest.mark.slow
def test_a_scenario_from_the_shell(call, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    told = ("--plugin", "examples/lorenz96.py", "trace", "examples/lorenz96.toml", "-b", "fp16")
    page = tmp_path / "page.html"
    status, out, _ = call(*told, "--set", "lorenz96.days=2", "--json", "--samples", "2",
                          "--html", str(page))  # fmt: skip
    shown = page.read_text(encoding="utf-8")
    assert "What it would change: lines in binary64" in shown and "and perturbed ones" in shown
    assert "state[i] = state[i] + increment[i]" in shown and "<script" not in shown
    assert shown.count("<svg") == 1 and len(shown) < 200_000
    found = json.loads(out)
    assert status == 0 and found["closure"] < 1e-9 and found["until"] == 2.0
    assert sum(n["share"] for n in found["lines"]) == pytest.approx(1.0)
    assert "in 'lorenz96'" in found["verdict"] and "plain_update" not in found["verdict"]
    assert "arithmetic.update(x, work[-1]): state[i] = state[i] + inc" in found["verdict"]
    status, out, _ = call(*told, "--set", "lorenz96.days=39", "--set", "lorenz96.output_days=3.0",
                          "--samples", "1")  # fmt: skip
    assert status == 0 and "later states are left out" in out
    status, _, said = call(*told, "--inputs", "x.npz")
    assert status == 2 and "--inputs is given with a scenario" in said
    status, _, said = call(*told, "--output", "waves")
    assert status == 2 and "accepted: wave, mean, energy" in said


KERNEL = ("examples/lorenz63.py:lorenz63", "--inputs", "examples/lorenz63.py:start")


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (("nowhere.toml", "-b", "fp16"), "nowhere.toml"),
        (("quickstart_climate", "-b", "fp16", "--html", "/nowhere/t.html"), "folder does not"),
        (("quickstart_climate", "-b", "fp16", "--metric", "rms"), "--metric rms is given with a"),
        (("quickstart_climate", "-b", "mlu370-noise"), "random bits; trace takes"),
        (("examples/lorenz63.py:lorenz63", "-b", "fp16"), "is given no arguments; give --inputs"),
        (("examples/lorenz63.py:lorenz63", "-b", "fp16", "--set", "a.b=1"), "keys of a scenario"),
        ((*KERNEL, "-b", "bf16", "--by", "steps"), "--by 'steps' is unknown; accepted: line, "),
        ((*KERNEL, "-b", "bf16", "--output", "nothing"), "accepted: s, path"),
    ],
)
def test_wrong_words(told, sentence, call, monkeypatch):
    monkeypatch.chdir(ROOT)
    status, out, said = call("trace", *told)
    assert status == 2 and not out
    assert re.search(sentence, said), said


def test_a_kernel_in_other_variables_is_refused():
    with pytest.raises(InputError) as caught:
        model_census.require_alike("flux", resolve_backend("fp64"), resolve_backend("fp32"))
    assert str(caught.value) == (
        "kernel 'flux' of the model computes in 'fp64', held in float64 variables, other kernels "
        "in 'fp32', held in float32; trace needs the same kind of variables for all"
    )


@pytest.mark.slow
def test_a_fault_in_a_climate_kernel_is_named_first(monkeypatch):
    """Of all lines of the model, in whose kernel it is one of four."""
    faulty = trace_of_a_bell("fp16", faulty_increment, monkeypatch)
    assert all(event.step == 1 and event.called_at and event.index for event in faulty.events[:1])
    assert faulty.closure < 1e-6 and "+ 4.0) - 4.0" in faulty.verdict, faulty


def copied(x, y):
    for i in range(x[0].size):
        y[i] = x[0][i] / 3.0


SIZE = 50_000


def in_large_arrays(backend):
    """A tuple that stays, a result, arrays that come and go."""
    room, kernel, y = (np.full(SIZE, 0.1),), lift(copied, backend), np.zeros(SIZE)
    for _ in range(5):
        kernel(room, y)
        kernel((y.copy(),), np.zeros(SIZE))
    return Results({"y": y[:5]})


@pytest.mark.slow
def test_memory_that_a_model_takes(monkeypatch):
    """The estimate is the memory that runs take, within a factor of two."""
    trace_program(in_large_arrays, "fp16", model="large", samples=1)  # compiled
    tracemalloc.start()
    trace_program(in_large_arrays, "fp16", model="large", samples=1)
    left, taken = tracemalloc.get_traced_memory()
    assert left < taken / 10
    tracemalloc.stop()
    monkeypatch.setattr(needed_memory, "bytes_of_memory", lambda: taken // 2)
    sentence = r"'large' with 8 numbers beside each of [\d,]+ values .* memory: give lanes=4"
    with pytest.raises(InputError, match=sentence):
        trace_program(in_large_arrays, "fp16", model="large")
    monkeypatch.setattr(needed_memory, "bytes_of_memory", lambda: 2 * taken)
    trace_program(in_large_arrays, "fp16", model="large", samples=1)
    monkeypatch.setattr(needed_memory, "bytes_of_memory", lambda: 10**6)
    with pytest.raises(InputError, match="memory: give smaller arrays"):
        trace_program(in_large_arrays, "fp16", model="large")
