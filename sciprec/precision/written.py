"""Which of its array arguments a kernel may write, read off its source."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable

import numpy as np

from sciprec.precision.program import source_tree

_QUIET = ("shape", "size", "ndim", "strides", "dtype")


def written_arrays(kernel) -> Callable[[int, object], bool]:
    """A function (number of a parameter, its argument) -> whether the kernel may write the array.

    An array counts as only read where its name stands for nothing but elements: `a[i, j]` with as
    many indices as it has dimensions, none of them a slice, and `a.shape` and the like. In doubt an
    array counts as written.
    """
    tree = source_tree(kernel)
    names = list(inspect.signature(kernel).parameters)
    indices: dict[str, set[int]] = {n: set() for n in names}
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    doubtful = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in indices:
            count = _indices(node, parents[node])
            if count is None:
                doubtful.add(node.id)
            else:
                indices[node.id].add(count)

    def written(number: int, argument) -> bool:
        if not isinstance(argument, (np.ndarray, tuple)):
            return False
        name = names[number]
        dimensions = getattr(argument, "ndim", -1)
        return name in doubtful or bool(indices[name] - {dimensions, 0})

    return written


def _indices(node: ast.Name, parent) -> int | None:
    """How many indices a read of an element has; 0 for `a.shape`; None for anything else."""
    if isinstance(parent, ast.Attribute) and parent.attr in _QUIET:
        return 0
    element = isinstance(parent, ast.Subscript) and parent.value is node
    if not element or not isinstance(parent.ctx, ast.Load):
        return None
    index = parent.slice
    items = index.elts if isinstance(index, ast.Tuple) else [index]
    if any(isinstance(i, (ast.Slice, ast.Starred, ast.Constant)) and _no_number(i) for i in items):
        return None
    return len(items)


def _no_number(index) -> bool:
    return not (isinstance(index, ast.Constant) and isinstance(index.value, int))
