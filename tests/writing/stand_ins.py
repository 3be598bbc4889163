"""Stand-ins for what verbs compute where that takes long, so that they do no more than write."""

from __future__ import annotations

import pytest

from sciprec.regression.baselines import noise
from tests.conftest import without_figures
from tests.shell.conftest import stand_in


def stand_ins(patch: pytest.MonkeyPatch) -> None:
    """Put little models, blank figures and little noise in place."""
    stand_in(patch)
    without_figures(patch)
    patch.setattr(noise, "SAMPLES", 1)
