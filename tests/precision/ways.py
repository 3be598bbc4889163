"""Two ways to run a lifted kernel in tests: see the fixture `lifted`."""

from __future__ import annotations

import pytest

BOTH = ("uncompiled", pytest.param("compiled", marks=pytest.mark.slow))


def ways(names, values, compiled=()):
    """A decorator: parameters of a test that takes the fixture `lifted` as well; it runs every
    value uncompiled, and as a slow test those of `compiled`, compiled.

    Args:
        names: of the parameters, one text or a tuple.
        values: what they are, one value or tuple of values for each run.
        compiled: which of the values are compiled, too: a collection of them or, where a value is
            a tuple, of what they begin with; or a number n, for every n-th one.
    """
    names = (names,) if isinstance(names, str) else tuple(names)
    rows = []
    for number, value in enumerate(values):
        row = value if len(names) > 1 else (value,)
        label = "-".join(str(getattr(x, "name", getattr(x, "__name__", x))) for x in row)
        rows.append(pytest.param("uncompiled", *row, id=label))
        if isinstance(compiled, int):
            chosen = compiled > 0 and number % compiled == 0
        else:
            chosen = any(c is value or c == row or c is row[0] for c in compiled)
        if chosen:
            mark = pytest.mark.slow
            rows.append(pytest.param("compiled", *row, id=f"{label}-compiled", marks=mark))
    return pytest.mark.parametrize(("lifted", *names), rows, indirect=["lifted"])
