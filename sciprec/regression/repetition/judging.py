"""Judgement of runs: the circumstance that a difference is due to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from sciprec.regression.repetition.circumstances import AGAIN, ANOTHER, FIRST, Circumstance
from sciprec.regression.repetition.findings import ComparedRun, Finding
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
    """A listener that ignores all messages."""


def judged(
    circumstances: Sequence[Circumstance], run: Runs, tell: Told = nobody
) -> tuple[list[ComparedRun], list[Finding]]:
    """Run under each circumstance and compare with the first run; find what results depend on.

    Where runs like the first one differ, no other difference says anything; before one is put down
    to a circumstance, the first run is made some times more. Where a second call in
    a process differs from the first one, later calls are made again, each first in its process; of
    a circumstance of several parts that makes a difference each part is tried by itself.

    Args:
        circumstances: the first run, then others.
        run: makes runs; the first one ends well.
        tell: of each run.
    """
    runs = run(circumstances)
    _, truth = next(runs)
    tell(FIRST.words)
    made_runs = _compared(circumstances, truth, runs, tell)
    if not _by_chance(made_runs):
        made_runs = _apart(_alone(made_runs, truth, run, tell), truth, run, tell)
        if any(each.difference for each in made_runs):
            further = [ANOTHER] * _CONFIRMING
            made_runs += _compared(further, truth, run(further), tell)
    if _by_chance(made_runs):
        made_runs = [replace(each, counted=each.circumstance.aspect == AGAIN) for each in made_runs]
    return made_runs, _findings(made_runs)


def _by_chance(runs: Sequence[ComparedRun]) -> bool:
    """Whether a run like the first one differs from it."""
    return any(run.difference and run.circumstance.aspect == AGAIN for run in runs)


def _compared(
    todo: Sequence[Circumstance], truth: Ended, runs: Iterator[tuple[int, Ended]], tell: Told
) -> list[ComparedRun]:
    """Compare runs with the first one; the results of each are dropped when it is compared."""
    differences: dict[int, Difference | None] = {}
    for number, ended in runs:
        differences[number] = difference = _difference(truth, ended)
        tell(f"{todo[number].words}: {difference.words if difference else 'identical'}")
    return [ComparedRun(each, differences.get(number)) for number, each in enumerate(todo)]


def _difference(truth: Ended, other: Ended) -> Difference | None:
    if isinstance(other, str):
        return Difference("", f"it ends otherwise: {other}", other=other)
    assert not isinstance(truth, str)
    return first_difference(truth, other)


def _alone(runs: list[ComparedRun], truth: Ended, run: Runs, tell: Told) -> list[ComparedRun]:
    """Later calls made again as first ones, where a second call differs at all."""
    if not any(each.difference and "a second call" in each.circumstance.ways for each in runs):
        return runs
    first = [m for m in runs if not m.circumstance.later or "a second call" in m.circumstance.ways]
    again = [replace(m.circumstance, later=False) for m in runs if m not in first]
    return first + _compared(again, truth, run(again), tell)


def _apart(runs: list[ComparedRun], truth: Ended, run: Runs, tell: Told) -> list[ComparedRun]:
    """Runs of several ways that differ: each way by itself; where none does, all together."""
    result = []
    for each in runs:
        parts = each.circumstance.parts() if each.difference else []
        differing = [m for m in _compared(parts, truth, run(parts), tell) if m.difference]
        result += differing or [each]
    return result


def _findings(runs: Sequence[ComparedRun]) -> list[Finding]:
    """Findings: one for each aspect of which a run differs, with its first difference."""
    findings: dict[str, Finding] = {}
    for run in runs:
        aspect = run.circumstance.aspect
        if not run.difference or not run.counted or run.circumstance == FIRST:
            continue
        names, words = run.circumstance.ways, run.circumstance.words
        earlier = findings.get(aspect)
        if earlier is None:
            findings[aspect] = Finding(aspect, names, words, run.difference)
        else:
            further = tuple(way for way in names if way not in earlier.ways)
            all_words = earlier.words if words in earlier.words else f"{earlier.words}; {words}"
            findings[aspect] = replace(earlier, ways=earlier.ways + further, words=all_words)
    return list(findings.values())

