"""Backends whose roles differ in format: operands as they are, every result rounded once to its
role's, compiled; in which role kernels round is seen in the corpus.
"""

import math

import numpy as np
import pytest

from sciprec.foundation.errors import InputError
from sciprec.precision import FORMATS, Arithmetic, Backend, LiftError, lift, resolve_backend
from sciprec.precision.formats.float_format import Format
from tests.oracles.twin import run_twin
from tests.precision.comparison import assert_same
from tests.precision.corpus import roles
from tests.random_kernels.backends import MIXED as DRAWN
from tests.random_kernels.values import special_values

HALF, BRAIN, SINGLE, DOUBLE = (
    Arithmetic(FORMATS[name]) for name in ("binary16", "bfloat16", "binary32", "binary64")
)
WIDE_COMPUTE = Backend("wide compute", HALF, SINGLE, SINGLE, SINGLE)
WIDE_STORAGE = Backend("wide storage", SINGLE, HALF, SINGLE, HALF)
WIDE_SUMS = Backend("wide sums", SINGLE, SINGLE, DOUBLE, DOUBLE)
MIXED = (WIDE_COMPUTE, WIDE_STORAGE, WIDE_SUMS)
X = np.array(roles.LANDMARKS)


def test_which_backends_have_one_format():
    same = Backend("rounded otherwise", HALF, Arithmetic(HALF.format, "rz"), HALF, HALF)
    assert same.has_one_format and not same.mixed
    assert not any(b.has_one_format or not b.mixed for b in MIXED)
    for name in ("fixed32", "mix-fp32-fix16"):
        backend = resolve_backend(name)
        assert not backend.has_one_format and not backend.mixed
    holds = FORMATS["binary32"].holds
    assert holds(FORMATS["binary16"]) and holds(FORMATS["mlu370"]) and holds(FORMATS["binary32"])
    assert not holds(FORMATS["binary64"])
    assert not FORMATS["mlu370"].holds(Format("x", 10, -130, 3))
    assert not FORMATS["float8_e4m3fn"].holds(FORMATS["float8_e5m2"])
    assert not FORMATS["mlu370"].holds(FORMATS["bfloat16"])  # its subnormals


def signed(x):
    made, one = math.copysign(x[0], x[1]), 1.0
    return made, one


@pytest.mark.parametrize("backend", ["fp16", WIDE_COMPUTE], ids=["fp16", "mixed"])
def test_the_sign_of_a_number_of_another_type(backend):
    """LLVM moved the rounding to half into the sign's operand, by a function that nobody has."""
    assert lift(signed, backend)(np.array([1.5, -2.3])) == (-1.5, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "path"),
    [(list(DRAWN.values())[3], "auto"), (next(iter(DRAWN.values())), "software")],
    ids=lambda value: getattr(value, "name", value),
)
def test_every_operation_on_landmarks_of_all_roles(backend, path):
    rng = np.random.default_rng(0)
    known = np.concatenate([np.unique(special_values(r.format)) for r in backend.roles])
    x, found = rng.choice(known, 24), np.zeros((24, 24, 25))
    expected = found.copy()
    lift(roles.every_operation, backend, path=path)(x, found)
    run_twin(roles.every_operation, backend, (x, expected))
    assert_same(found, expected, f"operations in {backend.name} ({path})")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((HALF, HALF, HALF, Arithmetic(resolve_backend("fixed16").compute.format)), None),
        ((HALF, SINGLE, SINGLE, resolve_backend("fixed16").compute),
         "backend 'x' mixes roles in fixed point with roles in floating point; accepted: all"),
        ((resolve_backend("fixed16").compute, HALF, HALF, resolve_backend("fixed16").compute),
         "or matmul alone in fixed point and the others in one floating-point format"),
    ],
)  # fmt: skip
def test_fixed_point_beside_floats(given, words):
    if words is None:
        assert not Backend("x", *given).mixed
        return
    with pytest.raises(InputError, match=words):
        Backend("x", *given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((DOUBLE, Arithmetic(FORMATS["binary16"], "ru"), DOUBLE, DOUBLE),
         "'binary16' in rounding ru stands beside 'binary64', whose products leave binary64; acc"),
        ((Arithmetic(Format("x", 30, -99, 99)), resolve_backend("mlu370-noguard").compute,
          SINGLE, SINGLE),
         "'mlu370' without guard bits stands beside a format that needs float64 variables"),
    ],
)  # fmt: skip
def test_roles_that_do_not_go_together_get_a_sentence(given, words):
    with pytest.raises(InputError, match=words):
        lift(roles.thirds, Backend("x", *given))


def of_both(x):
    s = 0.0
    for u, v in zip(x, roles.PAIR):  # noqa: B905 - Numba
        s += u * v
    return s


def pair(x):
    return x[0] * x[1], 1 / 3


def of_a_call(x):
    return [v for v in pair(x)]


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (of_both, "zip of an array and a tuple of numbers is given, in roles of several formats"),
        (of_a_call, r"a comprehension over 'pair\(x\)' in roles of several formats cannot be"),
    ],
)
def test_loops_that_cannot_tell_arrays_from_tuples(kernel, words):
    with pytest.raises(LiftError, match=words):
        lift(kernel, WIDE_COMPUTE)(X)


def drawn(x, out):
    for i in range(x.size):
        out[i] = x[i] * 0.3
    return x[0] * 0.3


def test_stochastic_storage_of_wide_results():
    """Stored upward or downward, by chance; in binary64 variables, too."""
    for wide in (SINGLE, DOUBLE):
        backend = Backend("x", Arithmetic(BRAIN.format, "sr"), wide, wide, wide)
        out = np.zeros(4000)
        lift(drawn, backend)(np.ones(4000), out)
        below, above = np.unique(out)
        assert below < 0.3 < above and above - below == 2.0**-9
        assert abs(out.mean() - 0.3) < 6 * (above - below) / 2 / np.sqrt(4000)
