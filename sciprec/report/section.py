"""Sections of the page about one scenario: a row for each, in the order of the page."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sciprec.facets.adaptive.section import SECTION as ADAPTIVE
from sciprec.facets.compensation.section import SECTION as COMPENSATION
from sciprec.facets.matrix_unit.section import SECTION as MATRIX_UNIT
from sciprec.facets.monitor.section import SECTION as MONITOR
from sciprec.facets.scaling.section import SECTION as SCALING
from sciprec.facets.sections import PageSection
from sciprec.facets.stages.section import SECTION as STAGES
from sciprec.foundation.loading import load_plugins
from sciprec.report.kept import key_of
from sciprec.report.sections.bounded import level_rows, notes, volatility_rows
from sciprec.report.sections.distribution import (
    LEAST_OF_PERCENTILES,
    class_rows,
    distribution_picture,
    quantile_rows,
    worst_rows,
)
from sciprec.report.sections.evidence_matrix import evidence_matrix
from sciprec.report.sections.evidence_pictures import evidence_pictures, evidence_rows
from sciprec.report.sections.fewest_bits import fewest_bits_section
from sciprec.report.sections.figures import pictures
from sciprec.report.sections.fixed_point import fixed_point_sections
from sciprec.report.sections.growth import growth_section
from sciprec.report.sections.members import members_section
from sciprec.report.sections.rooflines import rooflines_section
from sciprec.report.sections.rounded import rounded_in_words
from sciprec.report.sections.savings import most_memory, savings_rows, time_rows
from sciprec.report.sections.traced import traced_rows
from sciprec.report.stored.batch import StoredBatch, StoredRun
from sciprec.results.comparison.rows import shown_metrics
from sciprec.results.output.kept_values import is_kept, recalled_or_computed

SHOWN_METRICS = ("max_abs", "rms", "relative_l2", "share_of_change", "decimal_digits",
                 "standard_errors")  # fmt: skip


@dataclass(frozen=True)
class Subject:
    """A scenario of a stored batch, of which sections are made.

    Args:
        batch: as stored.
        scenario: its name.
        prefix: unique on the page; begins the identifiers of figures.
    """

    batch: StoredBatch
    scenario: str
    prefix: str

    @cached_property
    def runs(self) -> tuple[StoredRun, ...]:
        """The scenario's runs, the truth first."""
        return self.batch.loaded(self.scenario)

    @property
    def order(self) -> tuple[str, ...]:
        """All labels of the batch: a label keeps its colour on the whole page."""
        return self.batch.labels


def _evidence(subject: Subject) -> Any:
    """The section of the measurements beside the pointwise errors."""
    rows = evidence_rows(subject.runs)
    return rows and {
        "rows": rows,
        "matrix": evidence_matrix(subject.runs),
        "pictures": evidence_pictures(subject.runs, subject.order, subject.prefix),
        "missing": list(dict.fromkeys(sentence for row in rows for sentence in row["missing"])),
    }


def _distribution(subject: Subject) -> Any:
    """The section of the distribution of the main variable's errors."""
    name = f"{subject.prefix}-distribution"
    quantiles = quantile_rows(subject.runs)
    return quantiles and {
        "values": quantiles[0]["values"],
        "enough": quantiles[0]["values"] >= LEAST_OF_PERCENTILES,
        "picture": distribution_picture(subject.runs, subject.order, name),
        "quantiles": quantiles,
        "worst": worst_rows(subject.runs),
    }


def _variables(subject: Subject) -> dict[str, Any] | None:
    """All errors of all variables."""
    runs = [r for r in subject.runs if r.comparison is not None and not r.is_truth]
    rows = [row for run in runs if run.comparison is not None for row in run.comparison.rows]
    metrics = shown_metrics(rows, SHOWN_METRICS)
    return {"runs": runs, "metrics": metrics} if runs else None


def _times(subject: Subject) -> dict[str, Any] | None:
    """Processor times and memory of the runs."""
    rows = time_rows(subject.runs)
    return {"rows": rows, "memory": most_memory(subject.runs)} if rows else None


def _settings(subject: Subject) -> str:
    """The scenario's own table."""
    described = _description(subject.batch, subject.scenario)
    return json.dumps(described.get(described.get("kind", ""), {}), indent=2)


_FINDINGS = (
    PageSection("members", lambda of: members_section(of.runs)),
    PageSection("savings", lambda of: savings_rows(of.runs)),
    PageSection("fewest_bits", lambda of: fewest_bits_section(of.runs, of.prefix)),
    PageSection("pictures", lambda of: pictures(of.runs, of.order, of.prefix)),
    PageSection("distribution", _distribution),
    PageSection("classes", lambda of: class_rows(of.runs)),
    PageSection("evidence", _evidence),
    PageSection("growth", lambda of: growth_section(of.runs)),
    PageSection("traced", lambda of: traced_rows(of.runs, of.prefix)),
    PageSection("notes", lambda of: notes(of.runs)),
    STAGES,
    MATRIX_UNIT,
    PageSection("rooflines", lambda of: rooflines_section(of.runs)),
    SCALING,
    PageSection("volatilities", lambda of: volatility_rows(of.runs)),
    PageSection("levels", lambda of: level_rows(of.runs)),
    ADAPTIVE,
    MONITOR,
    COMPENSATION,
    PageSection("fixed_point", lambda of: fixed_point_sections(of.runs)),
)
_DETAILS = (
    PageSection("variables", _variables),
    PageSection("times", _times),
    PageSection("settings", _settings),
)
_ADDED: dict[str, PageSection] = {}


def page_section(markup: str) -> Callable:
    """Register a function Subject -> data as a section, after what sciprec itself has found.

    Args:
        markup: Jinja's, of `data`, what the function returns, and of `scenario`, the name. Text is
            escaped; `{% from "figure.html" import figure %}` shows a Picture.
    """

    def register(data: Callable[[Subject], Any]) -> Callable[[Subject], Any]:
        _ADDED[data.__name__] = PageSection(data.__name__, data, markup)
        return data

    return register


def scenario_part(
    batch: StoredBatch, index: int, name: str, *, keep: bool = False
) -> dict[str, Any]:
    """A scenario's part of the page: its description, and all sections that have something to show.

    Args:
        batch: as stored.
        index: of the scenario; makes identifiers unique on the page.
        name: of the scenario.
        keep: whether sciprec's own sections are kept for a later page; the batch is then as its
            folder holds it.
    """
    load_plugins()
    subject = Subject(batch, name, _prefix(index))
    described = _description(batch, name)

    def rendered(sections: Iterable[PageSection]) -> list[str]:
        with _uncollected():
            parts = [section.render(subject) for section in sections]
        return [part for part in parts if part is not None]

    def kept_or_rendered(sections: Sequence[PageSection]) -> list[str]:
        key = _key_of(batch, index, name, sections) if keep else ""
        return recalled_or_computed("page", key, lambda: rendered(sections))

    return {
        "name": name,
        "title": described.get("title", name),
        "source": described.get("source", ""),
        "rounded": rounded_in_words(batch.of_scenario(name)),
        "parts": [
            *kept_or_rendered(_FINDINGS),
            *rendered(_ADDED.values()),
            *kept_or_rendered(_DETAILS),
        ],
    }


@contextmanager
def _uncollected() -> Iterator[None]:
    """A context without garbage collections: figures make so many objects that looking through all
    others again and again is a fifth of the time of drawing.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def is_undrawn(batch: StoredBatch, index: int, name: str) -> bool:
    """Whether something that sciprec shows of a scenario can be kept and is not; the arguments are
    those of `scenario_part`.
    """
    keys = [_key_of(batch, index, name, sections) for sections in (_FINDINGS, _DETAILS)]
    return any(key and not is_kept("page", key) for key in keys)


def _key_of(batch: StoredBatch, index: int, name: str, sections: Sequence[PageSection]) -> str:
    """The key of some sections of a scenario."""
    return key_of(batch, name, _prefix(index), [section.name for section in sections])


def _prefix(index: int) -> str:
    """The prefix of identifiers in the part of a scenario."""
    return f"s{index}"


def _description(batch: StoredBatch, name: str) -> dict[str, Any]:
    """A scenario as resolved, from the first file that there is."""
    runs = batch.of_scenario(name)
    return next((run.description for run in runs if run.dataset is not None), {})
