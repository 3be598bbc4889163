"""What of a scenario's numbers is rounded in the arithmetic, and what is binary64 in every run."""

from __future__ import annotations

from collections.abc import Sequence

from sciprec.report.stored import StoredRun
from sciprec.scenario import TRUTH

_WORDS = {
    "climate": (
        "Every operation of a step is rounded in the arithmetic, and so is the state between "
        "steps{residuals}. Tables and initial state are made in binary64 and rounded once; fields "
        "and budgets are evaluated from the stored states in binary64."
    ),
    "heston": (
        "Every operation of the paths is rounded in the arithmetic{residuals}. Payments, their "
        "means, errors and bounds are computed from the paths in binary64."
    ),
    "accumulation": (
        "Every update of a sum is rounded in the arithmetic, and each increment when it is "
        "loaded{residuals}. Increments are drawn, and sums compared, in binary64."
    ),
}


def rounded_in_words(kind: str, runs: Sequence[StoredRun]) -> str:
    """What is rounded in the runs of a scenario, and which of them carry residuals.

    Args:
        kind: of the scenario; other kinds than sciprec's own have no words.
        runs: those of the scenario.
    """
    done = [run for run in runs if run.dataset is not None]
    labels = [run.label for run in done if run.carries_residual and run.backend != TRUTH]
    said = ""
    if labels:
        every = len(labels) == sum(run.backend != TRUTH for run in done)
        who = "all runs" if every else ", ".join(labels)
        said = f"; what these roundings lose of the state is carried along as a residual in {who}"
    return _WORDS.get(kind, "").format(residuals=said)
