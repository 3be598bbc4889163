"""np.linalg in lifted kernels: every bit against an oracle of other loops, residuals within the
bound of Higham (2002), and what singular, misshapen, empty and non-finite matrices give.
"""

import math

import numpy as np
import pytest

from sciprec.precision import Backend, lift, resolve_backend
from sciprec.precision.rewriting.syntax import LiftError
from tests.oracles.linear_algebra import Rounded
from tests.oracles.uncompiled import Uncompiled
from tests.precision.ways import ways

ROLES = ("fp32", "bf16", "fp32", "tf32")
MIXED = Backend("wide storage", *(resolve_backend(role).compute for role in ROLES))
BACKENDS = ("fp16", "mlu370", MIXED)
LAYOUTS = {MIXED: "strided", "mlu370": "fortran"}
"""Each is compiled for: in one backend."""


def solved(a, b):
    return np.linalg.solve(a, b)


def inverted(a):
    return np.linalg.inv(a), np.linalg.det(a)


def rooted(a):
    return np.linalg.cholesky(a)


def reflected(a):
    return np.linalg.qr(a)


def sized(x, a):
    return np.linalg.norm(x), np.linalg.norm(a), np.linalg.norm(x, ord=2), np.linalg.norm(a, "fro")


def random_matrix(m, n, rng, kind):
    """Elements alike in size; of rows and columns of other sizes; or of nearly equal rows."""
    a = rng.uniform(-1, 1, (m, n))
    if kind == "graded":
        a *= 2.0 ** rng.integers(-3, 4, (m, 1)) * 2.0 ** rng.integers(-3, 4, n)
    elif kind == "nearly singular":
        a = rng.uniform(-1, 1, n) + a / 16
    return a


def random_definite(n, rng):
    a = rng.uniform(-1, 1, (n, n + 2))
    return a @ a.T


def arranged(a, layout):
    if layout == "fortran":
        return np.asfortranarray(a)
    if layout == "strided":
        return np.repeat(a.astype(np.float32), 2, axis=-1)[..., ::2]
    return a


def cases(seed, backend, sizes, kinds=("even", "graded", "nearly singular")):
    rng = np.random.default_rng(seed)
    for number, n in enumerate(sizes):
        kind, layout = kinds[number % len(kinds)], LAYOUTS.get(backend)
        yield n, arranged(random_matrix(n, n, rng, kind), layout), layout, rng


def same(found, expected):
    np.testing.assert_array_equal(np.asarray(found, float), np.asarray(expected, float))


@ways("backend", BACKENDS, compiled=["fp16"])
def test_every_bit(backend, lifted):
    """Of solutions, inverses, determinants, roots and reflections."""
    oracle, layout = Rounded(resolve_backend(backend)), LAYOUTS.get(backend)
    solving, inverting, rooting, reflecting = (
        lifted(kernel, backend) for kernel in (solved, inverted, rooted, reflected)
    )
    for n, a, _, rng in cases(1, backend, (1, 2, 3, 3, 4, 5, 6, 7)):
        b, rounded = arranged(rng.uniform(-2, 2, (n, 3)), layout), oracle.entered(a)
        expected = [oracle.solve(rounded, oracle.entered(column)) for column in b.T]
        same(solving(a, b).T, expected)
        if backend == "fp16":
            same(solving(a, b.T[1]), expected[1])
        inverse, determinant = inverting(a)
        same(inverse, oracle.inv(rounded))
        same(determinant, oracle.kept(oracle.det(rounded)))
        a = arranged(random_definite(n, rng), layout)
        same(rooting(a), oracle.cholesky(oracle.entered(a)))
    for m, n in [(1, 1), (2, 2), (5, 3), (3, 5), (6, 6), (4, 1)]:
        a = arranged(random_matrix(m, n, rng, "graded"), layout)
        for found, expected in zip(reflecting(a), oracle.qr(oracle.entered(a)), strict=True):
            same(found, expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_bit_of_norms(backend):
    oracle, found = Rounded(resolve_backend(backend)), Uncompiled(sized, backend)
    rng, fmt = np.random.default_rng(3), resolve_backend(backend).compute.format
    resolved = resolve_backend(backend)
    largest = min(resolved.storage.format.emax, fmt.emax)
    sizes = [2.0**largest * 0.75, 2.0 ** (largest // 2 + 1), 1.0, 2.0**fmt.emin, fmt.min_positive]
    for size in sizes:
        x, a = size * rng.uniform(-1, 1, 2), size * rng.uniform(-0.5, 0.5, (2, 2))
        a = arranged(a, LAYOUTS.get(backend))
        expected = [oracle.kept(oracle.norm(oracle.entered(y.ravel()))) for y in (x, a, x, a)]
        same(found(x, a), expected)
        assert size < 1.0 or 0.0 < expected[0] < math.inf


def test_what_is_no_number_goes_where_operations_carry_it():
    oracle = Rounded(resolve_backend("fp16"))
    for bad in (math.nan, math.inf):
        a = np.array([[2.0, 1.0, 0.5], [1.0, bad, 1.0], [0.25, 1.0, 4.0]])
        same(Uncompiled(inverted, "fp16")(a)[0], oracle.inv(a.tolist()))
        q, r = Uncompiled(reflected, "fp16")(a)
        assert np.isnan(r).any() and np.isnan(q).any()
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        Uncompiled(rooted, "fp16")(np.array([[math.nan]]))


SQUARE, VECTOR = np.eye(2), np.ones(2)
SENTENCES = [
    (solved, (np.ones((2, 2)), SQUARE), "solve was given a singular matrix: a pivot is"),
    (inverted, (np.zeros((2, 2)),), "inv was given a singular matrix"),
    (solved, (np.ones((2, 3)), SQUARE), "solve was given an array that is no square"),
    (solved, (VECTOR, SQUARE), "solve was given an array that is no square"),
    (inverted, (np.ones((3, 2)),), "inv was given an array that is no square"),
    (rooted, (-SQUARE,), "cholesky was given a matrix that is not positive definite"),
    (rooted, (np.ones((2, 3)),), "cholesky was given an array that is no square"),
    (reflected, (VECTOR,), "qr was given an array that is no matrix"),
    (solved, (SQUARE, np.ones((3, 1))), "solve was given a right-hand side of another"),
]


@pytest.mark.parametrize(("kernel", "given", "words"), SENTENCES)
def test_what_cannot_be_done_is_said_as_numpy_raises_it(kernel, given, words):
    with pytest.raises(ValueError, match=words) as caught:
        lift(kernel, "fp16")(*given)
    line = kernel.__code__.co_firstlineno + 1
    place = f"kernel '{kernel.__name__}' (test_linear_algebra.py, line {line}): np.linalg."
    assert str(caught.value).startswith(place)
    assert isinstance(caught.value, np.linalg.LinAlgError) != ("another" in words)
    with pytest.raises(type(caught.value)):
        kernel(*given)


def determined(a):
    return np.linalg.det(a)


def test_singular_and_empty_determinants():
    found = lift(determined, "fp16")
    assert found(np.ones((3, 3))) == 0.0
    assert found(np.zeros((0, 0))) == 1.0
    assert found(np.array([[0.0, 2.0], [3.0, 1.0]])) == -6.0
    with pytest.raises(np.linalg.LinAlgError, match="det was given an array that is no square"):
        found(np.ones((1, 2)))


def of_matrix(a):
    return 1.0 + np.linalg.norm(a, 2)


def of_vector(a):
    return 1.0 + np.linalg.norm(a, "fro")


def of_axis(a):
    return np.linalg.norm(a, axis=1)


def of_complex_matrix(a):
    return np.linalg.norm(a)


def of_unknown_order(a, p):
    return np.linalg.norm(a, p)


def of_nuclear_order(a):
    return np.linalg.norm(a, "nuc")


def test_norms_that_are_refused():
    with pytest.raises(ValueError, match="of a matrix it takes none, 'fro', 1, -1, np.inf"):
        lift(of_matrix, "fp16")(SQUARE)
    with pytest.raises(ValueError, match="'fro'. was given a vector; it takes a matrix: leave"):
        lift(of_vector, "fp16")(VECTOR)
    for kernel, words in (
        (of_axis, r"it takes \(x, ord\) and gives one number; for an axis write the loop"),
        (of_unknown_order, r"with the ord p cannot be lifted; it takes None, 'fro' or a number"),
        (of_nuclear_order, "with the ord 'nuc' cannot be lifted"),
    ):
        with pytest.raises(LiftError, match=words):
            lift(kernel, "fp16")


@pytest.mark.parametrize("kernel", [of_complex_matrix, determined])
def test_complex_numbers_are_refused(kernel):
    with pytest.raises(LiftError, match="complex64 is"):
        lift(kernel, "fp16")(SQUARE * 1j)
