"""Comparison of arrays bit for bit, and what tests ask of the processor."""

import numpy as np
import pytest

from sciprec.precision.rounding.mode import available
from tests.oracles.pairs import Pair

has_mode = pytest.mark.skipif(not available(), reason="only x86-64 has a settable rounding mode")


def bits(values) -> list[int]:
    """The bit patterns of numbers, every NaN the same one."""
    values = np.asarray(values, np.float64)
    return np.where(np.isnan(values), np.nan, values).view(np.int64).tolist()


def assert_bits(found, expected, operands, what: str) -> None:
    """Equal bits, any NaN equal to any other; the first that differ are shown."""
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    same = (found == expected) & (np.signbit(found) == np.signbit(expected))
    wrong = np.flatnonzero(~(same | (np.isnan(found) & np.isnan(expected))))
    shown = [
        ([float(x[i]) for x in operands], float(found[i]), float(expected[i])) for i in wrong[:4]
    ]
    assert wrong.size == 0, f"{what}: {wrong.size} differ; (operands, found, expected): {shown}"


def numbers_of(value) -> np.ndarray:
    """All numbers of a result or of arguments, in order; the parts of complex ones in turn."""
    if value is None:
        return np.zeros(0)
    if isinstance(value, (tuple, list)):
        return np.concatenate([np.zeros(0), *(numbers_of(item) for item in value)])
    made = np.asarray(value)
    if made.dtype == object:
        is_complex = any(isinstance(x, (complex, np.complexfloating, Pair)) for x in made.flat)
        made = made.astype(complex if is_complex else float)
    return made.ravel().view(float) if made.dtype.kind == "c" else made.astype(float).ravel()


def assert_same(found, expected, what: str = "") -> None:
    """Require equal numbers, bit for bit, in results of any nesting; any NaN equals any other."""
    found, expected = numbers_of(found), numbers_of(expected)
    assert found.shape == expected.shape, what
    assert_bits(found, expected, (np.arange(found.size),), what)
