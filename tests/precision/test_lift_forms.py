"""Every syntactic form lifts to the same numbers, or is refused in a sentence: no raw error."""

import functools
import random

import numba
import numpy
import numpy as np
import pytest
from numba import prange

import sciprec
from sciprec.precision import resolve_backend
from tests.oracles.twin import run_twin
from tests.precision.lift_forms import FORMS, Pair, load

EXACT = ("mlu370", "fp16")  # beside the twin, a kind of forms in each
ALONE = ("mlu370-noise", "fixed32")  # against the plain kernel's lift


def flattened(value) -> list[float]:
    """All numbers of a result, in order."""
    if isinstance(value, tuple):
        return [x for item in value for x in flattened(item)]
    return [] if value is None else np.asarray(value, float).ravel().tolist()


def outcome(run, arguments: tuple):
    """What a call gives and writes, or the exception that it ends in."""
    with np.errstate(all="ignore"):
        try:
            result = run(*arguments)
        except Exception as error:
            return error
    return np.array(flattened((result, arguments)))


def difference(found, expected) -> str:
    """What differs between two outcomes: NaN and signs of zeros count, a refusal does not."""
    if isinstance(found, Exception):
        same = type(found) is type(expected) or isinstance(found, sciprec.LiftError)
        return "" if same else f"{found!r}, expected {expected!r}"
    if isinstance(expected, Exception) or found.shape != expected.shape:
        return f"{found!r}, expected {expected!r}"
    same = (found == expected) & (np.signbit(found) == np.signbit(expected))
    wrong = np.flatnonzero(~(same | np.isnan(found) & np.isnan(expected)))[:5]
    return f"places {wrong}: {found[wrong]}, expected {expected[wrong]}" if wrong.size else ""


def given(form, backend: str) -> tuple:
    """A form's arguments, numbers of the backend's format already (the twin writes these back)."""

    def rounded(value):
        if isinstance(value, Pair):
            return Pair(*map(rounded, value))
        whole = not isinstance(value, np.ndarray) or value.dtype.kind != "f"
        return value if whole else sciprec.quantize(value, backend)

    return tuple(map(rounded, form.arguments()))


def complaints(form, module, exact: str) -> list[str]:
    """What is wrong with a form: in fp64 against njit, elsewhere against the twin; names against
    the same kernel with plain ones, where keys and rows of a table have names, too.
    """
    kernel = getattr(module, form.name)
    plain = getattr(module, f"plain_{form.name}", kernel)
    if form.name.startswith("named"):
        pairs = [(b, lambda *a, b=b: sciprec.lift(plain, b)(*a)) for b in ALONE]
    else:
        pairs = [("fp64", numba.njit(plain, error_model="numpy"))]
        pairs += [(exact, functools.partial(_twin, plain, exact))]
    out = []
    for backend, run in pairs:
        arguments = [given(form, backend if backend in EXACT else "fp64") for _ in range(2)]
        found = outcome(lambda *a, b=backend: sciprec.lift(kernel, b)(*a), arguments[0])
        expected = outcome(run, arguments[1])
        less = isinstance(expected, Exception) and not isinstance(found, Exception)
        if backend == "fp64" and less:  # plain Numba takes less
            continue
        words = difference(found, expected)
        if words:
            out.append(f"{form.name} in {backend}: {words}\n{form.source}")
        elif isinstance(found, Exception):
            REFUSED.append((form.name, backend, str(found)))
    return out


def _twin(kernel, backend: str, *arguments):
    return run_twin(kernel, resolve_backend(backend), arguments)


REFUSED: list[tuple[str, str, str]] = []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "exact"), [(kind, EXACT[n % len(EXACT)]) for n, kind in enumerate(FORMS)]
)
def test_forms_lift_alike_or_are_refused(kind, exact, tmp_path):
    """One of each kind of form, drawn with a seed; all of them have been run."""
    form = random.Random(2).choice(FORMS[kind]())
    assert not complaints(form, load(form, tmp_path), exact)


# ---- what the forms have found ------------------------------------------------------------------


def eliminated(A, k):
    for i in range(k.size):
        A[i, i + 1 :] -= A[i, i] * 0.3
        A[k[i] :, abs(i)] *= 1.1
        k[i] |= 2


def difference_of(a, b):
    return a - b * 0.7


def total(x, k, of=difference_of, b=None):
    s = 0.3
    for i in range(k.size):
        if b is None:
            s += of(x[i], 0.1)
        else:
            s += of(x[i], b[i])
    return s


def with_and_without(x, k):
    return total(x, k), total(x, k, b=x)


def in_parallel(A, k):
    s, q, m, a = 0.3, 1.5, -9.0, A[0]
    for i in prange(1, A.shape[0]):
        s = s + A[i, 0]
        q /= 2.0
        m = max(m, A[i, 1], 0.1)
        a += A[i]
        A[i, 2] = max(A[i, 2], 1.0)
    return s, q, m


def own_np(sp_key, k):
    np = numpy.zeros(2)
    sp_value1 = sp_index1 = 1.7
    for sp_low in prange(k.size):
        sp_key[sp_low] *= 1.1
        sp_key[abs(sp_low)] += sp_value1
    return np[0] + sp_key[0] * sp_index1


@pytest.mark.parametrize("kernel", [eliminated, with_and_without, in_parallel, own_np])
def test_forms_that_once_ended_in_raw_errors(kernel):
    """Each was a SyntaxError, a NameError or an AttributeError, or refused for the wrong reason."""
    rows = 150 if kernel is in_parallel else 4  # more than there are chunks
    matrix = np.random.default_rng(1).uniform(0.5, 1.5, (rows, 5))
    x = sciprec.quantize(matrix if kernel in (eliminated, in_parallel) else matrix[0], "mlu370")
    ours, exact = (x.copy(), np.array([1, 3, 0])), (x.copy(), np.array([1, 3, 0]))
    found = outcome(sciprec.lift(kernel, "mlu370"), ours)
    assert not difference(found, outcome(functools.partial(_twin, kernel, "mlu370"), exact))
    assert np.all(np.isfinite(found))


def single(x):
    y = np.zeros(1, np.float32)
    y[0] = np.float32(x)
    return y[0] * 3.0


def test_fp64_does_not_round_to_binary32():
    """`np.float32` names the backend's numbers, whatever they are; options of jit are dropped."""
    assert sciprec.lift(numba.njit(fastmath=True)(single), "fp64")(0.1) == 0.1 * 3.0
    assert numba.njit(single)(0.1) != 0.1 * 3.0
