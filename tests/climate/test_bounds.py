"""No kernel of the transforms reads or writes beyond an array, on any grid."""

import os
import subprocess
import sys

import numpy as np
import pytest

from sciprec.climate.transform.grid import resolve_truncation
from sciprec.climate.transform.spectral import SpectralTransform

EVERY = ("T1", "T5", "T15", "T21", "T31", "TL5", "TL15", "TL16", "TL31", "TL62", "TL63")


def error_of_round_trip(transform: SpectralTransform, fields: int) -> float:
    spectrum = np.random.default_rng(0).uniform(-1, 1, (transform.degree.size, 2 * fields))
    spectrum[transform.order == 0, 1::2] = 0.0
    spectrum[transform.degree > transform.truncation.number] = 0.0
    return np.abs(transform.to_spectrum(transform.to_grid(spectrum)) - spectrum).max()


@pytest.mark.parametrize(  # one degree more than whole blocks
    "name", ["TL15", "TL31", pytest.param("TL63", marks=pytest.mark.slow)]
)
def test_no_coefficient_is_lost_where_degrees_do_not_fill_their_blocks(name):
    transform = SpectralTransform(resolve_truncation(name))
    kept = np.flatnonzero(transform.degree <= transform.truncation.number)
    spectrum = np.zeros((transform.degree.size, 2 * kept.size))
    spectrum[kept, 2 * np.arange(kept.size)] = 1.0  # each coefficient alone
    back = transform.to_spectrum(transform.to_grid(spectrum))
    np.testing.assert_allclose(back, spectrum, rtol=0, atol=2e-14)


@pytest.mark.slow
def test_indices_stay_within_their_arrays(tmp_path):
    program = (
        "from tests.climate.test_bounds import *\n"
        "for name in EVERY:\n"
        "    transform = SpectralTransform(resolve_truncation(name))\n"
        "    for fields in (1, 2, 9):\n"
        "        error = error_of_round_trip(transform, fields)\n"
        "        assert error < 2e-14, (name, fields, error)\n"
    )
    checked = os.environ | {"NUMBA_BOUNDSCHECK": "1", "SCIPREC_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=checked, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
