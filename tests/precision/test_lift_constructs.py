"""Constructs that people write around their arithmetic: named tuples, types as arguments, objects
of classes, exceptions with computed texts, functions made by `@vectorize`, integers of others'
intrinsics. Those that need no compiling to be tested are kernels of the corpus.
"""

import pickle

import numpy as np
import pytest
from numba import guvectorize, vectorize
from numba.extending import intrinsic

import sciprec
from sciprec.precision import resolve_backend
from tests.oracles import derived, exact
from tests.precision.by_numba import by_numba
from tests.precision.comparison import numbers_of

X = np.array([1.1, 2.2, -0.7])


class Failure(ValueError):
    """An exception of a user's own."""


@intrinsic
def next_integer(typingctx, x):
    """Somebody's intrinsic."""

    def codegen(context, builder, signature, args):
        return builder.add(args[0], args[0].type(1))

    return x(x), codegen


def given_type(kind, x):
    return kind(x) - 1000 + np.zeros(2, kind)[0]


def test_a_type_may_be_an_argument():
    for kind in (np.float64, np.float32):
        assert sciprec.lift(given_type, "bf16")(kind, 1001) == 0.0
    assert sciprec.lift(given_type)(np.int64, 1002.7) == 2


def failing(x, a):
    if x > 3:
        raise Failure(f"bad {x:.2f} of " + str(a.size))
    if x > 2:
        raise ValueError("worse %s" % x)  # noqa: UP031
    if x > 1:
        raise Failure
    assert x > 0, f"not {x}"
    return x


def test_texts_of_exceptions_name_what_they_compute():
    lifted = sciprec.lift(failing, "bf16")
    for x, kind, words in [
        (4.0, Failure, r"bad \{x\} of \{a.size\}"), (2.5, ValueError, "worse %s"),
        (1.5, Failure, "^$"), (-1.0, AssertionError, r"not \{x\}"),
    ]:  # fmt: skip
        with pytest.raises(kind, match=words):
            lifted(x, X)
    assert lifted(0.5, X) == 0.5


def to_decimals(x):
    return round(x, 2), round(x, 25), round(x, -1)


def test_rounding_to_decimals():
    """In fp64 Numba's bits; in mlu370 a product, the nearest integer, and a quotient."""
    rng = np.random.default_rng(3)
    ours, numbas = sciprec.lift(to_decimals), by_numba(to_decimals)
    short, arithmetic = sciprec.lift(to_decimals, "mlu370"), resolve_backend("mlu370").compute
    for x in [*rng.normal(size=99) * 10.0 ** rng.integers(-300, 308, 99), np.nan, np.inf, -0.0]:
        assert np.array_equal(np.array(ours(x)).view("i8"), np.array(numbas(x)).view("i8"))
        x = float(sciprec.quantize(np.array([rng.normal() * 100]), "mlu370")[0])
        scaled = derived.rint(exact.mul(x, 100.0, arithmetic), arithmetic)
        assert short(x)[0] == exact.div(scaled, 100.0, arithmetic)


# ---- ufuncs -------------------------------------------------------------------------------------


@vectorize
def clipped(a, b):
    if a > b:
        return a * b
    return a - b * 0.3


@vectorize
def tenth(a):
    return a * 0.1


@vectorize
def positive(a):
    return a > 0


@guvectorize(["void(f4[:],f4,f4[:])", "void(f8[:],f8,f8[:])"], "(n),()->()")
def scaled_sum(a, c, out):
    s = 0.0
    for i in range(a.size):
        s += a[i] * c
    out[0] = s


@guvectorize("(n),(n)->(n)")
def running(a, b, out):
    s = 0.0
    for i in range(a.size):
        s += a[i] * b[i]
        out[i] = s


def test_ufuncs_broadcast_as_the_originals():
    rng = np.random.default_rng(1)
    two, sums, runs = (sciprec.lift(u) for u in (clipped, scaled_sum, running))
    for one, other in [((4, 1, 3), (2, 3)), ((), (3,)), ((0, 3), (3,)), ((), ()), ((2, 0), (1, 1))]:
        a, b = rng.normal(size=one), rng.normal(size=other)
        found, expected = two(a, b), clipped(a, b)
        assert np.array_equal(found, expected) and type(found) is type(expected)
    a, b = rng.normal(size=(4, 1, 3)), rng.normal(size=(2, 3))
    narrow = a.astype("f4"), b[:, 0].astype("f4")
    for x, y in [(a, b[:, 0]), (a[0, 0], 0.3), (a[:0], 0.3), narrow]:
        found, expected = sums(x, y), scaled_sum(x, y)
        assert np.asarray(found).dtype == np.asarray(expected).dtype
        assert np.shape(found) == np.shape(expected)
        if np.asarray(x).dtype == float:
            assert np.array_equal(found, expected)
    out, same = np.empty((4, 2, 3)), np.empty((4, 2, 3))
    assert runs(a, b, out) is out and np.array_equal(out, running(a, b, same))
    column = np.empty((4, 2, 6))[..., ::2]
    assert np.array_equal(runs(a, b, out=column), same) and np.array_equal(column, same)
    x = a[0, 0].copy()
    assert np.array_equal(runs(x, x, x), running(a[0, 0], a[0, 0], np.empty(3)))
    assert sciprec.lift(positive, "bf16")(a).dtype == bool and two.nin == 2
    assert "lifted to fp64" in repr(two) and two.backend.name == "fp64"
    copy = pickle.loads(pickle.dumps(two))
    assert np.array_equal(copy(a, b), two(a, b))


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["fixed32", "float:p=20,round=sr"])
def test_ufuncs_called_from_kernels(backend):
    """With keys and rows near what NumPy gives."""
    y = np.array([0.3, 2.5, 1.9])
    found = sciprec.lift(calling_two, backend)(X, y)
    expected = clipped(X[0], 0.5), clipped(X, y), running(X, y, np.empty(3))
    assert numbers_of(found) == pytest.approx(numbers_of(expected), rel=1e-4)
    if backend == "float:p=20,round=sr":  # every element has random bits of its own
        many = sciprec.lift(tenth, backend)(np.full(64, 0.7))
        assert 1 < len(set(many)) < 4


def calling_two(x, y):
    out = np.empty(x.size)
    running(x, y, out)
    return clipped(x[0], 0.5), clipped(x, y), out


# fmt: off
def too_deep(x): return scaled_sum(x.reshape(1, 3), 0.3, x[:1])
def bits_of(x): return next_integer(x[0])
# fmt: on


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (lambda: sciprec.lift(clipped)(X), "ufunc 'clipped' is given 1 operands; give 2 inputs"),
        (lambda: sciprec.lift(clipped)(X, X[:2]), "do not broadcast.*reshape them"),
        (lambda: sciprec.lift(clipped)(X, X, out=X[:2]), r"of shape \(2,\); here it is \(3,\)"),
        (lambda: sciprec.lift(clipped)(X, X, out=X.astype("f4")), "float32; give one of float64"),
        (lambda: sciprec.lift(clipped)(X, X, out=[0.0]), "no array; make one with np.empty"),
        (lambda: sciprec.lift(running)(X, X), "no signature .*; give out="),
        (lambda: sciprec.lift(running)(X, X[:2], X), "sizes 3 and 2 for 'n'"),
        (lambda: sciprec.lift(running)(0.5, X, X), r"0-D array for \(n\); add dimensions"),
        (lambda: sciprec.lift(scaled_sum)(X + 0j, 1.0), "given complex128, float64; give inputs"),
        (lambda: sciprec.lift(too_deep)(X), "core dimensions alone: write the loop around it"),
        (lambda: sciprec.lift(bits_of)(X), "intrinsics take and give integers"),
    ],
)
def test_operands_of_ufuncs_and_intrinsics_are_refused(run, words):
    with pytest.raises(sciprec.LiftError, match=words):
        run()
