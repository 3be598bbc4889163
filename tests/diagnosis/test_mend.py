"""Proposals of `mend`: patches apply, the judge finds what is wrong, Hamming's rearrangements."""

from __future__ import annotations

import ast
import importlib.util
import json
import linecache
import math
import re
import shutil
import subprocess

import mpmath
import numpy as np
import pytest
from typer.testing import CliRunner

from sciprec import InputError, lift, quantize, trace
from sciprec.cli.commands import app
from sciprec.extend import RULES, Rule
from sciprec.precision.formats.backend import resolve_backend
from sciprec.tools.mend.matching import rewritten
from sciprec.tools.trace.problem import stored_in
from tests.diagnosis import hamming_problems
from tests.diagnosis.test_trace_page import Page
from tests.oracles.reals import BITS, real_kernel
from tests.oracles.uncompiled import Uncompiled

KERNELS = '''"""Kernels that lose digits."""

import math

import numba


@numba.njit(fastmath=True)
def sampled(rate, out):
    """A sum of many small steps."""
    t = 0.0  # seconds
    for i in range(out.size):
        t += rate[i]
        out[i] = t


def deviation(x, out):
    s, n = 0.0, x.size
    q = 0.0
    for i in range(n):
        s += x[i]
        q += x[i] * x[i]   # about zero
    mean = s / n
    variance = (
        q / n
        - mean * mean
    )
    out[0] = math.sqrt(variance)  # one number


def maker():
\tdef angle(a, b, c, d, out):
\t\tfor i in range(out.size):
\t\t\tacross = math.cos(b[i]) * math.cos(c[i] - d[i])
\t\t\tcosine = math.sin(a[i]) * math.sin(b[i]) + math.cos(a[i]) * across
\t\t\tout[i] = 6371.0 * math.acos(cosine)
\treturn angle


angle = maker()
'''


def given(name):
    """Small arguments of a kernel above, and an arithmetic in which it loses digits."""
    rng = np.random.default_rng(1)
    if name == "sampled":
        return "fp32", (rng.uniform(0.01, 0.02, 300), np.zeros(300))
    if name == "deviation":
        return "fp32", (rng.normal(30.0, 0.1, 40), np.zeros(1))
    a, c = rng.uniform(0.3, 0.5, 12), rng.uniform(0.0, 1.0, 12)
    return "fp32", (a, a + 1e-4 * rng.uniform(1, 2, 12), c, c + 1e-4, np.zeros(12))


def loaded(file):
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def repository(tmp_path):
    """A git repository with the kernels in a folder of it."""
    file = tmp_path / "models" / "losing.py"
    file.parent.mkdir()
    file.write_text(KERNELS, encoding="utf-8")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return file


def results(kernel, backend, args):
    """Arrays after a run by Python, which rounds where compiled code does."""
    taken = [quantize(a, backend).astype(np.float64) for a in args]
    Uncompiled(kernel, backend)(*taken)
    return taken


EXPECTED = {
    "sampled": "carry of the update", "deviation": "two-pass variance", "angle": "haversine"
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("name", EXPECTED)
def test_a_patch_applies_and_gives_the_mended_kernel(name, repository):
    backend, args = given(name)
    mend = trace(getattr(loaded(repository), name), backend, args, samples=1).mend()
    titles = [p.title for p in mend.proposals]
    assert EXPECTED[name] in titles and mend.verdict.startswith("Mend line ")
    assert [p.error for p in mend.proposals] == sorted(p.error for p in mend.proposals)
    for proposal in mend.proposals:
        assert re.search(r"\(\d{4}\)", proposal.source) and proposal.error < mend.error
        top = repository.parents[1]
        subprocess.run(["git", "apply", "-"], cwd=top, input=proposal.patch, text=True, check=True)
        patched = results(getattr(loaded(repository), name), backend, args)
        repository.write_text(KERNELS, encoding="utf-8")
        for one, other in zip(patched, results(proposal.kernel, backend, args), strict=True):
            np.testing.assert_array_equal(one, other)
        wanted = ("fastmath",) if name == "sampled" and "carry" in proposal.title else ()
        assert len(proposal.cautions) == len(wanted)
        assert all(word in proposal.cautions[0] for word in wanted)
        gone = [line[1:] for line in proposal.patch.splitlines() if line.startswith("-")]
        assert KERNELS.splitlines()[proposal.line - 1] in gone


# ---- the rules -----------------------------------------------------------------------------------


_LOOPS = {"SUM": "sum", "MAX": "max", "FIRST": "first"}


class _Sums(ast.NodeTransformer):
    """SUM and MAX as Python's, and letters below them as elements of arrays."""

    def __init__(self):
        self.inside = False

    def visit_Call(self, node):
        before, self.inside = self.inside, node.func.id in _LOOPS
        is_loop, self.inside = self.inside, self.inside or before
        node.args = [self.visit(a) for a in node.args[:1]] if is_loop else [
            self.visit(a) for a in node.args]  # fmt: skip
        self.inside = before
        if is_loop:
            text = f"{_LOOPS[node.func.id]}([{ast.unparse(node.args[0])} for i in range(5)])"
            return ast.parse(text, mode="eval").body
        return node

    def visit_Name(self, node):
        if self.inside and node.id in "ABDEVWZ":
            return ast.parse(f"{node.id}_each[i]", mode="eval").body
        return node


def valued(text, letters):
    functions = "sqrt sin cos tan atan asin acos exp log expm1 log1p sinh hypot atan2"
    names = {n: getattr(mpmath, n) for n in functions.split()}
    names |= {"simp": lambda x: x, "abs": abs, "max": max, "sum": sum,
              "first": lambda x: x[0],
              "POWER": lambda x: mpmath.mpf(2) ** mpmath.floor(mpmath.log(x, 2)),
              "mean": lambda x: sum(x) / len(x), "fma": lambda x, y, z: x * y + z}  # fmt: skip
    tree = ast.fix_missing_locations(_Sums().visit(ast.parse(text, mode="eval")))
    return eval(compile(tree, "rule", "eval"), names | letters)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_a_rule_says_the_same_before_and_after(rule):
    """At random numbers, over 400 bits."""
    rng, of_arrays = np.random.default_rng(5), "mean(" in rule.pattern
    with mpmath.workprec(400):
        for _ in range(20):
            letters = {n: mpmath.mpf(float(rng.uniform(0.1, 0.9))) for n in "ABDENPVWZ"}
            letters |= {f"{n}_each": [mpmath.mpf(float(v)) for v in rng.uniform(0.1, 0.9, 5)]
                        for n in "ABDEVWZ"}  # fmt: skip
            if of_arrays:
                letters["A"] = np.array(letters["A_each"])
            letters["N"] = mpmath.mpf(5)
            before, after = (valued(t, letters) for t in (rule.pattern, rule.replacement))
            least = mpmath.mpf(2) ** (-49 if rule.series else -300)
            assert abs(after - before) <= least * max(abs(before), mpmath.mpf(2) ** -20)


@pytest.mark.parametrize(("text", "name", "wanted"), [
    ("a * (exp(x[i]*x[i]) - 1.0) + b", "expm1", "a * expm1(x[i] * x[i]) + b"),
    ("3.0 - 1 + exp(y)", "expm1", "expm1(y) + 3.0"),
    ("log(a - b + 1)", "log1p", "log1p(a - b)"),
    ("(p + q)**2 - x*x*y*y", "difference of squares", "(p + q - x * y) * (p + q + x * y)"),
    ("sqrt(x*x + c) - x", "conjugate of a root", "c / (sqrt(x * x + c) + x)"),
    ("c*a - a*b + d", "difference first", "a * (c - b) + d"),
    ("sqrt(x + c) - x", "conjugate of a root", None),
    ("exp(x) - 2", "expm1", None),
])  # fmt: skip
def test_how_a_rule_fits(text, name, wanted):
    found = rewritten(RULES[name], ast.parse(text, mode="eval").body)
    texts = [ast.unparse(new).replace(" ", "") for new in found]
    assert (wanted.replace(" ", "") in texts) if wanted else not texts


@pytest.mark.parametrize(("change", "words"), [
    ({"pattern": "exp(A - "}, "pattern 'exp(A - ' is not an expression"),
    ({"replacement": "expm1(B)"}, "'B' of its replacement is not in its pattern"),
    ({"replacement": "exprel(A)"}, "its replacement calls 'exprel'; functions are "),
    ({"pattern": "exp(alpha) - 1"}, "'alpha' of its pattern is no upper-case letter"),
    ({"condition": "A"}, "its condition 'A' is not a difference"),
    ({"source": " "}, "names no source"),
])  # fmt: skip
def test_a_row_that_is_no_rule_is_refused(change, words):
    row = {"name": "mine", "pattern": "exp(A) - 1", "replacement": "expm1(A)", "source": "I (2026)"}
    with pytest.raises(InputError, match=re.escape(words)):
        Rule(**row | change)


# ---- the judge -----------------------------------------------------------------------------------


def growth(x, out):
    for i in range(out.size):
        out[i] = np.exp(x[i]) - 1.0


def roots(x, out):
    for i in range(out.size):
        out[i] = np.sqrt(x[i] * x[i] + 1.0) - x[i]


def sign_of_growth(x, out):
    for i in range(out.size):
        y = np.exp(x[i]) - 1.0
        out[i] = y if y > 0.0 else -1.0


SMALL = np.linspace(1e-5, 2e-5, 16)
WRONG = {
    "off by little": ("exp(A) - 1", "expm1(A)*1.0000000000000002", growth, "is another function"),
    "only where it is small": (
        "exp(A) - 1", "(A*(1 + A/2*(1 + A/3*(1 + A/4))) if A < 1e-3 else exp(A) - 1)", growth,
        "is worse on sizes nearer to 1, signs turned",
    ),
    "no better": ("exp(A) - 1", "2*(exp(A) - 1)/2", growth, "does not help"),
    "one sign": ("sqrt(A) - B", "simp(A - B*B)/(sqrt(A) + B)", roots, "is worse on signs turned"),
    "decides": ("exp(A) - 1", "expm1(A)", sign_of_growth, "changes a decision"),
    "does not compile": ("exp(A) - 1", "SUM(A, A, A) - 1", growth, "does not compile"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_the_judge_catches_a_wrong_row(name, only_rule):
    pattern, replacement, kernel, why = WRONG[name]
    only_rule(Rule(name, pattern, replacement, "nobody (2026)"))
    x = {roots: np.linspace(300.0, 500.0, 16)}.get(kernel, SMALL)
    if name == "decides":
        x = SMALL * 1e-4  # all of them vanish in fp32, so that the test says no
    mend = trace(kernel, "fp32", (x, np.zeros(16)), samples=1).mend()
    assert mend.proposals == ()
    assert any(t.title == name and why in t.why for t in mend.tried), mend.tried
    assert mend.verdict.startswith("Nothing is offered for ")


def test_a_line_of_a_function_that_is_called():
    def calling(x, out):
        for i in range(out.size):
            out[i] = grown(x[i])

    def deciding(x, out):
        for i in range(out.size):
            out[i] = grown_or_not(x[i])

    mend = trace(calling, "fp32", (SMALL, np.zeros(16)), samples=1).mend()
    assert mend.proposals[0].title == "expm1" and mend.proposals[0].worst < 2.0
    assert "-    return math.exp(x) - 1.0\n+    return math.expm1(x)\n" in mend.proposals[0].patch
    out = np.zeros(16)
    lift(mend.proposals[0].kernel, "fp32")(quantize(SMALL, "fp32"), out)
    assert (abs(out / np.expm1(SMALL) - 1.0) < 1e-6).all()
    mend = trace(deciding, "fp32", (SMALL, np.zeros(16)), samples=1).mend()
    assert not mend.proposals and "trace and mend that function by itself" in mend.notes[0]
    assert "is in 'grown_or_not', which the kernel calls" in mend.notes[0]


def grown(x):
    return math.exp(x) - 1.0


def grown_or_not(x):
    return math.exp(x) - 1.0 if x > 0.0 else 0.0


def test_nothing_to_mend():
    def product(x, out):
        for i in range(out.size):
            out[i] = 3.0 * x[i]

    mend = trace(product, "fp32", (SMALL, np.zeros(16)), samples=1).mend()
    assert re.match(r"There is nothing to mend: no line is to blame, 'product' in fp32 errs by "
                    r"0\.\d bits", mend.verdict)  # fmt: skip
    assert mend.proposals == () and repr(mend) == mend.verdict
    with pytest.raises(InputError, match="a whole number from 1"):
        trace(product, "fp32", (SMALL, np.zeros(16)), samples=1).mend(most=0)


def test_a_cell_of_a_notebook_gives_its_patch_as_text():
    text = "def cell(x):\n    return math.exp(x) - 1.0\n"
    file = "<ipython-input-3-0a1b2c>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    namespace = {"math": math, "__name__": "__main__"}
    exec(compile(text, file, "exec"), namespace)
    (proposal,) = trace(namespace["cell"], "fp32", (1.25e-5,), samples=1).mend().proposals
    assert "-    return math.exp(x) - 1.0\n+    return math.expm1(x)\n" in proposal.patch


# ---- doors ---------------------------------------------------------------------------------------


def test_the_command_line_prints_the_table_and_the_patch(tmp_path):
    file, page = tmp_path / "losing.py", tmp_path / "t.html"
    file.write_text(
        "import math\nimport numpy as np\n\n\ndef growth(x, out):\n    for i in range(out.size):\n"
        "        out[i] = math.exp(x[i]) - 1.0\n\n\ndef start():\n"
        "    return {'x': np.linspace(1e-5, 2e-5, 16), 'out': np.zeros(16)}\n", encoding="utf-8",
    )  # fmt: skip
    command = ["trace", f"{file}:growth", "--inputs", f"{file}:start", "--backend", "fp32",
               "--samples", "1", "--mend"]  # fmt: skip
    printed = CliRunner().invoke(app, [*command, "--html", str(page)])
    assert printed.exit_code == 0, printed.output
    assert "Mend line 7 of 'growth' in fp32 by 'expm1' (Kahan (1986)): " in printed.output
    assert "+        out[i] = math.expm1(x[i])" in printed.output
    text = page.read_text(encoding="utf-8")
    assert '<section id="mend">' in text and "math.expm1(x[i])" in text
    read = Page(text)
    assert read.open == [] and "script" not in read.seen
    data = json.loads(CliRunner().invoke(app, [*command, "--json"]).output)["mend"]
    (proposal,) = data["proposals"]
    assert proposal["title"] == "expm1" and "kernel" not in proposal and data["tried"] == []


# ---- Hamming's rearrangements --------------------------------------------------------------------


def wrong_bits(tested, exact, bits):
    """log2(1 + error in units of the last place) of numbers, the mean and the largest."""
    found = []
    with mpmath.workprec(BITS):
        for one, true in zip(tested, exact, strict=True):
            if not mpmath.isfinite(true):
                continue
            unit = mpmath.ldexp(1, (mpmath.frexp(true)[1] if true else -200) - bits)
            error = abs(mpmath.mpf(float(one)) - true) / unit if np.isfinite(one) else 2**bits
            found.append(min(float(bits), float(mpmath.log(1 + error, 2))))
    return float(np.mean(found)), max(found)


def rearranged(name, backend, folder, count):
    """Errors before and after on fresh numbers, of the regime that loses and of the other one."""
    file, called = hamming_problems.written(folder, name)
    kernel, kind = getattr(loaded(file), called), hamming_problems.PROBLEMS[name][1]
    bits = stored_in(resolve_backend(backend)).format.significand_bits
    args = (*hamming_problems.inputs(kind, bits, 60, 1).values(), np.zeros(60))
    mend = trace(kernel, backend, args, samples=1).mend()
    assert mend.proposals, f"{name}: {mend.verdict} {mend.tried}"
    errors = []
    for other in (False, True):
        numbers = hamming_problems.inputs(kind, bits, count, 7, other).values()
        rounded = [np.asarray(quantize(v, backend), float) for v in numbers]
        exact = real_kernel(kernel)((*rounded, np.zeros(count)))[1][-1]
        for one in (kernel, mend.proposals[0].kernel):
            out = np.zeros(count)
            lift(one, backend)(*rounded, out)
            errors.append(wrong_bits(out, exact, bits))
    return errors


@pytest.mark.parametrize(("name", "backend"), hamming_problems.FEW)
def test_some_of_hammings_rearrangements(name, backend, tmp_path):
    before, after, other, other_after = rearranged(name, backend, tmp_path, 40)
    assert after[0] < 2.0 < before[0] and after[1] < 4.0
    assert other_after[0] < other[0] + 0.5


@pytest.mark.survey
@pytest.mark.parametrize("backend", ["fp32", "fp64"])
def test_hammings_rearrangements(backend, tmp_path):
    """All 28 of chapter 3 (Hamming 1973): the mean error left is at most 2 bits, the largest 4."""
    for name in hamming_problems.PROBLEMS:
        before, after, other, other_after = rearranged(name, backend, tmp_path, 200)
        assert after[0] <= 2.0 < before[0], name
        assert other_after[0] <= other[0] + 0.5, name
        assert after[1] <= 4.0, name
