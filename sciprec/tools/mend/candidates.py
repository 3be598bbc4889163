"""Candidates: a kernel's source with one rule applied, at one of its places or at all of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sciprec.tools.mend.catalogue import RULES, Rule
from sciprec.tools.mend.definitions import Known, Place, places_of
from sciprec.tools.mend.expressions import (
    FUNCTIONS,
    MAX,
    SUM,
    called,
    is_number,
    key,
    parsed,
    tidied,
)
from sciprec.tools.mend.matching import repeats, rewritten
from sciprec.tools.mend.sources import Edit, KernelSource
from sciprec.tools.mend.updates import of_statements


@dataclass(frozen=True)
class Candidate:
    """A source that may have less error.

    Attributes:
        text: the source.
        rules: names of the rules that were applied, in order.
        sources: their authors, in order.
        line: the first line that the first rule changes, in the file.
        series: whether one of them is equal only to 2^-50.
        cautions: what its reader should know.
    """

    text: KernelSource
    rules: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    line: int = 0
    series: bool = False
    cautions: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The rules in words."""
        return ", then ".join(self.rules)

    def then(
        self, text: KernelSource, rule: str, author: str, line: int, series: bool = False,
        caution: str = "",
    ) -> Candidate:  # fmt: skip
        """The candidate that one more rule makes of this one."""
        return Candidate(
            text, (*self.rules, rule), (*self.sources, author),
            self.line if self.rules else line, self.series or series,
            self.cautions + ((caution,) if caution and caution not in self.cautions else ()),
        )  # fmt: skip


def candidates(before: Candidate, blamed: Sequence[int], overflows: bool) -> list[Candidate]:
    """All that one more rule makes of a candidate, those of blamed lines first.

    Args:
        before: the source that rules are applied to.
        blamed: lines of the kernel as it was, in the file, the first to blame first.
        overflows: whether results are not finite: rules against that come first then, and are
            left out otherwise.
    """
    source = before.text
    found: list[tuple[tuple[int, int], Candidate]] = []
    for rewriting in of_statements(source):
        new = _edited(source, rewriting.edits)
        line = source.first - 1 + rewriting.lines[0]
        if new is not None:
            rank = min(_rank(source.first - 1 + n, blamed) for n in rewriting.lines)
            whole = before.then(new, rewriting.name, rewriting.source, line,
                                caution=rewriting.caution)  # fmt: skip
            found.append(((rank, 0), whole))
    for place in places_of(source.tree):
        line = source.first - 1 + place.statement.value.lineno
        for rule in RULES.values():
            if rule.of_range and not overflows:
                continue
            if rule.name in before.rules and repeats(rule):
                continue
            order = 0 if rule.of_range else 1
            for new, imports in _rewritten_place(source, place, rule):
                text = _edited(source, new, imports)
                if text is not None:
                    candidate = before.then(text, rule.name, rule.source, line, rule.series)
                    found.append(((_rank(line, blamed), order), candidate))
    found.sort(key=lambda item: item[0])
    return [candidate for _, candidate in found]


def _rank(line: int, blamed: Sequence[int]) -> int:
    return blamed.index(line) if line in blamed else len(blamed)


def _edited(
    source: KernelSource, edits: Iterable[Edit], imports: bool = False
) -> KernelSource | None:
    """The source with edits; None where they leave no definition."""
    try:
        return source.edited(edits, imports)
    except (SyntaxError, IndexError):
        return None


def _rewritten_place(
    source: KernelSource, place: Place, rule: Rule
) -> Iterator[tuple[list[Edit], bool]]:
    """The edits of every way to apply a rule to a statement's value, and whether they need
    `import math`.
    """
    for new in rewritten(rule, place.value):
        writing = _Writing(source, place)
        value = writing.visit(new)
        if writing.failed:
            continue
        text = ast.unparse(tidied(ast.fix_missing_locations(value)))
        edits = [source.with_expression(place.statement.value, text)]
        if writing.before:
            line = place.statement.lineno
            edits.insert(0, Edit(line, line - 1, tuple(writing.before)))
        yield edits, writing.imports


class _Writing(ast.NodeTransformer):
    """An expression as this kernel writes it: what has a name gets it back, functions are those of
    its modules, sums without a name are made in a loop before the statement.
    """

    def __init__(self, source: KernelSource, place: Place):
        self.source, self.place = source, place
        self.names = _named(place.known)
        self.before: list[str] = []
        self.imports = self.failed = False
        self.indentation = source.indentation(place.statement)

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr) and not is_number(node) and not isinstance(node, ast.Name):
            if (name := self.names.get(key(node))) is not None:
                return ast.Name(name, ast.Load())
        return super().visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = called(node)
        if name in (SUM, MAX):
            return self._looped(node, name)
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and name in FUNCTIONS and node.func.id == name:
            if node.func.id not in self.source.namespace:
                text, imports = self.source.spelled(name, self.place.statement.value)
                self.imports |= imports
                node.func = parsed(text)
        return node

    def _looped(self, node: ast.Call, kind: str) -> ast.Name:
        """The variable of a sum, or of the largest of something, which a loop makes before."""
        text = key(node)
        term = ast.unparse(ast.fix_missing_locations(self.visit(node.args[0])))
        counter, every = ast.unparse(node.args[1]), ast.unparse(node.args[2])
        taken = {*self.names.values()} | {line.split()[0] for line in self.before}
        wanted = "total" if kind == SUM else "largest"
        name = self.source.free_name(wanted)
        while name in taken:
            name = self.source.free_name(f"{name}_more")
        self.failed |= self.indentation is None
        pad = self.indentation or ""
        start, step = "0.0", f"{name} += {term}"
        if kind == MAX:
            bound, imports = self.source.spelled("inf", self.place.statement.value)
            self.imports |= imports
            start, step = f"-{bound}", f"{name} = max({name}, {term})"
        self.before += [f"{pad}{name} = {start}", f"{pad}for {counter} in {every}:",
                        f"{pad}    {step}"]  # fmt: skip
        self.names[text] = name
        return ast.Name(name, ast.Load())


def _named(known: Known) -> dict[str, str]:
    """Normal form of an expression -> the name that stands for it."""
    plain = {n for n, e in known.items() if is_number(e) or isinstance(e, ast.Name)}
    return {key(e): name for name, e in known.items() if name not in plain}
