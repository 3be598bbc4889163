"""Stand-ins for what verbs compute where that takes long, so that they do no more than write."""

from __future__ import annotations

import pytest

from tests.shell.conftest import stand_in


def stand_ins(patch: pytest.MonkeyPatch) -> None:
    """Put little models and blank figures in place."""
    stand_in(patch)

    def blank(canvas, buffer, **_):
        buffer.write('<svg viewBox="0 0 1 1"></svg>')

    patch.setattr("sciprec.drawing.svg.FigureCanvasSVG.print_svg", blank)
