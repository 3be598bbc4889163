"""The section of runs whose transforms have arithmetics of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sciprec.facets.sections import PageSection, SectionRun


def stage_rows(runs: Sequence[SectionRun]) -> list[dict[str, Any]]:
    """A row for each run whose transforms have arithmetics of their own, as plain data.

    Args:
        runs: of one scenario.

    Returns:
        label, and in words: legendre, sums, fourier, and kept, with the wavenumbers.
    """
    return [
        {
            "label": run.label,
            "legendre": run.stages["legendre"] or run.backend,
            "sums": run.stages["sums"] or run.stages["legendre"] or run.backend,
            "fourier": run.stages["fourier"] or run.backend,
            "kept": _exceptions(run.stages, run.backend),
        }
        for run in runs
        if run.stages is not None
    ]


def stage_words(run: SectionRun) -> str:
    """The arithmetics of a run's transforms in words; empty where they are those of the run."""
    if run.stages is None:
        return ""
    (row,) = stage_rows([run])
    parts = [f"Legendre products in {row['legendre']}"]
    parts += [f"their sums in {row['sums']}"] if row["sums"] != row["legendre"] else []
    parts += [f"Fourier stage in {row['fourier']}"]
    parts += [row["kept"]] if row["kept"] != "–" else []
    return f"but for the transforms: {', '.join(parts)}"


def _exceptions(stages: dict[str, Any], backend: str) -> str:
    """The wavenumbers that have another arithmetic, and that one: "m = 0 to 3 in fp32"."""
    parts = [
        f"{letter} = 0" + (f" to {stages[key] - 1}" if stages[key] > 1 else "")
        for letter, key in (("m", "kept_orders"), ("l", "kept_degrees"))
        if stages[key]
    ]
    return f"{' and '.join(parts)} in {stages['kept'] or backend}" if parts else "–"


SECTION = PageSection("stages", lambda of: stage_rows(of.runs), file="facets/stages/section.html")
