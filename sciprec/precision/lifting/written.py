"""The array arguments that a kernel may write, read off its source."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable

import numpy as np

from sciprec.precision.rewriting.sources import source_tree
from sciprec.precision.rewriting.syntax import children, nodes, stored_names

_QUIET = ("shape", "size", "ndim", "strides", "dtype")
_COUNTING = ("int", "len", "min", "max", "abs")
_RANGES = ("range", "prange")


def written_arrays(kernel) -> Callable[[tuple], list[bool]]:
    """A function of a call's arguments -> for each, whether the kernel may write an array in it.

    An array counts as only read where its name stands for nothing but elements: `a[i, j]` with as
    many indices as it has dimensions, all of them numbers, and `a.shape` and the like. In doubt an
    array counts as written.
    """
    tree, _ = source_tree(kernel)
    names = list(inspect.signature(kernel).parameters)
    indices: dict[str, set[int]] = {n: set() for n in names}
    every = nodes(tree)
    parents = {child: node for node in every for child in children(node)}
    numbers, doubtful = _NumericExpressions(tree, names), set()
    for node in every:
        if isinstance(node, ast.Name) and node.id in indices:
            count = _indices(node, parents[node], numbers)
            if count is None:
                doubtful.add(node.id)
            else:
                indices[node.id].add(count)

    def written(args: tuple) -> list[bool]:
        usual = all(map(_is_usual, args))
        return [
            isinstance(a, (np.ndarray, tuple))
            and not (usual and n not in doubtful and _only_elements(a, indices[n]))
            for n, a in zip(names, args, strict=True)
        ]

    return written


def stored_arrays(kernel) -> set[str]:
    """Names of parameters into whose arrays the source of a kernel itself stores elements, whether
    or not a call comes by there, and `NAME_0`, ... of those in a tuple; none of a parameter that
    the kernel gives another value.
    """
    tree, _ = source_tree(kernel)
    names = [n for n in nodes(tree) if isinstance(n, ast.Name)]
    rebound = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    usable = set(inspect.signature(kernel).parameters) - rebound
    stored = set()
    for node in nodes(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            inner, member = node.value, ""
            while isinstance(inner, ast.Subscript):
                at, inner = inner.slice, inner.value
                member = f"_{ast.unparse(at)}{member}" if isinstance(at, ast.Constant) else ""
            if isinstance(inner, ast.Name) and inner.id in usable:
                stored |= {inner.id, inner.id + member}
    return stored


def filled_arrays(kernel) -> frozenset[int]:
    """Numbers of the arguments in which a kernel writes elements and reads none: their names stand
    in `a[i] = x` and `a.shape` alone.
    """
    tree, _ = source_tree(kernel)
    names = list(inspect.signature(kernel).parameters)
    every = nodes(tree)
    parents = {child: node for node in every for child in children(node)}
    read = set()
    for node in every:
        if isinstance(node, ast.Name):
            parent = parents[node]
            quiet = isinstance(parent, ast.Attribute) and parent.attr in _QUIET
            stored = False
            if isinstance(parent, ast.Subscript) and parent.value is node:
                stored = isinstance(parent.ctx, ast.Store)
            if not (quiet or stored and not isinstance(parents[parent], ast.AugAssign)):
                read.add(node.id)
    return frozenset(n for n, name in enumerate(names) if name not in read)


def _only_elements(argument, counts: set[int]) -> bool:
    return isinstance(argument, np.ndarray) and not counts - {argument.ndim, 0}


def _is_usual(argument) -> bool:
    """Whether an argument is a number, or an array or tuple of numbers: no slice, say."""
    if isinstance(argument, np.ndarray):
        return argument.dtype.kind in "fiubc"
    if isinstance(argument, tuple):
        return all(map(_is_usual, argument))
    return isinstance(argument, (int, float, complex, np.number, np.bool_))


def _indices(node: ast.Name, parent, numbers: _NumericExpressions) -> int | None:
    """The number of indices of a read of an element; 0 for `a.shape`; None for anything else."""
    if isinstance(parent, ast.Attribute) and parent.attr in _QUIET:
        return 0
    element = isinstance(parent, ast.Subscript) and parent.value is node
    if not element or not isinstance(parent.ctx, ast.Load):
        return None
    index = parent.slice
    items = index.elts if isinstance(index, ast.Tuple) else [index]
    return len(items) if all(map(numbers.is_number, items)) else None


class _NumericExpressions:
    """Expressions of a kernel that are numbers whatever its arguments are, as long as these are
    usual: no slices, and nothing that stands for a new axis.
    """

    def __init__(self, tree: ast.FunctionDef, parameters: list[str]):
        self.values: dict[str, list[ast.expr | None]] = {name: [] for name in parameters}
        every = nodes(tree)
        for node in every:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._bind(target, node.value)
            elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
                self._bind(node.target, node.value)
            elif isinstance(node, (ast.For, ast.comprehension)):
                ranged = _calls(node.iter, _RANGES)
                self._bind(node.target, ast.Constant(0) if ranged else None)
            elif isinstance(node, ast.FunctionDef) and node is not tree:
                for argument in node.args.args:
                    self._bind(ast.Name(argument.arg), None)
        names = {getattr(n, "id", getattr(n, "attr", "")) for n in every}
        self.usual = not names & {"slice", "newaxis"}

    def _bind(self, target, value: ast.expr | None) -> None:
        """Note what a name may stand for; None: anything."""
        if isinstance(target, ast.Name):
            self.values.setdefault(target.id, []).append(value)
            return
        shape = isinstance(value, ast.Attribute) and value.attr == "shape"
        for name in stored_names([ast.Expr(target)]):
            self.values.setdefault(name, []).append(ast.Constant(0) if shape else None)

    def is_number(self, node, pending: frozenset[str] = frozenset()) -> bool:
        """Whether an expression can only be a number."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, int)
        if isinstance(node, (ast.BinOp, ast.UnaryOp)):
            return self.usual
        if isinstance(node, ast.Name):
            bound = self.values.get(node.id, [])
            inner = pending | {node.id}
            return self.usual and all(
                value is not None and self.is_number(value, inner)
                for value in bound
                if not (isinstance(value, ast.Name) and value.id in inner)
            )
        if isinstance(node, ast.Subscript):
            inside = node.value
            shape = isinstance(inside, ast.Attribute) and inside.attr == "shape"
            return shape or isinstance(inside, ast.Name) and self.values.get(inside.id) == []
        if isinstance(node, ast.Attribute):
            return node.attr in ("size", "ndim")
        return _calls(node, _COUNTING)


def _calls(node, functions: tuple[str, ...]) -> bool:
    """Whether an expression is a call of one of these functions."""
    name = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(
        node, ast.Call) else ""  # fmt: skip
    return name in functions
