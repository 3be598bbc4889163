"""Instrumented programs: a kernel lifted as ever, its new arrays, indices and loops watched."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import partial

import numpy as np

from sciprec.diagnosis.instrumented import InstrumentedProgram, lift_instrumented
from sciprec.diagnosis.watch import PLACES
from sciprec.precision.lifting.lifted import Lifted
from sciprec.precision.rewriting.rewrite import Rewriter
from sciprec.precision.rewriting.syntax import LiftError, name, parse, static_value
from sciprec.precision.rounding.variant import FLOATS

_IMPORTS = """
from sciprec.diagnosis.watch import containing as sp_watch_containing
from sciprec.diagnosis.watch import expired as sp_watch_expired
from sciprec.diagnosis.watch import filled as sp_watch_filled
from sciprec.diagnosis.watch import inside as sp_watch_inside
from sciprec.diagnosis.watch import seen as sp_watch_seen

sp_prange = range
"""
_SHAPES = ("shape", "strides")
STOPPED = "sciprec: too many steps"


@dataclass(frozen=True)
class Place:
    """A place in the source of a kernel: where an array is made or an element is used."""

    function: str
    file: str
    line: int
    column: int
    use: str
    text: str


class Places:
    """The numbers of places, the same in every program of a check."""

    def __init__(self):
        self.known: list[Place] = []
        self._numbers: dict[Place, int] = {}

    def number(self, place: Place) -> int:
        """The number of a place; a new one if it is not known."""
        if place not in self._numbers:
            if len(self.known) == PLACES:
                raise LiftError(
                    f"'{place.function}' and what is lifted with it use arrays in more than "
                    f"{PLACES} places; check the kernels that are called one by one"
                )
            self._numbers[place] = len(self.known)
            self.known.append(place)
        return self._numbers[place]


class WatchedRewriter(Rewriter):
    """Rewrites a kernel as ever, and has every new array, index and iteration watched: each method
    gives what the base class makes, with a call around it or before it.
    """

    comprehending = False

    def visit_Call(self, node):
        made = super().visit_Call(node)
        function = static_value(node.func, self.namespace, self.local)
        if function is not np.empty and function is not np.empty_like:
            return made
        return ast.Call(name("sp_watch_filled"), [made, self._place(node, "made")], [])

    def looked_at(self, node, read):
        """An element as it is read, with a look at it: it may never have been written."""
        return ast.Call(name("sp_watch_seen"), [read, self._place(node, "read")], [])

    def is_made(self, container):
        """Whether a call other than of what watches makes it."""
        called = [n.func for n in ast.walk(container) if isinstance(n, ast.Call)]
        return not all(getattr(f, "id", "").startswith("sp_watch_") for f in called)

    def container(self, node):
        """The array and the index of an element, with a look at each index before it is used:
        whether it is within its axis.

        A constant index alone is looked at where the array is; slices, None, an ellipsis and the
        indices of shapes are not looked at. Behind an ellipsis axes count from the last.
        """
        value, index = super().container(node)
        owner = node.value
        if isinstance(owner, ast.Attribute) and owner.attr in _SHAPES:
            return value, index
        place = self._place(node, "index")
        if not isinstance(index, ast.Tuple):
            if isinstance(index, ast.Constant) and index.value in (None, ...):
                return value, index
            if _is_constant(index):
                return ast.Call(name("sp_watch_containing"), [value, index, place], []), index
            value, again = self._twice(value, owner)
            return value, self._inside(again, index, 0, place)
        value, again = self._twice(value, owner)
        items, axis = list(index.elts), 0
        for n, item in enumerate(items):
            if isinstance(item, ast.Constant) and item.value is ...:
                axis = -sum(not _is_none(i) for i in items[n + 1 :])
            elif not _is_none(item):
                items[n] = self._inside(again, item, axis, place)
                axis += 1
        return value, ast.Tuple(items, index.ctx)

    def _inside(self, array, index: ast.expr, axis: int, place: ast.expr) -> ast.expr:
        if array is None or isinstance(index, ast.Slice):
            return index
        arguments = [array, index, ast.Constant(axis), place]
        return ast.Call(name("sp_watch_inside"), arguments, [])

    def _twice(self, value: ast.expr, owner: ast.expr) -> tuple[ast.expr, ast.expr | None]:
        """An array's expression, and one that gives the same array after it; None where there is
        none: comprehensions have no names of their own.
        """
        if not any(isinstance(n, ast.Call) for n in ast.walk(owner)):
            return value, value
        if self.comprehending:
            return value, None
        held = self.fresh("held")
        return ast.NamedExpr(ast.Name(held, ast.Store()), value), name(held)

    def visit_ListComp(self, node):
        before, self.comprehending = self.comprehending, True
        made = super().visit_ListComp(node)
        self.comprehending = before
        return made

    def visit_For(self, node):
        return self._counted(super().visit_For(node))

    def visit_While(self, node):
        return self._counted(super().visit_While(node))

    def _counted(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        loop = statements[-1]
        if isinstance(loop, (ast.For, ast.While)):
            loop.body = parse(
                f"if sp_watch_expired():\n    raise RuntimeError({STOPPED!r})"
            ).body + loop.body
        return statements

    def _place(self, node, use: str) -> ast.Constant:
        line = getattr(node, "lineno", 1)
        source = self.program.sources[self.function.__code__].splitlines()
        text = source[line - 1].strip() if line <= len(source) else ""
        column = getattr(node, "col_offset", 0)
        number = self.program.watched.number(
            Place(self.label, self.file, self.first + line - 1, column, use, text)
        )
        return ast.Constant(number)


class WatchedProgram(InstrumentedProgram):
    """A program whose kernels are watched; the engine's own reductions are left as they are."""

    imports, instruments = _IMPORTS, WatchedRewriter

    def __init__(
        self, kernel, backend, path, trust_inputs, variant=FLOATS, roles=None, *, watched: Places
    ):
        self.watched = watched
        super().__init__(kernel, backend, path, trust_inputs, variant, roles)


def lift_watched(kernel, backend, places: Places, seed: int = 0) -> Lifted:
    """A kernel lifted as by `lift`, watched. Functions that are given to it are watched, too."""
    return lift_instrumented(kernel, backend, partial(WatchedProgram, watched=places), seed)


def _is_constant(node) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _is_constant(node.operand)
    return isinstance(node, ast.Constant)


def _is_none(node) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
