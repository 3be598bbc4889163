"""What a parallel loop means: at most 64 chunks, each from neutral values, combined in order."""

from __future__ import annotations

import ast

CHUNKS = 64
NEUTRAL = {ast.Add: ("add", 0), ast.Sub: ("add", 0), ast.Mult: ("mul", 1),
           ast.Div: ("mul", 1)}  # fmt: skip
COMBINED = {
    "add": "{0} = _updated({0}, {0} + {1})", "mul": "{0} = _updated({0}, {0} * {1})",
    "max": "{0} = max({0}, {1})", "min": "{0} = min({0}, {1})",
}  # fmt: skip


def chunks(*ends):
    """The iterations of a parallel loop in at most 64 parts."""
    every = range(*map(int, ends))
    count = min(len(every), CHUNKS)
    for n in range(count):
        yield every[len(every) * n // count : len(every) * (n + 1) // count]


def is_parallel(node: ast.For) -> bool:
    """Whether this is `for ... in prange(...)`."""
    return isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func).endswith("prange")


def names_outside(function: ast.FunctionDef, loop: ast.For) -> set[str]:
    """Names of a function outside one of its loops, its parameters included."""
    inside = {id(n) for n in ast.walk(loop)}
    used = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and id(n) not in inside}
    return used | {a.arg for a in function.args.args}


def reductions(node: ast.For, outside: set[str]) -> list[tuple[str, str, int | None]]:
    """(variable, operation, what a chunk starts from; None: what was there before the loop), of the
    variables that are known outside the loop."""
    found = {}
    for n in ast.walk(node):
        target = getattr(n, "target", None) or getattr(n, "targets", [None])[0]
        if not isinstance(target, ast.Name) or target.id not in outside:
            continue
        if isinstance(n, ast.AugAssign) and type(n.op) in NEUTRAL:
            found[target.id] = (target.id, *NEUTRAL[type(n.op)])
        elif isinstance(n, ast.Assign) and isinstance(n.value, ast.Call):
            own = any(isinstance(a, ast.Name) and a.id == target.id for a in n.value.args)
            if own and ast.unparse(n.value.func) in ("min", "max"):
                found[target.id] = (target.id, ast.unparse(n.value.func), None)
    return [found[name] for name in sorted(found)]


def chunked(node: ast.For, reduced: list[tuple[str, str, int | None]]) -> list[ast.stmt]:
    """The same loop in plain Python; the names that it calls are `_chunks`,
    `_updated` (an array keeps its place), `min` and `max`."""
    names = ", ".join(f"{name}," for name, *_ in reduced).replace(",,", ",")
    starts = [f"{name} = {start}" for name, _, start in reduced if start is not None]
    lines = [
        f"_before = ({names})", "_parts = []", "for _chunk in _chunks():",
        *(f"    {line}" for line in (f"({names}) = _before", *starts)),
        "    for _n in _chunk:", "        pass", f"    _parts.append(({names}))",
        f"({names}) = _before", "for _part in _parts:",
        *(f"    {COMBINED[operation].format(name, f'_part[{n}]')}"
          for n, (name, operation, _) in enumerate(reduced)),
    ]  # fmt: skip
    made = ast.parse("\n".join(lines)).body
    outer = next(s for s in made if isinstance(s, ast.For))
    outer.iter.args = node.iter.args
    inner = next(s for s in outer.body if isinstance(s, ast.For))
    inner.target, inner.body = node.target, node.body
    return made
