"""Running windows and recurrences whose guilty line is known, and which line a trace names.

    python -m tests.diagnosis.guilty_survey FOLDER FIRST LAST

Every kernel carries sums or states from pass to pass, rounds them there, and cancels them in one
line. That this line is the guilty one is seen without the engine: the kernel's source runs on
NumPy's numbers with that line's values replaced by real ones. What a seed found is in
FOLDER/seed_N.json as soon as it is complete.
"""

from __future__ import annotations

import ast
import inspect
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from sciprec import trace
from tests.diagnosis.kept_seeds import kept
from tests.oracles.reals import real_kernel
from tests.random_kernels.trials import kernel_in

KINDS = {"fp32": np.float32, "fp64": np.float64}
LEAST, MANY = 3.0, 16.0
"""Bits by which a healed line has to lower an error before it counts as guilty, and roundings that
this error has to have at least: one of few is no fault."""
SUMS = (
    "s1 += x[i]\ns2 += x[i] * x[i]\nif i >= w:\n    s1 -= x[i - w]\n    s2 -= x[i - w] * x[i - w]"
)
FAMILIES = {
    "variance": (SUMS, "mean = s1 / w", "s2 / w - mean * mean"),
    "variance, in parts": (SUMS, "mean = s1 / w\nsquare = mean * mean\nsecond = s2 / w",
                           "second - square"),
    "covariance": ("s1 += x[i]\ns2 += y[i]\ns3 += x[i] * y[i]\nif i >= w:\n    s1 -= x[i - w]\n"
                   "    s2 -= y[i - w]\n    s3 -= x[i - w] * y[i - w]", "",
                   "s3 / w - s1 / w * s2 / w"),
    "slope": ("s1 += x[i]\ns2 += i * x[i]\nif i >= w:\n    s1 -= x[i - w]\n"
              "    s2 -= (i - w) * x[i - w]",
              "middle = i - 0.5 * (w - 1)\nproduct = middle * s1", "s2 - product"),
    "third moment": (f"{SUMS}\ns3 += x[i] * x[i] * x[i]\nif i >= w:\n"
                     "    s3 -= x[i - w] * x[i - w] * x[i - w]", "mean = s1 / w",
                     "s3 / w - 3.0 * mean * s2 / w + 2.0 * mean * mean * mean"),
    "forgetting": ("s1 = s1 + 0.05 * (x[i] - s1)\ns2 = s2 + 0.05 * (x[i] * x[i] - s2)", "",
                   "s2 - s1 * s1"),
    "cumulative": ("s1 = s1 + x[i]\nwork[i] = s1", "", "work[i] - work[max(i - w, 0)]"),
    "energy": ("s1, s2 = c * s1 - s * s2, s * s1 + c * s2", "now = s1 * s1 + s2 * s2",
               "now - start"),
    "survival": ("s1 = s1 * (1.0 - small[i])", "", "1.0 - s1"),
    "speed": ("s1 = s1 + 0.01 * small[i]", "", "s1 - before"),
    "away": ("s1 = s1 + (x[i] - s1) / (i + 1)", "", "x[i] - s1"),
    "depth": ("s1 = s1 + small[i] * x[i]\ns2 = s2 + small[i] * y[i]", "left = s1 * y[0]",
              "left - s2 * x[0]"),
}  # fmt: skip
BEHIND = (
    "out[i] = g", "out[i] = np.sqrt(abs(g))", "scaled = 0.7 * g\nout[i] = scaled * scaled",
    "out[i] = g / (1.0 + abs(g))", "rest = g - 0.85 * g\nout[i] = rest",
    "out[i] = (x[i] - y[0]) * g", "near = x[i] - x[max(i - 1, 0)]\nout[i] = g + 1e-7 * near",
    "k = 1.5 * g\nout[i] = k + 0.25 * g",
)  # fmt: skip


def source(seed: int) -> str:
    """The kernel of a seed; its guilty line gives `g`."""
    rng = np.random.default_rng(seed)
    carried, between, guilty = FAMILIES[list(FAMILIES)[seed % len(FAMILIES)]]
    lines = [*carried.split("\n"), "if i >= w:"]
    if rng.integers(2):
        lines.insert(0, "unused += 0.3 * x[i]")
    behind = str(rng.choice(BEHIND)).split("\n")
    inner = [*(line for line in between.split("\n") if line), f"g = {guilty}", *behind]
    lines += [f"    {line}" for line in inner]
    lines += ["before = s1"] if guilty == "s1 - before" else []
    body = "\n".join(f"        {line}" for line in lines)
    return (
        "import numpy as np\n\n\ndef kernel(x, y, small, work, states, w, out):\n"
        "    s1, s2, s3, c, s = states[0], states[1], states[2], states[3], states[4]\n"
        "    start, before, unused = states[5], states[0], states[2]\n"
        f"    for i in range(x.size):\n{body}\n"
    )


def arguments(seed: int, kind: type) -> tuple:
    """Arguments of a seed's kernel, all of them numbers of the format."""
    rng, name = np.random.default_rng(seed + 1), list(FAMILIES)[seed % len(FAMILIES)]
    count = int(rng.integers(150, 400))
    level = 10.0 ** rng.uniform(1.5, 3.0)
    level = min(level, 60.0) if name == "third moment" else level
    x, y = (rng.normal(level, 1.0, count) for _ in range(2))
    small = rng.uniform(0.0, 2e-4 if name == "survival" else 1.0, count)
    states = np.zeros(6)
    if name == "forgetting":
        states[:2] = level, level**2 + 1.0
    if name in ("speed", "survival"):
        states[0] = 1.0 if name == "survival" else level
    if name == "energy":
        step = rng.uniform(1e-3, 2e-3)
        states[:6] = 3.0, 4.0, 0.0, 1.0, step, 25.0
    held = [np.float64(kind(a)) for a in (x, y, small, np.zeros(count), states)]
    return *held, int(rng.integers(5, 40)), np.zeros(count)


class _Watched(ast.NodeTransformer):
    """Gives the value of every `g` to a function, which may give another one back."""

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        if getattr(node.targets[0], "id", "") != "g":
            return [node]
        return [node, ast.parse("g = replaced(i, g)").body[0]]


def left(text: str, args: tuple, kind: type, folder: Path) -> tuple[float, float]:
    """The relative error of the results in a format, and what of it is left with real values in
    the guilty line.
    """
    watched = kernel_in(ast.unparse(_Watched().visit(ast.parse(text))), folder)
    real: dict[int, Any] = {}

    def noted(i, g):
        real[i] = g
        return g

    exact = np.float64(real_kernel(watched, {"replaced": noted})(args)[1][-1])
    errors = []
    for replaced in (lambda i, g: g, lambda i, g: kind(float(real[i]))):
        own: dict[str, Any] = {"replaced": replaced, "np": np}
        exec(inspect.getsource(watched), own)
        given = [kind(a) if isinstance(a, np.ndarray) else a for a in args]
        own["kernel"](*given)
        errors.append(float(np.linalg.norm(np.float64(given[-1]) - exact)))
    return errors[0] / float(np.linalg.norm(exact)), errors[1] / (errors[0] or 1.0)


def surveyed(seed: int) -> dict[str, Any]:
    """The line that a trace names for a seed's kernel, and whether it is the guilty one."""
    backend = list(KINDS)[seed // len(FAMILIES) % 2]
    text, args = source(seed), arguments(seed, KINDS[backend])
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        error, rest = left(text, args, KINDS[backend], Path(folder))
        found = trace(kernel_in(text, Path(folder)), backend, args, output="out", samples=1)
    line = next(n for n, one in enumerate(text.split("\n"), 1) if one.strip().startswith("g ="))
    named = f"becomes large in line {line}," in found.verdict
    unit = float(np.finfo(KINDS[backend]).eps) / 2.0
    known = error > MANY * unit and rest < 2.0**-LEAST
    what = ("named" if named else "another") if known else "not guilty"
    return {"what": what, "family": list(FAMILIES)[seed % len(FAMILIES)], "line": line,
            "backend": backend, "error": error, "told": found.outputs["out"], "left": rest,
            "verdict": found.verdict}  # fmt: skip


def survey(folder: Path, first: int, last: int) -> dict[str, Any]:
    """Run every seed that the folder does not hold yet; counts over all that it holds."""
    every = kept(folder, range(first, last), surveyed)
    others = [one["seed"] for one in every if one["what"] == "another"]
    return {"kernels": len(every)} | Counter(one["what"] for one in every) | {"others": others}


if __name__ == "__main__":
    print(survey(Path(sys.argv[1]), *map(int, sys.argv[2:4])))
