"""Lines of source that explain why runs differ: the first that the rules find."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from sciprec.regression.repetition import by_chance, by_order, by_threads
from sciprec.regression.repetition.findings import SourceLine
from sciprec.regression.repetition.rules import RULES
from sciprec.regression.repetition.sources import Scope

MOST = 3
"""Places that are named."""
_REGISTERED = (by_chance, by_threads, by_order)
"""Modules of rules."""


def explained(
    ways: Iterable[str], scopes: Sequence[Scope], blocks: Iterable[str] = ()
) -> tuple[SourceLine, ...]:
    """The lines that explain that runs differ in some ways.

    Args:
        ways: of WAYS.
        scopes: the source behind the runs.
        blocks: names of arguments that say how many at a time.
    """
    differing, sized = set(ways), tuple(blocks)
    places: dict[tuple[str, int], SourceLine] = {}
    for rule in sorted(RULES, key=lambda each: each.last):
        if not differing & rule.ways or (rule.last and places):
            continue
        for scope in scopes:
            for line, reason in rule.seen(replace(scope, blocks=sized)):
                at = Path(scope.file).name
                places.setdefault(
                    (scope.file, line), SourceLine(at, line, scope.text(line), reason)
                )
    return tuple(places.values())[:MOST]
