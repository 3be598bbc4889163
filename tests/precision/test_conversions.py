"""Numbers on entry: integers, literals, constants, elements of arrays, rounded once."""

import numpy as np
import pytest

from sciprec.precision import backends, lift, resolve_backend
from sciprec.precision.formats.float_format import FORMATS
from tests.oracles import exact
from tests.precision import arithmetic_kernels as kernels
from tests.precision.comparison import assert_bits
from tests.precision.samples import FROM_LEADING_BITS, in_format, landmarks, random_numbers

DETERMINISTIC = [b for b in backends().values() if not (b.random or b.fixed or b.name == "dd")]
DETERMINISTIC += map(resolve_backend, FROM_LEADING_BITS)
PATHS = ("auto", "software")
QUICK = ("fp64", "fp16", "mlu370")
QUICK_FIRST = [
    pytest.param(b, marks=[] if b.name in QUICK else pytest.mark.slow)
    for n, b in enumerate(DETERMINISTIC)
    if b.name in QUICK or n % 3 == 0
]


def whole_numbers() -> np.ndarray:
    """Small and large integers, powers of two and their neighbours, the ends of 64 bits."""
    powers = [s * (1 << k) + d for k in range(63) for s in (-1, 1) for d in (-1, 0, 1)]
    random = np.random.default_rng(5).integers(-(2**63), 2**63 - 1, 300).tolist()
    shifted = [x >> s for x, s in zip(random, range(300), strict=True) if s < 60]
    ends = [2**63 - 1, -(2**63), -(2**63) + 1, *range(-20, 21)]
    return np.array(powers + random + shifted + ends, dtype=np.int64)


@pytest.mark.parametrize("backend", QUICK_FIRST, ids=lambda b: b.name)
def test_integers_are_rounded_once(backend):
    whole = whole_numbers()
    expected = [exact.from_int(i, backend.compute) for i in whole.tolist()]
    for path in PATHS:
        out = np.empty(whole.size)
        lift(kernels.from_integers, backend, path=path)(whole, out)
        assert_bits(out, expected, (whole,), f"{backend.name} ({path}) from int64")


@pytest.mark.parametrize("backend", QUICK_FIRST, ids=lambda b: b.name)
def test_whole_parts_are_truncated(backend):
    fmt = backend.compute.format
    a = random_numbers(fmt, 3000, np.random.default_rng(6))
    a = np.concatenate([a[np.abs(a) < 2.0**62], in_format(np.arange(-20, 21) / 4.0, fmt)])
    whole = np.empty(a.size, np.int64)
    lift(kernels.to_integers, backend)(a, whole)
    assert whole.tolist() == [exact.to_int(x, backend.compute) for x in a.tolist()]


@pytest.mark.parametrize("backend", DETERMINISTIC, ids=lambda b: b.name)
def test_literals_and_constants_are_rounded_once(backend):
    """-1e-45 is a literal and its negation: the literal is rounded first."""
    out = np.empty(len(kernels.CONSTANTS))
    lift(kernels.constants, backend)(out)
    expected = [exact.round_exact(x, backend.compute) for x in kernels.CONSTANTS]
    expected[6] = -exact.round_exact(1e-45, backend.compute)
    assert_bits(out, expected, (np.array(kernels.CONSTANTS),), backend.name)


@pytest.mark.parametrize("backend", DETERMINISTIC, ids=lambda b: b.name)
def test_elements_of_constant_arrays_are_rounded_once(backend):
    """The compiler knows such elements and may fold their conversion, to nearest."""
    out = np.empty(kernels.TABLE.size)
    lift(kernels.constant_array, backend)(out)
    expected = [exact.round_exact(x, backend.storage) for x in kernels.TABLE.tolist()]
    assert_bits(out, expected, (kernels.TABLE,), backend.name)


@pytest.mark.parametrize("backend", QUICK_FIRST, ids=lambda b: b.name)
def test_array_elements_are_rounded_on_entry(backend):
    """Elements of wider formats: landmarks of the format, halfway points, tiny and huge numbers."""
    fmt = backend.compute.format
    special = landmarks(fmt)
    rng = np.random.default_rng(7)
    with np.errstate(all="ignore"):
        x = np.concatenate(
            [
                special,
                special * (1 + fmt.unit_roundoff),
                special * (1 + 0.99 * fmt.unit_roundoff),
                special * 0.5,
                rng.standard_normal(500) * 2.0 ** rng.integers(fmt.emin - 9, fmt.emax + 3, 500),
                rng.standard_normal(200) * 2.0 ** rng.integers(-900, 900, 200),
                random_numbers(FORMATS["binary64"], 200, rng),
            ]
        )
        arrays = x, x.astype(np.float32)
    for path, given in zip(PATHS, arrays, strict=True):
        numbers = given.astype(np.float64).tolist()
        expected, out = [exact.round_exact(v, backend.storage) for v in numbers], np.empty(x.size)
        lift(kernels.copied, backend, path=path)(given, out)
        assert_bits(out, expected, (given,), f"{backend.name} ({path}) from {given.dtype.name}")


def sign_of_first(x):
    return np.sign(x[0])


@pytest.mark.parametrize("path", ["auto", "software"])
def test_what_is_truncated_to_zero_has_no_sign(path):
    """LLVM compared the number that was narrowed, as if it had been rounded to nearest."""
    assert lift(sign_of_first, "binary32,round=rz", path=path)(np.array([1e-45])) == 0.0
