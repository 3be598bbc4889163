"""The sentence on which numbers a scenario's runs round, and which are binary64 in every run."""

from __future__ import annotations

from collections.abc import Sequence

from sciprec.report.stored.batch import StoredRun
from sciprec.results.comparison.wording import short
from sciprec.results.output.stated import INITIAL_STATE, ROUNDED


def rounded_in_words(runs: Sequence[StoredRun]) -> str:
    """Words for the numbers that runs of a scenario round, for the runs that carry residuals, and
    for an initial state that was given.

    Args:
        runs: those of the scenario; where their files do not say it, there are no words.
    """
    stored = [run for run in runs if run.dataset is not None]
    labels = [run.label for run in stored if run.carries_residual and not run.is_truth]
    residuals = ""
    if labels:
        every = len(labels) == sum(not run.is_truth for run in stored)
        who = "all runs" if every else ", ".join(map(short, labels))
        residuals = (
            f"; what these roundings lose of the state is carried along as a residual in {who}"
        )
    attrs = next((run.dataset.attrs for run in stored), {})
    start = f" Initial state: {attrs[INITIAL_STATE]}." if INITIAL_STATE in attrs else ""
    return str(attrs.get(ROUNDED, "")).replace("{residuals}", residuals) + start
