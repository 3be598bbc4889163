"""Random kernels whose branches, counts and quotients change where numbers collapse in a narrow
format, and what they give by an oracle of their own: the source, run by rounding NumPy scalars.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

SCALARS = {"fp64": np.float64, "fp32": np.float32, "fp16": np.float16}
OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
              ast.Div: operator.truediv}  # fmt: skip
COMPARISONS = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
PARTS = (
    """
        r = {a}
        if x[i] {o} small:
            r = {b} * 2.0
        if x[i] {p} small:
            out[i] = y[i] / r
""",
    """
        r = 0.25
        if x[i] > small:
            r = x[i] - small
        if x[i] >= small:
            out[i] += {b} / r
""",
    """
        c = max({b}, {a})
        while c < {limit}:
            c = c + {step}
            steps += 1
        total += c
""",
    """
        if x[i] - small {o} {tiny}:
            count[i] += 1
            total += {b}
        else:
            count[i] -= 1
""",
    """
        if y[i] {p} {edge}:
            count[i] += 1
            total += {b}
""",
    """
        c = min(x[i], small)
        if c == small:
            steps += 2
        out[i] = c * {big}
""",
    """
        share = float(steps + i) / {limit}
        if share {o} y[i]:
            steps += 3
        total += share * {b}
""",
)
"""Statements of the loop; each of several lines, by which formats are given."""


@dataclass(frozen=True)
class Branching:
    """A random kernel with its arguments.

    Args:
        source: of the module that has it.
        args: of a call.
    """

    source: str
    args: tuple


def drawn(seed: int) -> Branching:
    """The kernel of a seed, on numbers that are equal, zero or subnormal once they are narrow."""
    rng = np.random.default_rng(seed)
    size = 6
    small = float(rng.choice([1e-18, 1.0, 3e-6, 1e-42, 0.1, 2049.0]))
    close = 1.0 + rng.choice([0.0, 1e-9, -1e-9, 1e-5, -1e-5, 1e-3, 0.5], size)
    x = np.where(rng.random(size) < 0.7, small * close, rng.uniform(0.0, 2.0, size) * small)
    y = rng.uniform(-1.0, 2.0, size) * rng.choice([1.0, 1e-7, 1e3], size)
    words = {
        "limit": lambda: repr(float(rng.choice([0.7, 1.9, 2.3]))),
        "step": lambda: repr(float(rng.choice([0.1, 0.07, 0.3]))),
        "tiny": lambda: repr(float(rng.choice([0.0, 1e-9, 1e-3]) * small)),
        "big": lambda: repr(float(rng.choice([1.0, 3.0, 1e4, 0.1]))),
        "edge": lambda: repr(float(rng.choice(y) * (1.0 + rng.choice([0.0, 1e-9, -1e-5])))),
        "a": lambda: str(rng.choice(["0.0", "0.1", "small", "1.0"])),
        "b": lambda: str(rng.choice(["y[i]", "x[i]", "0.3"])),
        "o": lambda: str(rng.choice(["<", "<=", ">", ">=", "!="])),
        "p": lambda: str(rng.choice([">", ">=", "=="])),
    }
    body = ""
    for part in rng.choice(len(PARTS), int(rng.integers(1, 4)), replace=False):
        body += PARTS[part].format(**{name: draw() for name, draw in words.items()})
    body = "".join(f"{line}\n" for line in body.splitlines() if line)
    source = (
        "def kernel(x, y, small, out, count):\n    total = 0.0\n    steps = 0\n"
        f"    for i in range(x.size):\n{body}    return total, steps\n"
    )
    return Branching(source, (x, y, small, np.ones(size), np.zeros(size, np.int64)))


class Run:
    """A run of the source, line by line.

    Args:
        case: what is run.
        format_at: line -> the name of its format.
        everything: whether loads, stores, arguments, casts and comparisons round, too.
    """

    def __init__(
        self, case: Branching, format_at: Callable[[int], str], everything: bool
    ) -> None:
        self.format_at, self.everything = format_at, everything
        function = ast.parse(case.source).body[0]
        x, y, small, out, count = case.args
        if everything:
            small = self.rounded(small, function.lineno)
        self.names = {"x": x, "y": y, "small": small, "out": out.copy(), "count": count.copy()}
        with np.errstate(all="ignore"):
            returned = self.block(function.body)
        self.results = {
            "out": self.names["out"], "count": self.names["count"],
            "return_0": np.float64(returned[0]), "return_1": np.float64(returned[1]),
        }  # fmt: skip

    def rounded(self, value, line: int):
        """A number in the format of a line, integers as they are."""
        if isinstance(value, (int, np.integer)):
            return int(value)
        return float(SCALARS[self.format_at(line)](value))

    def seen(self, value, line: int):
        """A number that is loaded, stored or compared on a line."""
        return self.rounded(value, line) if self.everything else value

    def computed(self, operation, left, right, line: int):
        """The result of an operation, in the format of its line; of integers alone an integer."""
        whole = isinstance(left, int) and isinstance(right, int)
        if whole and operation is not operator.truediv:
            return operation(left, right)
        number = SCALARS[self.format_at(line)]
        return float(operation(number(left), number(right)))

    def block(self, body: list[ast.stmt]):
        """The value that statements return."""
        for one in body:
            if isinstance(one, ast.Return):
                return tuple(self.value(v) for v in one.value.elts)
            if isinstance(one, ast.For):
                for i in range(self.names["x"].size):
                    self.names["i"] = i
                    self.block(one.body)
            elif isinstance(one, ast.While):
                while self.value(one.test):
                    self.block(one.body)
            elif isinstance(one, ast.If):
                self.block(one.body if self.value(one.test) else one.orelse)
            elif isinstance(one, ast.Assign):
                self.give(one.targets[0], self.value(one.value))
            else:
                old = ast.copy_location(_loaded(one.target), one)
                operation = OPERATIONS[type(one.op)]
                made = self.computed(operation, self.value(old), self.value(one.value), one.lineno)
                self.give(one.target, made)
        return None

    def give(self, target, value) -> None:
        """Store a value."""
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        else:
            array = self.names[target.value.id]
            array[self.names[target.slice.id]] = self.seen(value, target.lineno)

    def value(self, node):
        """The value of an expression."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.names[node.id]
        if isinstance(node, ast.UnaryOp):
            return -self.value(node.operand)
        if isinstance(node, ast.Subscript):
            return self.seen(self.names[node.value.id][self.names[node.slice.id]].item(),
                             node.lineno)  # fmt: skip
        if isinstance(node, ast.BinOp):
            operands = self.value(node.left), self.value(node.right)
            return self.computed(OPERATIONS[type(node.op)], *operands, node.lineno)
        if isinstance(node, ast.Compare):
            sides = node.left, node.comparators[0]
            seen = (self.seen(self.value(side), node.lineno) for side in sides)
            return COMPARISONS[type(node.ops[0])](*seen)
        called = node.func.id
        given = [self.seen(self.value(v), node.lineno) for v in node.args]
        if called == "float":
            return self.seen(float(given[0]), node.lineno)
        return {"min": min, "max": max}[called](*given)


def _loaded(target):
    load = ast.parse(ast.unparse(target), mode="eval").body
    for node in ast.walk(load):
        ast.copy_location(node, target)
    return load


def error_of(found: dict, truth: dict) -> float:
    """The largest relative l2 error of the results, infinite where one alone is not finite."""
    worst = 0.0
    for name, right in truth.items():
        values, right = np.asarray(found[name], float), np.asarray(right, float)
        usable = np.isfinite(right)
        others = values[~usable], right[~usable]
        if not np.array_equal(np.isfinite(values), usable) or not np.array_equal(
            *others, equal_nan=True
        ):
            return np.inf
        difference = values[usable] - right[usable]
        size, apart = (np.sqrt((v**2).sum()) for v in (right[usable], difference))
        if apart > 0.0:
            worst = max(worst, apart / size if size else np.inf)
    return worst
