"""What the page says about one scenario, as plain data for its template."""

from __future__ import annotations

import json
from typing import Any

from sciprec.compare.metrics import metrics
from sciprec.report.bounded import level_rows, notes
from sciprec.report.distribution import (
    class_rows,
    distribution_picture,
    quantile_rows,
    worst_rows,
)
from sciprec.report.drift import drift_rows
from sciprec.report.evidence_matrix import evidence_matrix
from sciprec.report.evidence_pictures import evidence_pictures, evidence_rows
from sciprec.report.figures import pictures
from sciprec.report.fixed_point import fixed_point_sections
from sciprec.report.growth import growth_section
from sciprec.report.rounded import rounded_in_words
from sciprec.report.stages import stage_rows
from sciprec.report.stored import StoredBatch
from sciprec.report.suggestions import suggestions
from sciprec.scenario import TRUTH

SHOWN_METRICS = ("max_abs", "rms", "relative_l2", "decimal_digits", "standard_errors")


def section(batch: StoredBatch, index: int, name: str) -> dict[str, Any]:
    """A scenario's part of the page: its description, its figures and all of its numbers.

    Args:
        batch: as stored.
        index: of the scenario; makes identifiers unique on the page.
        name: of the scenario.
    """
    runs = batch.of_scenario(name)
    described = next((run.description for run in runs if run.dataset is not None), {})
    kind = described.get("kind", "")
    evidence = evidence_rows(runs)
    return {
        "name": name,
        "title": described.get("title", name),
        "source": described.get("source", ""),
        "rounded": rounded_in_words(kind, runs),
        "settings": json.dumps(described.get(kind, {}), indent=2),
        "pictures": pictures(runs, batch.labels, f"s{index}"),
        "levels": level_rows(runs),
        "stages": stage_rows(runs),
        "notes": notes(runs),
        "runs": [run for run in runs if run.comparison is not None and run.backend != TRUTH],
        "metrics": [m for m in metrics().values() if m.name in SHOWN_METRICS],
        "drift": drift_rows(runs),
        "growth": growth_section(runs),
        "fixed_point": fixed_point_sections(runs),
        "distribution": distribution_picture(runs, batch.labels, f"s{index}-distribution"),
        "quantiles": quantile_rows(runs),
        "worst": worst_rows(runs),
        "classes": class_rows(runs),
        "evidence": evidence,
        "matrix": evidence_matrix(runs),
        "evidence_pictures": evidence_pictures(runs, batch.labels, f"s{index}"),
        "missing": list(dict.fromkeys(said for row in evidence for said in row["missing"])),
        "suggestions": suggestions(runs, str(batch.folder)),
    }
