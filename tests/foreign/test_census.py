"""The census, and foreign kernels run, on packages and a folder that are made up here."""

import json

import pytest

from tests.foreign import census, running

PACKAGE = """
import numpy as np
from absent.package import decorated
from numba import guvectorize, njit, prange, vectorize


@njit("float64(float64[:])", cache=True)
def scaled_sum(x):
    s = 0.0
    for i in prange(x.size):
        s = s * 0.9 + x[i]
    return s


@njit
def singular_values(a):
    return np.linalg.svd(a)


@decorated
@vectorize(["float64(float64)"], nopython=True)
def tenth(a):
    return a * 0.1


@guvectorize(["(float64[:], float64[:])"], "(n)->(n)")
def tenths(a, out):
    out[:] = a * 0.1


def no_kernel(x):
    return np.fft.fft(x)
"""
BENCHMARK = """
import numba as nb
import numpy as np


@nb.jit(nopython=True, parallel=False, fastmath=True)
def kernel(A, x):
    return (A @ x) @ A


@nb.jit(nopython=True, parallel=False, fastmath=True)
def counted(x):
    return np.histogram(x, 3)[0]
"""


@pytest.fixture
def site(tmp_path):
    """A folder with two packages, and a folder of benchmarks beside it."""
    files = {
        "site/tiny/__init__.py": "", "site/tiny/kernels.py": PACKAGE,
        "site/tiny/broken.py": "raise RuntimeError('no')",
        "site/dying/__init__.py": "import os\n\nos._exit(3)",
        "benchmarks/one/one_numba_n.py": BENCHMARK, "benchmarks/one/one_numba_np.py": BENCHMARK,
        "benchmarks/two/two_numba_n.py": "import absent",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path / "site"


@pytest.mark.slow
def test_every_kernel_is_offered_and_counted(site, tmp_path, monkeypatch):
    monkeypatch.setenv(census.NPBENCH, str(tmp_path / "benchmarks"))
    page = tmp_path / "page.md"
    census.main([str(site), str(page), "tiny", "dying"])
    rows = json.loads(page.with_suffix(".json").read_text())
    found = [(package, name.split(":")[0], outcome) for package, name, outcome, _ in rows]
    assert found == [
        ("tiny", "tiny.kernels.scaled_sum", "accepted"),
        ("tiny", "tiny.kernels.singular_values", "refused"),
        ("tiny", "tiny.kernels.tenth", "accepted"), ("tiny", "tiny.kernels.tenths", "accepted"),
        ("dying", "the rest", "crashed"), ("benchmarks", "one_numba_n.kernel", "accepted"),
        ("benchmarks", "one_numba_n.counted", "refused"),
    ]  # fmt: skip
    text = page.read_text()
    for line in ["| tiny | 3 | 1 | 0 |", "| benchmarks | 1 | 1 | 0 |", "| all | 4 | 2 | 1 |",
                 "| np.linalg.svd | 1 | tiny |"]:  # fmt: skip
        assert f"\n{line}\n" in text
    assert "57.1% are" in text


@pytest.mark.slow
def test_kernels_run_beside_the_original(site, tmp_path):
    page = tmp_path / "page.md"
    running.main([str(site), str(page), "200", "tiny", str(tmp_path / "benchmarks")])
    rows = {name.split(":")[0]: row for _, name, row in json.loads(
        page.with_suffix(".json").read_text())}  # fmt: skip
    assert sorted(rows) == ["one_numba_n.kernel", "tiny.kernels.scaled_sum",
                            "tiny.kernels.tenth", "tiny.kernels.tenths"]  # fmt: skip
    assert rows.pop("one_numba_n.kernel")["fp64"] in ("equal", "proved")  # BLAS has its own order
    for row in rows.values():
        assert row["fp64"] == "equal" and all(0 <= row[b] < 8 for b in running.BACKENDS)
