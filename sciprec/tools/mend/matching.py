"""Patterns of rules, met in expressions: sums in any order, products, letters for anything."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

from sciprec.tools.mend.catalogue import Rule
from sciprec.tools.mend.expressions import (
    SUM,
    NumberedPart,
    added,
    called,
    factors,
    filled,
    is_number,
    is_shorter,
    key,
    parsed,
    polynomial,
    product_of,
    sum_of,
    terms,
    written,
)

Bindings = Mapping[str, ast.expr]
"""Letters of a pattern and what they stand for."""


def is_letter(node: ast.AST) -> bool:
    """Whether a node of a pattern stands for anything."""
    return isinstance(node, ast.Name) and len(node.id) == 1 and node.id.isupper()


def matches(pattern: ast.expr, node: ast.expr, values: Bindings) -> Iterator[Bindings]:
    """Every meaning of a pattern's letters with which it is all of a node."""
    for bound, _, _ in _matches(pattern, node, values, False):
        yield bound


def _matches(
    pattern: ast.expr, node: ast.expr, values: Bindings, partly: bool
) -> Iterator[tuple[Bindings, int, list[NumberedPart]]]:
    """Meanings of letters, the sign with which the pattern is there, and the parts of a sum or
    product that it leaves, where it may leave some.
    """
    if is_letter(pattern):
        if pattern.id not in values:
            yield {**values, pattern.id: node}, 1, []
        elif key(values[pattern.id]) == key(node):
            yield values, 1, []
    elif is_number(pattern):
        if is_number(node) and node.value == pattern.value:
            yield values, 1, []
    elif isinstance(pattern, ast.Call):
        if called(node) == called(pattern) and len(node.args) == len(pattern.args):
            for bound in _each(pattern.args, node.args, values):
                yield bound, 1, []
    elif isinstance(pattern, ast.Name):
        if isinstance(node, ast.Name) and node.id == pattern.id:
            yield values, 1, []
    elif isinstance(pattern, ast.BinOp) and isinstance(pattern.op, ast.Pow) and not is_number(
        pattern.right
    ):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            for bound in _each([pattern.left, pattern.right], [node.left, node.right], values):
                yield bound, 1, []
    else:
        yield from _parts_match(pattern, node, values, partly)


def _each(patterns: list[ast.expr], nodes: list[ast.expr], values: Bindings) -> Iterator[Bindings]:
    if not patterns:
        yield values
        return
    for match in matches(patterns[0], nodes[0], values):
        yield from _each(patterns[1:], nodes[1:], match)


def is_sum(pattern: ast.expr) -> bool:
    """Whether a pattern is a sum, a difference or a negative."""
    return isinstance(pattern, ast.UnaryOp) or (
        isinstance(pattern, ast.BinOp) and isinstance(pattern.op, (ast.Add, ast.Sub))
    )


def _parts_match(
    pattern: ast.expr, node: ast.expr, values: Bindings, partly: bool
) -> Iterator[tuple[Bindings, int, list[NumberedPart]]]:
    """Parts of the pattern to different parts of the node, letters last."""
    adds = is_sum(pattern)
    split, join = (terms, sum_of) if adds else (factors, product_of)
    pattern_parts = sorted(split(pattern), key=lambda part: is_letter(part[1]))
    node_parts = split(node)
    if not adds and (root := _root_letter(pattern_parts, values)):
        if not partly and (base := _root(node_parts, len(pattern_parts))) is not None:
            yield {**values, root: base}, 1, []
        return
    if len(node_parts) < len(pattern_parts):
        return

    def place(number: int, remaining: list[NumberedPart], bound: Bindings, flip: int):
        if number == len(pattern_parts):
            if partly or not remaining:
                yield bound, flip, remaining
            return
        sign, part = pattern_parts[number]
        is_free = is_letter(part) and part.id not in bound
        is_last = number == len(pattern_parts) - 1
        if is_free and is_last and len(remaining) > 1:
            rest = join([(sign * flip * s, n) for s, n in remaining])
            yield {**bound, part.id: rest}, flip, []
        for n, (s, item) in enumerate(remaining):
            unmatched = remaining[:n] + remaining[n + 1 :]
            if s == sign * flip:
                for more in matches(part, item, bound):
                    yield from place(number + 1, unmatched, more, flip)
            elif is_free and adds:
                turned = ast.UnaryOp(ast.USub(), item)
                yield from place(number + 1, unmatched, {**bound, part.id: turned}, flip)

    for flip in (1, -1) if adds and partly else (1,):
        yield from place(0, node_parts, values, flip)


def _root_letter(parts: list[NumberedPart], values: Bindings) -> str:
    """The letter of which a product is a power, where it is free."""
    names = {part.id for sign, part in parts if is_letter(part) and sign > 0}
    is_power = len(parts) > 1 and all(is_letter(p) and s > 0 for s, p in parts)
    return names.pop() if is_power and len(names) == 1 and not names & set(values) else ""


def _root(parts: list[NumberedPart], power: int) -> ast.expr | None:
    """The expression of which factors are a power."""
    groups: dict[tuple[int, str], list[NumberedPart]] = {}
    for sign, node in parts:
        groups.setdefault((sign, key(node)), []).append((sign, node))
    if any(len(group) % power for group in groups.values()):
        return None
    return product_of([p for g in groups.values() for p in g[: len(g) // power]])


def rewritten_here(rule: Rule, node: ast.expr) -> Iterator[ast.expr]:
    """Every expression that a rule makes of a node, not of what is inside."""
    texts: set[str] = set()
    pattern = parsed(rule.pattern)
    if SUM in rule.pattern and is_sum(pattern):
        yield from _as_polynomials(pattern, parsed(rule.replacement), node)
        return
    for values, sign, rest in _matches(pattern, node, {}, True):
        if rule.condition and not is_shorter(filled(parsed(rule.condition), values)):
            continue
        if all(map(is_number, values.values())):
            continue
        new = filled(parsed(rule.replacement), values)
        if is_sum(pattern):
            new = sum_of([(sign, new), *rest]) if sign > 0 or not rest else sum_of(
                [*rest, (sign, new)]
            )
        elif rest:
            new = product_of([(1, new), *rest])
        text = ast.unparse(ast.fix_missing_locations(new))
        if text not in texts:
            texts.add(text)
            yield parsed(text)


def _letters(pattern: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(pattern) if is_letter(n)}


def _as_polynomials(pattern: ast.expr, new: ast.expr, node: ast.expr) -> Iterator[ast.expr]:
    """A sum of sums, met by the term that has all letters, however the rest is written."""
    if not is_sum(node):
        return
    product = polynomial(node)
    turn, lead = max(terms(pattern), key=lambda part: len(_letters(part[1])))
    for sign, term in terms(node):
        for values in matches(lead, term, {}):
            expected, flip = polynomial(filled(pattern, values)), sign * turn
            rest = added(product, expected, -flip)
            if len(rest) == len(product) - len(expected):
                parts = [(flip, filled(new, values))] + ([(1, written(rest))] if rest else [])
                yield parsed(ast.unparse(ast.fix_missing_locations(sum_of(parts))))


def rewritten(rule: Rule, node: ast.expr) -> Iterator[ast.expr]:
    """Every expression with a rule applied once, and then the one with it applied at all its
    places; of those that are equal as polynomials the first.
    """
    for text in _rewritten(rule, ast.unparse(node)):
        yield parsed(text)


@lru_cache(maxsize=20_000)
def _rewritten(rule: Rule, text: str) -> tuple[str, ...]:
    node = parsed(text)
    if not _calls(parsed(rule.pattern)) <= _calls(node):
        return ()
    return tuple(ast.unparse(new) for new in _every(rule, node))


_MOST = 16
"""Places of one expression at which a rule is tried."""


def _calls(node: ast.expr) -> set[str]:
    return {name for n in ast.walk(node) if (name := called(n))}


def _every(rule: Rule, node: ast.expr) -> Iterator[ast.expr]:
    distinct = {}
    for new in islice(_once(rule, node), _MOST):
        distinct.setdefault(ast.unparse(new) if rule.of_range else key(new), new)
    yield from distinct.values()
    if len(distinct) > 1:
        everywhere = ast.fix_missing_locations(_Everywhere(rule).visit(copied(node)))
        new = parsed(ast.unparse(everywhere))
        if key(new) not in distinct:
            yield new


@lru_cache(maxsize=256)
def repeats(rule: Rule) -> bool:
    """Whether a rule fits into what it makes, so that a second time it only repeats a branch."""
    return next(_once(rule, parsed(rule.replacement)), None) is not None


def copied(node: ast.expr) -> ast.expr:
    """A copy that may be changed."""
    return copy.deepcopy(node)


def _once(rule: Rule, node: ast.expr) -> Iterator[ast.expr]:
    yield from rewritten_here(rule, node)
    if isinstance(node, ast.Subscript):
        return
    for field, value in ast.iter_fields(node):
        if field == "test":  # of a decision, which no rule may change
            continue
        for place, child in _children(value):
            for new in _once(rule, child):
                changed = copied(node)
                if place is None:
                    setattr(changed, field, new)
                else:
                    getattr(changed, field)[place] = new
                yield changed


def _children(value: Any) -> list[tuple[int | None, ast.expr]]:
    if isinstance(value, ast.expr):
        return [(None, value)]
    if isinstance(value, list):
        return [(n, v) for n, v in enumerate(value) if isinstance(v, ast.expr)]
    return []


class _Everywhere(ast.NodeTransformer):
    """The first meaning of a rule at every node, inner ones first."""

    def __init__(self, rule: Rule):
        self.rule = rule

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Subscript):
            return node
        if isinstance(node, ast.IfExp):
            node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        else:
            self.generic_visit(node)
        if isinstance(node, ast.expr):
            return next(rewritten_here(self.rule, node), node)
        return node
