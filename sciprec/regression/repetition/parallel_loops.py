"""Loops that Numba runs on threads, and what their iterations share."""

from __future__ import annotations

import ast

from sciprec.regression.repetition.sources import Scope

_EXACT = (ast.BitAnd, ast.BitOr, ast.BitXor)
"""Operations for which the order of the operands does not count."""


def option(function: ast.AST, scope: Scope, name: str) -> int:
    """The line where an option of Numba's is given and not False, in a decorator or in a call that
    compiles the function; 0 where it is not.
    """
    decorators = getattr(function, "decorator_list", ())
    calls = [call for call in decorators if scope.calls(call).startswith("numba.")]
    compiles = function is scope.node and scope.options.get(name)
    calls += [n for n in ast.walk(scope.module) if isinstance(n, ast.Call)] if compiles else []
    for call in calls:
        for keyword in call.keywords:
            if keyword.arg == name and getattr(keyword.value, "value", True):
                return keyword.value.lineno
    return function.lineno if compiles else 0


def _functions(node: ast.AST, scope: Scope) -> list[ast.FunctionDef]:
    return [n for n in (node, *scope.around(node)) if isinstance(n, ast.FunctionDef)]


def is_compiled(node: ast.AST, scope: Scope) -> bool:
    """Whether a node is in a function that Numba compiles."""
    return any(
        (function is scope.node and scope.options)
        or any(
            (scope.calls(decorator) or scope.qualified(decorator)).startswith("numba.")
            for decorator in function.decorator_list
        )
        for function in _functions(node, scope)
    )


def is_parallel(node: ast.AST, scope: Scope) -> bool:
    """Whether a node is in a function whose loops Numba runs on threads."""
    return any(option(function, scope, "parallel") for function in _functions(node, scope))


def loop_on_threads(node: ast.AST, scope: Scope) -> ast.For | None:
    """The outermost loop over prange that a node is or is in, where Numba runs it on threads."""
    loops = [
        n for n in (node, *scope.around(node)) if isinstance(n, ast.For)
        and scope.calls(n.iter).rpartition(".")[2] == "prange"
    ]  # fmt: skip
    return loops[-1] if loops and is_parallel(node, scope) else None


def is_raced(node: ast.AST, scope: Scope) -> bool:
    """Whether a statement changes a number that other iterations on threads change or read."""
    is_exact = isinstance(getattr(node, "op", None), _EXACT)
    if is_exact or not isinstance(node, (ast.Assign, ast.AugAssign)):
        return False
    loop = loop_on_threads(node, scope)
    if loop is None:
        return False
    assigned = _assigned_alone(loop)
    counts = isinstance(node, ast.AugAssign) and isinstance(getattr(node.value, "value", 0.0), int)
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        array = target.value if isinstance(target, ast.Subscript) else target
        if isinstance(array, ast.Name) and array.id in assigned:
            continue
        if isinstance(target, ast.Name) and adds_up(node) and not counts:
            return True
        if isinstance(target, ast.Subscript) and (
            not _of_one_iteration(loop) & _names(target.slice) or _reads_others(target, node.value)
        ):
            return True
    return False


def adds_up(node: ast.AST) -> bool:
    """Whether a statement changes a value by another one, as sums do."""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
        targets = {ast.unparse(target) for target in node.targets}
        parts = [n for n in ast.walk(node.value) if isinstance(n, ast.expr)]
        return not targets.isdisjoint(map(ast.unparse, parts))
    return isinstance(node, ast.AugAssign)


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _of_one_iteration(loop: ast.For) -> set[str]:
    """Names whose values differ between iterations: the variable of the loop, and all that depends
    on it.
    """
    local = _names(loop.target)
    pairs = [(node.value, t) for node in ast.walk(loop) if isinstance(node, ast.Assign)
            for t in node.targets]  # fmt: skip
    pairs += [(node.iter, node.target) for node in ast.walk(loop) if isinstance(node, ast.For)]
    while True:
        added = {
            name for value, target in pairs
            if local & _names(value) and isinstance(target, ast.Name)
            for name in _names(target)
        }  # fmt: skip
        if added <= local:
            return local
        local |= added


def _assigned_alone(loop: ast.For) -> set[str]:
    """Names that an iteration gives a value of its own before all else."""
    names = set()
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign):
            for t in node.targets:
                if isinstance(t, ast.Name) and t.id not in _names(node.value):
                    names.add(t.id)
        elif isinstance(node, ast.For) and node is not loop:
            names |= _names(node.target)
    return names


def _reads_others(target: ast.Subscript, value: ast.expr) -> bool:
    """Whether an element is made of elements of the same array whose first index is another one."""
    array, first = ast.unparse(target.value), _first_index(target)
    return any(
        ast.unparse(n.value) == array and _first_index(n) != first
        for n in ast.walk(value) if isinstance(n, ast.Subscript)
    )  # fmt: skip


def _first_index(node: ast.Subscript) -> str:
    index = node.slice
    return ast.unparse(index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index)
