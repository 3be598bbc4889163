"""Seeds of nets, or tuples of values: the first of them in the test command, the others by the mark
`survey`.
"""

from collections.abc import Sequence

import pytest


def few(seeds: Sequence, count: int) -> list:
    """Parameters of a test, of which so many are no survey."""
    rest = (seed if isinstance(seed, tuple) else (seed,) for seed in seeds[count:])
    others = (pytest.param(*values, marks=pytest.mark.survey) for values in rest)
    return [*seeds[:count], *others]
