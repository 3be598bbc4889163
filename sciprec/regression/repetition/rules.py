"""Rules that find lines of source: what each looks for, and in which ways runs differ by it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sciprec.regression.repetition.sources import Scope

Seen = Iterator[tuple[int, str]]
"""Lines, each with the reason."""
DRAWN = re.compile(
    r"^(?:numpy\.random|random)\.(?!seed$|default_rng$|Generator$|RandomState$|Random$|get_state$"
    r"|set_state$|getstate$|setstate$|PCG64$|Philox$|MT19937$|SFC64$|SeedSequence$)\w+$"
)
"""Names of functions that draw from a state which they share."""


@dataclass(frozen=True)
class SuspectRule:
    """A rule that finds lines on which results may depend.

    Args:
        ways: of WAYS, in which runs differ by what it looks for.
        last: whether it is asked only where none before it has found a line.
        seen: looks through a scope.
    """

    ways: frozenset[str]
    last: bool
    seen: Callable[[Scope], Seen]


RULES: list[SuspectRule] = []


def explains(
    *ways: str, last: bool = False
) -> Callable[[Callable[[Scope], Seen]], Callable[[Scope], Seen]]:
    """A rule of these ways, asked in the order in which rules are registered.

    Args:
        last: whether it is asked only where none before it has found a line.
    """

    def register(rule: Callable[[Scope], Seen]) -> Callable[[Scope], Seen]:
        RULES.append(SuspectRule(frozenset(ways), last, rule))
        return rule

    return register


def is_method(node: ast.AST) -> bool:
    """Whether a node is a call of something with a dot."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
