"""Loops that Numba runs on threads, and what their iterations share."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sciprec.regression.repetition.sources import Scope

_EXACT = (ast.BitAnd, ast.BitOr, ast.BitXor)
"""Operations for which the order of the operands does not count."""


def option(function: ast.FunctionDef, scope: Scope, name: str) -> int:
    """The line where an option of Numba's is given and not False, in a decorator or in a call that
    compiles the function; 0 where it is not.
    """
    of_function = [call for call in function.decorator_list if isinstance(call, ast.Call)]
    calls = [n for n in ast.walk(scope.module) if isinstance(n, ast.Call)] if (
        function is scope.node and scope.options.get(name)
    ) else []  # fmt: skip
    for call in (*of_function, *calls):
        if call in of_function and not scope.calls(call).startswith("numba."):
            continue
        for keyword in call.keywords:
            if keyword.arg == name and not _is_false(keyword.value):
                return keyword.value.lineno
    return function.lineno if calls else 0


def _is_false(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def is_compiled(function: ast.FunctionDef, scope: Scope) -> bool:
    """Whether Numba compiles a function."""
    return bool(function is scope.node and scope.options) or any(
        (scope.calls(decorator) or scope.qualified(decorator)).startswith("numba.")
        for decorator in function.decorator_list
    )


def is_parallel(function: ast.FunctionDef, scope: Scope) -> bool:
    """Whether Numba runs loops of a function on threads."""
    return option(function, scope, "parallel") > 0


def loops_in_parallel(function: ast.FunctionDef, scope: Scope) -> Iterator[ast.For]:
    """The outermost loops over prange."""
    waiting: list[ast.AST] = [function]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.For) and scope.calls(node.iter).rpartition(".")[2] == "prange":
            yield node
        else:
            waiting += ast.iter_child_nodes(node)


def raced(loop: ast.For) -> Iterator[tuple[int, str]]:
    """Lines where iterations change the same number, whatever else they do."""
    own_names = _of_one_iteration(loop)
    assigned = _assigned_alone(loop)
    for node in ast.walk(loop):
        for target, value, summed in _stores(node):
            if isinstance(target, ast.Name) and summed and target.id not in assigned:
                yield node.lineno, "each thread has a part of this sum"
            elif isinstance(target, ast.Subscript) and not own_names & _names(target.slice):
                local = isinstance(target.value, ast.Name) and target.value.id in assigned
                if not local:
                    yield node.lineno, "iterations of prange write the same elements"
            elif isinstance(target, ast.Subscript) and _reads_others(target, value, own_names):
                yield node.lineno, "iterations of prange read what others write"


def _stores(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr, bool]]:
    """Targets and values that a statement stores, and whether it adds to the old value."""
    if isinstance(node, ast.AugAssign) and not isinstance(node.op, _EXACT):
        is_integer = isinstance(node.value, ast.Constant) and isinstance(node.value.value, int)
        yield node.target, node.value, not is_integer
    elif isinstance(node, ast.Assign):
        value = node.value
        for target in node.targets:
            again = (
                isinstance(target, ast.Name) and isinstance(value, ast.BinOp)
                and target.id in _names(value)
            )  # fmt: skip
            yield target, value, again


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


def _reads_others(target: ast.Subscript, value: ast.expr, own_names: set[str]) -> bool:
    """Whether an element is made of neighbours in the same array."""
    array = ast.unparse(target.value)
    index = ast.unparse(target.slice)
    return any(
        isinstance(n, ast.Subscript) and ast.unparse(n.value) == array
        and ast.unparse(n.slice) != index and not _whole_row(n, target)
        for n in ast.walk(value)
    )  # fmt: skip


def _whole_row(read: ast.Subscript, target: ast.Subscript) -> bool:
    """Whether the first index, by which iterations differ, is the same."""

    def first(node: ast.Subscript) -> str:
        inner = node.slice
        return ast.unparse(inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner)

    return first(read) == first(target)
