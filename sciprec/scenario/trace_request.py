"""The table [trace] of a scenario: runs whose error is split by line, for a section of the page."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from sciprec.facets.tables import Section
from sciprec.facets.values import ArithmeticNames


class TraceRequest(Section):
    """The runs of a scenario that are traced, and the key by which their error is split."""

    backends: ArithmeticNames = Field(
        default=(), min_length=1, examples=['backends = ["fp16"]'],
        json_schema_extra={"uniqueItems": True},
        description="an array of backend names or spec strings; left out, all of the scenario's",
    )  # fmt: skip
    by: Literal["line", "operation", "variable", "function", "call", "step", "stage"] = Field(
        default="line", examples=['by = "function"'],
        description='"line", "operation", "variable", "function", "call", "step" or "stage"',
    )  # fmt: skip
