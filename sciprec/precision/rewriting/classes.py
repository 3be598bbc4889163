"""Objects that a kernel makes of classes: named tuples, sets, and Numba's typed lists."""

from __future__ import annotations

import ast

from numba import types

from sciprec.precision.rewriting import casts
from sciprec.precision.rewriting.syntax import Rewriting, is_known, name


def is_named_tuple(function) -> bool:
    """Whether a call makes a named tuple."""
    is_tuple = isinstance(function, type) and issubclass(function, tuple)
    return is_tuple and hasattr(function, "_fields")


def methods_named(rewriter: Rewriting, attribute: str) -> list:
    """The plain functions of methods of that name, of the jitclasses that the kernel's module
    names.
    """
    functions = {}
    for value in rewriter.namespace.values():
        methods = getattr(getattr(value, "class_type", None), "jit_methods", {})
        if isinstance(value, type) and attribute in methods:
            functions[methods[attribute].py_func] = None
    return list(functions)


def is_typed_list(function) -> bool:
    """Whether a call makes a list of Numba's."""
    if getattr(function, "__module__", "") != "numba.typed.typedlist":
        return False
    from numba.typed import List  # brings much of Numba with it

    return function in (List, List.empty_list)


def typed_list(rewriter: Rewriting, node: ast.Call, function) -> ast.expr:
    """A list of Numba's, empty or of items."""
    from numba.typed import List

    listed = name(rewriter.imported(node.func, List))
    if function is List:
        return ast.Call(listed, [rewriter.seen(a) for a in node.args], [])
    kinds = [rewriter.value_of(a) for a in node.args]
    if all(isinstance(k, types.Type) and casts.numpy_type(k) is None for k in kinds):
        return ast.Call(listed, [], [])  # of arrays, say: of what the kernel puts in
    empty = ast.Attribute(listed, "empty_list", ast.Load())
    return ast.Call(empty, [_item_type(rewriter, a) for a in node.args], [])


def named_tuple(rewriter: Rewriting, node: ast.Call, kind) -> ast.expr:
    """A named tuple holds numbers of the storage format, as those that are given do."""
    called = name(rewriter.imported(node.func, kind, *kind._fields))

    def stored(argument: ast.expr) -> ast.expr:
        value = rewriter.visit(argument)
        return rewriter.op("enter", node, value) if rewriter.program.backend.mixed else value

    keywords = [ast.keyword(k.arg, stored(k.value)) for k in node.keywords]
    return ast.Call(called, [stored(a) for a in node.args], keywords)


def _item_type(rewriter: Rewriting, node: ast.expr) -> ast.expr:
    """The type of a list's items: numbers are those of the backend."""
    value = rewriter.value_of(node)
    kind = casts.numpy_type(value) if is_known(value) else None
    if kind is None and not casts.is_type(rewriter, node):
        rewriter.refuse(
            node, f"a typed list of '{ast.unparse(node)}'", "make it of numbers, or write List()"
        )
    if kind is None:
        return rewriter.visit(node)
    return name("sp_carrier") if kind.__name__.startswith("float") else casts.dtype(rewriter, kind)
