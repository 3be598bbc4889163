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
    of_function = [one for one in function.decorator_list if isinstance(one, ast.Call)]
    others = [n for n in ast.walk(scope.module) if isinstance(n, ast.Call)] if (
        function is scope.node and scope.options.get(name)
    ) else []  # fmt: skip
    for made in (*of_function, *others):
        if made in of_function and not scope.calls(made).startswith("numba."):
            continue
        for one in made.keywords:
            if one.arg == name and not _is_false(one.value):
                return one.value.lineno
    return function.lineno if others else 0


def _is_false(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def is_compiled(function: ast.FunctionDef, scope: Scope) -> bool:
    """Whether Numba compiles a function."""
    return bool(function is scope.node and scope.options) or any(
        (scope.calls(one) or scope.qualified(one)).startswith("numba.")
        for one in function.decorator_list
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
    own = _of_one_iteration(loop)
    assigned = _assigned_alone(loop)
    for node in ast.walk(loop):
        for target, value, summed in _stores(node):
            if isinstance(target, ast.Name) and summed and target.id not in assigned:
                yield node.lineno, "each thread has a part of this sum"
            elif isinstance(target, ast.Subscript) and not own & _names(target.slice):
                local = isinstance(target.value, ast.Name) and target.value.id in assigned
                if not local:
                    yield node.lineno, "iterations of prange write the same elements"
            elif isinstance(target, ast.Subscript) and _reads_others(target, value, own):
                yield node.lineno, "iterations of prange read what others write"


def _stores(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr, bool]]:
    """Targets and values of a statement, and whether the old value is summed up with another."""
    if isinstance(node, ast.AugAssign) and not isinstance(node.op, _EXACT):
        whole = isinstance(node.value, ast.Constant) and isinstance(node.value.value, int)
        yield node.target, node.value, not whole
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
    """Names whose values differ between iterations: the variable of the loop, and what is made of
    it.
    """
    found = _names(loop.target)
    made = [(node.value, t) for node in ast.walk(loop) if isinstance(node, ast.Assign)
            for t in node.targets]  # fmt: skip
    made += [(node.iter, node.target) for node in ast.walk(loop) if isinstance(node, ast.For)]
    while True:
        more = {
            name for value, target in made if found & _names(value) and isinstance(target, ast.Name)
            for name in _names(target)
        }  # fmt: skip
        if more <= found:
            return found
        found |= more


def _assigned_alone(loop: ast.For) -> set[str]:
    """Names that an iteration gives a value of its own before all else."""
    found = set()
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign):
            for t in node.targets:
                if isinstance(t, ast.Name) and t.id not in _names(node.value):
                    found.add(t.id)
        elif isinstance(node, ast.For) and node is not loop:
            found |= _names(node.target)
    return found


def _reads_others(target: ast.Subscript, value: ast.expr, own: set[str]) -> bool:
    """Whether an element is made of neighbours in the same array."""
    array = ast.unparse(target.value)
    here = ast.unparse(target.slice)
    return any(
        isinstance(n, ast.Subscript) and ast.unparse(n.value) == array
        and ast.unparse(n.slice) != here and not _whole_row(n, target)
        for n in ast.walk(value)
    )  # fmt: skip


def _whole_row(read: ast.Subscript, written: ast.Subscript) -> bool:
    """Whether the first index, by which iterations differ, is the same."""

    def first(node: ast.Subscript) -> str:
        inner = node.slice
        return ast.unparse(inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner)

    return first(read) == first(written)
