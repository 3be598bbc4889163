"""Sections of the page about one scenario: data of its runs, and the markup that shows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import xarray as xr

from sciprec.drawing.templating import template, template_of
from sciprec.results.comparison.rows import Comparison


class Run(Protocol):
    """A stored run as sections see it; `report.stored.batch.StoredRun` is one."""

    @property
    def label(self) -> str:
        """Its name beside other runs of the scenario."""

    @property
    def backend(self) -> str:
        """Name or spec string of its arithmetic."""

    @property
    def compensation(self) -> str:
        """Name of its compensation."""

    @property
    def is_truth(self) -> bool:
        """Whether others are compared with it."""

    @property
    def dataset(self) -> xr.Dataset | None:
        """Its file; None where it left none."""

    @property
    def comparison(self) -> Comparison | None:
        """Its errors; None where it or its truth failed or stopped early."""

    @property
    def stages(self) -> dict[str, Any] | None:
        """Arithmetics of the transforms' stages; None where they are those of the backend."""


class Subject(Protocol):
    """A scenario of a stored batch as sections see it."""

    @property
    def scenario(self) -> str:
        """Its name."""

    @property
    def runs(self) -> Sequence[Any]:
        """Its runs, the truth first."""

    @property
    def prefix(self) -> str:
        """Unique on the page; begins the identifiers of figures."""


@dataclass(frozen=True)
class PageSection:
    """A part of every scenario on the page.

    Args:
        name: of the section.
        data: what it shows of a scenario; nothing (None, an empty list) leaves the section out.
        markup: Jinja's, of `data` and of `scenario`, the name; left out, `file` has it.
        file: of the markup, from drawing/templates/ or from sciprec/; left out,
            sections/NAME.html.
    """

    name: str
    data: Callable[[Any], Any]
    markup: str | None = None
    file: str = ""

    def render(self, subject: Subject) -> str | None:
        """The section of one scenario; None where there is nothing to show."""
        data = self.data(subject)
        if not data:
            return None
        file = self.file or f"sections/{self.name}.html"
        markup = template(file) if self.markup is None else template_of(self.markup)
        return markup.render(data=data, scenario=subject.scenario).removesuffix("\n")
