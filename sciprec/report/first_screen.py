"""The first screen of the page: which arithmetic suffices in which scenario, and what helps."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sciprec.facets.compensation import PLAIN
from sciprec.report.sections.suggestions import suggestions
from sciprec.report.sections.traced import verdicts_of_traces
from sciprec.report.stored.batch import StoredBatch, StoredRun, worse_first
from sciprec.results.comparison.verdicts import SUFFICIENT, Verdict, margin_in_words
from sciprec.results.comparison.wording import short_names

MOST_NAMED, MOST_AT_ONCE = 3, 8
"""Arithmetics, or scenarios, that a title or sentence names; scenarios whose sentences stand over
the matrix: those of more stand in its rows."""


@dataclass(frozen=True)
class Mark:
    """A line in a cell of the matrix: the verdict on a run.

    Args:
        compensation: "+carry"; empty for the arithmetic alone.
        status: of the verdict on the worst output and member.
        words: "÷ 3.1" of the tolerance, "× 31", or what the status is called.
        reason: a sentence.
    """

    compensation: str
    status: str
    words: str
    reason: str


def first_screen(batch: StoredBatch) -> dict[str, Any]:
    """The title, a sentence and a row of the matrix for each scenario, and what helps there.

    Returns:
        `title`; `columns`, names of arithmetics from many bits to few; `names`, their short names
        and those of all labels; `rows`, a dictionary for each scenario: scenario, sentence, cells
        (a list of marks for each column, empty where nothing ran), suggestions, traced (label and
        verdict of what a trace of the run says); `many`, whether each sentence stands in its row
        of the matrix and suggestions are folded, so that the matrix is seen; `totals`, a list of
        (compensation, scenarios where it suffices, where it ran) for each column; `compensated`,
        whether a run has a compensation; `mixed`, short names of arithmetics with mixed formats.
    """
    columns = _columns(batch)
    names = short_names([*columns, *batch.labels])
    mixed = {_arithmetic(run) for run in batch.runs if run.arithmetic and not run.width[0]}
    rows = []
    for scenario in batch.scenarios:
        all_runs = batch.of_scenario(scenario)
        runs = [run for run in all_runs if not run.is_truth]
        other_runs = [run for run in batch.runs if run.scenario != scenario]
        verdicts = {run.label: _with_members(batch, run) for run in runs}
        cells = [
            [_mark(run, verdicts[run.label]) for run in runs if _arithmetic(run) == column]
            for column in columns
        ]
        row = {
            "scenario": scenario, "cells": cells,
            "sentence": _without_truth(all_runs) or _sentence(runs, verdicts, names),
            "suggestions": suggestions(all_runs, str(batch.folder), other_runs),
            "traced": verdicts_of_traces([r for r in runs if not verdicts[r.label].acceptable]),
        }  # fmt: skip
        rows.append(row | {"helped": bool(row["suggestions"] or row["traced"])})
    return {
        "title": _title(batch, names), "columns": columns, "names": names, "rows": rows,
        "many": len(rows) > MOST_AT_ONCE,
        "compensated": any(run.compensation != PLAIN for run in batch.runs if not run.is_truth),
        "mixed": [names[column] for column in columns if column in mixed],
        "totals": [_total([row["cells"][place] for row in rows]) for place in range(len(columns))],
    }  # fmt: skip


def _total(cells: Iterable[Sequence[Mark]]) -> list[tuple[str, int, int]]:
    """Compensation, scenarios where the arithmetic suffices with it, and those where it ran."""
    ran, good = Counter(), Counter()
    for mark in itertools.chain.from_iterable(cells):
        ran[mark.compensation] += 1
        good[mark.compensation] += mark.status in SUFFICIENT
    return [(name, good[name], ran[name]) for name in sorted(ran)]


def _arithmetic(run: StoredRun) -> str:
    """The label of a run without its compensation."""
    return (
        run.label if run.compensation == PLAIN else run.label.removesuffix(f"+{run.compensation}")
    )


def _columns(batch: StoredBatch) -> list[str]:
    """Arithmetics of all runs but the truths, most bits first; those without a number come last."""
    bits: dict[str, tuple[int, int]] = {}
    for run in batch.runs:
        if not run.is_truth:
            name = _arithmetic(run)
            bits[name] = max(bits.get(name, (0, 0)), run.width)
    return sorted(bits, key=lambda name: bits[name], reverse=True)


def _with_members(batch: StoredBatch, run: StoredRun) -> Verdict:
    """The verdict on a run and on the members of its ensemble, of which each has to succeed."""
    for member in batch.further:
        if (member.scenario, member.label) == (run.scenario, run.label) and member.failure:
            return Verdict("failed", f"member {member.member}: {member.failure}")
    return run.verdict


def _mark(run: StoredRun, verdict: Verdict) -> Mark:
    compensation = "" if run.compensation == PLAIN else f"+{run.compensation}"
    return Mark(compensation, verdict.status, margin_in_words(verdict), verdict.short)


def _without_truth(runs: Sequence[StoredRun]) -> str:
    """Why nothing of a scenario can be compared; empty where there is a truth."""
    lost = [run.verdict.short for run in runs if run.is_truth and run.verdict.status == "failed"]
    return f"nothing can be compared, because fp64 itself failed: {lost[0]}." if lost else ""


def _sentence(
    runs: Sequence[StoredRun], verdicts: Mapping[str, Verdict], names: Mapping[str, str]
) -> str:
    """The smallest arithmetic of a scenario that suffices, or why there is none; of mixed formats,
    which have no size, those closest to the tolerance first: they have most narrow places.
    """
    if not runs:
        return "nothing ran but fp64."
    good = [run for run in runs if verdicts[run.label].status in SUFFICIENT]
    single = [run for run in good if run.width[0]]
    narrow_first = sorted(
        (run for run in good if not run.width[0]),
        key=lambda run: (run.compensation != PLAIN, worse_first(verdicts[run.label])),
    )
    mixed = [names[run.label] for run in narrow_first]
    too = f"{_named(mixed)} {'suffices' if len(mixed) == 1 else 'suffice'}" if mixed else ""
    if mixed and not single:
        return f"{too}, with mixed formats."
    if single:
        smallest = min(single, key=lambda run: run.size)
        kind = "smallest single format" if mixed else "smallest"
        sized = f"{names[smallest.label]}, {smallest.width[0]} bits"
        if len(runs) == 1:
            return f"{sized}, suffices; nothing else ran but fp64."
        sentence = f"{sized}, is the {kind} that suffices"
        plain = [run for run in single if run.compensation == PLAIN]
        if smallest.compensation != PLAIN and plain:
            least = min(plain, key=lambda run: run.size)
            sentence += f"; without {smallest.compensation}, {names[least.label]}"
            sentence += f", {least.width[0]} bits"
        sentence += f"; {too}, too, with mixed formats" if mixed else ""
        lost = [names[r.label] for r in runs if r.dataset is None and r.size < smallest.size]
        return f"{sentence}; nothing is known of {_named(lost)}." if lost else f"{sentence}."
    closest = min(verdicts.values(), key=worse_first, default=None)
    for status, words in (
        ("unjudged", "nothing is judged: the scenario states no tolerance that can be held."),
        ("doubtful", "nothing is judged: fp64 itself is not known so well."),
    ):
        if any(verdict.status == status for verdict in verdicts.values()):
            return words
    if all(verdict.status == "failed" for verdict in verdicts.values()):
        return f"no arithmetic came to its end: {closest.short}."
    nearest = max(runs, key=lambda run: worse_first(verdicts[run.label]))
    words = margin_in_words(verdicts[nearest.label])
    return f"none suffices; {names[nearest.label]} comes closest ({words})."


def _named(names: Sequence[str]) -> str:
    """The names, or the first of many and how many more."""
    more = len(names) - MOST_NAMED
    return _listed(names if more <= 1 else [*names[:MOST_NAMED], f"{more} more"])


def _title(batch: StoredBatch, names: Mapping[str, str]) -> str:
    """ "lorenz63: fp32 and mlu370 are good enough", or the scenarios and the question."""
    if len(batch.scenarios) > 1:
        many = len(batch.scenarios) > MOST_NAMED
        named = f"{len(batch.scenarios)} scenarios" if many else _listed(batch.scenarios)
        return f"{named}: which arithmetic suffices"
    (scenario,) = batch.scenarios
    runs = [run for run in batch.runs if not run.is_truth]
    verdicts = [_with_members(batch, run) for run in runs]
    if _without_truth(batch.runs):
        return f"{scenario}: nothing can be compared"
    good = [
        names[run.label]
        for run, verdict in zip(runs, verdicts, strict=True)
        if verdict.status in SUFFICIENT
    ]
    if len(good) > MOST_NAMED:
        return f"{scenario}: {len(good)} of {len(runs)} arithmetics are good enough"
    if good:
        return f"{scenario}: {_listed(good)} {'is' if len(good) == 1 else 'are'} good enough"
    if any(verdict.status in ("unjudged", "doubtful") for verdict in verdicts):
        return f"{scenario}: errors against fp64, not judged"
    return f"{scenario}: no arithmetic is good enough" if runs else f"{scenario} in fp64"


def _listed(names: Sequence[str]) -> str:
    """ "a, b and c"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
