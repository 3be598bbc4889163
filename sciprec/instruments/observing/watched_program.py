"""Instrumented programs: a kernel lifted as ever, its new arrays, indices, integers and loops
watched.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import partial

import numpy as np

from sciprec.instruments.observing.instrumented import InstrumentedProgram, lift_instrumented
from sciprec.instruments.observing.watch import ADD, MUL, PLACES, POWER, SUB
from sciprec.precision.lifting.lifted import Lifted
from sciprec.precision.rewriting.rewrite import Rewriter
from sciprec.precision.rewriting.syntax import LiftError, name, parse, static_value
from sciprec.precision.rounding.variant import FLOATS

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

sp_prange = range
"""
_SHAPES = ("shape", "strides")
_STORING = ("leave", "stored", "put")
_COMPUTING = {
    "add": ADD, "sub": SUB, "mul": MUL, "pow": POWER, "iadd": ADD, "isub": SUB, "imul": MUL,
    "ipow": POWER, "power": POWER, "power_of": POWER, "ipower_of": POWER, "neg": MUL, "abs": MUL,
    "product": MUL, "accumulate": ADD, "subtract": SUB,
}  # fmt: skip
"""Operations whose result may not fit into integers -> what is looked at; of a sign or an absolute
value the product with -1.
"""
_OF_ONE = ("power", "neg", "abs")
STOPPED = "sciprec: too many steps"


@dataclass(frozen=True)
class Place:
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
                    f"'{place.function}' and what is lifted with it compute and use arrays in more "
                    f"than {PLACES} places; check the kernels that are called one by one"
                )
            self._numbers[place] = len(self.known)
            self.known.append(place)
        return self._numbers[place]


class WatchedRewriter(Rewriter):
    """Rewrites a kernel as ever, and has every new array, index, operation, store and iteration
    watched: each method gives what the base class makes, with a call around it or before it.
    """

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

        A constant index alone is looked at where the array is; slices, None, an ellipsis, the
        indices of shapes and those of what a call gives are not looked at. Behind an ellipsis axes
        count from the last.
        """
        value, index = super().container(node)
        owner = node.value
        if isinstance(owner, ast.Attribute) and owner.attr in _SHAPES:
            return value, index
        place, called = self._place(node, "index"), not _is_pure(owner)
        if not isinstance(index, ast.Tuple):
            if isinstance(index, ast.Constant) and index.value in (None, ...):
                return value, index
            if _is_constant(index):
                return ast.Call(name("sp_watch_containing"), [value, index, place], []), index
            return value, index if called else self._inside(value, index, 0, place)
        if called:
            return value, index
        items, axis = list(index.elts), 0
        for n, item in enumerate(items):
            if isinstance(item, ast.Constant) and item.value is ...:
                axis = -sum(not _is_none(i) for i in items[n + 1 :])
            elif not _is_none(item):
                items[n] = self._inside(value, item, axis, place)
                axis += 1
        return value, ast.Tuple(items, index.ctx)

    def _inside(self, array, index: ast.expr, axis: int, place: ast.expr) -> ast.expr:
        if isinstance(index, ast.Slice):
            return index
        arguments = [array, index, ast.Constant(axis), place]
        return ast.Call(name("sp_watch_inside"), arguments, [])

    def op(self, operation, node, *operands, array="", named=""):
        """An operation of the backend, with a look at its operands or at what it stores: they may
        be integers whose result does not fit.
        """
        stem, _, literal = operation.removesuffix(")").partition("(")
        in_place = (named or stem).startswith("i")
        stem = "subtract" if "subtract" in named else stem
        if stem in _STORING:
            operands = self._stored(node, *operands)
        elif stem in _OF_ONE:
            second = ast.Constant(int(literal) if literal else -1)
            operands = self._computed(stem, in_place, node, *operands, second)[:1]
        elif stem in _COMPUTING:
            operands = self._computed(stem, in_place, node, *operands)
        return super().op(operation, node, *operands, array=array, named=named)

    def by_power_of_two(self, node):
        made = super().by_power_of_two(node)
        factors = [f for f in map(self.literal_power, (node.left, node.right)) if f is not None]
        if made is not None and isinstance(node.op, ast.Mult) and isinstance(factors[0], int):
            factor = ast.Constant(factors[0])
            made.args = [self._computed("mul", False, node, *made.args, factor)[0]]
        return made

    def _stored(self, node, container: ast.expr, value: ast.expr) -> list[ast.expr]:
        place = self._place(node, "store")
        if _is_pure(container):
            fitting = ast.Call(name("sp_watch_fitting"), [container, value, place], [])
            return [container, fitting]
        both = ast.Call(name("sp_watch_fitting_of"), [container, value, place], [])
        return [ast.Starred(both, ast.Load())]

    def _computed(
        self, stem: str, in_place: bool, node, left: ast.expr, right: ast.expr
    ) -> list[ast.expr]:
        """Two operands, with a call around one of them, or both, that looks at both."""
        if _is_constant(left) and _is_constant(right):
            return [left, right]
        like = 1 if stem == "abs" else True if in_place or stem == "neg" else None
        looked = [left, right, ast.Constant(_COMPUTING[stem]), ast.Constant(like)]
        looked.append(self._place(node, "operation"))
        if _is_pure(right) and not _is_constant(left):
            return [ast.Call(name("sp_watch_left"), looked, []), right]
        if _is_pure(left):
            return [left, ast.Call(name("sp_watch_right"), looked, [])]
        return [ast.Starred(ast.Call(name("sp_watch_both"), looked, []), ast.Load())]

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
        written = node.target if isinstance(node, ast.AugAssign) else node
        first, last = getattr(written, "col_offset", 0), getattr(written, "end_col_offset", 0)
        part, whole = "", getattr(written, "end_lineno", 0) == line
        if whole and not isinstance(written, (ast.stmt, ast.Call)):
            part = source[line - 1].encode()[first:last].decode()
        number = self.program.watched.number(
            Place(self.label, self.file, self.first + line - 1, first, use, text, part)
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


def _is_pure(node) -> bool:
    """Whether an expression can be evaluated twice: it calls nothing."""
    return not any(isinstance(n, (ast.Call, ast.NamedExpr)) for n in ast.walk(node))


def _is_none(node) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
