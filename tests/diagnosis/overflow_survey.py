"""Random kernels of integers, whose overflows are known from their values in Python's integers.

    python -m tests.diagnosis.overflow_survey FOLDER FIRST LAST

The kernel's source is walked with exact numbers; what is stored into an array or kept in 64 bits is
wrapped there. Signed arithmetic that wraps is undefined in compiled code, so what follows the first
such operation is not compared; what wraps in a store is. Seeds that differ are told.
"""

from __future__ import annotations

import ast
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from sciprec import check_memory
from tests.diagnosis.kept_seeds import kept
from tests.random_kernels.trials import kernel_in

ARRAYS = {"a": np.int8, "b": np.int16, "c": np.int32, "d": np.int64}
UPDATES = {"=": None, "+=": ast.Add, "-=": ast.Sub, "*=": ast.Mult}


def expression(rng, names: list[str], depth: int) -> str:
    """A random expression; a literal is never the left operand."""
    if depth == 0 or rng.random() < 0.2:
        return str(rng.choice([*names, "a[i]", "b[i]", "c[i]", "d[i]", "d[1]", "c[0]"]))
    left = expression(rng, names, depth - 1)
    form = rng.integers(8)
    if form == 0:
        return str(rng.choice([f"-({left})", f"abs({left})", f"({left}) ** 2", f"({left}) ** 3"]))
    literal = str(rng.choice([1, 2, 3, 8, 100, 255]))
    right = expression(rng, names, depth - 1) if form > 3 else literal
    return f"({left}) {rng.choice(['+', '-', '*'])} ({right})"


def source(seed: int) -> str:
    """The kernel of a seed."""
    rng, names, lines = np.random.default_rng(seed), ["m", "n", "i"], []
    for number in range(int(rng.integers(2, 7))):
        value = expression(rng, names, int(rng.integers(1, 3)))
        if rng.random() < 0.3:
            names.append(f"v{number}")
            lines.append(f"v{number} = {value}")
        else:
            target = rng.choice([f"{array}[{index}]" for array in ARRAYS for index in "i1"])
            lines.append(f"{target} {rng.choice(list(UPDATES))} {value}")
    body = "\n".join(f"        {line}" for line in lines)
    return f"def kernel(m, n, a, b, c, d):\n    for i in range(2):\n{body}\n"


def arguments(seed: int) -> tuple:
    """Arguments of a seed's kernel: small ones, and some near the ends of their types."""
    rng = np.random.default_rng(seed + 1)

    def drawn(kind):
        ends = np.iinfo(kind)
        near = int(rng.choice([ends.min, ends.max])) // int(rng.choice([1, 2, 3, 1000]))
        return near if rng.random() < 0.15 else int(rng.integers(-20, 20))

    arrays = [np.array([drawn(kind), drawn(kind)], kind) for kind in ARRAYS.values()]
    return drawn(np.int64), drawn(np.int32), *arrays


class Wrapped(Exception):
    """An operation in 64 bits that wraps."""


class Exact:
    """The walk through a kernel with Python's integers; `found` has the first overflow of each
    expression, in the words of a finding.
    """

    def __init__(self, text: str, args: tuple):
        self.text, self.found = text, {}
        self.names: dict[str, Any] = dict(zip("mnabcd", args, strict=True))
        function = ast.parse(text).body[0]
        self.names |= {name: [int(x) for x in self.names[name]] for name in ARRAYS}
        self.complete = True
        try:
            for self.names["i"] in range(2):
                for statement in function.body[0].body:
                    self.run(statement)
        except Wrapped:
            self.complete = False

    def fitted(self, node, value: int, kind: type, words: str = "") -> int:
        ends = np.iinfo(kind)
        if ends.min <= value <= ends.max:
            return value
        wrapped = (value - ends.min) % 2**ends.bits + ends.min
        part = "" if isinstance(node, ast.Call) else ast.get_source_segment(self.text, node) + " = "
        sentence = (
            f"{part}{words or format(value, ',')} does not fit into {np.dtype(kind).name}, "
            f"{ends.min:,} to {ends.max:,}; it wrapped to {wrapped:,}"
        )
        self.found.setdefault((node.lineno, node.col_offset, kind, part), (node.lineno, sentence))
        return wrapped

    def result(self, node, value: int, kind: type = np.int64, words: str = "") -> int:
        if self.fitted(node, value, kind, words) != value:
            raise Wrapped
        return value

    def combined(self, node, operation, left: int, right: int) -> int:
        values = {ast.Add: left + right, ast.Sub: left - right, ast.Mult: left * right}
        return self.result(node, values[operation])

    def run(self, statement) -> None:
        value, target = self.value(statement.value), getattr(statement, "target", None)
        if target is None:
            (target,) = statement.targets
        else:
            value = self.combined(target, type(statement.op), self.value(target), value)
        if isinstance(target, ast.Name):
            self.names[target.id] = value
            return
        array = target.value.id
        stored = self.fitted(target, value, ARRAYS[array])
        self.names[array][self.value(target.slice)] = stored

    def value(self, node) -> int:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.names[node.id]
        if isinstance(node, ast.Subscript):
            return self.names[node.value.id][self.value(node.slice)]
        if isinstance(node, ast.UnaryOp):
            return self.result(node, -self.value(node.operand))
        if isinstance(node, ast.Call):
            (argument,) = node.args
            own = isinstance(argument, ast.Subscript)  # Numba's abs keeps the type
            return self.result(
                node, abs(self.value(argument)), ARRAYS[argument.value.id] if own else np.int64
            )
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Pow):
            power = left**right
            words = "" if abs(power) < 10**30 else f"{left:,}**{right}"
            return self.result(node, power, np.int64, words)
        return self.combined(node, type(node.op), left, right)


def surveyed(seed: int) -> dict[str, Any]:
    """The findings of a seed's kernel beside the exact ones."""
    text, args = source(seed), arguments(seed)
    exact = Exact(text, args)
    with tempfile.TemporaryDirectory() as folder:
        report = check_memory(kernel_in(text, Path(folder)), "fp64", args)
    found = {(one.line, one.message) for one in report.findings}
    expected = set(exact.found.values())
    same = found == expected if exact.complete else expected <= found
    kind = "no overflow" if not expected else "stored" if exact.complete else "computed"
    return {"what": kind if same else "another", "source": text, "args": repr(args),
            "expected": sorted(expected), "found": sorted(found)}  # fmt: skip


def survey(folder: Path, first: int, last: int) -> dict[str, Any]:
    """Run every seed that the folder does not hold yet; counts over all that it holds."""
    every = kept(folder, range(first, last), surveyed)
    others = [one["seed"] for one in every if one["what"] == "another"]
    return {"kernels": len(every)} | Counter(one["what"] for one in every) | {"others": others}


if __name__ == "__main__":
    print(survey(Path(sys.argv[1]), *map(int, sys.argv[2:4])))
