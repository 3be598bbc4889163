"""Kernels that once took the whole process with them: each run in a new one, with a time limit."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np

import sciprec
from sciprec.precision import resolve_backend
from tests.oracles.twin import run_twin

ROOT = Path(__file__).parents[2]
LIMIT_SECONDS = 100
RUN = "from tests.precision.test_lift_processes import {name}; {name}()"


def finishes(function, cache: Path) -> str:
    """Run a function of this module in a new process, with nothing compiled; what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", RUN.format(name=function.__name__)],
        cwd=ROOT,
        env={"PATH": "/usr/bin", "SCIPREC_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout


def scaled_roots(x, c, out):
    for i in range(x.size):
        out[i] = math.sqrt(x[i]) * c[0] + c[1]


def packed_loads():
    """Two neighbouring binary32 numbers are loaded inside a loop: LLVM packs them into one."""
    for backend in ("mlu370", "float:p=14,round=rz"):
        x, c = np.linspace(0.0, 2.0, 9, dtype=np.float32), np.array([0.3, 1.7], np.float32)
        found, expected = np.zeros_like(x), np.zeros(x.size)
        sciprec.lift(scaled_roots, backend)(x, c, found)
        exact = (x.astype(float), c.astype(float), expected)
        run_twin(scaled_roots, resolve_backend(backend), exact)
        assert np.array_equal(found, expected), backend


def test_packed_loads_do_not_abort(tmp_path):
    finishes(packed_loads, tmp_path)
