"""Observers of kernels together, in every order: the same bits, notes and steps."""

from __future__ import annotations

import ast
from itertools import permutations

import numpy as np
import pytest
from numba import njit, prange

import sciprec
from sciprec.instruments.observing import noted_values, watch
from sciprec.instruments.observing.carried_sums import looking
from sciprec.instruments.observing.losing import losing
from sciprec.instruments.observing.noting import Watched, noting
from sciprec.instruments.observing.observed import lift_observed
from sciprec.instruments.observing.watching import Places, watcher
from sciprec.precision.rewriting.build import Build
from sciprec.precision.rewriting.observer import Hooks, Observer
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.syntax import name, parse
from sciprec.precision.rounding.variant import PLAIN
from tests.random_kernels.backends import resolved

_PASSES = np.zeros(2, np.int64)
_table = watch.reached(_PASSES)
X = np.linspace(0.3, 1.7, 12)


@njit
def passed():
    """A pass of a loop begins."""
    _table()[0] += 1


@njit
def updated(x):
    """A number that is added to a variable."""
    _table()[1] += 1
    return x


class _Counts(Hooks):
    """Counts passes of loops, and augmented assignments."""

    def __init__(self, rewriter):
        self.around = {ast.AugAssign: self._updated}

    def loop(self, rewriter, node, loop):
        loop.body = parse("sp_count_passed()").body + loop.body

    def _updated(self, rewriter, node, rewrite):
        result = rewrite(node)
        if isinstance(node.target, ast.Name):
            operation = (result[0] if isinstance(result, list) else result).value
            operation.args[-1] = ast.Call(name("sp_count_updated"), [operation.args[-1]], [])
        return result


COUNTING = Observer(
    _Counts,
    "from tests.precision.test_observers import passed as sp_count_passed\n"
    "from tests.precision.test_observers import updated as sp_count_updated\n",
    "sp_count_",
)


def _halved(y):
    total = 0.0
    for value in y:
        if value > 1.5:
            continue
        total += value / 3
    return total


def branching(x):
    """Loops of both kinds, within each other and left early, a list and a callee."""
    scale = np.empty(x.size)
    kept, total, n = 0.0, 0.1, 0
    for i in range(x.size):
        scale[i] = x[i] * 3 + _halved(x)
        if i % 5 == 2:
            continue
        total += scale[i]
        while n < 2 * i:
            n += 1
            if n == 7:
                break
            total -= x[n % x.size] / 7
    kept += sum([v * total for v in x])
    while n < 40:
        n += 3
        x[n % x.size] += total
    return total, kept, n


def parallel(x):
    """A loop that becomes parallel, and one that follows it."""
    total = 0.0
    for i in prange(x.size):
        total += x[i] / 3
    rest = total
    for _ in range(3):
        rest = rest / 7 - total
    return total, rest


def _run(kernel, backend: str, order):
    """The results of a kernel with observers in an order, and all that they saw."""
    watched = tuple(Watched(n, name=n) for n in ("total", "x"))
    makers = {"notes": lambda: noting(kernel, watched), "memory": lambda: watcher(Places()),
              "counts": lambda: COUNTING}  # fmt: skip
    lifted = lift_observed(kernel, resolved(backend), [makers[n]() for n in order])
    x, _PASSES[:] = X.copy(), 0
    most = 10_000
    with noted_values.recording(1) as notes, watch.watching(None, watch.ALONE, most, most) as seen:
        result = lifted(x)
    noted = {key: np.concatenate(found).tobytes() for key, found in notes.chunks.items()}
    bits = np.array([*result, *x]).tobytes()
    return bits, (noted, notes.steps), (seen().steps, seen().overruns), _PASSES.tolist()


def _slow(*case):
    return pytest.param(*case, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("kernel", "backend"),
    [
        (parallel, "mlu370"), _slow(branching, "fixed32"),
    ],
)  # fmt: skip
def test_every_order_gives_the_same_bits_and_steps(kernel, backend, recwarn):
    x = X.copy()
    plain = np.array([*sciprec.lift(kernel, resolved(backend))(x), *x]).tobytes()
    alone = {n: _run(kernel, backend, (n,)) for n in ("notes", "memory", "counts")}
    orders = list(permutations(alone))
    for order in orders if kernel is parallel else (orders[3], orders[4]):
        bits, notes, memory, counts = _run(kernel, backend, order)
        assert bits == plain, order
        assert notes == alone["notes"][1] and notes[0], order
        assert memory == alone["memory"][2] and memory[0] > 3, order
        assert counts == alone["counts"][3] and counts[1] > 0, order


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["mlu370", "fixed32"])
def test_sums_are_looked_at_in_every_order(backend):
    x, seen = X.copy(), set()
    plain = np.array([*sciprec.lift(parallel, resolved(backend))(x), *x]).tobytes()
    for order in permutations(("sums", "notes")):
        places, x = {}, X.copy()
        watched = (Watched("total", name="total"),)
        makers = {"sums": losing(parallel, places), "notes": noting(parallel, watched)}
        lifted = lift_observed(parallel, resolved(backend), [makers[n] for n in order])
        with noted_values.recording(1), looking(places) as totals:
            assert np.array([*lifted(x), *x]).tobytes() == plain, order
        (found,) = totals.values()
        assert found.additions == X.size
        seen.add(found)
    assert len(seen) == 1


def _of_calls(x):
    return np.abs(x) + _halved(x) * np.sqrt(x)


def test_observed_operations_have_as_many_rows_as_others():
    """An observer may put one call in the place of two operands."""
    program, watched = (
        Program(_of_calls, resolved("fixed32"), Build(variant=PLAIN, observers=observers))
        for observers in ((), (watcher(Places()),))
    )
    assert "*sp_watch_both" in watched.text() and program.text()
    assert watched.layout.rows == program.layout.rows
