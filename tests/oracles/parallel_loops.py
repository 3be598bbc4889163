"""Meaning of a parallel loop: at most 64 chunks, each from neutral values, combined in order."""

from __future__ import annotations

import ast
from typing import NamedTuple

CHUNKS = 64
OPERATIONS = {ast.Add: "add", ast.Sub: "add", ast.Mult: "mul", ast.Div: "mul"}
NEUTRAL = {"add": 0, "mul": 1, "iadd": 0, "imul": 1}
COMBINED = {
    "iadd": "{0} = _updated({0}, {0} + {1})", "imul": "{0} = _updated({0}, {0} * {1})",
    "add": "{0} = {0} + {1}", "mul": "{0} = {0} * {1}",
    "max": "{0} = max({0}, {1})", "min": "{0} = min({0}, {1})",
    "accumulate": "{0} = _added({0}, {1})", "iaccumulate": "{0} = _updated({0}, _added({0}, {1}))",
}  # fmt: skip
"""How the result of a chunk is taken in; an array that is updated in place keeps its place."""


def chunks(*ends):
    """The iterations of a parallel loop in at most 64 parts."""
    every = range(*map(int, ends))
    count = min(len(every), CHUNKS)
    for n in range(count):
        yield every[len(every) * n // count : len(every) * (n + 1) // count]


def begun(before, start: int):
    """The first value of a chunk: a number, or an array like the one before the loop."""
    if not hasattr(before, "shape") or not before.shape:
        return start
    made = before.copy()
    made[...] = start
    return made


def is_parallel(node: ast.For) -> bool:
    """Whether this is `for ... in prange(...)`."""
    return isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func).endswith("prange")


def is_in_order(function: ast.FunctionDef) -> bool:
    """Whether Numba compiles a function without threads, by the text of its decorators."""
    texts = [ast.unparse(decorator) for decorator in function.decorator_list]
    return any("jit" in t or "vectorize" in t for t in texts) and "parallel=True" not in str(texts)


def names_outside(function: ast.FunctionDef, loop: ast.For) -> set[str]:
    """Names of a function outside one of its loops, its parameters included."""
    inside = {id(n) for n in ast.walk(loop)}
    used = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and id(n) not in inside}
    return used | {a.arg for a in function.args.args}


class Reduced(NamedTuple):
    """A variable that a loop reduces into: how, what a chunk starts from (None: what was there
    before the loop), and where.
    """

    name: str
    operation: str
    start: int | None
    at: ast.AST


def reductions(node: ast.For, outside: set[str]) -> list[Reduced]:
    """The variables that a loop reduces into, of those that are known outside the loop."""
    found: dict[str, str] = {}
    places: dict[str, ast.AST] = {}
    for n in ast.walk(node):
        target = getattr(n, "target", None) or getattr(n, "targets", [None])[0]
        if not isinstance(target, ast.Name) or target.id not in outside:
            continue
        if isinstance(n, ast.AugAssign) and type(n.op) in OPERATIONS:
            found.setdefault(target.id, "i" + OPERATIONS[type(n.op)])
            places.setdefault(target.id, n)
        elif isinstance(n, ast.Assign) and _carries(n.value, target.id):
            found.setdefault(target.id, _operation(n.value))
            places.setdefault(target.id, n.value)
    return [
        Reduced(name, found[name], NEUTRAL.get(found[name]), places[name]) for name in sorted(found)
    ]


def _operation(value: ast.expr) -> str:
    """How chunks of `s = value` are combined; '' where the value is no reduction."""
    if isinstance(value, ast.BinOp):
        return OPERATIONS.get(type(value.op), "")
    called = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
    return called if called in ("min", "max") else ""


def _carries(value: ast.expr, variable: str) -> bool:
    """Whether the value is a sum, a product, a max or a min that takes in the variable."""
    operands = getattr(value, "args", None) or [getattr(value, n, None) for n in ("left", "right")]
    return bool(_operation(value)) and any(
        isinstance(x, ast.Name) and x.id == variable
        or _operation(x) == _operation(value) and _carries(x, variable)
        for x in operands
    )  # fmt: skip


def chunked(node: ast.For, reduced: list[Reduced]) -> list[ast.stmt]:
    """The same loop in plain Python; the names that it calls are `_chunks`, `_begun`,
    `_updated` (an array keeps its place), `min` and `max`."""
    names = ", ".join(f"{r.name}," for r in reduced).replace(",,", ",")
    begun = [(r.name, r.start) for r in reduced if r.start is not None]
    starts = [f"{name} = _begun({name}, {start})" for name, start in begun]
    lines = [
        f"_before = ({names})", "_parts = []", "for _chunk in _chunks():",
        *(f"    {line}" for line in (f"({names}) = _before", *starts)),
        "    for _n in _chunk:", "        pass", f"    _parts.append(({names}))",
        f"({names}) = _before", "for _part in _parts:",
        *(f"    {COMBINED[r.operation].format(r.name, f'_part[{n}]')}"
          for n, r in enumerate(reduced)),
    ]  # fmt: skip
    made = ast.parse("\n".join(lines)).body
    for part in (p for statement in made for p in ast.walk(statement)):
        ast.copy_location(part, node)
    for statement, r in zip(made[-1].body, reduced, strict=True):
        for part in ast.walk(statement):
            ast.copy_location(part, r.at)
    outer = next(s for s in made if isinstance(s, ast.For))
    outer.iter.args = node.iter.args
    inner = next(s for s in outer.body if isinstance(s, ast.For))
    inner.target, inner.body = node.target, node.body
    return made
