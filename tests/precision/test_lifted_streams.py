"""Lifted kernels on threads: streams of random bits by number, and units that are frozen."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from numba import prange

import sciprec
from sciprec.foundation.errors import InputError
from sciprec.precision import resolve_backend
from sciprec.precision.operations.keys import STREAMS, entry_key, entry_words
from tests.oracles import random_bits

SR, NOISE = "bf16,round=sr", "mlu370-noise"
TASKS = np.linspace(0.1, 2.0, 64)


def decayed(x):
    for _ in range(20):
        x += 0.01 * (1.0 - x)
    return x


def stored(x, out):
    total = 0.0
    for i in range(out.size):
        out[i] = 0.3 * x + i
        total += out[i]
    return total


def in_parallel(x, out):
    total = 0.0
    for i in prange(out.size):
        out[i] = 0.3 * x + i
        total += out[i]
    return total


def answers(call, x=TASKS):
    """Results of call(n, x) for each task, on 8 threads at once."""
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(call, range(len(x)), x))


def left(kernel, x):
    out = np.zeros(30)
    return kernel(x, out), out.tobytes()


# ---- streams by number --------------------------------------------------------------------------


@pytest.mark.parametrize(("kernel", "backend"), [(stored, SR), (in_parallel, NOISE)])
def test_streams_do_not_depend_on_threads(kernel, backend):
    lifted = sciprec.lift(kernel, backend, seed=4)
    alone = [left(lifted.stream(n), x) for n, x in enumerate(TASKS)]
    assert answers(lambda n, x: left(lifted.stream(n), x)) == alone
    backwards = [left(lifted.stream(n), x) for n, x in reversed([*enumerate(TASKS)])]
    assert backwards[::-1] == alone


def test_a_stream_goes_on_and_another_one_begins_anew():
    lifted = sciprec.lift(decayed, SR, seed=1)
    one, other = lifted.stream(7), lifted.stream(7)
    first = [one(0.3) for _ in range(40)]
    lifted(0.3)  # neither calls of the kernel nor of other streams count
    lifted.stream(8)(0.3)
    assert [other(0.3) for _ in range(40)] == first and len(set(first)) > 3
    later = lifted.stream(7)
    assert [later(0.3) for _ in range(40)] == first
    one.rewind()
    assert [one(0.3) for _ in range(40)] == first
    assert sciprec.lift(decayed, SR, seed=1).stream(np.int64(7))(0.3) == first[0]


def test_calls_of_streams_share_no_word_at_the_entry():
    """Plain calls, streams near each other and far apart, and all of them beside each other."""
    numbers = [None, *range(40), 1597, 28657, 2**31, STREAMS - 1]
    keys = [entry_key(entry_words(9, n), k) for n in numbers for k in range(500)]
    for words in (keys, [key & 0xFFFFFFFF for key in keys]):
        assert len(set(words)) == len(words)
    oracle = [-1 if n is None else n for n in numbers]
    assert keys == [random_bits.entry(9, k, n) for n in oracle for k in range(500)]
    for seed in (3 + (5 << 32), 2**40, 2**63, -1):
        assert entry_key(entry_words(seed, 7), 2) == random_bits.entry(seed, 2, 7)


def test_a_stream_is_copied_and_pickled_as_it_stands():
    stream = sciprec.lift(decayed, SR, seed=2).stream(5)
    assert "stream 5 of its random bits" in repr(stream)
    before = [stream(0.3) for _ in range(3)]
    copies = [pickle.loads(pickle.dumps(stream)), copy.deepcopy(stream), copy.copy(stream)]
    after = [stream(0.3) for _ in range(30)]
    for other in copies:
        assert [other(0.3) for _ in range(30)] == after
    stream.rewind()
    bound = partial(stream, x=0.3)
    assert [bound() for _ in range(33)] == before + after


@pytest.mark.parametrize(
    "backend", ["fp64", "mlu370", "fixed32", sciprec.Assignment({}, default="bf16")]
)  # fmt: skip
def test_without_random_bits_a_stream_is_the_kernel(backend):
    lifted = sciprec.lift(decayed, backend)
    assert lifted.stream(3) is lifted


def of_a_function(f, x):
    return f(x) + 0.1


@pytest.mark.parametrize("n", [-1, 2**32 - 1, 2**70, 1.0, "1", True, None])
@pytest.mark.parametrize("backend", [SR, "fp32"])
def test_what_is_no_number_of_a_stream(backend, n):
    with pytest.raises(InputError, match=r"n is .*; accepted: the number of a stream, from 0 to"):
        sciprec.lift(decayed, backend).stream(n)


def test_streams_of_streams_and_inside_kernels_are_refused():
    lifted = sciprec.lift(decayed, SR)
    with pytest.raises(sciprec.LiftError, match=r"stream\(2\) is asked of stream 1 .*with a n"):
        lifted.stream(1).stream(2)
    outer = sciprec.lift(of_a_function, SR)
    with pytest.raises(sciprec.LiftError, match=r"stream 1 of kernel 'decayed'; .*stream\(1\)"):
        outer(lifted.stream(1), 0.3)
    one, other = outer.stream(1), outer.stream(1)
    assert [one(lifted, 0.3) for _ in range(20)] == [other(decayed, 0.3) for _ in range(20)]


def test_fixed_point_takes_no_random_bits():
    sr, whole = resolve_backend(SR), resolve_backend("fixed16")
    with pytest.raises(InputError, match="at random .* goes with a rounding that is not random"):
        sciprec.Backend("odd", sr.storage, sr.compute, sr.accumulate, whole.compute)


# ---- units --------------------------------------------------------------------------------------


def frozen(kernel=decayed, x=2.0, **given):
    lifted = sciprec.lift(kernel, "fixed32")
    lifted(x)
    lifted.freeze(**given)
    return lifted


def test_frozen_units_do_not_depend_on_threads():
    """Nor on the order, for numbers beyond them, too, which saturate and are counted."""
    lifted, x = frozen(), np.concatenate([TASKS, 1000.0 * TASKS])
    units = lifted.units
    alone = [lifted(v) for v in x]
    saturations = lifted.report().saturations
    assert saturations > 0 and lifted.units is units
    assert answers(lambda n, v: lifted(v), x) == alone
    assert answers(lambda n, v: lifted(v), x[::-1]) == alone[::-1]
    assert lifted.report().saturations == 3 * saturations and lifted.report().adaptations == 0
    assert max(alone) < 10.0 and "units are frozen" in repr(lifted)


def test_what_cannot_be_frozen():
    lifted = sciprec.lift(stored, "fixed32")
    for _ in range(2):
        with pytest.raises(sciprec.LiftError, match="no units to freeze.*representative arguments"):
            lifted.freeze()
        lifted(0.0, np.zeros(1))
    for spare in (-1, 32, 0.5):
        with pytest.raises(InputError, match="spare_bits is .*; accepted: an integer from 0 to 31"):
            frozen(spare_bits=spare)


def test_units_that_follow_several_threads_are_warned_of_once():
    words = r"'decayed' in 'fixed32' is called from several threads.*lifted.freeze\(\)"
    lifted = sciprec.lift(decayed, "fixed32")
    with pytest.warns(RuntimeWarning, match=words) as told:  # the first call finds units
        answers(lambda n, x: lifted(x))
    assert len(told) == 1
    lifted = sciprec.lift(decayed, "fixed32")
    lifted(2.0)
    answers(lambda n, x: lifted(x))  # changes no unit
    with pytest.warns(RuntimeWarning, match=words) as told:
        answers(lambda n, x: lifted(100.0 * x))
    assert len(told) == 1
    answers(lambda n, x: lifted(1e5 * x))
