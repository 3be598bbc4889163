"""Candidates: a kernel's source with one rule applied, at one of its places or at all of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from sciprec.tools.mend.catalogue import RULES, Rule
from sciprec.tools.mend.definitions import StatementPlace, base_of, places_of
from sciprec.tools.mend.expressions import (
    FIRST,
    FUNCTIONS,
    MAX,
    POWER,
    SUM,
    called,
    filled,
    is_number,
    key,
    parsed,
    tidied,
)
from sciprec.tools.mend.matching import repeats, rewritten
from sciprec.tools.mend.sources import Edit, KernelSource
from sciprec.tools.mend.updates import Rewritten, of_statements


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


def candidates(before: Candidate, blamed: Sequence[int], overflows: bool) -> Iterator[Candidate]:
    """All that one more rule makes of a candidate: those of sums, which seldom fit by chance, then
    those of blamed lines first.

    Args:
        before: the source that rules are applied to.
        blamed: lines of the kernel as it was, in the file, the first to blame first.
        overflows: whether results are not finite, or numbers underflow to zero: rules against
            that come first then, and are left out otherwise.
    """
    source = before.text
    ways: list[tuple[tuple[int, ...], Callable[[], Iterator[Candidate]]]] = []
    for rewriting in of_statements(source):
        if overflows or not rewriting.of_range:
            rank = min(_rank(source.first - 1 + n, blamed) for n in rewriting.lines)
            ways.append(((1, rank, 0), partial(_of_statement, before, rewriting)))
    for place in places_of(source.tree):
        rank = _rank(source.first - 1 + place.statement.value.lineno, blamed)
        for rule in RULES.values():
            unfit = rule.of_range and not overflows
            if unfit or (rule.name in before.rules and repeats(rule)):
                continue
            order = (SUM not in rule.pattern, rank, 0 if rule.of_range else 1)
            order = (2, rank, 1) if fits_anywhere(rule) else order
            ways.append((order, partial(_of_place, before, place, rule)))
    ways.sort(key=lambda way: way[0])
    for _, way in ways:
        yield from way()


def _of_statement(before: Candidate, rewriting: Rewritten) -> Iterator[Candidate]:
    """A source whose statements are rewritten."""
    source = before.text
    new = _edited(source, rewriting.edits, rewriting.imports)
    if new is not None:
        line = source.first - 1 + rewriting.lines[0]
        yield before.then(new, rewriting.name, rewriting.source, line, caution=rewriting.caution)


def _of_place(before: Candidate, place: StatementPlace, rule: Rule) -> Iterator[Candidate]:
    """Every way to apply a rule to a statement's value."""
    source = before.text
    line = source.first - 1 + place.statement.value.lineno
    for edits, imports in _rewritten_place(source, place, rule):
        text = _edited(source, edits, imports)
        if text is not None:
            yield before.then(text, rule.name, rule.source, line, rule.series)


def fits_anywhere(rule: Rule) -> bool:
    """Whether a rule fits nearly any sum, and so is tried only if other rules leave an error."""
    return "fma" in rule.replacement


def _rank(line: int, blamed: Sequence[int]) -> int:
    return blamed.index(line) if line in blamed else len(blamed)


def _edited(
    source: KernelSource, edits: Iterable[Edit], imports: Iterable[str] = ()
) -> KernelSource | None:
    """The source with edits; None where they leave no definition."""
    try:
        return source.edited(edits, imports)
    except (SyntaxError, IndexError):
        return None


def _rewritten_place(
    source: KernelSource, place: StatementPlace, rule: Rule
) -> Iterator[tuple[list[Edit], set[str]]]:
    """The edits of every way to apply a rule to a statement's value, and the modules that they
    need.
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

    def __init__(self, source: KernelSource, place: StatementPlace):
        self.source, self.place = source, place
        self.names = _named(place)
        self.before: list[str] = []
        self.imports: set[str] = set()
        self.failed = False
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
        if name == FIRST:
            return self.visit(self._first(node))
        if name == POWER:
            return self._power(node)
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and name in FUNCTIONS and node.func.id == name:
            if node.func.id not in self.source.namespace:
                text, imports = self.source.spelled(name, self.place.statement.value)
                self.imports.update(imports)
                node.func = parsed(text)
        return node

    def _looped(self, node: ast.Call, kind: str) -> ast.Name:
        """The variable of a sum, or of the largest of something, which a loop makes before."""
        text = key(node)
        term = ast.unparse(ast.fix_missing_locations(self.visit(node.args[0])))
        counter, every = ast.unparse(node.args[1]), ast.unparse(node.args[2])
        name = self._free("total" if kind == SUM else "largest")
        start, step = "0.0", f"{name} += {term}"
        if kind == MAX:
            start, step = f"-{self._spelled('inf')}", f"{name} = max({name}, {term})"
        return self._stands(text, name, f"{name} = {start}", f"for {counter} in {every}:",
                            f"    {step}")  # fmt: skip

    def _first(self, node: ast.Call) -> ast.expr:
        """An expression at the start of a range."""
        value, counter, every = node.args
        starts = called(every) == "range" and len(every.args)
        self.failed |= not starts
        start = every.args[0] if starts and starts > 1 else ast.Constant(0)
        return filled(value, {counter.id: start})

    def _power(self, node: ast.Call) -> ast.Name:
        """The variable of a power of two, at most twice as small as it could be: half a bit is
        taken off before rounding towards zero, so that neither end of a format's range is left.
        """
        text = key(node)
        size, name = ast.unparse(self.visit(node.args[0])), self._free("scale")
        exponent = f"{self._spelled('trunc')}({self._spelled('log2')}({size}) - 0.5)"
        bound = self._spelled("inf")
        return self._stands(text, name, f"{name} = 1.0", f"if 0.0 < {size} < {bound}:",
                            f"    {name} = 2.0 ** {exponent}")  # fmt: skip

    def _free(self, prefix: str) -> str:
        """Choose a name that neither the kernel nor earlier statements use."""
        used = {*self.names.values()} | {line.split()[0] for line in self.before}
        tries = (self.source.free_name(prefix + end) for end in ("", *map(str, range(2, 1000))))
        return next(name for name in tries if name not in used)

    def _spelled(self, name: str) -> str:
        """A function, or a constant, as this kernel writes it."""
        text, imports = self.source.spelled(name, self.place.statement.value)
        self.imports.update(imports)
        return text

    def _stands(self, text: str, name: str, *statements: str) -> ast.Name:
        """The variable that statements before this one make, for an expression."""
        self.failed |= self.indentation is None
        self.before += [(self.indentation or "") + line for line in statements]
        self.names[text] = name
        return ast.Name(name, ast.Load())


def _named(place: StatementPlace) -> dict[str, str]:
    """Normal form of an expression -> the name, or the element of an array, that stands for it."""
    arrays = {base_of(n) for n in place.terms if "[" in n}
    elements = {k: text for k, text in place.elements.items() if base_of(text) in arrays}
    plain = {n for n, e in place.terms.items() if is_number(e) or isinstance(e, ast.Name)}
    return elements | {key(e): n for n, e in place.terms.items() if n not in plain and "[" not in n}
