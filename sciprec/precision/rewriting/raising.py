"""Exceptions in a kernel: raised by class, with texts that are fixed when the kernel is lifted; and
which lines may end with a sentence that a function of the engine's raises.
"""

from __future__ import annotations

import ast

import numpy as np

from sciprec.precision.rewriting.own_names import as_written
from sciprec.precision.rewriting.syntax import Rewriting, is_known, name


def raised(rewriter: Rewriting, node: ast.Raise) -> ast.Raise:
    """An exception of Python, or of a class of the user's own that can be imported. What a text
    computes stands in it as its source: Numba makes no texts of numbers.
    """
    exception = node.exc
    if exception is None:
        return node
    call = exception if isinstance(exception, ast.Call) else None
    kind = call.func if call else exception
    value = rewriter.value_of(kind)
    if not (isinstance(value, type) and issubclass(value, BaseException)) or (
        call and call.keywords
    ):
        rewriter.refuse(
            node,
            f"'{ast.unparse(node)}'",
            'raise a class of exceptions with a text, as in raise ValueError("...")',
        )
    raised = name(value.__name__)  # by its own name, whatever the kernel's module calls it
    if value.__module__ != "builtins":
        raised = name(rewriter.imported(node, value))
    if call is None:
        return ast.Raise(raised, None)
    arguments = [ast.Constant(text_of(rewriter, a)) for a in call.args]
    if arguments:
        rewriter.program.note_raise(arguments[0].value, rewriter.function)
    return ast.Raise(ast.Call(raised, arguments, []), None)


def asserted(rewriter: Rewriting, node: ast.Assert) -> ast.Assert:
    """An assertion; its message is as a raised text."""
    message = node.msg and ast.Constant(text_of(rewriter, node.msg))
    return ast.Assert(rewriter.visit(node.test), message)


def text_of(rewriter: Rewriting, node: ast.expr):
    """The constant that an argument of an exception is; where it is computed its text, with the
    source of what is filled in, in braces.
    """
    value = rewriter.value_of(node)
    if isinstance(node, ast.Constant):
        return node.value
    if is_known(value) and isinstance(value, (int, float, str)):
        return value
    return as_written(_template(node, "{", "}"))


def _template(node: ast.expr, before: str = "", after: str = "") -> str:
    """A text whose parts are made when the kernel runs, with their source in place of them."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_template(part) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return "{" + ast.unparse(node.value) + "}"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _template(node.left, "{", "}") + _template(node.right, "{", "}")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):  # "... %s" % x
        return _template(node.left, "{", "}")
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "format":
        return _template(node.func.value, "{", "}")
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "str" and node.args:
        return "{" + ast.unparse(node.args[0]) + "}"
    return before + ast.unparse(node) + after


OF_NUMBA = {
    np.argmax: "attempt to get argmax of an empty sequence",
    np.argmin: "attempt to get argmin of an empty sequence",
}
"""Functions left to Numba -> what they raise."""


class Sentences:
    """Errors that functions raise, and calls between functions, noted in the rewriting."""

    def __init__(self) -> None:
        self._raising: dict[str, list] = {text: [f] for f, text in OF_NUMBA.items()}
        self._calls: dict[object, list] = {}
        self._order: dict[str, int] = {}

    def add_raise(self, text: str, function) -> None:
        """A function of the engine's raises an exception with this text."""
        self._raising.setdefault(text, []).append(function)

    def add_call(self, function, caller, place: str, is_users: bool) -> None:
        """A kernel calls a function at a place; whether the kernel is a user's."""
        self._calls.setdefault(function, []).append((caller, place, is_users))
        self._order.setdefault(place, len(self._order))

    def places(self) -> dict[str, str]:
        """Text of an exception -> the places in users' kernels from which it may come."""
        by_text = {text: self._places_of(functions) for text, functions in self._raising.items()}
        return {text: " or ".join(places) for text, places in by_text.items() if places}

    def _places_of(self, functions: list) -> list[str]:
        todo, visited, places = list(functions), set(functions), set()
        while todo:
            for caller, place, is_users in self._calls.get(todo.pop(0), ()):
                if is_users:
                    places.add(place)
                elif caller not in visited:
                    visited.add(caller)
                    todo.append(caller)
        return sorted(places, key=self._order.__getitem__)
