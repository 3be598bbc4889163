"""Sections of the page about one scenario: data of its runs, and the markup that shows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import xarray as xr

from sciprec.drawing.templating import template, template_of
from sciprec.results.comparison.rows import Comparison


class SectionRun(Protocol):
    """A stored run as sections see it.

    Args:
        label: its name beside other runs of the scenario.
        backend, compensation: their names.
        is_truth: whether others are compared with it.
        dataset: its file; None where it left none.
        comparison: its errors; None where it or its truth failed or stopped early.
        stages: arithmetics of the transforms' stages; None where they are those of the backend.
    """

    @property
    def label(self) -> str: ...

    @property
    def backend(self) -> str: ...

    @property
    def compensation(self) -> str: ...

    @property
    def is_truth(self) -> bool: ...

    @property
    def dataset(self) -> xr.Dataset | None: ...

    @property
    def comparison(self) -> Comparison | None: ...

    @property
    def stages(self) -> dict[str, Any] | None: ...


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

    def render(self, subject: Any) -> str | None:
        """The section of one scenario; None where there is nothing to show."""
        data = self.data(subject)
        if not data:
            return None
        file = self.file or f"sections/{self.name}.html"
        markup = template(file) if self.markup is None else template_of(self.markup)
        return markup.render(data=data, scenario=subject.scenario).removesuffix("\n")
