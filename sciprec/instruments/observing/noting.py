"""An observer that notes the values of some variables and lines of a kernel.

A name is a variable or argument of the kernel itself: of a number each value that it is given is
noted, of an array what it holds whenever a step ends. A line is any of the kernel or of what it
calls, and gives what it assigns, stores or returns.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sciprec.foundation.errors import InputError, meant
from sciprec.instruments.observing.observed import lift_observed
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.lifting.lifted import Lifted
from sciprec.precision.rewriting.build import Build
from sciprec.precision.rewriting.observer import Hooks, Observer
from sciprec.precision.rewriting.own_names import as_written
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.statements import named_range
from sciprec.precision.rewriting.syntax import name, parse, stored_names

_IMPORTS = """
from sciprec.instruments.observing.noted_values import begun as sp_note_begun
from sciprec.instruments.observing.noted_values import content as sp_note_content
from sciprec.instruments.observing.noted_values import end as sp_note_end
from sciprec.instruments.observing.noted_values import given as sp_note_given
from sciprec.instruments.observing.noted_values import is_noted as sp_note_is_noted
from sciprec.instruments.observing.noted_values import loop as sp_note_loop
from sciprec.instruments.observing.noted_values import next_step as sp_note_next_step
from sciprec.instruments.observing.noted_values import number as sp_note_number
"""
_GIVES = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)
LINE = "line:"


@dataclass(frozen=True)
class Watched:
    """A variable or a line of a kernel that is watched.

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
        """Read the name of a variable, as "h", or of a line, as "line:38".

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


@dataclass
class SourceNames:
    """The names and lines of a kernel's source.

    Args:
        watched: numbers of what is watched and stands in the source.
        names: variables and arguments of the kernel.
        giving: lines that give values.
    """

    watched: set[int] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    giving: set[int] = field(default_factory=set)


class _Notes(Hooks):
    """Notes behind the statements of a function, and where steps end."""

    def __init__(self, kernel, to_watch: Sequence[Watched], findings: SourceNames, rewriter):
        program, function, tree = rewriter.program, rewriter.function, rewriter.tree
        self.is_kernel = function is kernel and tree is program.tree
        self.bound = set(rewriter.local) - stored_names(tree.body)
        self.loops: list[tuple[set[str], list[ast.stmt] | None]] = []
        self.watched: dict[str, int] = {}
        if function is kernel:
            local = {as_written(n): n for n in sorted(rewriter.local)}
            numbers = {w.name: number for number, w in enumerate(to_watch) if w.name}
            self.watched = {local[n]: number for n, number in numbers.items() if n in local}
            findings.watched |= set(self.watched.values())
            findings.names |= {n for n in local if not n.startswith("sp_")}
        self.lines: dict[ast.stmt, list[int]] = {}
        if function.__code__.co_filename == kernel.__code__.co_filename:
            self._find_lines(to_watch, findings, rewriter)
        self.around = dict.fromkeys((ast.Assign, ast.AugAssign, ast.AnnAssign), self._assigned)
        self.around |= {ast.Return: self._returned}
        self.around |= dict.fromkeys((ast.If, ast.Try), self._branched)
        self.around |= dict.fromkeys((ast.For, ast.While), self._looped)

    def _find_lines(self, to_watch: Sequence[Watched], findings: SourceNames, rewriter) -> None:
        """Find the statements that give values on watched lines, by the numbers of these."""
        statements = [n for n in ast.walk(rewriter.tree) if isinstance(n, ast.stmt)]
        candidates = [n for n in statements if hasattr(n, "end_lineno") and n is not rewriter.tree]
        nested = [n for n in candidates if isinstance(n, ast.FunctionDef)]
        inside = {id(s) for f in nested for s in ast.walk(f)}
        candidates = [n for n in candidates if id(n) not in inside]
        first = rewriter.first
        findings.giving |= {first + n.lineno - 1 for n in candidates if isinstance(n, _GIVES)}
        for number, watched in enumerate(to_watch):
            line = watched.line - first + 1
            at = [n for n in candidates if watched.line and n.lineno <= line <= n.end_lineno]
            innermost = min(at, key=lambda n: n.end_lineno - n.lineno, default=None)
            if isinstance(innermost, _GIVES):
                self.lines.setdefault(innermost, []).append(number)
                findings.watched.add(number)

    # ---- statements ----------------------------------------------------------------------------

    def _assigned(self, rewriter, node, rewrite) -> list[ast.stmt]:
        """An assignment; behind it watched values are noted."""
        result = rewrite(node)
        self.bound |= stored_names([node])
        lines = self.lines.get(node, [])
        statements = result if isinstance(result, list) else [result]
        if not self.watched and not lines:
            return statements
        return [*statements, *(n for s in statements for n in self._notes(s, lines))]

    def _notes(self, statement: ast.stmt, lines: Sequence[int]) -> list[ast.stmt]:
        """Notes of what a rewritten assignment has assigned."""
        if not isinstance(statement, (ast.Assign, ast.AugAssign)):
            return []
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        notes = []
        for target in targets:
            identifier = getattr(target, "id", "")
            if identifier in self.watched:
                number = self.watched[identifier]
                notes.append(_call("sp_note_number", name(identifier), number))
            generated = identifier.startswith("sp_") and as_written(identifier) == identifier
            if generated or isinstance(target, ast.Tuple):
                continue
            read: Any = copy.deepcopy(target)
            read.ctx = ast.Load()
            notes += [_call("sp_note_given", read, number) for number in lines]
        return notes

    def _returned(self, rewriter, node, rewrite) -> ast.Return:
        """A return whose value is noted."""
        result = rewrite(node)
        for number in self.lines.get(node, []) if result.value is not None else ():
            wraps = rewriter.program.rows and isinstance(result.value, ast.Call)
            if wraps:
                result.value.args[0] = _call("sp_note_given", result.value.args[0], number).value
            else:
                result.value = _call("sp_note_given", result.value, number).value
        return result

    def _branched(self, rewriter, node, rewrite):
        """A branch, or what may be left early: what it binds is bound in it alone."""
        before = set(self.bound)
        result = rewrite(node)
        self.bound = before
        return result

    # ---- steps ---------------------------------------------------------------------------------

    def _looped(self, rewriter, node, rewrite) -> list[ast.stmt]:
        """A loop; the passes of an outermost one of the kernel are steps."""
        outermost = self.is_kernel and not self.loops and not rewriter.is_parallel(node)
        before = set(self.bound)
        begins = self._step_ends("sp_note_next_step(0)") if outermost else None
        self.loops.append((before, begins))
        result = rewrite(node)
        self.loops.pop()
        self.bound = before
        result = result if isinstance(result, list) else [result]
        if not outermost:
            return result
        if ranged := named_range(rewriter, result):
            line = ast.Constant(rewriter.first + node.lineno - 1)
            length = ast.Call(name("len"), [name(ranged)], [])
            result.insert(-1, ast.Expr(ast.Call(name("sp_note_loop"), [length, line], [])))
        return [*result, *self._step_ends("sp_note_next_step(1)")]

    def loop(self, rewriter, node, loop):
        """Note where a pass of an outermost loop begins and ends; else the loop's variable."""
        before, begins = self.loops[-1]
        target = getattr(node.target, "id", "") if isinstance(node, ast.For) else ""
        if begins is None:
            if target in self.watched:
                note = _call("sp_note_number", name(target), self.watched[target])
                loop.body.insert(0, note)
            return
        bound, self.bound = self.bound, before
        body = _Continues(lambda: self._step_ends("sp_note_end()")).block(loop.body)
        self.bound = bound
        loop.body = [*begins, *body, *self._step_ends("sp_note_end()")]

    def _step_ends(self, then: str) -> list[ast.stmt]:
        """Notes of what arrays hold, where the step is noted."""
        notes = [_call("sp_note_content", name(n), number) for n, number in self._arrays().items()]
        test = parse("if sp_note_is_noted():\n    pass").body[0]
        test.body = notes
        return [*([test] if notes else []), *parse(then).body]

    def _arrays(self) -> dict[str, int]:
        """Watched names that are bound in any case."""
        return {n: number for n, number in self.watched.items() if n in self.bound}

    def defined(self, rewriter, function):
        """Tell where the kernel itself begins and ends."""
        if not self.is_kernel:
            return
        ends = _Returns(rewriter.fresh, lambda: self._step_ends("sp_note_end()"))
        function.body = ends.block(function.body)
        if not isinstance(function.body[-1], ast.Return):
            function.body += self._step_ends("sp_note_end()")
        function.body[:0] = parse("sp_note_begun()").body


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
            result = self.visit(statement)
            out += result if isinstance(result, list) else [result]
        return out

    def visit_FunctionDef(self, node):
        """An inner function is left for the kernel."""
        return node


class _Continues(_Exits):
    """The statements that leave a pass of a loop."""

    def visit_For(self, node):
        """Leave an inner loop as it is: its `break` and `continue` stay inside."""
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
        returned = self.fresh("returned")
        assignment = ast.Assign([ast.Name(returned, ast.Store())], node.value)
        return [assignment, *self.ends(), ast.Return(name(returned))]


def noting(kernel, watched: Sequence[Watched], notes: SourceNames | None = None) -> Observer:
    """An observer that notes what is watched of a kernel, whose functions given as arguments are
    lifted one by one; what it finds is put into `notes`.
    """
    return Observer(
        partial(_Notes, kernel, tuple(watched), notes or SourceNames()), _IMPORTS, "sp_note_"
    )


def found_in(kernel, watched: Sequence[Watched]) -> SourceNames:
    """Return the names and lines of a kernel, and which of those watched are among them."""
    findings = SourceNames()
    observers = (noting(kernel, watched, findings),)
    Program(kernel, resolve_backend("fp64"), Build(observers=observers))
    return findings


def require_found(kernel, watched: Sequence[Watched]) -> None:
    """Make sure that a kernel has what is to be watched.

    Raises:
        InputError: it has no such variable, or a line gives no value.
    """
    findings = found_in(kernel, watched)
    missing = [item for number, item in enumerate(watched) if number not in findings.watched]
    names = [item.name for item in missing if item.name]
    if names:
        variables = sorted(findings.names)
        near = dict.fromkeys(meant(item, variables) for item in names)
        words = "is no variable" if len(names) == 1 else "are no variables"
        raise InputError(
            f"watch names {', '.join(map(repr, names))}, which {words} of kernel "
            f"'{kernel.__name__}'; known: {', '.join(variables)}{''.join(near)}; of a kernel "
            "that it calls watch a line, as in line:38"
        )
    for item in missing:
        near_it = sorted(findings.giving, key=lambda line: abs(line - item.line))[:3]
        raise InputError(
            f"watch names '{item.text}', where kernel '{kernel.__name__}' and what it calls give "
            f"no value; lines near it that do: {', '.join(map(str, sorted(near_it))) or 'none'}"
        )


def lift_noting(
    kernel, backend: Backend, watched: Sequence[Watched], further: Sequence[Observer] = ()
) -> Lifted:
    """A kernel lifted as by `lift`, with notes of what is watched, behind further observers."""
    return lift_observed(kernel, backend, [*further, noting(kernel, watched)])


def _call(function: str, value: ast.expr, number: int) -> ast.Expr:
    """A statement that notes a value for a place."""
    return ast.Expr(ast.Call(name(function), [value, ast.Constant(number)], []))
