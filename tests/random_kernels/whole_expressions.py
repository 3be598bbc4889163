"""Expressions of whole arrays with several operations, which are loops of one: stored, kept by a
name, read twice, or read after an operand has changed.

They stand at the end of some kernels, and write arrays of their own, so that they hide nothing;
what they make is returned.
"""

from __future__ import annotations

import random

from tests.random_kernels.expressions import leaf
from tests.random_kernels.scopes import Array, Scope

Block = list  # of lines (str) and of (header, Block)
SHARE = 0.12  # of the kernels
TWO = ("({} + {})", "({} - {})", "({} * {})", "({} / {})", "np.maximum({}, {})", "({} * {})")
ONE = ("(-{})", "abs({})", "np.sqrt(abs({}))", "({} ** 2)", "({} * 0.5)", "np.rint({})")
ELEMENTARY = ("np.tanh({})", "np.cos({})", "np.exp({})")
NEW = ("{} * 0.75", "{} * 0.75", "{}.copy()", "np.copy({})")
CHANGES = ("{}[:] = 0.75", "{} *= 0.5", "{0}[:] = {0} - 0.3", "{} += 1.0")


def whole_expressions(scope: Scope, rng: random.Random) -> Block:
    """Statements of some kernels; none for the others.

    Args:
        scope: of the kernel's body; arrays that are made are returned with the rest.
        rng: chooses.
    """
    return [] if rng.random() > SHARE else expressions(scope, rng, rng.randint(1, 2))


def expressions(scope: Scope, rng: random.Random, count: int) -> Block:
    """A number of statements or groups of them."""
    fields = [a for a in scope.arrays if not (a.length or a.whole)]
    source = rng.choice(fields)
    target = Array(scope.fresh("g"), source.ndim, written=True)
    scope.rows += (target.name,)
    alike = [target, *(a for a in fields if a.ndim == target.ndim)]
    body: Block = [f"{target.name} = {rng.choice(NEW).format(source.name)}"]
    for form in rng.choices((_stored, _kept, _twice, _changed, _shifted), k=count):
        body += form(_Writer(scope, rng, alike), target)
    return body


class _Writer:
    """Writes expressions whose shape is that of the fields."""

    def __init__(self, scope: Scope, rng: random.Random, fields: list[Array]):
        self.scope, self.rng, self.fields = scope, rng, fields
        tables = [a for a in scope.arrays if a.length and not a.whole]
        self.outside = scope.inner(rng=rng, indices=[], arrays=tables)
        self.numbers = [leaf(self.outside) for _ in range(2)]

    def made(self, depth: int, part: str = "") -> str:
        """An expression of fields, `part` of each, with an array in every operation."""
        kind = self.rng.random()
        if depth == 0 or kind < 0.1:
            return f"{self.rng.choice(self.fields).name}{part}"
        if kind < 0.25:
            return self.rng.choice(ONE).format(self.made(depth - 1, part))
        if kind < 0.35 and self.scope.elementary:
            return self.rng.choice(ELEMENTARY).format(self.made(depth - 1, part))
        operands = [self.made(depth - 1, part), self.beside(depth - 1, part)]
        self.rng.shuffle(operands)
        return self.rng.choice(TWO).format(*operands)

    def beside(self, depth: int, part: str) -> str:
        """Another operand: an expression, one row or column of a field, or a number."""
        kind = self.rng.random()
        if kind < 0.3:
            return self.rng.choice((*self.numbers, "3", "2049", "(0.1)"))
        if kind < 0.45 and not part:
            name = self.rng.choice(self.fields)
            first = ("[:1]", "[:, :1]", "[:, :, :1]", "[:1, :, :1]")[: (1, 2, 4)[name.ndim - 1]]
            return f"{name.name}{self.rng.choice(first)}"
        return self.made(depth, part)

    def named(self, text: str) -> tuple[str, str]:
        """A line that gives an expression a name, and the name."""
        name = self.outside.fresh("g")
        return f"{name} = {text}", name


def _full(target: Array) -> str:
    return f"{target.name}[{', '.join(':' * target.ndim)}]"


def _stored(writer: _Writer, target: Array) -> Block:
    where = writer.rng.choice((_full(target), f"{target.name}[...]", f"{target.name}[::-1]"))
    return [f"{where} = {writer.made(3)}"]


def _kept(writer: _Writer, target: Array) -> Block:
    line, name = writer.named(writer.made(3))
    writer.scope.rows += (name,)
    return [line]


def _twice(writer: _Writer, target: Array) -> Block:
    line, name = writer.named(writer.made(2))
    return [line, f"{_full(target)} = {name} * {name} - {writer.made(1)}"]


def _changed(writer: _Writer, target: Array) -> Block:
    """An expression that is read once, after its operands have changed."""
    line, name = writer.named(f"{target.name} * {writer.numbers[0]} - {writer.made(1)}")
    change = writer.rng.choice(CHANGES).format(target.name)
    more, last = writer.named(f"({name} + {writer.numbers[1]}) / {target.name}")
    writer.scope.rows += (last,)
    return [line, change, more]


def _shifted(writer: _Writer, target: Array) -> Block:
    """Parts of an array stored into others of the same one."""
    forms = (("[1:]", "[:-1]"), ("[:-1]", "[1:]"), ("[2:]", "[:-2]"))
    where, part = writer.rng.choice(forms)
    return [f"{target.name}{where} = {target.name}{where} - {writer.made(2, part)}"]
