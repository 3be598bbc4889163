"""What a trace says of kernels with a planted fault, and of their repaired forms; what its rows
noted, against arithmetic with fractions and plain Python.
"""

from __future__ import annotations

import inspect
import math
import re
from fractions import Fraction

import numpy as np
import pytest

from sciprec import InputError, trace
from sciprec.checks.room import bytes_of_memory
from sciprec.diagnosis.origins import groups_of
from sciprec.diagnosis.problem import Problem
from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.formats.literal import round_literal
from sciprec.precision.tracing import rows
from tests.diagnosis import faulty_kernels, guilty_survey
from tests.diagnosis.faulty_pipelines import pipeline

FIFTEEN = "float:p=15,emin=-60,emax=60"


def line_of(kernel, text: str) -> int:
    """The absolute number of a kernel's line."""
    lines, first = inspect.getsourcelines(kernel)
    return first + next(n for n, line in enumerate(lines) if text in line)


def traced(name: str, inputs: str, backend: str):
    kernel = getattr(faulty_kernels, name)
    found = trace(kernel, backend, faulty_kernels.inputs(inputs))
    assert found.closure < 1e-6
    return kernel, found


@pytest.mark.parametrize(
    ("name", "inputs", "backend", "text", "says"),
    [
        ("one_pass_variance", "variance", "fp16", "return math.sqrt", "gives NaN first in line"),
        ("quadratic", "quadratic", "bf16", "roots[i] =", "becomes large in line"),
        ("naive_sum", "sum", "fp16", "total +=", "is rounding of line"),
        pytest.param("one_pass_variance", "variance", FIFTEEN, "return math.sqrt",
                     "becomes large in line", marks=pytest.mark.slow),
        pytest.param("layer_norm", "rows", "fp16", "spread =", "the cause is line",
                     marks=pytest.mark.slow),
        pytest.param("with_offset", "few", "fp16", "out[i] =", "becomes large in line",
                     marks=pytest.mark.slow),
        pytest.param("stagnating", "drift", "fp16", "level = level", "is rounding of line",
                     marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_a_fault_is_named(name, inputs, backend, text, says):
    kernel, found = traced(name, inputs, backend)
    assert f"{says} {line_of(kernel, text)}" in found.verdict, found.verdict


@pytest.mark.slow
def test_a_pivot_left_out_is_named():
    kernel, found = traced("without_pivot", "system", "fp16")
    lines = [line_of(kernel, text) for text in ("factor = ", "a[i, j] -=", "b[i] -= factor")]
    assert any(f"line {n}" in found.verdict for n in lines), found.verdict


@pytest.mark.parametrize(
    ("name", "inputs", "backend"),
    [
        ("quadratic_repaired", "quadratic", "bf16"),
        ("away_from_mean", "variance", FIFTEEN),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in [
                ("two_pass_variance", "variance", "fp16"),
                ("compensated_sum", "sum", "fp16"),
                ("layer_norm_repaired", "rows", "fp16"),
                ("with_pivot", "system", "fp16"),
                ("without_offset", "few", "fp16"),
                ("compensated_drift", "drift", "fp16"),
            ]
        ),
    ],
)
def test_no_line_of_a_repaired_kernel_is_named(name, inputs, backend):
    _, found = traced(name, inputs, backend)
    assert "line " not in found.verdict.replace("No line", ""), found.verdict


@pytest.mark.slow
def test_a_fault_planted_into_a_random_pipeline_is_named(tmp_path, seed=1):
    """And nothing in the same pipeline without it."""
    kernel, args, lines = pipeline(seed, tmp_path, faulty=True)
    found = trace(kernel, "fp16", args)
    assert any(f"line {n}" in found.verdict for n in lines), found.verdict
    kernel, args, _ = pipeline(seed, tmp_path, faulty=False)
    found = trace(kernel, "fp16", args)
    assert found.verdict.startswith("No line stands out"), found.verdict


def advected(u, new, steps):
    for _ in range(steps):
        for i in range(1, u.size):
            out_of_cell = 0.3 * u[i]
            into_cell = 0.3 * u[i - 1]
            new[i] = (u[i] - out_of_cell) + into_cell
        for i in range(1, u.size):
            u[i] = new[i]


def test_parts_that_cancel_are_one_group():
    """What leaves one cell and enters the next was rounded alike."""
    u = 1.0 + np.round(np.sin(np.linspace(0.0, 6.0, 60)) * 64) / 256
    found = trace(advected, "bf16", (u, np.zeros(60), 40), output="u")
    pair = [n for n in found.lines if "_cell = " in n.source]
    group = next(g for g in found.groups if pair[0] in g.lines)
    assert pair[1] in group.lines and group.correlation < -0.5
    assert {n.group for n in pair} == {group.number}
    assert pair[0].share * pair[1].share < 0.0
    checks = list(found.verify(5))
    assert all(c.agrees or c.moved_to for c in checks)
    together = next(c for c in checks if c.group == group.number)
    assert len(together.lines) >= 2
    alone = trace(advected, "bf16", (u, np.zeros(60), 40), output="u", samples=1)
    assert alone.passes < found.passes - 10 and all(len(g.lines) == 1 for g in alone.groups)
    assert [n.share for n in alone.lines] == [n.share for n in found.lines]


def rounded(value: Fraction, backend) -> Fraction:
    return Fraction(round_literal(float(value), backend.compute))


def lossy(x, y):
    product = x * x
    return product - y


def test_bits_lost_are_those_of_exact_arithmetic():
    backend, rng = resolve_backend("fp16"), np.random.default_rng(4)
    unit = Fraction(1, 2**11)
    for x in rng.uniform(1.0, 2.0, 5).tolist():
        y = float(round_literal(x * x * 1.01, backend.compute))
        found = {n.line: n.bits_lost for n in trace(lossy, "fp16", (x, y)).lines}
        entered = rounded(Fraction(x), backend)
        product = rounded(entered * entered, backend)
        exact = Fraction(x) ** 2
        before = max(abs(product / exact - 1), abs(rounded(Fraction(y), backend) / Fraction(y) - 1))
        after = abs((product - rounded(Fraction(y), backend)) / (exact - Fraction(y)) - 1)
        expected = max(math.log2(max(after / max(before, unit), Fraction(1, 4))), 0.0)
        assert found[line_of(lossy, "product - y")] == pytest.approx(expected, abs=1e-6)


def busy(x, out, n):
    count = 0
    for k in range(n):
        for i in range(x.size):
            away = x[i] * 3.0 - 1.0
            if away > 0.0:
                count += 1
                out[i] += away / (k - 2.0)
    return math.floor(out[3] * 8.0) + count


def test_runs_events_and_branches_are_those_of_the_run():
    x, n = np.linspace(0.0, 0.7, 22), 4
    with np.errstate(all="ignore"):
        found = trace(busy, "bf16", (x, np.zeros(22), n))
    runs = {line.line: line.runs for line in found.lines}
    moved = sciprec_values(x)
    taken = sum(v > 0.0 for v in moved) * n
    assert runs[line_of(busy, "away =")] == 22 * n
    assert runs[line_of(busy, "out[i] +=")] == taken
    infinite = next(e for e in found.events if e.kind == "infinity")
    first = next(i for i, v in enumerate(moved) if v > 0.0)
    assert (infinite.line, infinite.index) == (line_of(busy, "out[i] +="), f"k = 2, i = {first}")
    assert infinite.count == taken // n and infinite.step == 3
    exact = [3 * Fraction(v) - 1 > 0 for v in x]
    otherwise = sum(a != (b > 0.0) for a, b in zip(exact, moved, strict=True)) * n
    assert sum(b.count for b in found.branches if "if away" in b.source) == otherwise


def sciprec_values(x) -> list[float]:
    """3 x - 1 in bf16, each operation rounded."""
    backend = resolve_backend("bf16")
    entered = [rounded(Fraction(v), backend) for v in x.tolist()]
    return [float(rounded(rounded(3 * v, backend) - 1, backend)) for v in entered]


def vanishing(x):
    return x * x


@pytest.mark.parametrize(
    ("backend", "x", "kind"),
    [("fp16", 1e-5, "underflow to zero"), ("e4m3fn", 100.0, "NaN"),
     ("float:p=8,emin=-10,emax=10,overflow=saturate", 100.0, "saturation")],
)  # fmt: skip
def test_ranges_that_are_left(backend, x, kind):
    found = trace(vanishing, backend, (x,))
    assert [e.kind for e in found.events] == [kind]
    assert kind in repr(found)


def test_an_infinity_that_goes_on_is_one_event():
    x = np.array([1.0, 6e4, 6e4, 1.0, 1.0])
    event = trace(faulty_kernels.naive_sum, "fp16", (x,)).events[0]
    assert (event.kind, event.index, event.count) == ("infinity", "i = 2", 1)


def twice(x, out):
    for i in range(x.size):
        near = (x[i] + 300.0) - 300.0
        out[i] = (near + 20.0) - 20.0


def test_the_first_line_in_order_of_execution_is_named():
    """Healing the second one removes the error, too."""
    x = np.round(np.random.default_rng(5).normal(0.0, 1.0, 40) * 256) / 256
    found = trace(twice, "fp16", (x, np.zeros(40)))
    assert f"becomes large in line {line_of(twice, 'near =')}," in found.verdict


def one_of_two(x, y, p, q, out):
    for i in range(x.size):
        larger = x[i] * x[i] - y[i] * y[i]
        smaller = p[i] * p[i] - q[i] * q[i]
        out[i] = larger - smaller


def test_the_line_that_removes_most_is_named():
    """With exact values in the first line less than half of the error is left, in the last none."""
    rng = np.random.default_rng(3)
    x, p = rng.uniform(20.0, 30.0, 200), rng.uniform(12.0, 18.0, 200)
    given = x, x - rng.uniform(1.0, 2.0, 200), p, p - rng.uniform(1.5, 3.5, 200)
    exact = [np.float64(np.float16(a)) for a in given]
    found = trace(one_of_two, "fp16", (*exact, np.zeros(200)))
    assert f"becomes large in line {line_of(one_of_two, 'out[i] =')}," in found.verdict


def window(x, w, out):
    s = 0.0
    q = 0.0
    for i in range(x.size):
        s += x[i]
        q += x[i] * x[i]
        if i >= w:
            s -= x[i - w]
            q -= x[i - w] * x[i - w]
        mean = s / w
        variance = q / w - mean * mean
        out[i] = variance


@pytest.mark.parametrize("backend", ["fp32", "fp64"])
def test_the_line_of_running_sums_that_cancels_is_named(backend):
    """What only reads sums that are carried along is asked, too."""
    x = np.random.default_rng(1).normal(100.0, 1.0, 300)
    found = trace(window, backend, (x, 20, np.zeros(300)))
    line = line_of(window, "variance =")
    assert f"becomes large in line {line}, which loses" in found.verdict
    assert "With exact values there 0% of it is left" in found.verdict


@pytest.mark.slow
def test_the_guilty_line_of_random_windows_and_recurrences(tmp_path):
    """Some of `guilty_survey`."""
    found = guilty_survey.survey(tmp_path, 0, 10)
    assert found["others"] == [] and found["named"] >= 9


def normalised(x, out):
    total = 0.0
    squares = 0.0
    for i in range(x.size):
        total += x[i]
        squares += x[i] * x[i]
    mean = total / x.size
    spread = squares / x.size - mean * mean
    for i in range(x.size):
        out[i] = (x[i] - mean) / np.sqrt(spread + 1e-5)


def test_the_cause_is_the_line_that_loses_most_bits():
    """An exact mean would do here, too."""
    x = np.random.default_rng(3).normal(10.0, 0.5, 256)
    event = trace(normalised, "fp16", (x, np.zeros(256))).events[0]
    assert (event.kind, event.index) == ("NaN", "i = 0")
    assert event.cause.startswith(f"line {line_of(normalised, 'spread =')}:")


def eliminated(a):
    for k in range(a.shape[0] - 1):
        for i in range(k + 1, a.shape[0]):
            factor = a[i, k] / a[k, k]
            for j in range(a.shape[0]):
                a[i, j] -= factor * a[k, j]


def test_an_event_that_a_carried_state_causes():
    """Exact operands would not divide by zero: rows below the first one are rounded alike."""
    a = np.array([[2.0**-12, 1.0, 1.5], [1.0, 1.0, 0.5], [1.0, 0.25, 1.0]])
    found = trace(eliminated, "fp16", (np.pad(a, (0, 1), constant_values=1.25),))
    event = next(e for e in found.events if e.kind == "NaN")
    assert event.index == "k = 2, i = 3"
    assert event.cause == f"line {line_of(eliminated, 'a[i, j] -=')}: a[i, j] -= factor * a[k, j]"
    assert f"the cause is {event.cause}" in found.verdict


def test_a_number_that_no_longer_fits_when_it_becomes_an_argument():
    found = trace(vanishing, "fp16", (1e6,))
    assert [(e.kind, e.source) for e in found.events] == [("infinity", "argument x = 1e+06")]
    assert "an infinity first in argument x = 1e+06: the format ends at 65,504." in found.verdict


def test_what_is_computed_wider_is_binary64():
    """Its operands and results keep their digits; the next operation that is not rounds."""
    x, y = 1.2345, 1.5
    problem = Problem(lossy, resolve_backend("fp16"), (x, y), None, 8)
    table = problem.table("wider")
    table.numbers[:, rows.FACTOR] = 1.0
    result = problem.run("wider", table)[0]
    assert float(result.tested) == x * x - y and abs(result.beside[0]) < 1e-15
    groups = groups_of(problem.kernel("wider").program, "line")
    last = next(g for g in groups if g.source == "return product - y")
    table.numbers[list(last.rows), rows.FACTOR] = 0.0
    rounded_last = round_literal(x * x - y, problem.backend.compute)
    result = problem.run("wider", table)[0]
    assert float(result.tested) == rounded_last
    assert float(result.beside[0]) == pytest.approx(rounded_last - (x * x - y), abs=1e-15)


def floored(x, y):
    return math.floor(x * y) + 0.5


def test_a_whole_number_that_is_missed_by_less_than_a_unit_of_binary64():
    """1 - 2^-80 is below the step that tested values are on."""
    found = trace(floored, "fp16", (1.0 - 2.0**-40, 1.0 + 2.0**-40))
    assert [(b.kind, b.count) for b in found.branches] == [("branch", 1)]
    assert not trace(floored, "fp16", (1.0 + 2.0**-40, 1.0 + 2.0**-40)).branches


def test_a_healed_line_gives_exact_values_rounded_to_the_format():
    problem = Problem(lossy, resolve_backend("fp16"), (1.2345, 1.5), None, 8)
    groups = groups_of(problem.kernel("twin").program, "line")
    product = next(g for g in groups if g.source == "product = x * x")
    table = problem.table("twin")
    table.words[list(product.rows), rows.TREATMENT] = rows.HEALED
    result = problem.run("twin", table)[0]
    backend = problem.backend
    healed = rounded(Fraction(1.2345) ** 2, backend)
    assert healed != rounded(rounded(Fraction(1.2345), backend) ** 2, backend)
    assert float(result.tested) == float(rounded(healed - Fraction(1.5), backend))


def steps(x, n):
    total = 0.3
    for _ in range(n):
        total = total * 0.9 + x
    for _ in range(2):
        total = total / 3.0
    return total


def test_by_step():
    found, lines = (trace(steps, "bf16", (0.7, 5), by=by) for by in ("step", "line"))
    names = [n.name for n in found.lines]
    first, second = line_of(steps, "range(n)"), line_of(steps, "range(2)")
    assert names == [
        "before the loops", *(f"pass {n} of line {first}" for n in range(1, 6)),
        f"after the loop of line {first}", *(f"pass {n} of line {second}" for n in (1, 2)),
        f"after the loop of line {second}",
    ]  # fmt: skip
    assert found.outputs == lines.outputs and found.closure < 1e-9
    assert sum(n.share for n in found.lines) == pytest.approx(1.0)
    last = next(n for n in lines.lines if "/ 3.0" in n.source)
    passes = [n.share for n in found.lines if f"of line {second}" in n.name and "pass" in n.name]
    assert sum(passes) == pytest.approx(last.share)
    many = trace(steps, "bf16", (0.7, 1000), by="step")
    assert len(many.lines) < 70 and any("passes 1 to" in n.name for n in many.lines)
    assert sum(n.share for n in many.lines) == pytest.approx(1.0)


def test_refusals():
    most = bytes_of_memory() // 8
    huge = np.broadcast_to(np.zeros(1), (most // 6,))
    with pytest.raises(InputError, match=r"GB, and this machine has .* memory: give lanes=4"):
        trace(vanishing, "bf16", (huge,))
    huge = np.broadcast_to(np.zeros(1), (most,))
    with pytest.raises(InputError, match="memory: give smaller arrays"):
        trace(vanishing, "bf16", (huge,))
    with pytest.raises(InputError, match="has no loop of its own"):
        trace(vanishing, "bf16", (0.3,), by="step")
    with pytest.raises(InputError, match="as wide as what lines would be computed in"):
        trace(vanishing, "fp64", (0.3,)).verify()
    with pytest.raises(InputError, match="top"):
        trace(vanishing, "bf16", (0.3,)).verify(0)


def threefold(x, out, other):
    for i in range(x.size):
        out[i] = x[i] * 300.0
        other[i] = (x[i] + 1e-9) / 0.3


@pytest.mark.parametrize("by", ["line", pytest.param("function", marks=pytest.mark.slow)])
def test_errors_that_cancel_are_none(by):
    """300 * 1.1 is 330 in fp16, but for the digits that 1.1 lacks in binary64."""
    x, found = np.array([1.1]), {}
    for output in ("out", None):
        found = trace(threefold, "fp16", (x, np.zeros(1), np.zeros(1)), output=output, by=by)
        if output:
            assert found.verdict.startswith("The errors of 'threefold' in fp16 cancel: 8.1e-17 is")
            assert not any(n.share for n in found.lines) and found.closure == 0.0
            assert any(n.rms > 0.1 for n in found.lines) and not found.groups
    assert sum(n.share for n in found.lines) == pytest.approx(1.0)
    shares = [n.shares for n in found.lines]
    assert not any(s["out"] for s in shares)
    assert sum(s["other"] for s in shares) == pytest.approx(1.0)


def difference_of_squares(x, y):
    return x * x - y * y


def quotient_of_differences(x, y, out):
    for i in range(x.size):
        d = difference_of_squares(x[i], y[i])
        out[i] = d / (x[i] + y[i])


def of_sixty_fourths(low: float, high: float) -> np.ndarray:
    """Thirty numbers that fp16 holds."""
    return np.round(np.random.default_rng(3).uniform(low, high, 30) * 64) / 64


def test_a_line_that_cancels_what_it_rounds_is_named_in_a_small_error():
    """An error of 3.9 roundings; and what else becomes smaller when that line is computed wider."""
    x, y = of_sixty_fourths(7.0, 8.0), of_sixty_fourths(7.0, 8.0)[::-1].copy()
    found = trace(quotient_of_differences, "fp16", (x, y, np.zeros(30)))
    at = line_of(difference_of_squares, "x * x")
    assert f"becomes large in line {at}, which loses" in found.verdict
    assert next(n.share for n in found.lines if n.line == at) > 0.5
    checks = {c.lines: c for c in found.verify()}
    alone = checks[(f"line {at}",)]
    assert alone.agrees or alone.words.startswith("no: the part of line ")
    assert alone.agrees or line_of(quotient_of_differences, "out[i]") in map(
        int, re.findall(r"line (\d+)", alone.words)
    )


def test_nothing_to_verify():
    found = trace(doubled_alone, "fp16", (np.ones(3), np.zeros(3)))
    assert "Nothing to compute wider: 'doubled_alone' in fp16" in repr(found.verify())


def doubled_alone(x, out):
    for i in range(x.size):
        out[i] = 2.0 * x[i]


def test_an_empty_result():
    with pytest.raises(InputError, match="'out' alone, which is empty: there is no number to"):
        trace(doubled_alone, "fp16", (np.ones(0), np.zeros(0)))


def squared_less(x, out):
    for i in range(x.size):
        out[i] = x[i] * x[i] - 1.0


def test_a_saturation_that_makes_the_error_is_named():
    saturating = "float:p=8,emin=-10,emax=10,overflow=saturate"
    found = trace(squared_less, saturating, (np.array([2.0, 300.0]), np.zeros(2)))
    at = line_of(squared_less, "x[i] * x[i]")
    assert f"saturates first in line {at} at i = 1: out[i] =" in found.verdict, found.verdict
    assert "of the error is of that line" in found.verdict
