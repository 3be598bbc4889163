"""What a trace says of kernels with a planted fault, and of their repaired forms; what its rows
noted, against arithmetic with fractions and plain Python.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sciprec import InputError, trace
from sciprec.foundation.memory import bytes_of_memory
from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.formats.literal import round_literal
from tests.diagnosis.faulty_kernels import advected, flow
from tests.diagnosis.faulty_pipelines import pipeline
from tests.diagnosis.short_kernels import line_of


@pytest.mark.survey
def test_a_fault_planted_into_a_random_pipeline_is_named(tmp_path, seed=1):
    """And nothing in the same pipeline without it."""
    kernel, args, lines = pipeline(seed, tmp_path, faulty=True)
    found = trace(kernel, "fp16", args)
    assert any(f"line {n}" in found.verdict for n in lines), found.verdict
    kernel, args, _ = pipeline(seed, tmp_path, faulty=False)
    found = trace(kernel, "fp16", args)
    assert found.verdict.startswith("No line stands out"), found.verdict


def test_parts_that_cancel_are_one_group():
    """A flow that leaves one cell and enters the next was rounded alike."""
    u = flow()
    found = trace(advected, "bf16", (u, np.zeros(60), 40), output="u")
    pair = [n for n in found.lines if "_cell = " in n.source]
    group = next(g for g in found.groups if pair[0] in g.lines)
    assert pair[1] in group.lines and group.correlation < -0.5
    assert {n.group for n in pair} == {group.number}
    assert pair[0].share * pair[1].share < 0.0
    checks = list(found.verify(2))
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


def test_errors_that_cancel_are_none():
    """300 * 1.1 is 330 in fp16, but for the digits that 1.1 lacks in binary64."""
    x, found = np.array([1.1]), {}
    for output in ("out", None):
        found = trace(threefold, "fp16", (x, np.zeros(1), np.zeros(1)), output=output)
        if output:
            assert found.verdict.startswith("The errors of 'threefold' in fp16 cancel: 8.1e-17 is")
            assert not any(n.share for n in found.lines) and found.closure == 0.0
            assert any(n.rms > 0.1 for n in found.lines) and not found.groups
    assert sum(n.share for n in found.lines) == pytest.approx(1.0)
    shares = [n.shares for n in found.lines]
    assert not any(s["out"] for s in shares)
    assert sum(s["other"] for s in shares) == pytest.approx(1.0)


def test_nothing_to_verify():
    found = trace(doubled_alone, "fp16", (np.ones(3), np.zeros(3)))
    assert "Nothing to compute wider: 'doubled_alone' in fp16" in repr(found.verify())


def doubled_alone(x, out):
    for i in range(x.size):
        out[i] = 2.0 * x[i]


def test_an_empty_result():
    with pytest.raises(InputError, match="'out' alone, which is empty: there is no number to"):
        trace(doubled_alone, "fp16", (np.ones(0), np.zeros(0)))
