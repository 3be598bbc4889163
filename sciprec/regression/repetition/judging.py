"""Judgement of runs: the circumstance that a difference is due to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from sciprec.regression.repetition.circumstances import AGAIN, ANOTHER, FIRST, Circumstance
from sciprec.regression.repetition.findings import Finding, Made
from sciprec.regression.repetition.leavings import Difference, Left, first_difference

Ended = Left | str
"""The results that a run has left, or a sentence on how it failed."""
Runs = Callable[[Sequence[Circumstance]], Iterator[tuple[int, Ended]]]
"""Makes runs, and gives each with its number: the first one first, others in any order."""
_CONFIRMING = 4
"""Runs like the first one that are made before a difference is put down to anything else."""
Told = Callable[[str], None]
"""A listener that is told of each run when it has been made."""


def nobody(words: str) -> None:
    """Whom nothing is told."""


def judged(
    asked: Sequence[Circumstance], run: Runs, told: Told = nobody
) -> tuple[list[Made], list[Finding]]:
    """The runs, each beside the first one, and what the results depend on.

    Where runs like the first one differ, no other difference says anything; before one is put down
    to a circumstance, the first run is made some times more. Where a second call in
    a process differs from the first one, later calls are made again, each first in its process; of
    a circumstance of several parts that makes a difference each part is tried by itself.

    Args:
        asked: the first run, then others.
        run: makes runs; the first one ends well.
        told: of each run.
    """
    runs = run(asked)
    _, truth = next(runs)
    told(FIRST.words)
    made = _made(asked, truth, runs, told)
    if not _by_chance(made):
        made = _apart(_alone(made, truth, run, told), truth, run, told)
        if any(one.difference for one in made):
            more = [ANOTHER] * _CONFIRMING
            made += _made(more, truth, run(more), told)
    if _by_chance(made):
        made = [replace(one, counted=one.circumstance.aspect == AGAIN) for one in made]
    return made, _findings(made)


def _by_chance(made: Sequence[Made]) -> bool:
    """Whether a run like the first one differs from it."""
    return any(one.difference and one.circumstance.aspect == AGAIN for one in made)


def _made(
    asked: Sequence[Circumstance], truth: Ended, runs: Iterator[tuple[int, Ended]], told: Told
) -> list[Made]:
    """Runs beside the first one; what one has left is forgotten when it is compared."""
    differences: dict[int, Difference | None] = {}
    for number, ended in runs:
        differences[number] = found = _difference(truth, ended)
        told(f"{asked[number].words}: {found.words if found else 'identical'}")
    return [Made(one, differences.get(number)) for number, one in enumerate(asked)]


def _difference(truth: Ended, other: Ended) -> Difference | None:
    if isinstance(other, str):
        return Difference("", f"it ends otherwise: {other}", other=other)
    assert not isinstance(truth, str)
    return first_difference(truth, other)


def _alone(made: list[Made], truth: Ended, run: Runs, told: Told) -> list[Made]:
    """Later calls made again as first ones, where a second call differs at all."""
    if not any(one.difference and "a second call" in one.circumstance.ways for one in made):
        return made
    kept = [m for m in made if not m.circumstance.later or "a second call" in m.circumstance.ways]
    again = [replace(m.circumstance, later=False) for m in made if m not in kept]
    return kept + _made(again, truth, run(again), told)


def _apart(made: list[Made], truth: Ended, run: Runs, told: Told) -> list[Made]:
    """Runs of several ways that differ: each way by itself; where none does, all together."""
    found = []
    for one in made:
        parts = one.circumstance.parts() if one.difference else []
        differing = [m for m in _made(parts, truth, run(parts), told) if m.difference]
        found += differing or [one]
    return found


def _findings(made: Sequence[Made]) -> list[Finding]:
    """Findings: one for each aspect of which a run differs, with its first difference."""
    found: dict[str, Finding] = {}
    for one in made:
        aspect = one.circumstance.aspect
        if not one.difference or not one.counted or one.circumstance == FIRST:
            continue
        ways, words = one.circumstance.ways, one.circumstance.words
        known = found.get(aspect)
        if known is None:
            found[aspect] = Finding(aspect, ways, words, one.difference)
        else:
            more = tuple(way for way in ways if way not in known.ways)
            said = known.words if words in known.words else f"{known.words}; {words}"
            found[aspect] = replace(known, ways=known.ways + more, words=said)
    return list(found.values())

