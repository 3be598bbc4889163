"""Types in a kernel's source: as names of local variables, as casts, and as dtypes.

`T = type(x)`, `x.dtype` and `x.dtype.type` stand for types that Numba finds when it compiles;
`np.float32`, `numba.float64` and the like for those that are known beforehand. A call of either is
a cast: of a floating-point type, to a number of the backend.
"""

from __future__ import annotations

import ast

import numpy as np
from numba import types

from sciprec.precision.rewriting import complex_calls
from sciprec.precision.rewriting.syntax import Rewriting, name, nodes, static_value

_NUMBERS = (types.Float, types.Complex, types.Integer, types.Boolean)
_OF_PYTHON = {float: np.float64, int: np.int64, bool: np.bool_, complex: np.complex128}


def numpy_type(value) -> type | None:
    """NumPy's type for a type of Python's, NumPy's or Numba's; None where there is none."""
    if isinstance(value, np.dtype):
        value = value.type
    if isinstance(value, _NUMBERS) and not isinstance(value, types.Literal):
        return np.dtype(str(value)).type
    if isinstance(value, type):
        value = _OF_PYTHON.get(value, value)
        return value if issubclass(value, np.generic) else None
    return None


def local_types(tree: ast.FunctionDef, namespace, local: set[str]) -> frozenset[str]:
    """The local names that stand for types: all that is ever assigned to them are types."""
    values: dict[str, list[ast.expr | None]] = {}
    every = nodes(tree)
    for node in every:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                for variable, value in _pairs(target, node.value):
                    values.setdefault(variable.id, []).append(value)
    stored = [n.id for n in every if isinstance(n, ast.Name)
               and isinstance(n.ctx, ast.Store)]  # fmt: skip
    parameters = {a.arg for n in every if isinstance(n, ast.arguments) for a in n.args}
    type_names: set[str] = set()
    while True:
        more = {
            n for n, assigned in values.items()
            if n not in type_names | parameters and stored.count(n) == len(assigned)
            and all(_is_type(v, namespace, local, type_names) for v in assigned)
        }  # fmt: skip
        if not more:
            return frozenset(type_names)
        type_names |= more


def _pairs(target, value) -> list[tuple[ast.Name, ast.expr]]:
    """Names that an assignment gives values of their own, with these."""
    if isinstance(target, ast.Name):
        return [(target, value)]
    both = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
    if both and len(target.elts) == len(value.elts):
        parts = zip(target.elts, value.elts, strict=True)
        return [pair for t, v in parts for pair in _pairs(t, v)]
    return []


def is_type(rewriter: Rewriting, node: ast.expr) -> bool:
    """Whether an expression stands for a type that Numba finds when it compiles."""
    return _is_type(node, rewriter.namespace, rewriter.local, rewriter.types)


def _is_type(node, namespace, local: set[str], type_names) -> bool:
    if isinstance(node, ast.Name) and node.id in type_names:
        return True
    if isinstance(node, ast.Attribute) and node.attr == "type":
        return isinstance(node.value, ast.Attribute) and node.value.attr == "dtype"
    if isinstance(node, ast.Attribute) and node.attr == "dtype":
        return True
    if isinstance(node, ast.Call) and len(node.args) == 1:
        return static_value(node.func, namespace, local) is type
    return numpy_type(static_value(node, namespace, local)) is not None


def cast(rewriter: Rewriting, node: ast.Call) -> ast.expr:
    """T(x) of such a type."""
    if len(node.args) != 1 or node.keywords:
        rewriter.refuse(node, f"'{ast.unparse(node)}'", "a type takes one value: write T(x)")
    return rewriter.op("cast_to", node, *map(rewriter.visit, (node.func, node.args[0])))


def dtype(rewriter: Rewriting, kind: type) -> ast.expr:
    """A type of NumPy's used as a value (a dtype argument); arrays have to hold the backend's
    numbers.
    """
    if issubclass(kind, np.floating) and kind is not np.float64:
        return name("sp_carrier")
    if issubclass(kind, np.complexfloating):
        complex_calls.refuse_in_fixed_point(rewriter, rewriter.tree, kind.__name__)
        if kind is not np.complex128:
            return name("sp_complex")
    return ast.Attribute(name("np"), np.dtype(kind).type.__name__, ast.Load())
