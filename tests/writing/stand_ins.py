"""Stand-ins for what verbs compute where that takes long, so that they do no more than write."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sciprec import bench
from tests.shell.conftest import stand_in


def stand_ins(patch: pytest.MonkeyPatch) -> None:
    """Put little models, a benchmark that measures nothing, and blank figures in place."""
    stand_in(patch)
    patch.setattr(bench, "benchmark_named", lambda name: _MEASURED)

    def blank(canvas, buffer, **_):
        buffer.write('<svg viewBox="0 0 1 1"></svg>')

    patch.setattr("sciprec.report.drawing.svg.FigureCanvasSVG.print_svg", blank)


_MEASURED = SimpleNamespace(
    measure=lambda small, say: {
        "benchmark": "fixed", "machine": {"processor": "none"},
    },
    tables=lambda result: {},
    CAPTION="Nothing is measured",
)  # fmt: skip
