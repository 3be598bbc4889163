"""The self-rounding scalar and the twin of a kernel, against arithmetic done by hand."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from numba import guvectorize, vectorize
from numba.typed import List

from tests.oracles import exact
from tests.oracles.scalar import Exact
from tests.oracles.test_oracles import BINARY16, BINARY32, BINARY64, Arithmetic
from tests.oracles.twin import run_twin


@dataclass(frozen=True)
class Backend:
    """One arithmetic in every role."""

    compute: Arithmetic

    storage = accumulate = matmul = property(lambda self: self.compute)


def test_scalar_operators_round_and_mix():
    x = Exact(1.0, BINARY16)
    assert float(x + 2.0**-12) == 1.0
    assert float(0.1 + x) == exact.add(exact.round_exact(0.1, BINARY16), 1.0, BINARY16)
    assert float(np.float64(0.1) * x) == float(np.float16(0.1))
    assert float(np.int64(2049) * x) == 2048.0
    assert float(7 // Exact(2.0, BINARY16)) == 3.0
    assert float(-x % 3) == 2.0
    assert Exact(2048.0, BINARY16) < 2049
    assert not Exact(2048.0, BINARY16) < Exact(2049, BINARY16)
    assert int(Exact(-2.5, BINARY16)) == -2
    assert math.floor(Exact(-2.5, BINARY16)) == -3
    assert float(min(x, Exact(0.5, BINARY16))) == 0.5
    assert not Exact(-0.0, BINARY16)
    with pytest.raises(TypeError):
        [1, 2][x]


SCALE = 0.1
TABLE = np.array([0.1, 0.2, 0.3])


def weight(i, n):
    return i / n


def example_kernel(a, counts, out, pair):
    total = 0.0
    for i in range(a.size):
        total += a[i] * SCALE + weight(i, counts[0]) - TABLE[i % 3] ** 2
        if i % 2 == 0 or total > 1:
            out[i] = math.sqrt(total) / np.float64(3)
        else:
            out[i] = min(total, pair[0])
        out[i] *= math.pi
    out[0] /= 7
    return total, counts[0] + 1


def example_in_numpy(a, n, out, pair):
    """The same by hand in binary32."""
    f = np.float32
    total = f(0)
    for i in range(a.size):
        table = f(TABLE[i % 3])
        total = total + (f(f(f(a[i]) * f(SCALE)) + f(i) / f(n)) - table * table)
        out[i] = np.sqrt(total) / f(3) if i % 2 == 0 or total > 1 else min(total, f(pair[0]))
        out[i] = f(out[i]) * f(math.pi)
    out[0] = f(out[0]) / f(7)
    return total


def test_twin_of_a_kernel_equals_binary32_by_hand():
    a = np.random.default_rng(9).uniform(0, 1, 20)
    out, expected = np.zeros(20), np.zeros(20)
    total, more = run_twin(example_kernel, Backend(BINARY32), (a, np.array([7]), out, (0.3, 1)))
    by_hand = example_in_numpy(a, 7, expected, (0.3, 1))
    assert total == float(by_hand) and more == 8
    assert np.array_equal(out, expected)
    assert not np.array_equal(a, a.astype(np.float32)), "what is not written stays as it was"


def test_twin_in_binary64_equals_plain_python():
    a = np.random.default_rng(10).uniform(0, 1, 20)
    out, expected = np.zeros(20), np.zeros(20)
    total, _ = run_twin(example_kernel, Backend(BINARY64), (a, np.array([7]), out, (0.3, 1)))
    assert total == example_kernel(a, np.array([7]), expected, (0.3, 1))[0]
    assert np.array_equal(out, expected)


def recursive(x, n):
    return x if n == 0 else recursive(x / 3, n - 1)


def test_twin_follows_recursion_and_closures():
    offset = 0.1

    def shifted(x, out):
        out[:] = recursive(x, 2) + offset

    out = np.zeros(2)
    run_twin(shifted, Backend(BINARY16), (1.0, out))
    h = np.float16
    assert out.tolist() == [float(h(h(h(1) / h(3)) / h(3)) + h(0.1))] * 2


def views(x):
    smooth = np.asarray(np.ascontiguousarray(x[::2]))
    return smooth * 3.0, x[0].item() * 3.0


def of_lists(x):
    kept = List()
    kept.append(x[0] * 3.0)
    kept.append(x[1] * 0.1)
    return kept[0] - kept[1]


@vectorize
def shifted(p, q):
    return p * 0.1 - q


@guvectorize("(n),()->(n)")
def spread(p, q, out):
    for i in range(p.size):
        out[i] = p[i] * q


def of_ufuncs(x):
    out = np.zeros(3)
    spread(x, x[1], out)
    return shifted(x, 2.0), shifted(x[0], x[1]), out


def test_twins_of_what_numba_makes():
    x = np.array([0.1, 1.7, 3.3])
    thrice, backend = [float(np.float32(v) * np.float32(3.0)) for v in x], Backend(BINARY32)
    made = run_twin(views, backend, (x,))
    assert made[0].dtype == float and made[0].tolist() == thrice[::2] and made[1] == thrice[0]
    first, tenth = np.float32(thrice[0]), np.float32(1.7) * np.float32(0.1)
    assert run_twin(of_lists, backend, (x,)) == float(first - tenth)
    array, number, out = run_twin(of_ufuncs, backend, (x,))
    lone = np.float32(0.1) * np.float32(0.1)
    assert array.tolist() == [float(np.float32(v) * np.float32(0.1) - np.float32(2)) for v in x]
    assert number == float(lone - np.float32(1.7))
    assert out.tolist() == [float(np.float32(v) * np.float32(1.7)) for v in x]
