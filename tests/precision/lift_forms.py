"""Kernels over the syntactic forms that a rewriter of source can trip over, written to a file.

Every form is a kernel's source and its arguments; reductions of parallel loops and colliding names
come with a second kernel that says the same plainly.
"""

from __future__ import annotations

import importlib.util
import itertools
from collections import namedtuple
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HEADER = """
import math
from collections import namedtuple

import numpy as numpy_
from numba import njit, prange

from tests.precision.lift_forms import Pair

def twice(a):
    return 2 * a

@njit
def mean_of(a, b):
    return 0.5 * (a + b)

FACTOR = 1.3
"""
Pair = namedtuple("Pair", "x y")


@dataclass(frozen=True)
class Form:
    """A kernel and, where there is one, the plain kernel that has to give the same bits.

    Args:
        name: of the kernel.
        source: defines it and what it calls.
        arguments: makes its arguments, anew at each call.
        plain: source of the plain kernel, `plain_` before its name.
    """

    name: str
    source: str
    arguments: object
    plain: str = ""


def vector(n: int, seed: int = 0) -> np.ndarray:
    """n numbers between 0.5 and 1.5 that binary32 holds: products of a hundred stay in fp16."""
    return np.random.default_rng(seed).uniform(0.5, 1.5, n).astype(np.float32).astype(np.float64)


def matrix(n: int, m: int, seed: int = 0) -> np.ndarray:
    return vector(n * m, seed).reshape(n, m)


# ---- augmented assignment -----------------------------------------------------------------------

ELEMENTS = (
    "a[i]", "a[-1]", "a[i + 1]", "a[twice(i)]", "a[k[i]]", "A[i, 1]", "A[i, i + 1]", "A[-1, k[i]]",
    "A[i][2]", "A[k[i]][i + 1]", "p.x[i]", "p.y[i, i + 1]", "a[k[i] + 1 : ][0]",
)  # fmt: skip
ROWS = (
    "a", "a[:]", "a[i + 1 :]", "a[: i + 2]", "a[::2]", "a[k[i] :]", "A[i]", "A[i, i + 1 :]",
    "A[i + 1 :, i]", "A[:, k[i]]", "A[..., 0]", "A[i][1:]", "A[: k[i] + 1, i]", "p.y[i, 1:]",
    "A[twice(i) :, 0]", "A[1:, i + 1 :]", "A", "A[::2, ::2]",
)  # fmt: skip
VALUES = ("1.1", "b[i]", "mean_of(b[i], 0.7)", "2")
OPERATORS = ("+=", "-=", "*=", "/=", "//=", "%=", "**=")
WHOLE = ("k[i]", "k[1:]", "k", "K[i, i + 1:]", "n", "K[k[i], 0]")
WHOLE_OPERATORS = ("+=", "-=", "*=", "//=", "%=", "<<=", ">>=", "&=", "|=", "^=")


def augmented() -> list[Form]:
    """Targets x operators x values, the operators of one target in one kernel."""
    arguments = lambda: (  # noqa: E731
        vector(7), matrix(5, 6, 1), vector(5, 2), np.array([0, 1, 2]),
        Pair(vector(4, 3), matrix(4, 5, 4)),
    )  # fmt: skip
    out = []
    for (n, target), (m, value) in itertools.product(
        enumerate((*ELEMENTS, *ROWS)), enumerate(VALUES)
    ):
        row = target in ROWS
        values = [value, f"{value} * {target}" if row else "b[0]"]
        lines = [
            f"        {target} {op} {values[j % 2]}" for j, op in enumerate(OPERATORS)
        ]
        name = f"augmented_{n}_{m}"
        source = f"def {name}(a, A, b, k, p):\n    for i in range(2):\n" + "\n".join(lines)
        out.append(Form(name, source + "\n    return b[0] * 1.1\n", arguments))
    for n, target in enumerate(WHOLE):
        lines = [f"        {target} {op} 3" for op in WHOLE_OPERATORS]
        name = f"whole_{n}"
        source = f"def {name}(k, K, n, x):\n    for i in range(2):\n" + "\n".join(lines)
        out.append(
            Form(
                name,
                source + "\n    return n * x\n",
                lambda: (np.array([1, 2, 1]), np.arange(12).reshape(4, 3) + 1, 5, 1.25),
            )
        )
    return out


# ---- reductions of parallel loops ---------------------------------------------------------------

SUMS = (
    "s += x[i]", "s -= x[i]", "s = s + x[i]", "s = x[i] + s", "s = s - x[i]", "s = s + x[i] - y[i]",
    "s = x[i] + (s - y[i])", "s = mean_of(x[i], y[i]) + s", "s += x[i] * y[i]", "s += k[i % 3]",
    "s += x[i]\n        s -= y[i]", "s += x[i]\n        s = s + y[i]", "s: float = s + x[i]",
    "if x[i] > 1.0:\n            s = s + x[i]", "for j in range(2):\n            s = s + x[i] * j",
)  # fmt: skip
PRODUCTS = (
    "s *= x[i]", "s /= x[i]", "s = s * x[i]", "s = x[i] * s", "s = s / x[i]", "s = s * x[i] / y[i]",
    "s *= x[i]\n        s /= y[i]",
)  # fmt: skip
EXTREMES = (
    "s = max(s, x[i])", "s = min(x[i], s)", "s = max(s, x[i], y[i])", "s = min(x[i], y[i], s)",
    "s = max(max(s, x[i]), y[i])", "s = max(s, mean_of(x[i], y[i]))", "s = max(s, k[i % 3], 1)",
)  # fmt: skip
ROW_SUMS = ("a += Z[i]", "a -= Z[i]", "a += x[i]", "a += Z[i] * x[i]")
ROW_PRODUCTS = ("a *= Z[i]", "a /= Z[i]")
STARTS = ("0.5", "1", "x[0]", "start")
RANGES = ("x.size", "1, x.size", "0, x.size, 3", "x.size - 1, -1, -2", "x.size, 0")


def _chunked(variable: str, start: str, combine: str, body: str, loop: str, returned: str) -> str:
    """The loop as it is said to run: at most 64 chunks, each from `start`, taken in order."""
    return f"""
    steps = numpy_.arange({loop})
    count = min(len(steps), 64)
    whole = {variable}
    for c in range(count):
        {variable} = {start}
        for place in range(len(steps) * c // count, len(steps) * (c + 1) // count):
            i = steps[place]
            {body.replace(chr(10), chr(10) + "    ")}
        {combine}
    {variable} = whole
    return {returned}
"""


def reductions() -> list[Form]:
    """Forms of reductions, starts and ranges in turn, of 150 and of 5 iterations."""
    out = []
    kinds = [
        *((body, "0", "whole = whole + s") for body in SUMS),
        *((body, "1", "whole = whole * s") for body in PRODUCTS),
        *((body, "whole", f"whole = {body[4:7]}(whole, s)") for body in EXTREMES),
    ]
    for number, (body, begin, combine) in enumerate(kinds):
        for size in (150, 5):
            start, loop = STARTS[number % len(STARTS)], RANGES[(number + size) % len(RANGES)]
            name = f"reduced_{number}_{size}"
            head = f"{name}(x, y, k, start):\n    s = {start}"
            source = f"def {head}\n    for i in prange({loop}):\n        {body}\n    return s\n"
            plain = f"def plain_{head}" + _chunked("s", begin, combine, body, loop, "s")
            out.append(Form(name, source, _series(size), plain))
    rows = [(b, "zeros", "whole = whole + a") for b in ROW_SUMS]
    rows += [(b, "ones", "whole = whole * a") for b in ROW_PRODUCTS]
    for (number, (body, begin, combine)), own in itertools.product(enumerate(rows), (0, 1)):
        name, loop = f"rows_{number}_{own}", RANGES[number % 3]
        first = f"    a = numpy_.{begin}(3)\n" if own else ""
        head = f"{name}(x, Z, a):\n{first}"
        source = f"def {head}    for i in prange({loop}):\n        {body}\n    return a\n"
        chunk = _chunked("a", f"numpy_.{begin}(3)", combine, body, loop, "a")
        chunk = chunk.replace("    a = whole", "    given[:] = whole")
        plain = f"def plain_{head}    given = a\n{chunk}"
        out.append(Form(name, source, lambda: (vector(100), matrix(100, 3, 1), vector(3)), plain))
    body = "s, m, q = s + x[i], max(m, y[i], x[i]), q / y[i]\n        t = t - x[i]"
    head = "several(x, y, k, start):\n    s = t = 1.0\n    m = q = start\n"
    chunk = "    S, T, M, Q = s, t, m, q\n" + _chunked(
        "s", "0", "S, T, M, Q = S + s, T + t, max(M, m), Q * q",
        f"if place == len(steps) * c // count:\n            t, m, q = 0, M, 1\n        {body}",
        "x.size", "S, T, M, Q",
    )  # fmt: skip
    source = f"def {head}    for i in prange(x.size):\n        {body}\n    return s, t, m, q\n"
    out.append(Form("several", source, _series(150), f"def plain_{head}{chunk}"))
    return out


def _series(size: int):
    return lambda: (vector(size), vector(size, 1), np.array([1, 2, 1]), 1.25)


# ---- default values -----------------------------------------------------------------------------

DEFAULTS = {
    "0.1": "b * x[0]", "3": "b * x[0]", "True": "x[0] * 0.5 if b else x[0]", "-0.7": "x[0] + b",
    "None": "x[0] * 1.1 if b is None else x[1]", "(0.1, 2)": "x[0] * b[0] + b[1]",
    "'high'": "x[0] * 1.1 if b == 'high' else x[1]", "FACTOR": "b * x[0]",
    "numpy_.float32(0.1)": "b * x[0]", "numpy_.array([0.1, 0.7])": "b[1] * x[0]",
    "numpy_.array([1, 3])": "b[1] * x[0]", "twice": "b(x[0]) * 1.1", "mean_of": "b(x[0], x[1])",
    "Pair(0.1, 3)": "b.x * x[0] + b.y", "math.pi": "b * x[0]", "numpy_.inf": "min(b, x[0] * 1.1)",
    "numpy_.int32(7)": "b * x[0]", "()": "x[0] * 1.1 + len(b)",
}  # fmt: skip
OPTIONAL = (
    "if b is None:\n        s = x[0] * 1.1\n    else:\n        s = x[0] * b[1]",
    "if b is not None:\n        s = b[0] * b[1]\n    else:\n        s = x[0] * 1.1",
    "s = x[0] * 1.1\n    if b is not None:\n        for i in range(x.size):\n"
    "            s += x[i] * b[i]",
    "s = 0.3\n    for i in prange(x.size):\n        if b is None:\n            s += x[i]\n"
    "        else:\n            s += x[i] * b[i]",
    "if b is None:\n        b = x\n    s = b[1] * 1.1",
)


def defaults() -> list[Form]:
    """Default values x (omitted, in a call from a kernel, given there by keyword)."""
    out = []
    for number, (value, result) in enumerate(DEFAULTS.items()):
        name = f"default_{number}"
        kernel = f"def {name}(x, b={value}):\n    return {result}\n"
        out.append(Form(name, kernel, lambda: (vector(3),)))
        caller = f"def in_{name}(x):\n    return {name}(x) * 1.1, {name}(x, b={value})\n"
        if "array" not in value and "Pair(" not in value:
            out.append(Form(f"in_{name}", caller + kernel, lambda: (vector(3),)))
    for number, body in enumerate(OPTIONAL):
        name = f"optional_{number}"
        kernel = f"def {name}(x, b=None):\n    {body}\n    return s\n"
        out.append(Form(name, kernel, lambda: (vector(3),)))
        out.append(Form(name, kernel, lambda: (vector(3), vector(3, 1))))
        caller = f"def in_{name}(x):\n    return {name}(x) * 1.1, {name}(x, x), {name}(b=x, x=x)\n"
        out.append(Form(f"in_{name}", caller + kernel, lambda: (vector(3),)))
    return out


# ---- names --------------------------------------------------------------------------------------

PLACES = {
    "parameter": "def {f}({n}, x):\n    return x[0] * {n} + x[1]\n",
    "local": "def {f}(y, x):\n    {n} = y * 1.1\n    {n} += x[0]\n    return {n}\n",
    "loop": "def {f}(y, x):\n    for {n} in range(3):\n        y += x[{n}] * {n}\n    return y\n",
    "counter": "def {f}(y, x):\n    s, {n} = y, 0\n    while {n} < 3:\n        s += x[{n}] * s\n"
    "        {n} += 1\n    return s\n",
    "target": "def {f}(y, x):\n    a, {n} = x[0], x[1]\n    x[{i}], {n} = {n}, a\n"
    "    return {n} * y\n",
    "inner": "def {f}(y, x):\n    def {n}(a):\n        return a * x[0]\n    return {n}(y) + y\n",
    "inner parameter": "def {f}(y, x):\n    z = x[0]\n    def g({n}, b):\n"
    "        return {n} * z + b\n    return g(y, 1.1)\n",
    "comprehension": "def {f}(y, x):\n    return [{n} * y for {n} in x][1]\n",
    "array": "def {f}(y, {n}):\n    {n}[0] *= y\n    {n}[1:] += {n}[0] * {n}[:-1]\n"
    "    return {n}[1] - y\n",
    "parallel": "def {f}(y, x):\n    s = y\n    for {n} in prange(x.size):\n"
    "        s += x[{n}] * y\n        x[{n}] = {n} * y\n    return s\n",
    "step": "def {f}(y, x):\n    for {n} in prange(0, x.size, 2):\n        t = x[{n}] * y\n"
    "        x[{n}] = t + y\n    return x[0]\n",
    "reduced": "def {f}(y, x):\n    {n} = y\n    for i in prange(x.size):\n"
    "        {n} = {n} + x[i]\n    return {n}\n",
    "captured": "def {f}({n}, x):\n    for i in prange(x.size):\n        x[i] *= {n}\n"
    "    return x[1] * {n}\n",
    "keyword": "def {f}(y, x):\n    return h_{f}(b=y, {n}=x[0]) * 1.1\n"
    "def h_{f}({n}, b):\n    return {n} - b * {n}\n",
    "default": "def {f}(y, x):\n    return h_{f}(y) * x[0]\n"
    "def h_{f}(b, {n}=0.7):\n    return {n} - b * {n}\n",
    "created": "def {f}(y, x):\n    {n} = numpy_.zeros(3)\n    {n}[:] = x[:3]\n"
    "    return numpy_.sum({n}) * y\n",
    "index": "def {f}(y, x):\n    {n} = 1\n    x[twice({n})] += y\n    x[{n} + 1 :] *= y\n"
    "    return x[2] * {n}\n",
    "kernel": "def {f}(y, x):\n    return {n}(y, x[0]) * 1.1\n"
    "def {n}(a, b):\n    return a * b + 1.1\n",
    "constant": "{n} = 1.7\ndef {f}(y, x):\n    return x[0] * {n} - y\n",
}  # fmt: skip
NAMES = (
    "sp_key", "sp_key1", "sp_key3", "sp_row", "sp_at", "sp_ops", "sp_add", "sp_mul", "sp_index1",
    "sp_value1", "sp_item1", "sp_count1", "sp_p1_count", "sp_p1_c", "sp_p1_part0", "sp_low",
    "sp_high", "sp_start", "sp_step", "sp_n", "sp_run", "sp_entry", "sp_carrier", "sp_enter",
    "sp_k_h", "sp_array", "sp_part", "sp_lesser", "sp_prange", "sp_", "sp_own_x", "own_x", "np",
    "math", "range", "enumerate", "len", "int", "njit", "operations", "sp_results", "tuple",
)  # fmt: skip


def names() -> list[Form]:
    """Places x names, several names in each place."""
    out = []
    for (p, (place, text)), (n, identifier) in itertools.product(
        enumerate(PLACES.items()), enumerate(NAMES)
    ):
        if place in ("kernel", "constant") and not identifier.startswith(("sp_", "own_")):
            continue
        f = f"named_{p}_{n}"
        shown = {"f": f, "n": identifier, "i": 2}
        plain = {"f": f"plain_{f}", "n": f"usual_{f}", "i": 2}
        source, other = text.format(**shown), text.format(**plain)
        if place in ("kernel", "constant"):  # one module: later kernels of a name would win
            source = source.replace(identifier, f"{identifier}_{n}")
        arguments = lambda: (1.25, vector(70))  # noqa: E731
        out.append(Form(f, source, arguments, other))
    return out


FORMS = {"augmented": augmented, "reductions": reductions, "defaults": defaults, "names": names}


def load(forms: list[Form], folder: Path, stem: str):
    """The module of the forms' kernels."""
    path = folder / f"{stem}.py"
    path.write_text(HEADER + "\n\n".join(part for f in forms for part in (f.source, f.plain)))
    spec = importlib.util.spec_from_file_location(stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
