"""What a trace says of kernels whose fault is known, and of harmless ones: the verdict, events with
line, place and count, and what became of every number.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from operator import attrgetter

import numpy as np
import pytest

from sciprec import trace
from tests.diagnosis import faulty_kernels
from tests.diagnosis.short_kernels import kernel_of, line_of

FIFTEEN = "float:p=15,emin=-60,emax=60"
SATURATING = "float:p=8,emin=-10,emax=10,overflow=saturate"
LOST = "Exact values cannot be followed here: they need more than 106 bits"


@dataclass(frozen=True)
class Row:
    """A kernel with its arguments, and what a trace has to say.

    Attributes:
        kernel, args, backend, more: of `trace`.
        says: words of the verdict; «text» stands for the number of the line with this text.
        never: words that the verdict does not have.
        events: kind, where (text of the line and index, or the argument), how many; all of them.
        has: attribute of the trace -> its value.
        shown: words of what is printed; with a "-" in front, words that are not.
    """

    kernel: object
    args: object
    says: tuple = ()
    never: tuple = ()
    backend: str = "fp16"
    events: list | None = None
    has: dict = field(default_factory=dict)
    shown: tuple = ()
    more: dict = field(default_factory=dict)


def row(*lines, **more) -> Row:
    """A row of a kernel of these lines; what is no attribute of a row is an argument."""
    own = {name: more.pop(name) for name in list(more) if name in Row.__dataclass_fields__}
    return Row(kernel_of(lines, ", ".join(more)), more, **own)


def named(name: str, inputs: str, backend: str, *says: str, **more) -> Row:
    """A row of a kernel in `faulty_kernels`."""
    kernel = getattr(faulty_kernels, name)
    return Row(kernel, faulty_kernels.inputs(inputs), says, backend=backend, **more)


def repaired(name: str, inputs: str, backend: str) -> Row:
    """A row of a kernel in which no line is to be named."""
    return named(name, inputs, backend, never=("line ",))


def out(count: int) -> np.ndarray:
    return np.zeros(count)


SQUARES = ("larger = x[i] * x[i] - y[i] * y[i]", "smaller = p[i] * p[i] - q[i] * q[i]",
           "out[i] = larger - smaller")  # fmt: skip
DRAWS = np.random.default_rng(3)
WIDE, LESS = DRAWS.uniform(20.0, 30.0, 200), DRAWS.uniform(12.0, 18.0, 200)
FOUR = [WIDE, WIDE - DRAWS.uniform(1.0, 2.0, 200), LESS, LESS - DRAWS.uniform(1.5, 3.5, 200)]
HALVES = [np.float64(np.float16(a)) for a in FOUR]
SIXTY_FOURTHS = np.round(np.random.default_rng(5).normal(0.0, 1.0, 40) * 256) / 256
WINDOW = (
    "s, q = 0.0, 0.0", "for i in range(x.size):", "    s += x[i]", "    q += x[i] * x[i]",
    "    if i >= w:", "        s -= x[i - w]", "        q -= x[i - w] * x[i - w]",
    "    mean = s / w", "    variance = q / w - mean * mean", "    out[i] = variance",
)  # fmt: skip
NORMALISED = (
    "total, squares = 0.0, 0.0", "for i in range(x.size):", "    total += x[i]",
    "    squares += x[i] * x[i]", "mean = total / x.size",
    "spread = squares / x.size - mean * mean", "for i in range(x.size):",
    "    out[i] = (x[i] - mean) / np.sqrt(spread + 1e-5)",
)  # fmt: skip
ELIMINATED = (
    "for k in range(a.shape[0] - 1):", "    for i in range(k + 1, a.shape[0]):",
    "        factor = a[i, k] / a[k, k]", "        for j in range(a.shape[0]):",
    "            a[i, j] -= factor * a[k, j]",
)  # fmt: skip
MATRIX = np.array([[2.0**-12, 1.0, 1.5], [1.0, 1.0, 0.5], [1.0, 0.25, 1.0]])
SMALL = "small = max(q[i], 0.5) * 1.0"
LIMITED = ("for i in range(q.size):", f"    {SMALL}", "    out[i] = 0.01 * small",
           "    if q[i] > 1.0:", "        out[i] = n[i] / 3.0")  # fmt: skip
GUARDED = ("left = x[i] * x[i] - x[i] * x[i]", "if left + x[i] * 0.001 > 0.0:",
           "    out[i] = x[i] * 2.0")  # fmt: skip
BISECTED = (
    "for i in range(x.size):", "    low, high = 0.0, 2.0", "    for _ in range(20):",
    "        middle = 0.5 * (low + high)", "        if middle * middle * middle > x[i]:",
    "            high = middle", "        else:", "            low = middle",
    "    out[i] = 0.5 * (low + high)",
)  # fmt: skip
ASIN = "out[i] = math.asin(math.sqrt(x[i] * x[i] + y[i] * y[i]))"
MULLER = (
    "a, b = 11.0 / 2.0, 61.0 / 11.0", "for _ in range(n):",
    "    a, b = b, 111.0 - (1130.0 - 3000.0 / a) / b", "return b",
)  # fmt: skip
LOGISTIC = ("for _ in range(n):", "    x = 4.0 * x * (1.0 - x)", "return x")
SUMMED = (
    "total, rest = 0.0, 0.0", "for i in range(x.size):", "    term = x[i] + rest",
    "    larger = total + term", "    rest = term - (larger - total)", "    total = larger",
    "return total, rest",
)  # fmt: skip
SOFTMAX = (
    "most, total = x[0], 0.0", "for i in range(x.size):", "    most = max(most, x[i])",
    "for i in range(x.size):", "    out[i] = math.exp(x[i] - most)", "    total += out[i]",
    "for i in range(x.size):", "    out[i] = out[i] / total",
)  # fmt: skip
AVERAGE = ("total = 0.0", "for i in range(x.size):", "    total += x[i]", "return total / x.size")
FOLLOWED = {"never": ("cannot be followed",), "has": {"outcome.followed.lost": {}}}

ROWS = {
    # ---- a line that is at fault -----------------------------------------------------------------
    "a pivot left out": named("without_pivot", "system", "fp16",
                              "line «factor = |a[i, j] -=|b[i] -= factor»"),
    "a difference of squares": named("quadratic", "quadratic", "bf16",
                                     "becomes large in line «roots[i] =»"),
    "a long sum": named("naive_sum", "sum", "fp16", "is rounding of line «total +=»"),
    "a variance in one pass": named("one_pass_variance", "variance", FIFTEEN,
                                    "becomes large in line «return math.sqrt»"),
    "a root of a negative variance": named("one_pass_variance", "variance", "fp16",
                                           "gives NaN first in line «return math.sqrt»"),
    "an offset": named("with_offset", "few", "fp16", "becomes large in line «out[i] =»"),
    "squares away from the mean": repaired("away_from_mean", "variance", FIFTEEN),
    "the long sum, mended": repaired("compensated_sum", "sum", "fp16"),
    "of two lines that would do the first": row(
        "near = (x[i] + 300.0) - 300.0", "out[i] = (near + 20.0) - 20.0", x=SIXTY_FOURTHS,
        out=out(40), says=("becomes large in line «near =»,",)),
    "the line that removes most, not the first": row(
        *SQUARES, **dict(zip("xypq", HALVES, strict=True)), out=out(200),
        says=("becomes large in line «out[i] =»,",)),
    "running sums": row(
        *WINDOW, x=np.random.default_rng(1).normal(100.0, 1.0, 300), w=20, out=out(300),
        backend="fp64", says=("becomes large in line «variance =», which loses",
                              "With exact values there 0% of it is left")),
    # ---- events ----------------------------------------------------------------------------------
    "an infinity that goes on is one event": row(
        *AVERAGE[:3], "return total", x=np.array([1.0, 6e4, 6e4, 1.0, 1.0]),
        events=[("infinity", "total += x[i]", "i = 2", 1)]),
    "a product that underflows": row(
        "return x * x", x=1e-5, events=[("underflow to zero", "return x * x", "", 1)],
        shown=("underflow to zero",)),
    "a product beyond a format without infinity": row(
        "return x * x", x=100.0, backend="e4m3fn", events=[("NaN", "return x * x", "", 1)],
        shown=("NaN",)),
    "a number that does not fit": row(
        "return x * x", x=1e6, events=[("infinity", "argument x = 1e+06", "", 1)],
        says=("an infinity first in argument x = 1e+06: the format ends at 65,504.",)),
    "elements that do not fit": row(
        "for i in range(1, p.size - 1):", "    out[i] = (p[i + 1] - p[i - 1]) / (2.0 * dx)",
        p=np.concatenate([[7.0], 101_335.0 + 10.0 * np.arange(17.0)]), dx=1000.0, out=out(18),
        says=("^'kernel' in fp16 gives an infinity first in argument p[1] = 101,335, 17 of 18 "
              "elements: the format ends at 65,504.$",),
        events=[("infinity", "argument p[1] = 101,335", "", 17)],
        has={"outcome.lost": 16, "left_out": 16, "outcome.nans": 15}),
    "elements that vanish": row(
        "out[i] = 2.0 * x[i]", x=np.full(3, 1e-9), out=out(3),
        says=("^'kernel' in fp16 underflows to zero in argument x[0] = 1e-09, 3 of 3 elements; the "
              "format begins at 5.96e-08, and 100% of the error is of that argument.$",)),
    "elements that saturate": row(
        "out[i] = 2.0 * x[i]", x=np.full(2, 1e5), out=out(2), backend=SATURATING,
        says=("saturates in argument x[0] = 100,000, 2 of 2 elements",)),
    "elements that nothing depends on": row(
        "out[i] = 2.0 * x[i]", x=np.ones(3), out=np.full(3, 1e9), events=[], says=("no error",)),
    "an element that gives NaN whatever its size": row(
        "far = math.sqrt(x[i] - y[i])", "out[i] = y[i] * math.log(x[i]) - far",
        x=np.array([1100.0, 1.5e8]), y=np.array([150.0, 114.0]), out=out(2),
        says=("an infinity first in argument x[1] = 1.5e+08, 1 of 2 elements",)),
    "every line that underflows": row(
        "square = x[i] * x[i]", "small = x[i] * 0.0005", "out[i] = 1.0 + square + small * small",
        x=np.full(6, 1e-4), out=out(6),
        events=[("underflow to zero", "square = x[i] * x[i]", "i = 0", 6),
                ("underflow to zero", "out[i] = 1.0 + square + small * small", "i = 0", 6)]),
    "a saturation that makes the error": row(
        "out[i] = x[i] * x[i] - 1.0", x=np.array([2.0, 300.0]), out=out(2), backend=SATURATING,
        says=("saturates first in line «out[i]» at i = 1: out[i] =",
              "of the error is of that line")),
    # ---- numbers that are lost, and why ----------------------------------------------------------
    "NaN behind an infinity": row(
        "out[i] = x[i] * x[i] / (x[i] * x[i] + 1.0)", x=np.array([300.0, 2.0]), out=out(2),
        says=("which makes NaN of 1 of 2 numbers",)),
    "an infinity without consequence": row(
        "far = x[i] * x[i]", "near = y[i] - 300.25",
        "out[i] = 1.0 / far + math.sqrt(near * near - 0.0625)", backend="bf16",
        x=np.array([3e19, 2.0]), y=np.array([310.0, 300.6]), out=out(2),
        says=("gives NaN first in line «out[i]» at i = 1",),
        events=[("infinity", "far = x[i] * x[i]", "i = 0", 1),
                ("NaN", "out[i] = 1.0 / far + math.sqrt(near * near - 0.0625)", "i = 1", 1)]),
    "an underflow is the cause": row(
        "total = 0.0", "for i in range(x.size):", "    p = math.exp(-x[i] * x[i])",
        "    total += math.log(p)", "return total", x=np.array([1.0, 2.0, 5.0]),
        says=("the cause is underflow to zero in line «p =»: p = math.exp(-x[i] * x[i])",)),
    "the rounding of an array is the cause": row(
        "return math.log1p(-x[0])", x=np.array([0.9999]), backend="bf16",
        says=("the cause is rounding of argument x.",)),
    "the line that loses most bits is the cause": row(
        *NORMALISED, x=np.random.default_rng(3).normal(10.0, 0.5, 256), out=out(256),
        says=("gives NaN first in line", "at i = 0", "the cause is line «spread =»:")),
    "a carried state is the cause": row(
        *ELIMINATED, a=np.pad(MATRIX, (0, 1), constant_values=1.25),
        says=("gives NaN", "at k = 2, i = 3", "the cause is line «a[i, j] -=»: a[i, j] -= factor")),
    # ---- what exact arithmetic gives, too --------------------------------------------------------
    "an infinity of exact arithmetic": row(
        "c = a * 1.1", "return c / b", a=1.3, b=0.0, backend="bf16",
        says=("exact operands give it, too.",),
        events=[("infinity", "return c / b", "", 1)],
        has={"left_out": 1, "events[0].cause": "", "events[0].exact": True}),
    "a number made of an infinity is split": row(
        "return 1.1 / (1.0 / a + 1.0 / b) + c", a=0.0, b=0.3, c=0.7, backend="bf16",
        has={"left_out": 0}),
    "a weight of zero is split": row(
        *SOFTMAX, x=np.array([0.3, 1.7, -math.inf, 0.9]), out=out(4), backend="bf16", events=[],
        has={"left_out": 0}),
    "an exact zero has the sign of the tested one": row(
        "y = x[i] * 0.7", "out[i] = y",
        "out[i] = math.atan(1.1 / out[i]) + 0.3 * math.atan(1.3 / abs(y))", backend="bf16",
        x=np.array([0.0, -0.0, -0.3]), out=out(3), has={"left_out": 0}),
    "a finite result of an overflow": row(
        *AVERAGE, x=np.ones(2**17),
        says=("gives an infinity first in line «return total»", r"(the format ends at 6.55e+04)"),
        has={"outputs": {"return": 1.0}, "outcome.lost": 0, "outcome.passed": 1},
        shown=("-not finite, and exact",)),
    "some results that are not finite": row(
        "out[i] = x[i] * x[i]", x=np.array([1e3, 3.1, 1e5]), out=out(3),
        shown=("2 of 3 numbers not finite, and exact ones are",),
        has={"left_out": 2, "elements": 3}),
    "no finite result of exact arithmetic": row(
        "out[i] = x[i] * x[i]", x=np.full(2, np.inf), out=out(2),
        says=("Exact arithmetic gives no finite number for 'kernel'",)),
    "beside singularities": row(
        ASIN, x=np.sin(np.random.default_rng(2).uniform(0.0, 1.57, 50)),
        y=np.cos(np.random.default_rng(2).uniform(0.0, 1.57, 50)), out=out(50),
        shown=("as beside a singularity", "-nan%"), has={"outcome.singular": (11, 50)}),
    "an error beside parts that cancel": row(
        ASIN, x=np.sin([0.3]), y=np.cos([0.3]), out=out(1),
        says=("^No line can be named: the error of 'kernel' in fp16 is 0.0003",)),
    "exact zeros among results": row(
        "for i in range(x.size):", "    for j in range(x.size):", "        both = x[i] * x[j]",
        "        square = x[i] * x[i] + x[j] * x[j] - 2.0 * both",
        "        out[i, j] = math.sqrt(max(square, 0.0))", backend="fp32",
        x=np.random.default_rng(3).normal(2.0, 0.5, 6), out=np.zeros((6, 6)), never=("none",),
        has={"outcome.singular": (1, 6)}),
    # ---- decisions -------------------------------------------------------------------------------
    "a decision that keeps a kernel from writing": row(
        *GUARDED, x=np.full(3, 300.0), out=out(3),
        says=("Exact values decide otherwise in line «if left»", "at i = 0",
              "stores nothing into out, and its results are 1 from exact ones")),
    "a decision that exact values make likewise": row(
        *GUARDED, x=np.full(3, -3.0), out=out(3),
        says=("^No error: neither in fp16 nor in exact arithmetic does 'kernel' store anything "
              "into out.$",)),
    "a decision beside exact values that are zero": row(
        "y = x * x * x * x", "z = y - y", "for i in range(1):", "    if z >= 0.0:",
        "        out[0] = z", x=300.0, out=np.ones(1),
        says=("if z >= 0.0. 'kernel' in fp16 stores nothing into out, and its results are up to 1 "
              "from exact ones, which are zero; rounding on its own path makes 0.$",)),
    "a decision that explains more than the shares": row(
        *LIMITED, q=np.array([1.0001, 1.0002, 0.5001, 2.0]), n=np.ones(4), out=out(4),
        backend="bf16",
        says=("^Exact values decide otherwise in line «if q»",
              "if q[i] > 1.0. 'kernel' in bf16 gives results that are 0.79 from exact ones")),
    "a decision without consequence": row(
        *BISECTED, x=np.array([0.3, 1.1, 2.0]), out=out(3), says=("No line stands out",),
        shown=("branch",)),
    "exact decisions that take much longer": row(
        "count = 0.0", "while x > 0.0:", "    x = x * 0.99", "    count += 1.0", "return count",
        x=0.3, backend="float:p=11,emin=-14,emax=15,round=rz", never=("decide otherwise",),
        shown=("branch",)),
    "an overflow in what is compared": row(
        "out[i] = 0.7 / min(2.0, x[i] * x[i] * 1e-5)", x=np.array([300.0, 700.0]), out=out(2),
        events=[("infinity", "out[i] = 0.7 / min(2.0, x[i] * x[i] * 1e-5)", "i = 0", 2)],
        has={"elements": 2}, shown=("branch",)),
    # ---- exact values that cannot be followed ----------------------------------------------------
    "Muller's recurrence, 28 passes in fp64": row(
        *MULLER, n=28, backend="fp64", says=(f"^{LOST} (1 number of return)",),
        shown=("return not known",)),
    "chaos": row(*LOGISTIC, x=0.3, n=200, backend="fp64", says=(f"^{LOST}",)),
    "chaos that pairs follow and parts do not": row(
        *LOGISTIC, x=0.7, n=90, backend="fp32", says=(f"^{LOST.replace('106', '53')}",)),
    "a sine far away": row("return math.sin(x / 3.0)", x=1e24, backend="fp64", says=(f"^{LOST}",)),
    **{f"{name} in {backend}": row(*lines, **given, backend=backend, **FOLLOWED)
       for backend, name, lines, given in (
           ("fp64", "factorials", ("y = e - 1.0", "for i in range(2, n):", "    y = i * y - 1.0",
                                   "return y"), {"e": math.e, "n": 40}),
           ("fp64", "a compensated sum", SUMMED,
            {"x": np.random.default_rng(1).uniform(0.0, 1.0, 300)}),
           ("fp32", "arcs", (ASIN,),
            {"x": np.array([0.6, 0.8, 1.0, 0.28]), "y": np.array([0.8, 0.6, 0.0, 0.96]),
             "out": out(4)}),
           ("fp32", "weights", SOFTMAX,
            {"x": np.linspace(-30.0, 800.0, 40)[::-1].copy(), "out": out(40)}))},
}  # fmt: skip
USUAL = (
    "a difference of squares", "a long sum", "squares away from the mean",
    "elements that do not fit", "a decision without consequence", "a carried state is the cause",
    "chaos", "every line that underflows", "an infinity of exact arithmetic",
    "a decision that explains more than the shares",
)  # fmt: skip
"""Rows of the usual loop; the others are slow together."""


def numbered(words: str, kernel) -> list[str]:
    """Words with the number of the line that they name, or of one of several."""
    texts = re.search("«(.+?)»", words)
    if texts is None:
        return [words]
    numbers = [line_of(kernel, text) for text in texts[1].split("|")]
    return [words.replace(texts[0], str(number)) for number in numbers]


def is_said(words: str, verdict: str) -> bool:
    """Whether a verdict has these words, at its begin behind ^ and at its end before $."""
    bare = words.strip("^$")
    begins = verdict.startswith(bare) or words[0] != "^"
    return begins and (verdict.endswith(bare) or words[-1] != "$") and bare in verdict


def value_of(found, name: str):
    first, _, rest = name.partition("[0].")
    return attrgetter(rest)(getattr(found, first)[0]) if rest else attrgetter(name)(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [n if n in USUAL else pytest.param(n, marks=pytest.mark.slow) for n in ROWS]
)
def test_verdicts_and_events(name):
    wanted = ROWS[name]
    found = trace(wanted.kernel, wanted.backend, wanted.args, samples=1, **wanted.more)
    said = found.verdict
    for words in wanted.says:
        assert any(is_said(one, said) for one in numbered(words, wanted.kernel)), said
    assert not [words for words in wanted.never if words in said.replace("No line", "")], said
    if wanted.events is not None:
        told = [(e.kind, e.source, e.index, e.count) for e in found.events]
        assert sorted(told) == sorted(wanted.events)
    for attribute, value in wanted.has.items():
        given = value_of(found, attribute)
        if isinstance(value, tuple):
            assert value[0] <= given <= value[1]
        else:
            assert given == (pytest.approx(value) if attribute == "outputs" else value)
    shown = repr(found)
    for words in wanted.shown:
        assert (words.strip("-") in shown) is not words.startswith("-"), shown
    is_followed = "cannot be followed here" not in said
    total = sum(n.share for n in found.lines)
    assert found.closure < 1e-6 and all(abs(n.share) < 1e6 for n in found.lines)
    if not is_followed:  # no line is named, and no error is told
        assert total == 0.0 and not found.groups and not any(n.share for n in found.lines)
    assert total == pytest.approx(1.0, abs=1e-5) or total == pytest.approx(0.0, abs=1e-6)
