"""The section of error growth: the best law, its coefficients, and a sentence for the case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sciprec.report.stored.batch import StoredRun
from sciprec.results.comparison.evidence.error_growth import law_of, law_sentences
from sciprec.results.comparison.evidence.growth_laws import Law
from sciprec.results.comparison.wording import factor, number


@dataclass(frozen=True)
class GrowthSection:
    """The table and the sentences of one scenario, ready for the page.

    Args:
        rows, sentences: of the runs.
        followed: whether a run follows one of the laws.
    """

    rows: list[dict[str, Any]]
    sentences: list[str]
    followed: bool


def growth_section(runs: Sequence[StoredRun]) -> GrowthSection | None:
    """The section about the growth of errors; None where no run has steps to follow.

    Args:
        runs: those of one scenario.
    """
    grown = [
        (run.label, run.comparison.growth)
        for run in runs
        if run.comparison is not None and run.comparison.growth is not None
    ]
    if not grown:
        return None
    rows = [
        {
            "label": label,
            "law": growth.best.name + ", not followed" * (law_of(growth) != growth.best.name),
            "formula": formula(growth.best),
            "weight": f"{growth.best.weight:.0%}",
            "increase": factor(growth.increase),
            "scatter": f"{10**growth.best.scatter:.2f}",
            "power": f"{growth.power:.2f} ± {growth.power_error:.2f}",
            "rate": number(growth.rate_per_step),
        }
        for label, growth in grown
    ]
    followed = any(law_of(growth) == growth.best.name for _, growth in grown)
    return GrowthSection(rows, law_sentences(grown), followed)


def formula(law: Law) -> str:
    """A fitted law with its coefficients in place: "0.12 √n u"; without u where that is not one."""
    values = {name: number(value) for name, value in law.coefficients.items()}
    if law.name == "exponential":
        return f"{values['delta_0']} e^({values['eps']} n)"
    steps = "√n" if law.name == "square root" else "n"
    return f"{values['c']} {steps}{' u' * law.formula.endswith(' u')}"
