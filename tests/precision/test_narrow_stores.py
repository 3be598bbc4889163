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
from tests.precision.comparison import assert_bits, assert_same
from tests.precision.corpus.values import filled_like_narrow


def thirds(x, out):
    for i in range(x.size):
        out[i] = x[i] / 3


@pytest.mark.parametrize(
    ("backend", "path"),
    [
        ("float:p=40,round=rz", "auto"), ("float:p=40,round=ru", "software"),
        ("float:p=24,emin=-300,emax=300,round=rd", "auto"),
        ("float:p=24,emin=-300,emax=300,round=rd", "software"),
    ],
)  # fmt: skip
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


@pytest.mark.parametrize("backend", ["float:p=40,round=rz", "fp16"])
def test_new_arrays_of_float32_are_filled_in_the_direction(backend):
    """By x.dtype and like an array, of a literal and of what an operation made."""
    lifted = sciprec.lift(filled_like_narrow, backend)
    for first in (0.7, -0.7, 1.0, -1.0, 5.0):
        x = np.float32([first, 2.0])
        assert_same(lifted(x.copy()), run_twin(filled_like_narrow, lifted.backend, (x,)))
