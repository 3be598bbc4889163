"""Comparison of arrays bit for bit, and what tests ask of the processor."""

import numpy as np
import pytest

from sciprec.precision.rounding.mode import available

has_mode = pytest.mark.skipif(not available(), reason="only x86-64 has a settable rounding mode")


def assert_bits(found, expected, operands, what: str) -> None:
    """Equal bits, any NaN equal to any other; the first that differ are shown."""
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    same = (found == expected) & (np.signbit(found) == np.signbit(expected))
    wrong = np.flatnonzero(~(same | (np.isnan(found) & np.isnan(expected))))
    shown = [
        ([float(x[i]) for x in operands], float(found[i]), float(expected[i])) for i in wrong[:4]
    ]
    assert wrong.size == 0, f"{what}: {wrong.size} differ; (operands, found, expected): {shown}"
