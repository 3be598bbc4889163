"""Elementary functions of the narrow formats, lifted, against MPFR; variates of integers.

Where a rounding is toward one side, what a function comes close to (sin x to x, exp x to 1, tanh x
to 1, |sin x| to 1 near odd multiples of pi/2) is exact: the side is known, however close it is.
"""

import math

import numpy as np
import pytest

from sciprec.precision import backends, lift, resolve_backend
from sciprec.precision.elementary.logarithm import exponential_from_bits
from sciprec.precision.elementary.normal import normal_from_bits, uniform_from_bits
from tests.oracles import exact, functions
from tests.precision import arithmetic_kernels as kernels
from tests.precision.samples import in_format, landmarks, random_numbers

NARROW = [
    b
    for b in backends().values()
    if not (b.random or b.fixed) and b.compute.format.significand_bits <= 24
]
SOME = ("fp16", "mlu370")
FIRST_SOME = [pytest.param(b, marks=[] if b.name in SOME else pytest.mark.slow) for b in NARROW]
SHORT = [p for p in FIRST_SOME if p.values[0].name in (*SOME, "bf16", "e4m3fn")]
"""Many numbers are run in fp32; the evaluation of tf32 and e5m2 is fp16's, and functions know no
guard bits.
"""
UP, DOWN, ODD = (
    f"float:p={p},emin={emin},emax={1 - emin},round={r}"
    for p, emin, r in [(11, -14, "ru"), (24, -126, "rd"), (16, -126, "ro")]
)
MANY = [(spec, "auto") for spec in ("fp32", "mlu370", UP, DOWN, ODD)]
MANY += [(spec, "software") for spec in ("mlu370", ODD)]
KNOWN: dict[tuple, float] = {}


def elementary(name: str, operands, arithmetic) -> float:
    """The oracle's value, which both paths and several tests ask for."""
    key = name, arithmetic, *map(float.hex, operands)
    if key not in KNOWN:
        KNOWN[key] = functions.elementary(name, operands, arithmetic)
    return KNOWN[key]


def numbers_of_16_bits(fmt) -> np.ndarray:
    """All positive numbers of binary16 or bfloat16, and every fourth negative one."""
    magnitudes = np.arange(2 ** (fmt.significand_bits - 1))
    exponents = np.arange(fmt.emin, fmt.emax + 1)
    normal = np.ldexp(
        magnitudes + 2.0 ** (fmt.significand_bits - 1),
        exponents[:, None] - fmt.significand_bits + 1,
    ).ravel()
    positive = np.concatenate([magnitudes * fmt.min_subnormal, normal, [np.inf, np.nan]])
    return np.concatenate([positive, -positive[::-4]])


def assert_within(found, rows, name: str, arithmetic) -> None:
    """Each result is the exact one, or, of finite operands, between the roundings of the true value
    -+ 2^-47 of it.
    """
    wrong = []
    for value, operands in zip(found.tolist(), rows, strict=True):
        expected = elementary(name, operands, arithmetic)
        if value == expected and (value != 0.0 or str(value) == str(expected)):
            continue
        if value != value and expected != expected:
            continue
        low = high = expected
        if not np.isinf(operands).any():
            low, high = functions.elementary_bounds(name, operands, arithmetic)
        if not low <= value <= high:
            wrong.append((operands, value, low, high))
    assert not wrong, f"{name}: {len(wrong)} outside; (operands, found, low, high): {wrong[:4]}"


def compare_unary(backend, path, a) -> None:
    out = np.empty((len(kernels.UNARY_FUNCTIONS), a.size))
    lift(kernels.unary_functions, backend, path=path)(a, out)
    rows = [(x,) for x in a.tolist()]
    for row, name in enumerate(kernels.UNARY_FUNCTIONS):
        assert_within(out[row], rows, name, backend.compute)


def compare_binary(backend, path, a, b) -> None:
    out = np.empty((len(kernels.BINARY_FUNCTIONS), a.size))
    lift(kernels.binary_functions, backend, path=path)(a, b, out)
    rows = list(zip(a.tolist(), b.tolist(), strict=True))
    for row, name in enumerate(kernels.BINARY_FUNCTIONS):
        step = 29 if name == "beta" and a.size > 20_000 else 1  # half a millisecond each
        assert_within(out[row][::step], rows[::step], name, backend.compute)


def arguments(fmt, size: int, seed: int = 1) -> np.ndarray:
    """Landmarks, every exponent, and the middle of the functions' domains."""
    rng = np.random.default_rng(seed)
    middle = [rng.uniform(-1, 1, size), rng.uniform(-20, 20, size), np.arange(-30, 31) / 2.0]
    return np.concatenate(
        [landmarks(fmt), random_numbers(fmt, size, rng), in_format(np.concatenate(middle), fmt)]
    )


def pairs(fmt, size: int, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Specials against specials, ordinary numbers, whole and half exponents."""
    rng = np.random.default_rng(seed)
    special = landmarks(fmt)
    first, second = (x.ravel() for x in np.meshgrid(special[::3], special[::3]))
    ordinary = rng.uniform(0, 9, size), rng.uniform(-9, 9, size)
    whole = rng.integers(-9, 10, size) / 1.0, rng.integers(-8, 9, size) / 2.0
    a = np.concatenate([first, in_format(np.concatenate([ordinary[0], whole[0]]), fmt)])
    b = np.concatenate([second, in_format(np.concatenate([ordinary[1], whole[1]]), fmt)])
    return a, b


@pytest.mark.parametrize("backend", SHORT, ids=lambda b: b.name)
def test_functions_of_one_number(backend):
    compare_unary(backend, "auto", arguments(backend.compute.format, 60))


@pytest.mark.parametrize("name", SOME)
def test_functions_of_two_numbers(name):
    backend = resolve_backend(name)
    compare_binary(backend, "auto", *pairs(backend.compute.format, 150))


def close_arguments(fmt) -> np.ndarray:
    """Tiny and large numbers, neighbours of 1, and of multiples of pi/2."""
    ulp = 2.0 ** (1 - fmt.significand_bits)
    exponents = np.array([*range(-70, 12, 2), fmt.emin, fmt.emin + 1, fmt.emax - 1, fmt.emax])
    exponents = exponents[(exponents >= fmt.emin) & (exponents <= fmt.emax)]
    scaled = np.ldexp([1.0, 1.0 + ulp, 1.0 + 3 * ulp, 1.5, 2.0 - ulp], exponents[:, None])
    beside_one = 1.0 + ulp * np.arange(-8, 9)
    turns = np.floor(np.exp2(np.random.default_rng(1).uniform(0, 40, 80))) * (np.pi / 2)
    x = np.concatenate([scaled.ravel(), beside_one, beside_one - 1.0, turns, [16367173 * 2.0**72]])
    x = np.concatenate([x, -x])
    return np.unique(in_format(x[np.abs(x) <= fmt.max_finite], fmt))


def close_pairs(fmt) -> tuple[np.ndarray, np.ndarray]:
    """Powers of two and their neighbours, of very different sizes."""
    ulp = 2.0 ** (1 - fmt.significand_bits)
    powers = np.ldexp(1.0, np.arange(max(fmt.emin, -60), min(fmt.emax, 60), 8))
    x = np.concatenate([powers, powers * (1.0 + ulp), powers * 1.5, 1.0 + ulp * np.arange(-2, 3)])
    x = in_format(np.concatenate([x, -x]), fmt)
    first, second = np.meshgrid(x, x)
    return first.ravel()[::11], second.ravel()[::11]


def assert_exact(found, rows, name: str, arithmetic) -> None:
    expected = [elementary(name, operands, arithmetic) for operands in rows]
    known = zip(rows, found.tolist(), expected, strict=True)
    wrong = [row for row in known if not np.array_equal(row[1], row[2], equal_nan=True)]
    assert not wrong, f"{name}: {len(wrong)} wrong; (operands, found, exact): {wrong[:4]}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "path"), [("mlu370", "software"), *((spec, "auto") for spec in (DOWN, UP, ODD))]
)
def test_functions_are_on_their_side_of_what_they_come_close_to(spec, path):
    """sin x < x < tan x, cos x < 1 < cosh x, ... where binary64 no longer tells them apart."""
    backend = resolve_backend(spec)
    a, (b, c) = close_arguments(backend.compute.format), close_pairs(backend.compute.format)
    of_one, of_two = (
        np.empty((len(names), x.size))
        for names, x in ((kernels.UNARY_FUNCTIONS, a), (kernels.BINARY_FUNCTIONS, b))
    )
    lift(kernels.unary_functions, backend, path=path)(a, of_one)
    lift(kernels.binary_functions, backend, path=path)(b, c, of_two)
    for found, name in zip(of_one, kernels.UNARY_FUNCTIONS, strict=True):
        assert_exact(found, [(x,) for x in a.tolist()], name, backend.compute)
    pairs_of = list(zip(b.tolist(), c.tolist(), strict=True))
    for found, name in zip(of_two, kernels.BINARY_FUNCTIONS, strict=True):
        assert_exact(found, pairs_of, name, backend.compute)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "step"), [("fp16", 19), ("bf16", 31)])
def test_functions_of_numbers_of_16_bits(name, step):
    """Every nineteenth one of fp16; of bf16, whose evaluation is fp16's, every 31st."""
    backend = resolve_backend(name)
    compare_unary(backend, "auto", numbers_of_16_bits(backend.compute.format)[::step])


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "path"), MANY)
def test_functions_of_many_numbers(spec, path):
    """To nearest there is one path."""
    backend = resolve_backend(spec)
    compare_unary(backend, path, arguments(backend.compute.format, 150, seed=3))
    compare_binary(backend, path, *pairs(backend.compute.format, 350, seed=4))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["e4m3fn", "e5m2"])
def test_functions_of_pairs_of_8_bits(name):
    """Every thirteenth one."""
    backend = resolve_backend(name)
    fmt = backend.compute.format
    numbers = np.unique(random_numbers(fmt, 20_000, np.random.default_rng(5)))
    numbers = np.concatenate([numbers, landmarks(fmt)])
    a, b = (x.ravel()[::13] for x in np.meshgrid(numbers, numbers))
    compare_binary(backend, "auto", a, b)


def bounded_functions(x, out):
    for i in range(x.size):
        out[0, i] = math.tanh(x[i])
        out[1, i] = math.erf(x[i])
        out[2, i] = math.erfc(x[i])
        out[3, i] = math.expm1(x[i])


def test_limits_at_infinity_are_exact():
    """Toward zero they were a unit short of 1 and 2, as beside infinity they are."""
    out = np.empty((4, 3))
    lift(bounded_functions, "mlu370")(np.array([np.inf, -np.inf, -60.0]), out)
    unit = 2.0**-21
    assert out[:, :2].tolist() == [[1.0, -1.0], [1.0, -1.0], [0.0, 2.0], [np.inf, -1.0]]
    assert out[:, 2].tolist() == [unit - 1.0, unit - 1.0, 2.0 - 2.0 * unit, unit - 1.0]


def variates(words, out):
    for i in range(words.size):
        out[0, i] = uniform_from_bits(words[i])
        out[1, i] = exponential_from_bits(words[i])
        out[2, i] = normal_from_bits(words[i])


@pytest.mark.parametrize("backend", FIRST_SOME, ids=lambda b: b.name)
def test_variates_of_integers_are_rounded_once(backend):
    """Tails too: in binary16 the least normal variate is -6.3379, as of an unrounded uniform."""
    rng = np.random.default_rng(6)
    ends = [0, 1, 2, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1]
    words = np.concatenate([ends, rng.integers(0, 2**32, 60)]).astype(np.int64)
    out = np.empty((3, words.size))
    lift(variates, backend)(words, out)
    for row, name in enumerate(("uniform", "exponential", "normal")):
        expected = [functions.from_bits(f"{name}_from_bits", u, backend.compute) for u in words]
        assert out[row].tolist() == expected, f"{backend.name} {name}"
    if backend.name == "fp16":
        assert out[2, 0] == exact.round_exact(-6.337957754553788, backend.compute)
