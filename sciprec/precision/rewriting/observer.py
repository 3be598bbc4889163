"""Hooks: calls put into kernels where they are rewritten. Observers have some that round nothing.

A program takes any number of them, in any order; the first one stands nearest to what is rewritten.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Rewrite = Callable[[Any], Any]


class Hooks:
    """Calls that are put into one function, whose state it holds; here none.

    Each method takes the rewriter that is at work: that of a comprehension is a copy. Those of
    `Numbers` may add sites by operations of their own, which pass through the hooks, too. Those of
    observers may not, or a random arithmetic would draw other bits.

    Attributes:
        around: type of a node -> method(rewriter, node, rewrite), which returns what the node
            becomes: of a statement one or a list.
    """

    around: Mapping[type, Callable[[Any, Any, Rewrite], Any]] = {}

    def operands(
        self, rewriter, operation: str, node, operands: Sequence[ast.expr], named: str = ""
    ) -> Sequence[ast.expr]:
        """Return the operands of an operation of the backend: one by one, or as a starred call that
        is given them before anything else.
        """
        return operands

    def result(self, rewriter, operation: str, node, call: ast.expr) -> ast.expr:
        """Return the call of an operation, whose site is the last one so far, or one around it."""
        return call

    def loaded(self, rewriter, node: ast.Subscript, read: ast.expr) -> ast.expr:
        """Return an element as it is read, before it is rounded."""
        return read

    def element(
        self, rewriter, node: ast.Subscript, array: ast.expr, index: ast.expr
    ) -> tuple[ast.expr, ast.expr]:
        """Return the array and the index of an element that is read or written."""
        return array, index

    def begun(self, rewriter, node: ast.For | ast.While) -> list[ast.stmt]:
        """Return statements at the beginning of a loop's body, which is rewritten next."""
        return []

    def loop(self, rewriter, node: ast.For | ast.While, loop: ast.For | ast.While) -> None:
        """Change a rewritten loop, whose body is finished."""

    def defined(self, rewriter, function: ast.FunctionDef) -> None:
        """Change the rewritten function, which is finished."""


@dataclass(frozen=True)
class Observer:
    """Calls put into a kernel and what it calls. They work on tables of this process, which one
    thread writes: observed programs are not kept, and `prange` is `range` in them.

    Args:
        hooks: a function's rewriter -> the calls put into it.
        imports: lines at the head of the generated module, of names that begin with `prefix`.
        prefix: of the functions that are called.
    """

    hooks: Callable[[Any], Hooks]
    imports: str
    prefix: str
