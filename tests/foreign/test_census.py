"""The census, and foreign kernels run, on packages and a folder that are made up here."""

import json

import numpy as np
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


@nb.jit(nopython=True)
def leaving(x):
    return np.exp(x * 300.0)


@nb.jit(nopython=True)
def refined(x):
    if x[0] * 1.000000001 == x[0]:
        raise ValueError("no progress")
    return np.exp(x) * np.exp(-0.7 * x)
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
        ("benchmarks", "one_numba_n.leaving", "accepted"),
        ("benchmarks", "one_numba_n.refined", "accepted"),
    ]  # fmt: skip
    text = page.read_text()
    for line in ["| tiny | 3 | 1 | 0 |", "| benchmarks | 3 | 1 | 0 |", "| all | 6 | 2 | 1 |",
                 "| np.linalg.svd | 1 | tiny |"]:  # fmt: skip
        assert f"\n{line}\n" in text
    assert "66.7% are" in text


@pytest.mark.slow
def test_kernels_run_beside_the_original(site, tmp_path):
    """In one arithmetic to nearest and one toward zero."""
    page, narrow = tmp_path / "page.md", ("fp32", "float:p=14,round=rz")
    assert set(narrow) < set(running.BACKENDS)
    running.main([str(site), str(page), "200", "tiny", str(tmp_path / "benchmarks")], narrow)
    rows = {name.split(":")[0]: row for _, name, row in json.loads(
        page.with_suffix(".json").read_text())}  # fmt: skip
    proofs = ("equal", "proved", "proved, functions within an ulp")
    leaving, refined = rows.pop("one_numba_n.leaving"), rows.pop("one_numba_n.refined")
    assert leaving["fp64"] in proofs and "range" in leaving and not leaving.keys() & set(narrow)
    assert refined["fp64"] in proofs and refined["raises"] == len(narrow)
    assert rows.pop("one_numba_n.kernel")["fp64"] in proofs  # BLAS has its own order
    assert sorted(rows) == [f"tiny.kernels.{name}" for name in ("scaled_sum", "tenth", "tenths")]
    for row in rows.values():
        assert row["fp64"] == "equal" and all(0 <= row[b] < 8 for b in narrow)
    assert "(1 of them)" in page.read_text()


def test_what_is_no_number_is_an_error():
    whole, one = np.array([3]), np.array([1.0, 2.0])
    assert running.distance([whole, one * 1.5], [whole, one]) == 0.5
    for found in (one * np.nan, one * np.inf, one[:1]):
        assert running.distance([whole, found], [whole, one]) == np.inf
    assert running.distance([whole + 1, one], [whole, one]) == np.inf


def half_written(x):
    out = np.empty(2)
    out[0] = x[0] * 0.1
    return out


def written(x):
    return x * 0.1


@pytest.mark.slow
def test_a_difference_is_proved_or_explained():
    """Bits that no twin has: of memory that the kernel has not written, or unexplained."""
    x, other = np.array([3.0, 4.0]), np.array([7.0, 7.0])
    assert running.proof(written, [written(x), x], [x]) == {"fp64": "proved"}
    assert running.proof(written, [other, x], [x]) == {"fp64": "differs"}
    found = running.proof(half_written, [other, x], [x])
    assert found["fp64"] == "gives what it has not written" and "np.empty(2)" in found["words"]
