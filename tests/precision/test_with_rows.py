"""Roundings around other ones: the bits of `lift`, in every order, and what is refused."""

from __future__ import annotations

import math
import pickle
from functools import partial
from itertools import permutations

import numpy as np
import pytest

import sciprec
from sciprec.extend import Around, Rows, lift_with_rows
from sciprec.extend.with_rows import _lifted_again
from sciprec.precision.rounding.words import call
from tests.random_kernels.backends import resolved

X = np.random.default_rng(3).normal(size=70)


class _Counting(Around):
    """Counts operations."""

    def result(self, b, name, operands, r, row):
        self.gather(b, row, 0, self.in_binary64(b, r).type(1.0))
        return r


class _Sizes(Around):
    """Adds up the sizes of results, and counts products."""

    def result(self, b, name, operands, r, row):
        self.gather(b, row, 1, call(b, "fabs", self.in_binary64(b, r)))
        if name == "mul":
            self.gather(b, row, 0, self.in_binary64(b, r).type(1.0))
        return r


COUNTING, SIZES = Rows(1, _Counting), Rows(2, _Sizes)


def _part(x, y):
    return math.sqrt(abs(x)) - y % 0.3


def every(x, out):
    """Operations of all kinds, arrays and sums."""
    total, n = 0.0, 0
    for i in range(x.size):
        out[i] = x[i] * 3 + _part(x[i], x[-1 - i]) / 7
        total -= out[i] ** 3
        n += 1
    for i in range(x.size):
        total += x[i] * out[i]
    out[:3] += np.exp(-np.abs(x[:3])) * 2
    return total, np.sum(x), np.dot(x, out), np.float64(n) // 3, min(total, n)


ROLES = "roles: binary16, bfloat16, binary32 rz, tf32"


def called(lifted, size: int = X.size) -> bytes:
    """The bits of all that the kernel gives."""
    out = np.zeros(size)
    return np.array([*lifted(X[:size], out), *out]).tobytes()


@pytest.mark.slow
def test_bits_are_those_of_lift_in_every_order():
    """Of several formats; of one format below."""
    plain, tables = resolved(ROLES), []
    wanted = called(sciprec.lift(every, plain))
    for rows in permutations((COUNTING, SIZES)):
        lifted = lift_with_rows(every, plain, *rows)
        assert called(lifted) == wanted
        words = lifted.table.view(float)
        tables.append(words if rows[0] is COUNTING else np.roll(words, 1, axis=1))
    assert len({table.tobytes() for table in tables}) == 1 and tables[0][:, 0].sum() > 1000


@pytest.mark.slow
def test_rows_have_places_and_are_those_of_the_last_call():
    lifted, plain = lift_with_rows(every, "mlu370", COUNTING, SIZES), sciprec.lift(every, "mlu370")
    place = f"line {every.__code__.co_firstlineno + 4}: x[i] * 3"
    for size in (X.size, 8):
        assert called(lifted, size) == called(plain, size)
        products = lifted.table.view(float)[:, 1]
        here = [p for p, of in zip(products, lifted.places, strict=True) if of == place]
        assert sum(here) == size
    assert any(of.endswith(": np.sum(x)") for of in lifted.places)


def test_a_pickle_that_names_no_observers_opens():
    """As version 0.2 wrote them."""
    lifted = lift_with_rows(every, "fp16", COUNTING)
    lifted._lift_again = partial(_lifted_again, backend=lifted.backend, rows=(COUNTING,))
    opened = pickle.loads(pickle.dumps(lifted))
    assert called(opened, 8) == called(lifted, 8)
    assert (opened.table == lifted.table).all() and opened.table.any()


@pytest.mark.parametrize("backend", ["fixed32", "mlu370-noise", "float:p=8,round=sr"])
def test_units_and_random_bits_are_refused(backend):
    with pytest.raises(sciprec.InputError, match="has units, formats or random bits by place, and"):
        lift_with_rows(every, backend, COUNTING)
    assignment = sciprec.Assignment({}, default="fp16")
    with pytest.raises(sciprec.InputError, match="accepted: floating point in one format, or in"):
        lift_with_rows(every, assignment, COUNTING)


def test_functions_as_arguments_and_other_objects_are_refused():
    def calls(function, x):
        return function(x)

    with pytest.raises(sciprec.LiftError, match="inside this kernel, in rows of operations cannot"):
        lift_with_rows(calls, "fp16", COUNTING)
    with pytest.raises(sciprec.LiftError, match="the kernel is a int; it takes a Python function"):
        lift_with_rows(3, "fp16", COUNTING)


def rotated(x):
    return (complex(x, 1.0) * 1j).real


def doubled(z):
    return abs(z * 2.0)


def test_complex_numbers_are_refused_by_the_name_of_what_has_rows():
    """Not by that of fixed point."""
    with pytest.raises(sciprec.LiftError, match="complex in rows of operations, cannot be lifted"):
        lift_with_rows(rotated, "fp32", COUNTING)
    with pytest.raises(sciprec.LiftError, match="is complex; rows of operations take real numbers"):
        lift_with_rows(doubled, "fp32", COUNTING)(1j)
    with pytest.raises(sciprec.LiftError, match="complex in a trace, cannot be lifted"):
        sciprec.trace(rotated, "fp32", (1.0,))
    with pytest.raises(sciprec.LiftError, match="complex in an assignment, cannot be lifted"):
        sciprec.tune(rotated, (1.0,), tolerance=1e-3)
    for run in (lambda: sciprec.lift(rotated, "fp32").profile(1.0),
                lambda: sciprec.lift(rotated, "fixed32")):  # fmt: skip
        with pytest.raises(sciprec.LiftError, match="complex in fixed point or a profile, cannot"):
            run()
