"""Mutants drawn from a seed: one operator, constant, condition or statement of the package changed.

A mutant is a place in a file and the text that stands there instead; every place is equally likely.
"""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("mutants.json")
SEED = 20261128
ABOVE = ("sciprec/precision", "sciprec/tools/trace", "sciprec/results/comparison")
BELOW = tuple(
    f"sciprec/precision/{name}"
    for name in (
        "operations/intrinsics.py", "operations/evaluation.py", "operations/reduce.py",
        "operations/stores.py", "operations/casts.py", "operations/by_type.py",
        "operations/boundaries.py", "operations/fusing.py", "operations/vectorized.py",
        "operations/meeting.py", "rounding", "compiled/lowering.py", "rewriting/parallel.py",
    )
)  # fmt: skip
"""Intrinsics, LLVM, typing, casts and prange: what uncompiled tests do not run."""

OTHER = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "*",
    ast.Pow: "*", ast.LShift: ">>", ast.RShift: "<<", ast.BitAnd: "|", ast.BitOr: "&",
    ast.BitXor: "|", ast.And: "or", ast.Or: "and",
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A piece of a file, by lines and columns as ast counts them, and what stands there instead."""

    file: str
    start: tuple[int, int]
    end: tuple[int, int]
    text: str
    was: str

    def planted(self, source: str) -> str:
        """The file's source with the piece changed."""
        lines = source.encode().splitlines(keepends=True)
        first, last = self.start[0] - 1, self.end[0] - 1
        before, after = lines[first][: self.start[1]], lines[last][self.end[1] :]
        lines[first : last + 1] = [before + self.text.encode() + after]
        return b"".join(lines).decode()


def changed(node: ast.AST, unparse=ast.unparse) -> Iterator[str]:
    """The texts that may stand in place of a node."""
    match node:
        case ast.Compare(left, [op], [right]):
            yield f"({unparse(left)} {OTHER[type(op)]} {unparse(right)})"
        case ast.BinOp(left, op, right) if type(op) in OTHER and not _of_types(node):
            yield f"(({unparse(left)}) {OTHER[type(op)]} ({unparse(right)}))"
        case ast.BoolOp(op, values):
            yield "(" + f" {OTHER[type(op)]} ".join(f"({unparse(v)})" for v in values) + ")"
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield f"({unparse(operand)})"
        case ast.IfExp(test, body, orelse):
            yield f"(({unparse(orelse)}) if {unparse(test)} else ({unparse(body)}))"
        case ast.Constant(bool(value)):
            yield str(not value)
        case ast.Constant(int(value)):
            yield f"({value + 1})"
        case ast.Constant(float(value)):
            yield f"({value + 1.0})"
        case ast.If(test) | ast.While(test):
            yield f"not ({unparse(test)})"
        case ast.Expr(ast.Call()) | ast.AugAssign():
            yield "pass"
        case ast.Return(ast.expr()):
            yield "return None"
        case ast.Call(args=[first, second]) if not node.keywords:
            yield f"{unparse(node.func)}({unparse(second)}, {unparse(first)})"


def _of_types(node: ast.BinOp) -> bool:
    """Whether an operator joins types or texts, where another one fails at once."""
    return any(
        isinstance(side, ast.Constant) and (side.value is None or isinstance(side.value, str))
        for side in (node.left, node.right)
    )


def _living(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes whose change could change an answer: no annotations, no messages of errors."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom | ast.JoinedStr):
            continue
        if isinstance(child, ast.arg) or child in (
            getattr(tree, "annotation", None), getattr(tree, "returns", None)
        ):  # fmt: skip
            continue
        yield child
        yield from _living(child)


def mutants_of(file: Path) -> Iterator[Mutant]:
    """All mutants of a file."""
    source = file.read_text()
    for node in _living(ast.parse(source)):
        place = node.test if isinstance(node, ast.If | ast.While) else node
        for text in changed(node):
            yield Mutant(
                str(file.relative_to(ROOT)), (place.lineno, place.col_offset),
                (place.end_lineno, place.end_col_offset), text, ast.unparse(place),
            )  # fmt: skip


def drawn(seed: int = SEED) -> list[Mutant]:
    """48 of precision, diagnosis and comparison and 12 of what stands below a generated module."""
    draws = random.Random(seed)
    found = []
    for count, places in ((48, ABOVE), (12, BELOW)):
        files = [f for p in places for f in [ROOT / p, *(ROOT / p).rglob("*.py")] if f.is_file()]
        found += draws.sample([m for file in sorted(files) for m in mutants_of(file)], count)
    return found


if __name__ == "__main__":
    stored = [asdict(mutant) | {"outcomes": {}} for mutant in drawn()]
    LIST.write_text(json.dumps(stored, indent=1) + "\n")
