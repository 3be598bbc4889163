"""Remainders, whose results are exact but where they are too small to be normal and are flushed."""

import math

import numpy as np
import pytest

from sciprec import Assignment, trace
from sciprec.precision import lift
from sciprec.precision.formats.backend import resolve_backend
from tests.oracles.twin import run_twin
from tests.precision.comparison import assert_same

FLUSHING = ("mlu370", "float:p=11,emin=-14,emax=15,round=rz,subnormals=flush,overflow=saturate")


def rests(x, y, out):
    for i in range(x.size):
        out[i, 0] = math.fmod(x[i], y[i])
        out[i, 1] = x[i] % y[i]
        out[i, 2] = np.fmod(x[i], y[i])


def arguments(arithmetic):
    """Numbers close to the smallest normal one, and special ones."""
    rng, lowest = np.random.default_rng(3), arithmetic.format.emin
    x, y = np.ldexp(rng.uniform(-2, 2, (2, 200)), rng.integers(lowest - 2, lowest + 8, (2, 200)))
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0]
    x[:20], y[:20] = rng.choice(special, (2, 20))
    return x, y, np.zeros((200, 3))


@pytest.mark.parametrize("name", FLUSHING)
def test_rests_below_the_normal_numbers_are_flushed(name):
    """In the processor's mode and without it, by assignment, and in a trace."""
    x, y, expected = given = arguments(resolve_backend(name).compute)
    run_twin(rests, resolve_backend(name), given)
    assert 20 < np.count_nonzero(expected[:, 0] == 0.0) < 180
    for path in ("auto", "software"):
        out = np.zeros((200, 3))
        lift(rests, name, path=path)(x, y, out)
        assert_same(out, expected)
    out = np.zeros((200, 3))
    lift(rests, Assignment({}, default=name, kernel=rests))(x, y, out)
    assert_same(out, expected)
    assert trace(rests, name, (x[20:], y[20:], np.zeros((180, 3)))).closure < 1e-6
