"""Programs with notes: a kernel lifted as ever, which tells the values of some variables and lines.

A name is a variable or argument of the kernel itself: of a number each value that it is given is
noted, of an array what it holds whenever a step ends. A line is any of the kernel or of what it
calls, and gives what it assigns, stores or returns.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from numba import prange

from sciprec.foundation.errors import InputError, meant
from sciprec.instruments.observing.instrumented import InstrumentedProgram, lift_instrumented
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.lifting.lifted import Lifted
from sciprec.precision.rewriting.own_names import as_written
from sciprec.precision.rewriting.rewrite import Rewriter
from sciprec.precision.rewriting.syntax import name, parse, static_value, stored_names
from sciprec.precision.rounding.variant import FLOATS

_IMPORTS = """
from sciprec.instruments.observing.noted_values import begun as sp_note_begun
from sciprec.instruments.observing.noted_values import content as sp_note_content
from sciprec.instruments.observing.noted_values import end as sp_note_end
from sciprec.instruments.observing.noted_values import given as sp_note_given
from sciprec.instruments.observing.noted_values import is_noted as sp_note_is_noted
from sciprec.instruments.observing.noted_values import next_step as sp_note_next_step
from sciprec.instruments.observing.noted_values import number as sp_note_number

sp_prange = range
"""
_GIVES = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)
LINE = "line:"


@dataclass(frozen=True)
class Watched:
    """What is watched of a kernel: a variable, or a line.

    Args:
        text: as it was asked for.
        name: of the variable, or "".
        line: its number in the file, or 0.
    """

    text: str
    name: str = ""
    line: int = 0

    @classmethod
    def read(cls, text: str) -> Watched:
        """What "h" or "line:38" names.

        Raises:
            InputError: the number of a line is none.
        """
        if not text.startswith(LINE):
            return cls(text, name=text)
        number = text.removeprefix(LINE).strip()
        if not number.isdecimal() or not number.isascii() or int(number) == 0:
            raise InputError(
                f"watch names '{text}'; accepted: {LINE} and the number of a line in the kernel's "
                "file, as in line:38, or the name of a variable"
            )
        return cls(text, line=int(number))


class _NotingRewriter(Rewriter):
    """Rewrites a kernel as ever, and puts notes behind statements and where steps end."""

    def __init__(self, program, function, tree: ast.FunctionDef, namespace: dict):
        super().__init__(program, function, tree, namespace)
        self.is_kernel = function is program.kernel and program.tree in (None, tree)
        self.depth = 0
        self.bound = set(self.local) - stored_names(tree.body)
        self.watched: dict[str, int] = {}
        if self.is_kernel:
            program.tree = tree
        if function is program.kernel:
            local = {as_written(n): n for n in self.local}
            known = {w.name: number for number, w in enumerate(program.watched) if w.name}
            self.watched = {local[n]: number for n, number in known.items() if n in local}
            program.met |= set(self.watched.values())
            program.names |= {n for n in local if not n.startswith("sp_")}
        self.lines = self._lines()
        for lines in self.lines.values():
            program.met |= set(lines)

    def _lines(self) -> dict[ast.stmt, list[int]]:
        """The statements that give values on watched lines, by the numbers of these."""
        found: dict[ast.stmt, list[int]] = {}
        statements = [n for n in ast.walk(self.tree) if isinstance(n, ast.stmt)]
        own = [n for n in statements if hasattr(n, "end_lineno") and n is not self.tree]
        nested = [n for n in own if isinstance(n, ast.FunctionDef)]
        inside = {id(s) for f in nested for s in ast.walk(f)}
        own = [n for n in own if id(n) not in inside]
        if self.function.__code__.co_filename != self.program.kernel.__code__.co_filename:
            return found
        first = self.first
        for node in own:
            if isinstance(node, _GIVES):
                self.program.giving |= {first + node.lineno - 1}
        for number, watched in enumerate(self.program.watched):
            line = watched.line - first + 1
            at = [n for n in own if watched.line and n.lineno <= line <= n.end_lineno]
            innermost = min(at, key=lambda n: n.end_lineno - n.lineno, default=None)
            if isinstance(innermost, _GIVES):
                found.setdefault(innermost, []).append(number)
        return found

    # ---- statements ----------------------------------------------------------------------------

    def visit(self, node):
        """Any node; behind a statement that gives watched values they are noted."""
        made = super().visit(node)
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            self.bound |= stored_names([node])
        if not isinstance(node, _GIVES):
            return made
        lines = self.lines.get(node, [])
        if isinstance(node, ast.Return):
            return self._returned(made, lines)
        statements = made if isinstance(made, list) else [made]
        if self.watched or lines:
            notes = [note for one in statements for note in self._notes(one, lines)]
            statements = [*statements, *notes]
        return statements

    def _notes(self, made: ast.stmt, lines: Sequence[int]) -> list[ast.stmt]:
        """Notes of what a rewritten assignment has assigned."""
        if not isinstance(made, (ast.Assign, ast.AugAssign)):
            return []
        targets = made.targets if isinstance(made, ast.Assign) else [made.target]
        found = []
        for target in targets:
            identifier = getattr(target, "id", "")
            if identifier in self.watched:
                number = self.watched[identifier]
                found.append(_call("sp_note_number", name(identifier), number))
            generated = identifier.startswith("sp_") and as_written(identifier) == identifier
            if generated or isinstance(target, ast.Tuple):
                continue
            read: Any = copy.deepcopy(target)
            read.ctx = ast.Load()
            found += [_call("sp_note_given", read, number) for number in lines]
        return found

    def _returned(self, made: ast.Return, lines: Sequence[int]) -> ast.Return:
        """A return whose value is noted."""
        for number in lines if made.value is not None else ():
            wraps = self.program.rows and isinstance(made.value, ast.Call)
            if wraps:
                made.value.args[0] = _call("sp_note_given", made.value.args[0], number).value
            else:
                made.value = _call("sp_note_given", made.value, number).value
        return made

    def visit_If(self, node):
        """A branch: what it binds is bound in it alone."""
        before = set(self.bound)
        made = super().visit_If(node)
        self.bound = before
        return made

    def visit_Try(self, node):
        """The same of what may be left early."""
        before = set(self.bound)
        made = self.generic_visit(node)
        self.bound = before
        return made

    # ---- steps ---------------------------------------------------------------------------------

    def visit_For(self, node):
        """A loop; the passes of an outermost one of the kernel are steps."""
        made = self._looped(node, super().visit_For)
        target = getattr(node.target, "id", "")
        if target in self.watched and isinstance(made[-1], ast.For):
            made[-1].body.insert(0, _call("sp_note_number", name(target), self.watched[target]))
        return made

    def visit_While(self, node):
        """A loop with a condition."""
        return self._looped(node, super().visit_While)

    def _looped(self, node, rewritten: Callable[[Any], Any]) -> list[ast.stmt]:
        outermost = self.is_kernel and self.depth == 0 and not self._is_parallel(node)
        begins = self._step_ends("sp_note_next_step(0)") if outermost else []
        before = set(self.bound)
        self.depth += 1
        made = rewritten(node)
        self.depth -= 1
        made = made if isinstance(made, list) else [made]
        bound, self.bound = self.bound, before
        if not outermost:
            return made
        loop = next(n for n in reversed(made) if isinstance(n, (ast.For, ast.While)))
        ends = _Continues(lambda: self._step_ends("sp_note_end()"))
        body = ends.block(loop.body)
        self.bound = bound
        body += self._step_ends("sp_note_end()")
        self.bound = before
        loop.body = [*begins, *body]
        return [*made, *self._step_ends("sp_note_next_step(1)")]

    def _is_parallel(self, node) -> bool:
        called = node.iter.func if isinstance(getattr(node, "iter", None), ast.Call) else None
        known = static_value(called, self.namespace, self.local) if called else None
        return known is prange and not (self.parallel or self.serial)

    def _step_ends(self, then: str) -> list[ast.stmt]:
        """Notes of what arrays hold, where the step is noted."""
        held = [_call("sp_note_content", name(n), number) for n, number in self._arrays().items()]
        test = parse("if sp_note_is_noted():\n    pass").body[0]
        test.body = held
        return [*([test] if held else []), *parse(then).body]

    def _arrays(self) -> dict[str, int]:
        """Watched names that are bound in any case."""
        return {n: number for n, number in self.watched.items() if n in self.bound}

    def definition(self, identifier: str, defaults: tuple = ()) -> ast.FunctionDef:
        """The rewritten function; the kernel itself tells where it begins and ends."""
        if not self.is_kernel:
            return super().definition(identifier, defaults)
        made = super().definition(identifier, defaults)
        made.body = _Returns(self.fresh, lambda: self._step_ends("sp_note_end()")).block(made.body)
        if not isinstance(made.body[-1], ast.Return):
            made.body += self._step_ends("sp_note_end()")
        made.body[:0] = parse("sp_note_begun()").body
        return made


class _Exits(ast.NodeTransformer):
    """Puts the end of a step before statements that leave it.

    Args:
        ends: makes the statements of that end.
    """

    def __init__(self, ends: Callable[[], list[ast.stmt]]):
        self.ends = ends

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """A rewritten block."""
        out: list[ast.stmt] = []
        for statement in body:
            made = self.visit(statement)
            out += made if isinstance(made, list) else [made]
        return out

    def visit_FunctionDef(self, node):
        """An inner function is left for the kernel."""
        return node


class _Continues(_Exits):
    """The statements that leave a pass of a loop."""

    def visit_For(self, node):
        """Those of an inner loop leave that."""
        return node

    visit_While = visit_For

    def visit_Continue(self, node):
        """The step ends here."""
        return [*self.ends(), node]


class _Returns(_Exits):
    """Returns from the kernel."""

    def __init__(self, fresh: Callable[[str], str], ends: Callable[[], list[ast.stmt]]):
        super().__init__(ends)
        self.fresh = fresh

    def visit_Return(self, node):
        """The value is made before the step ends."""
        if node.value is None:
            return [*self.ends(), node]
        held = self.fresh("returned")
        made = ast.Assign([ast.Name(held, ast.Store())], node.value)
        return [made, *self.ends(), ast.Return(name(held))]


class NotingProgram(InstrumentedProgram):
    """A program that notes what is watched.

    Attributes:
        met: numbers of what was found in the source.
        names: variables and arguments of the kernel.
        giving: lines that give values.
        tree: the kernel's definition.
    """

    imports, instruments = _IMPORTS, _NotingRewriter

    def __init__(
        self, kernel, backend, path, trust_inputs, variant=FLOATS, roles=None, *,
        watched: Sequence[Watched],
    ):  # fmt: skip
        self.watched, self.tree = tuple(watched), None
        self.met: set[int] = set()
        self.names: set[str] = set()
        self.giving: set[int] = set()
        super().__init__(kernel, backend, path, trust_inputs, variant, roles)


def require_found(kernel, watched: Sequence[Watched]) -> None:
    """Make sure that a kernel has what is to be watched.

    Raises:
        InputError: it has no such variable, or a line gives no value.
    """
    program = NotingProgram(kernel, resolve_backend("fp64"), "auto", False, watched=watched)
    missing = [one for number, one in enumerate(watched) if number not in program.met]
    names = [one.name for one in missing if one.name]
    if names:
        known = sorted(program.names)
        near = dict.fromkeys(meant(one, known) for one in names)
        what = "is no variable" if len(names) == 1 else "are no variables"
        raise InputError(
            f"watch names {', '.join(map(repr, names))}, which {what} of kernel "
            f"'{kernel.__name__}'; known: {', '.join(known)}{''.join(near)}; of a kernel that it "
            "calls watch a line, as in line:38"
        )
    for one in missing:
        near_it = sorted(program.giving, key=lambda line: abs(line - one.line))[:3]
        raise InputError(
            f"watch names '{one.text}', where kernel '{kernel.__name__}' and what it calls give "
            f"no value; lines near it that do: {', '.join(map(str, sorted(near_it))) or 'none'}"
        )


def lift_noting(kernel, backend: Backend, watched: Sequence[Watched]) -> Lifted:
    """A kernel lifted as by `lift`, with notes of what is watched."""

    def program(*args, **more) -> NotingProgram:
        return NotingProgram(*args, **more, watched=watched)

    return lift_instrumented(kernel, backend, program)


def _call(function: str, value: ast.expr, number: int) -> ast.Expr:
    """A statement that notes a value for a place."""
    return ast.Expr(ast.Call(name(function), [value, ast.Constant(number)], []))


