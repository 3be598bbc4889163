"""A climate does not follow the processor: its tables and initial states are made in extended
precision.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
from numpy._core import _multiarray_umath as numpy_core

from sciprec.climate.equations.vertical import _inverses
from sciprec.foundation.portable import in_extended_precision, portable

DIGESTS = """
import hashlib
from sciprec import climate
from sciprec.climate.cases.registry import CASES
for case in CASES:
    result = climate.run(case, "T10", 0.05, output_hours=0.6)
    digest = hashlib.sha256(b"".join(v.values.tobytes() for v in result.variables.values()))
    print(case, digest.hexdigest())
"""
EXTENDED = np.finfo(np.longdouble).nmant > 52


def digests(**environment):
    """Digests of all cases' results, in a process with these variables."""
    result = subprocess.run(
        [sys.executable, "-c", DIGESTS], env=os.environ | environment, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    return result.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.skipif(not EXTENDED, reason="the platform has no extended precision")
def test_all_cases_have_the_same_bits_without_the_processors_extensions():
    """Sines, powers, logarithms and inverses followed the processor."""
    here = [name for name in numpy_core.__cpu_dispatch__ if numpy_core.__cpu_features__[name]]
    plain = digests(NPY_DISABLE_CPU_FEATURES=" ".join(here), OPENBLAS_CORETYPE="Nehalem")
    assert plain == digests() and len(plain) == 8


def test_functions_are_those_of_extended_precision_rounded_once():
    x = np.random.default_rng(1).uniform(-3.0, 3.0, (40, 50))
    wide = np.longdouble(x)
    assert np.array_equal(portable(np.exp, x), np.float64(np.exp(wide)))
    assert isinstance(portable(np.exp, 0.5), float)

    @in_extended_precision
    def turned(lon, lat, levels, *, factor):
        return lon * factor / 3 + lat * levels

    result = turned(x, x, 7, factor=5.0)
    assert result.dtype == np.float64
    assert np.array_equal(result, np.float64(wide * 5 / 3 + wide * 7))


def test_inverses_are_inverses_whatever_rows_come_first():
    rng = np.random.default_rng(2)
    matrices = np.longdouble(rng.uniform(-1.0, 1.0, (30, 7, 7)))
    matrices[:, 0, 0] = 0.0  # a pivot has to be looked for
    products = np.einsum("nij,njk->nik", matrices, _inverses(matrices))
    assert np.abs(products - np.eye(7)).max() < 2000 * np.finfo(np.longdouble).eps * 7
