"""Observers of kernels together, in any order: the same bits, notes and steps."""

from __future__ import annotations

import ast

import numpy as np
import pytest
from numba import njit, prange

import sciprec
from sciprec.instruments.observing import noted_values, watch
from sciprec.instruments.observing.carried_sums import looking
from sciprec.instruments.observing.losing import losing
from sciprec.instruments.observing.noting import Watched, noting
from sciprec.instruments.observing.observed import lift_observed
from sciprec.instruments.observing.watching import WatchPlaces, watcher
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


def _plain(kernel, backend: str) -> bytes:
    """The bits of a kernel that nobody observes."""
    x = X.copy()
    return np.array([*np.atleast_1d(sciprec.lift(kernel, resolved(backend))(x)), *x]).tobytes()


def _run(kernel, backend: str, order):
    """The results of a kernel with observers in an order, and all that each of them saw."""
    watched, places = tuple(Watched(n, name=n) for n in ("total", "x")), {}
    makers = {"notes": lambda: noting(kernel, watched), "memory": lambda: watcher(WatchPlaces()),
              "counts": lambda: COUNTING, "sums": lambda: losing(kernel, places)}  # fmt: skip
    lifted = lift_observed(kernel, resolved(backend), [makers[n]() for n in order])
    x, _PASSES[:] = X.copy(), 0
    recorded, looked = noted_values.recording(1), looking(places)
    with recorded as notes, looked as sums, watch.watching(None, watch.ALONE, 9999, 9999) as seen:
        result = lifted(x)
    noted = {key: np.concatenate(found).tobytes() for key, found in notes.chunks.items()}
    saw = {"notes": (noted, notes.steps), "memory": (seen().steps, seen().overruns),
           "counts": _PASSES.tolist(), "sums": list(sums.values())}  # fmt: skip
    return np.array([*np.atleast_1d(result), *x]).tobytes(), {n: saw[n] for n in order}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "backend", "names"),
    [
        (parallel, "mlu370", ("notes", "memory", "counts")),
        (branching, "fixed32", ("memory", "counts")),
    ],
)
def test_any_order_gives_the_same_bits_and_steps(kernel, backend, names):
    """Each before and behind each other one; alone in `test_combinations`."""
    (bits, saw), other = (_run(kernel, backend, order) for order in (names, names[::-1]))
    assert bits == _plain(kernel, backend) and other == (bits, saw)
    assert "notes" not in names or saw["notes"][0]
    assert saw["memory"][0] > 3 and saw["counts"][1] > 0


@pytest.mark.slow
@pytest.mark.parametrize("beside", ["notes", "memory"])
def test_sums_are_looked_at_in_every_order(beside):
    """Beside notes, which they are used with, and checks, which are given both operands."""
    (bits, saw), other = (
        _run(_halved, "fixed32", order) for order in (("sums", beside), (beside, "sums"))
    )
    assert bits == _plain(_halved, "fixed32") and other == (bits, saw)
    (found,) = saw["sums"]
    assert found.additions == 10


def _of_calls(x):
    return np.abs(x) + _halved(x) * np.sqrt(x)


def test_observed_operations_have_as_many_rows_as_others():
    """An observer may put one call in the place of two operands."""
    program, watched = (
        Program(_of_calls, resolved("fixed32"), Build(variant=PLAIN, observers=observers))
        for observers in ((), (watcher(WatchPlaces()),))
    )
    assert "*sp_watch_both" in watched.text() and program.text()
    assert watched.layout.rows == program.layout.rows
