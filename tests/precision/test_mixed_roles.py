"""Backends whose roles differ in format: operands as they are, every result rounded once to its
role's.
"""

import collections
import math

import numpy as np
import pytest

from sciprec import check_memory
from sciprec.errors import InputError
from sciprec.precision import (
    FORMATS,
    Arithmetic,
    Backend,
    LiftError,
    lift,
    quantize,
    resolve_backend,
)
from sciprec.precision.formats.float_format import Format
from sciprec.precision.operations.reduce import accumulate, fma, product
from tests.oracles.twin import run_twin
from tests.precision.test_twins import assert_same_bits, require_twin
from tests.random_kernels.backends import MIXED as DRAWN
from tests.random_kernels.values import special_values

HALF, BRAIN, SINGLE, DOUBLE = (
    Arithmetic(FORMATS[name]) for name in ("binary16", "bfloat16", "binary32", "binary64")
)
WIDE_COMPUTE = Backend("wide compute", HALF, SINGLE, SINGLE, SINGLE)
WIDE_STORAGE = Backend("wide storage", SINGLE, HALF, SINGLE, HALF)
WIDE_SUMS = Backend("wide sums", SINGLE, SINGLE, DOUBLE, DOUBLE)
MIXED = (WIDE_COMPUTE, WIDE_STORAGE, WIDE_SUMS)
X = np.array([1.0 + 2.0**-11, 3.14159274, -0.3333, 1.0 + 2.0**-11 + 2.0**-23, 5.0, 2.0**-20, 7.1])
THIRD, PAIR = 1 / 3, (0.1, 1 / 3)
Point = collections.namedtuple("Point", "x y")  # noqa: PYI024 - as users write them


def thirds(x):
    return x[1] / 3.0, x * THIRD


@pytest.mark.parametrize("trust", [False, True])
def test_results_of_a_wider_role_are_rounded_to_the_storage(trust):
    x = np.array([1.0, 2.0, 4.0])
    found = lift(thirds, WIDE_COMPUTE, trust_inputs=trust)(x)
    half = np.float64(np.float16(2 / 3))
    assert found[0] == half
    np.testing.assert_array_equal(found[1], np.float16(x / 3.0))


def test_arguments_in_roles_of_several_formats_are_never_proven():
    assert lift(thirds, WIDE_COMPUTE)._proof is None
    assert lift(thirds, "fp16")._proof is not None


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


def selections(x, out):
    """Operations that are exact within one format."""
    a, b, c, d = x[0], x[1], x[2], x[3]
    out[0] = math.fmod(b, a)
    out[1] = -d
    out[2] = abs(c)
    out[3] = max(a, d)
    out[4] = np.fmin(b, 9.0)
    out[5] = math.copysign(d, c)
    out[6] = np.floor(b * 2049.0)
    out[7] = float(d)
    out[8] = +d
    out[9] = d**1
    out[10] = b % a
    out[11] = c // a
    out[12] = 1.0 * d
    out[13] = d
    d **= 1
    return d, (a if b > c else d)


def sums(x, out):
    """Operands of every role in operations of every other."""
    s = 0.1
    for i in range(x.size):
        s = accumulate(s, product(x[i], x[i]))
        out[i] = s * x[i] + s
    out[7] = fma(s, x[1], -s)
    out[8] = np.sum(x) / x.size
    out[9] = x[1:3] @ x[1:3] - s
    out[10] = math.sqrt(s)
    out[11], out[12] = np.square(x.sum()), np.mean(x) / 3.0
    for i in range(3):
        out[13] += np.square(np.sum(x[i:])) - np.mean(x[: 6 - i])
    return s, s - x[0], x.sum()


def both(x):
    return x[0] * x[1], THIRD


def tuples(x, out):
    """Numbers that go through tuples, lists and loops over them."""
    first, second = both(x)
    first, second = second, first
    out[0] = both(x)[1] * 3.0
    for v in (first, second, 0.1):
        out[1] += v * 3.0
    for i, v in enumerate(PAIR):
        out[2 + i] = v * 3.0
    many = [u * 0.1 for u in x]
    out[4] = many[1] * 3.0
    for u, v in zip(many, PAIR):  # noqa: B905 - Numba
        out[5] += u * v
    for u, v in zip(x, out):  # noqa: B905 - Numba
        out[6] += u * v
    out[7] = PAIR[1]
    nested = ((first, x[1]), 2)
    out[8] = nested[0][0] - nested[0][1]
    out[9], out[10] = x[1:3]
    return first, second, PAIR


def whole_arrays(x, out):
    """Numbers in arrays that the kernel makes."""
    made = np.full(3, 1 / 3)
    scaled = x * THIRD + x
    out[:7] = scaled * scaled
    out[7:10] = made * 3.0
    made += 1.0
    out[10] = made[0]
    return made, scaled, scaled * x - scaled, made.max()


def kernels() -> list:
    """Each kernel in two of the backends, the arguments trusted or not; what takes long is slow."""
    rows = []
    for number, kernel in enumerate((selections, sums, tuples, whole_arrays)):
        for place, backend in enumerate(MIXED):
            quick = (kernel, backend) in QUICK
            if not quick and (number + place) % 3 == 2:
                continue
            trust = quick or (number + place) % 2 == 0
            name = f"{kernel.__name__}-{backend.name}-{trust}"
            marks = () if quick else pytest.mark.slow
            rows.append(pytest.param(kernel, backend, trust, id=name, marks=marks))
    return rows


QUICK = ((selections, WIDE_STORAGE), (selections, WIDE_COMPUTE), (sums, WIDE_SUMS),
         (tuples, WIDE_COMPUTE))  # fmt: skip


@pytest.mark.parametrize(("kernel", "backend", "trust"), kernels())
def test_kernels_equal_their_twins(kernel, backend, trust):
    given = quantize(X, backend)
    require_twin(kernel, (given, np.zeros(14)), backend, trust)


def elements_of_a_new_array(x):
    made = x * 0.1 + x
    return made[1] - x[1] * 1.1, made[6] - x[6] * 1.1


def test_new_arrays_hold_numbers_of_the_storage():
    """Where elements are trusted they kept those of the compute role."""
    require_twin(elements_of_a_new_array, (quantize(X, WIDE_COMPUTE),), WIDE_COMPUTE, True)


def signed(x):
    made, one = math.copysign(x[0], x[1]), 1.0
    return made, one


@pytest.mark.parametrize("backend", ["fp16", WIDE_COMPUTE], ids=["fp16", "mixed"])
def test_the_sign_of_a_number_of_another_type(backend):
    """LLVM moved the rounding to half into the sign's operand, by a function that nobody has."""
    assert lift(signed, backend)(np.array([1.5, -2.3])) == (-1.5, 1.0)


def every_operation(x, out):
    for i in range(x.size):
        for j in range(x.size):
            a, b, c, to = x[i], x[j], x[(i + j) % x.size], out[i, j]
            to[0], to[1], to[2], to[3] = a + b, a - b, a * b, a / b
            to[4], to[5], to[6] = fma(a, b, c), accumulate(a, b), product(a, b)
            to[7], to[8], to[9] = a % b, a // b, math.fmod(a, b)
            to[10], to[11], to[12] = max(a, b), np.fmin(a, b), np.maximum(a, b)
            to[13], to[14], to[15] = -a, abs(a), math.copysign(a, b)
            to[16], to[17], to[18] = np.floor(a), np.rint(a), np.sign(a)
            to[19], to[20], to[21] = a**2, a**-1, math.sqrt(abs(a))
            to[22], to[23] = a * c - (b - b), float(a)
            to[24] = 1.0 if a < b else 2.0 if a == b else 3.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "path"),
    [*((b, "auto") for b in DRAWN.values()), (next(iter(DRAWN.values())), "software")],
    ids=lambda value: getattr(value, "name", value),
)
def test_every_operation_on_landmarks_of_all_roles(backend, path):
    rng = np.random.default_rng(0)
    known = np.concatenate([np.unique(special_values(r.format)) for r in backend.roles])
    x, found = rng.choice(known, 24), np.zeros((24, 24, 25))
    expected = found.copy()
    lift(every_operation, backend, path=path)(x, found)
    run_twin(every_operation, backend, (x, expected))
    assert_same_bits(found, expected, f"operations in {backend.name} ({path})")


def test_fields_of_named_tuples_are_arguments():
    given = Point(1 / 3, 0.1)
    half = tuple(np.float64(np.float16(v)) for v in given)
    for kernel in (by_name, by_place, taken_apart):
        assert lift(kernel, WIDE_COMPUTE)(given) == half


def named_inside(x):
    point = Point(x[0] * x[1], x[1])
    return x[0] * x[1] + x[1], point.x + point[1]


def test_fields_of_a_kernels_own_named_tuples_are_of_the_storage():
    x = np.array([1.814, 0.0336])
    found = lift(named_inside, WIDE_COMPUTE)(x)
    assert found == tuple(float(v) for v in run_twin(named_inside, WIDE_COMPUTE, (x,)))
    assert found[0] != found[1]


def by_name(point):
    return point.x, point.y


def by_place(point):
    return point[0], point[1]


def taken_apart(point):
    x, y = point
    return x, y


LARGE, SMALL = 1e200, 1e-200


def extremes(x, out):
    """Of binary64 numbers, rounded to binary32."""
    for i in range(x.size):
        for j in range(x.size):
            a, b, c = x[i], x[j], x[(i + j) % x.size]
            out[i, j, 0] = a * b
            out[i, j, 1] = a / b
            out[i, j, 2] = fma(a, b, c)
            out[i, j, 3] = fma(a, b, -c)
            out[i, j, 4] = a + b
            out[i, j, 5] = a % b


def test_operands_with_the_range_of_binary64():
    backend = Backend("double storage", DOUBLE, SINGLE, DOUBLE, SINGLE)
    x = np.array(
        [1e200, -1e200, 1e-200, -1e-200, 1 + 2.0**-24, 5e-324, -3e-310, 1.7e308, np.inf, -np.inf,
         0.0, -0.0, 1 / 3, 2.0**-150, 1.5 * 2.0**-149, 9.999999e37, 2.0**127, np.nan]
    )  # fmt: skip
    require_twin(extremes, (x, np.zeros((x.size, x.size, 6))), backend)


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        ((HALF, HALF, HALF, Arithmetic(resolve_backend("fixed16").compute.format)), None),
        ((HALF, SINGLE, SINGLE, resolve_backend("fixed16").compute),
         "backend 'x' has roles in fixed point beside others in floats; accepted: all in fixed"),
        ((resolve_backend("fixed16").compute, HALF, HALF, resolve_backend("fixed16").compute),
         "accepted: all in fixed point, or matmul alone beside others in one format"),
    ],
)  # fmt: skip
def test_fixed_point_beside_floats(roles, words):
    if words is None:
        assert not Backend("x", *roles).mixed
        return
    with pytest.raises(InputError, match=words):
        Backend("x", *roles)


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        ((DOUBLE, Arithmetic(FORMATS["binary16"], "ru"), DOUBLE, DOUBLE),
         "'binary16' in rounding ru stands beside 'binary64', whose products leave binary64; acc"),
        ((Arithmetic(Format("x", 30, -99, 99)), resolve_backend("mlu370-noguard").compute,
          SINGLE, SINGLE),
         "'mlu370' without guard bits stands beside a format that needs float64 variables"),
    ],
)  # fmt: skip
def test_roles_that_do_not_go_together_get_a_sentence(roles, words):
    with pytest.raises(InputError, match=words):
        lift(thirds, Backend("x", *roles))


def of_new_memory(x, out):
    made = np.empty(x.size)
    for i in range(1, x.size):
        made[i] = x[i] / 3.0
    for i in range(x.size):
        out[i] = made[i] * 3.0


@pytest.mark.slow
def test_memory_is_checked_as_in_one_format():
    given = quantize(X, WIDE_COMPUTE), np.zeros(7)
    mixed, half = (check_memory(of_new_memory, b, given) for b in (WIDE_COMPUTE, "fp16"))
    assert str(mixed).splitlines()[1:] == str(half).splitlines()[1:] and len(mixed.findings) == 1


def of_both(x):
    s = 0.0
    for u, v in zip(x, PAIR):  # noqa: B905 - Numba
        s += u * v
    return s


def of_a_call(x):
    return [v for v in both(x)]


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (of_both, "zip of an array and a tuple of numbers is given, in roles of several formats"),
        (of_a_call, r"a comprehension over 'both\(x\)' in roles of several formats cannot be"),
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


def test_the_oracle_takes_operands_as_they_are():
    x, out = np.array([1.0 + 2.0**-11, 2.0**-11]), np.zeros(1)

    def added(x, out):
        out[0] = x[0] + x[1]

    run_twin(added, WIDE_STORAGE, (x, out))
    assert_same_bits(out, [1.0 + 2.0**-10], "rounded once; twice it would be 1")
