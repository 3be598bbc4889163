"""An observer of new arrays, indices, integers and loops."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from sciprec.instruments.observing.observed import lift_observed
from sciprec.instruments.observing.watch import ADD, MUL, PLACES, POWER, SUB
from sciprec.precision.lifting.lifted import Lifted
from sciprec.precision.operations.operation import operation_named
from sciprec.precision.rewriting.observer import Hooks, Observer
from sciprec.precision.rewriting.syntax import LiftError, name, parse

_IMPORTS = """
from sciprec.instruments.observing.watch import both_of as sp_watch_both
from sciprec.instruments.observing.watch import containing as sp_watch_containing
from sciprec.instruments.observing.watch import expired as sp_watch_expired
from sciprec.instruments.observing.watch import filled as sp_watch_filled
from sciprec.instruments.observing.watch import fitting as sp_watch_fitting
from sciprec.instruments.observing.watch import fitting_of as sp_watch_fitting_of
from sciprec.instruments.observing.watch import inside as sp_watch_inside
from sciprec.instruments.observing.watch import left_of as sp_watch_left
from sciprec.instruments.observing.watch import right_of as sp_watch_right
from sciprec.instruments.observing.watch import seen as sp_watch_seen
"""
_SHAPES = ("shape", "strides")
_COMPUTING = {"add": ADD, "sub": SUB, "mul": MUL, "pow": POWER, "neg": MUL, "abs": MUL}
"""Operations whose result may not fit into integers -> what is looked at; of a sign or an absolute
value the product with -1.
"""
STOPPED = "sciprec: too many steps"


@dataclass(frozen=True)
class WatchedPlace:
    """A place in the source of a kernel: where an array is made, an element is used, or integers
    are computed or stored.

    Attributes:
        part: the expression, where it stands on one line; else "".
    """

    function: str
    file: str
    line: int
    column: int
    use: str
    text: str
    part: str


class WatchPlaces:
    """The numbers of places, the same in every program of a check."""

    def __init__(self):
        self.numbered: list[WatchedPlace] = []
        self._numbers: dict[WatchedPlace, int] = {}

    def number(self, place: WatchedPlace) -> int:
        """The number of a place; a new one if it is not known."""
        if place not in self._numbers:
            if len(self.numbered) == PLACES:
                raise LiftError(
                    f"'{place.function}' and what is lifted with it compute and use arrays in more "
                    f"than {PLACES} places; check the kernels that are called one by one"
                )
            self._numbers[place] = len(self.numbered)
            self.numbered.append(place)
        return self._numbers[place]


class _Looks(Hooks):
    """A look at every new array, index, operation, store and iteration of a function: a call around
    what is looked at, or before it.
    """

    def __init__(self, places: WatchPlaces, rewriter):
        self.places, self.around = places, {ast.Call: self._called}
        self.source = rewriter.program.sources[rewriter.function.__code__].splitlines()

    def _called(self, rewriter, node, rewrite):
        result = rewrite(node)
        function = rewriter.value_of(node.func)
        if function is not np.empty and function is not np.empty_like:
            return result
        return ast.Call(name("sp_watch_filled"), [result, self._place(rewriter, node, "made")], [])

    def loaded(self, rewriter, node, read):
        """Look at an element as it is read: it may never have been written."""
        return ast.Call(name("sp_watch_seen"), [read, self._place(rewriter, node, "read")], [])

    def element(self, rewriter, node, array, index):
        """Look at each index before it is used: whether it is within its axis.

        A constant index alone is looked at where the array is; slices, None, an ellipsis, the
        indices of shapes and those of what a call gives are not looked at. Behind an ellipsis axes
        count from the last.
        """
        owner = node.value
        if isinstance(owner, ast.Attribute) and owner.attr in _SHAPES:
            return array, index
        place, called = self._place(rewriter, node, "index"), not _is_pure(owner)
        if not isinstance(index, ast.Tuple):
            if isinstance(index, ast.Constant) and index.value in (None, ...):
                return array, index
            if _is_constant(index):
                return ast.Call(name("sp_watch_containing"), [array, index, place], []), index
            return array, index if called else self._inside(array, index, 0, place)
        if called:
            return array, index
        items, axis = list(index.elts), 0
        for n, item in enumerate(items):
            if isinstance(item, ast.Constant) and item.value is ...:
                axis = -sum(not _is_none(i) for i in items[n + 1 :])
            elif not _is_none(item):
                items[n] = self._inside(array, item, axis, place)
                axis += 1
        return array, ast.Tuple(items, index.ctx)

    def _inside(self, array, index: ast.expr, axis: int, place: ast.expr) -> ast.expr:
        if isinstance(index, ast.Slice):
            return index
        arguments = [array, index, ast.Constant(axis), place]
        return ast.Call(name("sp_watch_inside"), arguments, [])

    def operands(self, rewriter, operation, node, operands, named=""):
        """Look at operands of integers, whose result may not fit, and at what is stored."""
        stem, _, literal = operation.removesuffix(")").partition("(")
        row, place = operation_named(named or operation), partial(self._place, rewriter, node)
        computed, in_place = row.like or row.name, (named or operation).startswith("i")
        if row.moves == "store":
            return self._stored(place, *operands)
        if computed not in _COMPUTING or stem == "times" and not literal.lstrip("-").isdecimal():
            return operands
        if row.arity == 1 or stem in ("power", "times"):
            second = ast.Constant(int(literal or -1))
            return self._computed(computed, in_place, place, *operands, second)[:1]
        return self._computed(computed, in_place, place, *operands)

    def _stored(self, place, container: ast.expr, value: ast.expr) -> Sequence[ast.expr]:
        looked = [container, value, place("store")]
        if _is_pure(container):
            return [container, ast.Call(name("sp_watch_fitting"), looked, [])]
        both = ast.Call(name("sp_watch_fitting_of"), looked, [])
        return [ast.Starred(both, ast.Load())]

    def _computed(
        self, stem: str, in_place: bool, place, left: ast.expr, right: ast.expr
    ) -> Sequence[ast.expr]:
        """Two operands, with a call around one of them, or both, that looks at both."""
        if _is_constant(left) and _is_constant(right):
            return [left, right]
        like = 1 if stem == "abs" else True if in_place or stem == "neg" else None
        looked = [left, right, ast.Constant(_COMPUTING[stem]), ast.Constant(like)]
        looked.append(place("operation"))
        if _is_pure(right) and not _is_constant(left):
            return [ast.Call(name("sp_watch_left"), looked, []), right]
        if _is_pure(left):
            return [left, ast.Call(name("sp_watch_right"), looked, [])]
        return [ast.Starred(ast.Call(name("sp_watch_both"), looked, []), ast.Load())]

    def loop(self, rewriter, node, loop):
        """Count iterations."""
        check = f"if sp_watch_expired():\n    raise RuntimeError({STOPPED!r})"
        loop.body = parse(check).body + loop.body

    def _place(self, rewriter, node, use: str) -> ast.Constant:
        line = getattr(node, "lineno", 1)
        source = self.source
        text = source[line - 1].strip() if line <= len(source) else ""
        marked = node.target if isinstance(node, ast.AugAssign) else node
        first, last = getattr(marked, "col_offset", 0), getattr(marked, "end_col_offset", 0)
        part, on_one_line = "", getattr(marked, "end_lineno", 0) == line
        if on_one_line and not isinstance(marked, (ast.stmt, ast.Call)):
            part = source[line - 1].encode()[first:last].decode()
        file, first_line = rewriter.file, rewriter.first + line - 1
        place = WatchedPlace(rewriter.label, file, first_line, first, use, text, part)
        return ast.Constant(self.places.number(place))


def watcher(places: WatchPlaces) -> Observer:
    """An observer that has a kernel watched; the engine's own reductions are left as they are."""
    return Observer(partial(_Looks, places), _IMPORTS, "sp_watch_")


def lift_watched(kernel, backend, places: WatchPlaces, seed: int = 0) -> Lifted:
    """A kernel lifted as by `lift`, watched. Functions that are given to it are watched, too."""
    return lift_observed(kernel, backend, [watcher(places)], seed)


def _is_constant(node) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _is_constant(node.operand)
    return isinstance(node, ast.Constant)


def _is_pure(node) -> bool:
    """Whether an expression can be evaluated twice: it calls nothing."""
    return not any(isinstance(n, (ast.Call, ast.NamedExpr)) for n in ast.walk(node))


def _is_none(node) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
