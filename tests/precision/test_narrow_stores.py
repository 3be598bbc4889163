"""Arrays of float32 in arithmetics that need binary64: what is stored is rounded once more, in the
arithmetic's own direction.
"""

from types import SimpleNamespace

import numpy as np
import pytest

import sciprec
from sciprec.precision import FORMATS, resolve_backend
from tests.oracles import exact
from tests.oracles.twin import run_twin
from tests.precision.comparison import assert_bits, has_mode


def thirds(x, out):
    for i in range(x.size):
        out[i] = x[i] / 3


@pytest.mark.parametrize("path", ["auto", "software"])
@pytest.mark.parametrize(
    "backend",
    ["float:p=40,round=rz", "float:p=40,round=ru", "float:p=24,emin=-300,emax=300,round=rd"],
)
def test_stores_into_float32_keep_the_direction(backend, path):
    arithmetic = resolve_backend(backend).compute
    narrow = SimpleNamespace(
        format=FORMATS["binary32"], rounding=arithmetic.rounding, aligned=False
    )
    x = np.array([1.0, -1.0, 0.7, -5e5, 2e39, -2e39, 1e-44, -1e-44, 1e60, np.inf, np.nan])
    thirds_of = [exact.div(exact.round_exact(v, arithmetic), 3.0, arithmetic) for v in x.tolist()]
    expected = [exact.round_exact(v, narrow) for v in thirds_of]
    out = np.zeros(x.size, np.float32)
    sciprec.lift(thirds, backend, path=path)(x, out)
    assert_bits(out, expected, [x], f"{backend} ({path})")


def copied(x):
    """A new array, which holds what is computed."""
    made = x.copy()
    for i in range(x.size):
        made[i] = x[i] / 3
    return made, np.diff(x)


@pytest.mark.parametrize("backend", ["float:p=40,round=rz", "float:p=53,emin=-1022,emax=1023"])
def test_copies_of_float32_are_not_narrowed(backend):
    lifted, x = sciprec.lift(copied, backend), np.float32([0.7, -0.1, 5e5, 3.0])
    found, expected = lifted(x), run_twin(copied, lifted.backend, (x,))
    assert not np.array_equal(found[0], np.float32(found[0]))
    for one, exactly in zip(found, expected, strict=True):
        assert np.array_equal(one, np.asarray(exactly).astype(float)), (one, exactly)


def filled(x):
    """By x.dtype and like an array, of a literal and of what an operation made."""
    third = x[0] / 3
    of_literals = np.full(2, 0.7, x.dtype), np.full_like(x, 0.1)
    return *of_literals, np.full((2, 1), third, dtype=x.dtype), np.full_like(x, fill_value=third)


@pytest.mark.parametrize(
    "backend",
    [
        "float:p=40,round=rz",
        pytest.param("float:p=53,emin=-1022,emax=1023,round=ru", marks=has_mode),
        "float:p=40",
        "fp16",
    ],
)
def test_new_arrays_of_float32_are_filled_in_the_direction(backend):
    lifted = sciprec.lift(filled, backend)
    pairs = []
    for first in (0.7, -0.7, 1.0, -1.0, 5.0):
        x = np.float32([first, 2.0])
        pairs += zip(lifted(x.copy()), run_twin(filled, lifted.backend, (x,)), strict=True)
    for found, exactly in pairs:
        assert np.array_equal(found, np.asarray(exactly).astype(float)), (found, exactly)
