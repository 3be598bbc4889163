"""Seeds of nets: the first of them in the test command, the others by the mark `survey`."""

from collections.abc import Sequence

import pytest


def few(seeds: Sequence, count: int) -> list:
    """Parameters of a test, of which so many are no survey."""
    others = (pytest.param(seed, marks=pytest.mark.survey) for seed in seeds[count:])
    return [*seeds[:count], *others]
