"""A survey, run by hand: lifted kernels compiled for other processors give this one's bits.

    python -m tests.precision.processor_survey

Each processor is a process with `NUMBA_CPU_NAME` and a cold cache, once with this machine's
and once with none but the name's own (`NUMBA_CPU_FEATURES=""`). Names that LLVM takes for newer
processors than this one are left out: their code may not run here.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
NAMES = ("generic", "x86-64-v2", "x86-64-v3", "core2", "nehalem", "haswell", "znver1", "skylake")
ARITHMETICS = (
    "fp64", "fp32", "fp16", "bf16", "tf32", "mlu370", "float8_e4m3fn", "float:p=14,round=ru",
    "float:p=9,emin=-30,emax=31,round=sr", "float:p=20,round=rz", "mix-fp32-fix16",
    "fixed:bits=24,round=rn,saturate=yes,headroom=2", "int8", "int16", "int32",
)  # fmt: skip
"""By the last three, exact products of integers."""


def probe(x, y, out):
    """Every operation that rounds, an elementary function, a sum and a product of matrices."""
    total = 0.0
    for i in range(x.shape[0]):
        out[0, i] = x[i] + y[i]
        out[1, i] = x[i] - y[i] * x[i]
        out[2, i] = x[i] / y[i]
        out[3, i] = math.sqrt(abs(x[i]))
        out[4, i] = math.exp(0.1 * x[i])
        total += x[i] * y[i]
    out[5, 0] = total


def digests(arithmetics) -> dict[str, str]:
    """A digest of the results in each arithmetic."""
    return {name: hashlib.sha256(_results(name).tobytes()).hexdigest()[:16] for name in arithmetics}


def _results(name: str) -> np.ndarray:
    import sciprec
    from sciprec.arrays.integers.matrix_products import fixed_matmul

    rng = np.random.default_rng(7)
    if name.startswith("int"):
        low, high = np.iinfo(name).min, np.iinfo(name).max
        a = rng.integers(low, high, (9, 600), name, endpoint=True)
        b = rng.integers(low, high, (600, 21), name, endpoint=True)
        a[0], b[:, 0] = low, low
        return np.stack([fixed_matmul(a, b, accurate=True), fixed_matmul(a, b)])
    x, y = rng.normal(size=(2, 301)) + 2.0
    out = np.zeros((6, x.size))
    sciprec.lift(probe, name)(x, y, out)
    return out


def digests_as(target: dict[str, str], arithmetics=ARITHMETICS) -> dict[str, str]:
    """The digests of a process with settings of Numba and a cold cache.

    Raises:
        RuntimeError: it ended with an error or a signal.
    """
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-m", __spec__.name, *arithmetics], cwd=ROOT,
            env={**os.environ, **target, "SCIPREC_CACHE_DIR": cache}, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr[-500:]}")
    return json.loads(done.stdout)


def main() -> None:
    """Survey all processors, or print the digests of this one in arithmetics that are named."""
    if sys.argv[1:]:
        print(json.dumps(digests(sys.argv[1:])))
        return
    expected = digests_as({})
    for name in NAMES:
        for features in ({}, {"NUMBA_CPU_FEATURES": ""}):
            try:
                found = digests_as({"NUMBA_CPU_NAME": name, **features})
            except RuntimeError as error:
                found = {}
                print(error)
            differing = [one for one in expected if found.get(one) != expected[one]]
            words = f"differ: {', '.join(differing)}" if differing else "the same bits"
            print(f"{name:10} {'own' if features else 'host'} features: {words}", flush=True)


if __name__ == "__main__":
    main()
