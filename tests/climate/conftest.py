"""Fixtures that tests of the climate share."""

import numpy as np
import pytest


@pytest.fixture
def written_each_time(monkeypatch):
    """A checkpoint at every output time, however long its writing takes on a busy machine."""
    monkeypatch.setattr("sciprec.climate.running.checkpoint._MOST_SHARE_OF_TIME", np.inf)
