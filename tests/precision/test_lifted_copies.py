"""Lifted kernels in other processes, and arrays in the other byte order."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import cloudpickle
import numpy as np
import pytest
from numba import float32, float64, int64
from numba.experimental import jitclass

import sciprec

X = np.linspace(0.1, 3.0, 41)


@jitclass([("level", float64), ("narrow", float32), ("parts", float64[:]), ("count", int64)])
class Gauge:
    """Numbers of three types, and an array."""

    def __init__(self, level, parts):
        self.level, self.narrow, self.parts, self.count = level, 0.5, parts, 3


def raised(gauge):
    gauge.level += 1.0
    gauge.narrow += 1.0
    gauge.parts[0] += 1.0
    gauge.count += 1
    return gauge.level


@pytest.mark.slow
def test_objects_are_changed_once():
    """In fixed point a kernel runs on copies for its profile, and again where its units were too
    small.
    """
    lifted, gauge = sciprec.lift(raised, "fixed32"), Gauge(1.0, np.ones(2))
    assert lifted(gauge) == 2.0
    assert (gauge.level, gauge.narrow, gauge.count, gauge.parts.tolist()) == (2, 1.5, 4, [2, 1])
    gauge.level = 1000.0
    assert lifted(gauge) == 1001.0
    assert (gauge.level, gauge.narrow, gauge.count, gauge.parts.tolist()) == (1001, 2.5, 5, [3, 1])
    assert lifted.report().adaptations > 0


def accumulated(x, out, factor=0.7):
    total = 0.0
    for i in range(x.size):
        total += factor * x[i]
        out[i] = total
    return total


def both(lifted, x=X):
    out = np.zeros(x.size)
    return lifted(x, out), out.tobytes()


def test_a_profile_counts_fields_of_objects_like_elements():
    """The integer is none of the arithmetic's numbers."""
    counts = sciprec.lift(raised, "fp32").profile(Gauge(1.0, X.copy())).operations
    assert counts == {"add": 3, "load": 4, "store": 3}


@pytest.mark.parametrize(
    ("backend", "module"),
    [("mlu370", pickle), ("float:p=8,round=sr", cloudpickle), ("fixed16", pickle)],
)
def test_a_pickled_kernel_goes_on_where_the_other_stands(backend, module):
    """Calls are counted on: random bits of the next one are the same, units and reports too."""
    lifted = sciprec.lift(accumulated, backend, seed=3)
    first = both(lifted)
    other = pickle.loads(module.dumps(lifted))
    again = copy.deepcopy(lifted)
    assert other.kernel is accumulated and other.seed == lifted.seed
    assert other.backend == lifted.backend
    second = both(lifted, 2 * X)
    assert both(other, 2 * X) == both(again, 2 * X) == second
    if backend.endswith("sr"):
        assert both(other) != first
    if backend == "fixed16":
        assert other.report() == lifted.report() and other.report().calls == 2


# ---- byte order ---------------------------------------------------------------------------------


def foreign(x):
    return x.astype(x.dtype.newbyteorder())


@pytest.mark.parametrize("backend", ["float:p=8,round=sr", "fixed16"])
def test_arrays_in_the_other_byte_order_are_taken_and_written(backend):
    """Equal bits; what is written is in the caller's array, in its own order."""
    x, out = foreign(X), foreign(np.zeros(X.size))
    total = sciprec.lift(accumulated, backend)(x, out)
    expected, values = both(sciprec.lift(accumulated, backend))
    assert total == expected and out.astype(float).tobytes() == values
    assert not out.dtype.isnative and x.tobytes() == foreign(X).tobytes()


def strided(x, table, out):
    for i in range(x.size):
        table[i, 0] += 2.0 * x[i]
        out[0][i] = table[i, 1]
        out[1][i] = i
    return table[0, 0]


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_views_read_only_arrays_tuples_and_empty_ones(dtype):
    found = []
    for order in "<>":
        memory = np.arange(60, dtype=order + dtype).reshape(10, 6)
        x = np.linspace(0, 1, 10).astype(order + dtype)[::-1]
        x.flags.writeable = False
        out = np.zeros(10, order + dtype), np.zeros(20, order + "i4")[::2]
        result = sciprec.lift(strided, "fp32")(x, memory[:, 1:4:2], out)
        found.append((result, *(a.astype("<f8").tobytes() for a in (memory, *out))))
    assert found[0] == found[1]
    sciprec.lift(accumulated, "fp64")(foreign(X[:0]), foreign(X[:0]))
    record = np.zeros(3, [("flag", "i1"), ("value", ">f8")])["value"]
    sciprec.lift(accumulated, "fp64")(np.array([1.0, 2.0, 4.0]), record, 1.0)
    assert record.tolist() == [1.0, 3.0, 7.0]


def shifted(x, y):
    for i in range(y.size):
        y[i] += x[i]


def test_arguments_that_share_memory_share_it_in_the_kernel():
    native, other = np.arange(1.0, 8.0), foreign(np.arange(1.0, 8.0))
    for whole in (native, other):
        sciprec.lift(shifted, "fp64")(whole[:-1], whole[1:])
    assert (native == other).all() and native[-1] == 28.0
    with pytest.raises(sciprec.LiftError, match="share memory.*not all of it.*byte order"):
        sciprec.lift(shifted, "fp64")(other[:-1], other.view(float)[1:])


ROOT = Path(__file__).parents[2]


SCRIPT = """
import pickle, sys
import numba, numpy as np, sciprec
SCALE = 0.3
@numba.njit
def inner(v):
    return SCALE * v * v
def kernel(x, out):
    for i in range(x.size):
        out[i] = inner(x[i]) + 0.1
if __name__ == "__main__":
    lifted = sciprec.lift(kernel, "float:p=9,round=sr", seed=5)
    out = np.zeros(20)
    lifted(np.linspace(0, 1, 20), out)
    pickle.dump(lifted, open("lifted.pickle", "wb"))
    lifted(np.linspace(0, 1, 20), out)
    print(out.tobytes().hex())
"""


@pytest.mark.slow
def test_functions_of_a_script_are_carried_with_their_source(tmp_path):
    """The script is gone when its kernel is lifted again, in another process."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, script.name], cwd=tmp_path, env={"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    script.unlink()
    lifted = pickle.loads((tmp_path / "lifted.pickle").read_bytes())
    out = np.zeros(20)
    lifted(np.linspace(0, 1, 20), out)
    assert out.tobytes().hex() == done.stdout.strip()
