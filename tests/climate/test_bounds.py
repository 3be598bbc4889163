"""No kernel of the transforms reads or writes beyond an array, on any grid."""

import os
import subprocess
import sys

import pytest

EVERY = ("T1", "T5", "T15", "T21", "T31", "TL5", "TL15", "TL16", "TL31", "TL62", "TL63")


@pytest.mark.survey
def test_indices_stay_within_their_arrays(tmp_path):
    program = (
        "import numpy as np\n"
        "from sciprec.climate.transform.grid import resolve_truncation\n"
        "from sciprec.climate.transform.spectral import SpectralTransform\n"
        "from tests.climate.small_models import random_spectrum\n"
        f"for name in {EVERY}:\n"
        "    transform = SpectralTransform(resolve_truncation(name))\n"
        "    for fields in (1, 2, 9):\n"
        "        spectrum = random_spectrum(transform, fields)\n"
        "        back = transform.to_spectrum(transform.to_grid(spectrum))\n"
        "        assert np.abs(back - spectrum).max() < 2e-14, (name, fields)\n"
    )
    checked = os.environ | {"NUMBA_BOUNDSCHECK": "1", "SCIPREC_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=checked, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
