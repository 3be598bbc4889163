"""Kernels over the syntactic forms that a rewriter of source can trip over, written to a file.

Every form is a kernel's source and its arguments; kernels whose names collide with the engine's
come with one of plain names.
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

from tests.precision.corpus.forms import Pair

def twice(a):
    return 2 * a

@njit
def mean_of(a, b):
    return 0.5 * (a + b)

FACTOR = 1.3
over = range
"""
Pair = namedtuple("Pair", "x y")


@dataclass(frozen=True)
class Form:
    """A kernel.

    Args:
        name: of the kernel.
        source: defines it and what it calls.
        arguments: makes its arguments, anew at each call.
        plain: source of the kernel with usual names, `plain_` before its own.
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
    """Targets x operators, the operators of one target in one kernel, and values in turn."""
    arguments = lambda: (  # noqa: E731
        vector(7), matrix(5, 6, 1), vector(5, 2), np.array([0, 1, 2]),
        Pair(vector(4, 3), matrix(4, 5, 4)),
    )  # fmt: skip
    out = []
    for n, target in enumerate((*ELEMENTS, *ROWS)):
        value = VALUES[n % len(VALUES)]
        other = f"{value} * {target}" if target in ROWS else "b[0]"
        lines = [f"        {target} {op} {(value, other)[j % 2]}" for j, op in enumerate(OPERATORS)]
        name = f"augmented_{n}"
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


def reductions() -> list[Form]:
    """Forms of reductions, starts and ranges in turn, of 150 and of 5 iterations."""
    out = []
    bodies = enumerate((*SUMS, *PRODUCTS, *EXTREMES))
    for (number, body), size in itertools.product(bodies, (150, 5)):
        start, loop = STARTS[number % len(STARTS)], RANGES[(number + size) % len(RANGES)]
        name = f"reduced_{number}_{size}"
        source = f"def {name}(x, y, k, start):\n    s = {start}\n    for i in prange({loop}):\n"
        arguments = lambda n=size: (vector(n), vector(n, 1), np.array([1, 2, 1]), 1.25)  # noqa: E731
        out.append(Form(name, f"{source}        {body}\n    return s\n", arguments))
    for (number, body), own in itertools.product(enumerate((*ROW_SUMS, *ROW_PRODUCTS)), (0, 1)):
        name, loop = f"rows_{number}_{own}", RANGES[number % 3]
        made = "zeros" if body in ROW_SUMS else "ones"
        first = f"    a = numpy_.{made}(3)\n" if own else ""
        source = f"def {name}(x, Z, a):\n{first}    for i in prange({loop}):\n"
        arguments = lambda: (vector(100), matrix(100, 3, 1), vector(3))  # noqa: E731
        out.append(Form(name, f"{source}        {body}\n    return a\n", arguments))
    return out


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
            out.append(Form(f"in_{name}", f"{caller}@njit\n{kernel}", lambda: (vector(3),)))
    for number, body in enumerate(OPTIONAL):
        name = f"optional_{number}"
        kernel = f"def {name}(x, b=None):\n    {body}\n    return s\n"
        out.append(Form(name, kernel, lambda: (vector(3),)))
        out.append(Form(name, kernel, lambda: (vector(3), vector(3, 1))))
        caller = f"def in_{name}(x):\n    return {name}(x) * 1.1, {name}(x, x), {name}(b=x, x=x)\n"
        out.append(Form(f"in_{name}", f"{caller}@njit\n{kernel}", lambda: (vector(3),)))
    return out


# ---- names --------------------------------------------------------------------------------------

PLACES = {
    "local": "{n} = s * 0.5\n{n} += x[0]\ns = {n} * 0.7",
    "loop": "for {n} in over(2):\n    s += x[{n}] * 0.1",
    "counter": "{n} = 0\nwhile {n} < 2:\n    s -= x[{n}] * 0.1\n    {n} += 1",
    "target": "a, {n} = x[0], s\nx[0], {n} = {n}, a\ns = {n} * 1.1",
    "index": "{n} = 1\nx[twice({n})] += s * 0.1\nx[{n} + 1 :] *= 0.9\ns -= x[2] * {n}",
    "array": "{n} = numpy_.zeros(2)\n{n}[:] = x[:2]\n{n} *= 0.7\ns -= numpy_.sum({n})",
    "listed": "s += [{n} * 0.3 for {n} in x][1]",
    "inner": "def {n}(a):\n    return a * 0.7 + x[0]\n\ns = {n}(s)",
    "inner parameter": "def g{k}({n}, b):\n    return {n} * 0.7 + b\n\ns = g{k}(s, 0.3)",
    "parameter": "s = s * 0.7 + {n}",
    "keyword": "s = by_name(a=x[0], {n}=s)",
    "constant": "s = s * 0.7 + {n}",
    "kernel": "s = {n}(s, 0.3)",
}  # fmt: skip
NAMES = (
    "sp_key", "sp_key1", "sp_key3", "sp_row", "sp_at", "sp_ops", "sp_add", "sp_mul", "sp_index1",
    "sp_value1", "sp_item1", "sp_count1", "sp_carrier", "sp_enter", "sp_run", "sp_entry", "sp_",
    "sp_k_twice", "sp_array", "sp_part", "sp_own_x", "own_x", "np", "math", "range", "enumerate",
    "len", "int", "njit", "operations", "tuple",
)  # fmt: skip
OF_LOOPS = (
    "sp_low", "sp_high", "sp_start", "sp_step", "sp_n", "sp_key", "sp_p1_c", "np", "sp_p1_count",
    "range", "sp_results", "sp_p1_part0", "sp_prange", "sp_lesser", "sp_start_of_sum", "math",
)  # fmt: skip
PARALLEL = """
def {f}(y, x, {captured}, {array}):
    {reduced} = y
    for {variable} in prange({ends}):
        {private} = {array}[{variable}] * {captured}
        {reduced} = {reduced} + {private}
        x[{variable}] = {private} + {variable}
    return {reduced}
"""


def names() -> list[Form]:
    """Every name in every place, eight names in one kernel."""
    out = []
    for number, (place, text) in enumerate(PLACES.items()):
        every = [n for n in NAMES if place not in ("constant", "kernel") or "_" in n]
        for first in range(0, len(every), 8):
            f, given = f"named_{number}_{first}", every[first : first + 8]
            usual = [f"usual_{k}" for k in range(len(given))]
            source = _with_names(f, place, text, given)
            plain = _with_names(f"plain_{f}", place, text, usual)
            count = len(given) if place == "parameter" else 0
            arguments = lambda count=count: (1.25, vector(7), *(0.1 * k for k in range(count)))  # noqa: E731
            out.append(Form(f, source, arguments, plain))
    roles = ("captured", "array", "reduced", "variable", "private")
    for turn in range(len(OF_LOOPS)):
        f, ends = f"named_loop_{turn}", ("70", "0, 70, 3")[turn % 2]
        chosen = [OF_LOOPS[(turn + 3 * k) % len(OF_LOOPS)] for k in range(len(roles))]
        sources = [
            PARALLEL.format(f=identifier, ends=ends, **dict(zip(roles, shown, strict=True)))
            for identifier, shown in ((f, chosen), (f"plain_{f}", roles))
        ]
        out.append(Form(f, sources[0], lambda: (0.3, vector(70), 0.7, vector(70, 1)), sources[1]))
    return out


def _with_names(f: str, place: str, text: str, shown: list[str]) -> str:
    before, parameters = "", "y, x"
    if place == "parameter":
        parameters = ", ".join([parameters, *shown])
    if place == "keyword":
        for k, n in enumerate(shown):
            before += f"def by_{k}_{f}({n}, a=0.3):\n    return {n} * 0.7 + a\n\n"
    if place == "constant":
        before = "".join(f"{n} = 0.{k + 1}\n" for k, n in enumerate(shown))
    if place == "kernel":
        before = "".join(f"def {n}(a, b):\n    return a * 0.7 + b\n\n" for n in shown)
    blocks = [text.format(n=n, k=k) for k, n in enumerate(shown)]
    blocks = [b.replace("by_name", f"by_{k}_{f}") for k, b in enumerate(blocks)]
    body = "\n".join(["s = y", *blocks, "return s"]).replace("\n", "\n    ")
    return f"{before}def {f}({parameters}):\n    {body}\n"


FORMS = {"augmented": augmented, "reductions": reductions, "defaults": defaults, "names": names}


def load(form: Form, folder: Path):
    """The module of a form's kernels."""
    path, stem = folder / f"{form.name}.py", f"form_{form.name}"
    path.write_text(HEADER + f"\n{form.source}\n{form.plain}")
    spec = importlib.util.spec_from_file_location(stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
