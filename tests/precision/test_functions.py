"""Elementary functions of the narrow formats, lifted, against MPFR; variates of integers.

Where a rounding is toward one side, what a function comes close to (sin x to x, exp x to 1, tanh x
to 1, |sin x| to 1 near odd multiples of pi/2) is exact: the side is known, however close it is.
"""

import numpy as np
import pytest

from sciprec.precision import lift, resolve_backend
from sciprec.precision.elementary.logarithm import exponential_from_bits
from sciprec.precision.elementary.normal import normal_from_bits, uniform_from_bits
from tests.oracles import exact, functions
from tests.precision import arithmetic_kernels as kernels
from tests.precision.samples import in_format, landmarks, random_numbers

UP, ODD = (
    f"float:p={p},emin={emin},emax={1 - emin},round={r}"
    for p, emin, r in [(11, -14, "ru"), (16, -126, "ro")]
)
CASES = [("fp16", "auto"), ("mlu370", "auto")] + [
    pytest.param(spec, path, marks=pytest.mark.slow)
    for spec, path in (("fp32", "auto"), (UP, "software"), (ODD, "auto"))
]
"""Each way of rounding; to nearest there is one path."""


def arguments(fmt, size: int) -> np.ndarray:
    """Landmarks, every exponent, and the middle of the functions' domains; of 8 bits all."""
    rng = np.random.default_rng(3)
    if fmt.significand_bits < 8:
        return np.concatenate([landmarks(fmt), np.unique(random_numbers(fmt, 20_000, rng))])
    middle = [rng.uniform(-1, 1, size), rng.uniform(-20, 20, size), np.arange(-30, 31) / 2.0]
    return np.concatenate(
        [landmarks(fmt), random_numbers(fmt, size, rng), in_format(np.concatenate(middle), fmt)]
    )


def pairs(fmt, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Specials against specials, ordinary numbers, whole and half exponents."""
    rng = np.random.default_rng(4)
    special = landmarks(fmt)
    first, second = (x.ravel() for x in np.meshgrid(special[::4], special[::4]))
    ordinary = rng.uniform(0, 9, size), rng.uniform(-9, 9, size)
    whole = rng.integers(-9, 10, size) / 1.0, rng.integers(-8, 9, size) / 2.0
    a = np.concatenate([first, in_format(np.concatenate([ordinary[0], whole[0]]), fmt)])
    b = np.concatenate([second, in_format(np.concatenate([ordinary[1], whole[1]]), fmt)])
    return a, b


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


def require(lifted, names, arithmetic, usual, close) -> None:
    """Each result of close operands is the exact one; of other finite ones it is so, or between
    the roundings of the true value -+ 2^-47 of it.
    """
    operands = [np.concatenate(columns) for columns in zip(usual, close, strict=True)]
    out = np.empty((len(names), operands[0].size))
    lifted(*operands, out)
    rows = list(zip(*(x.tolist() for x in operands), strict=True))
    for name, found in zip(names, out.tolist(), strict=True):
        wrong = []
        for number, (value, row) in enumerate(zip(found, rows, strict=True)):
            low = high = functions.elementary(name, row, arithmetic)
            if value == low or value != value and low != low:
                continue
            if number < usual[0].size and np.isfinite(row).all():
                low, high = functions.elementary_bounds(name, row, arithmetic)
            if not low <= value <= high:
                wrong.append((row, value, low, high))
        assert not wrong, f"{name}: {len(wrong)} outside; (operands, found, low, high): {wrong[:4]}"


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "path"), CASES)
def test_functions_are_rounded_once(spec, path):
    """sin x < x < tan x, cos x < 1 < cosh x, ... where binary64 no longer tells them apart."""
    backend = resolve_backend(spec)
    arithmetic, fmt = backend.compute, backend.compute.format
    close, close_two = close_arguments(fmt), close_pairs(fmt)
    if arithmetic.rounding == "rn":
        close, close_two = close[:0], (close[:0], close[:0])
    one, two = (
        lift(kernel, backend, path=path)
        for kernel in (kernels.unary_functions, kernels.binary_functions)
    )
    require(one, kernels.UNARY_FUNCTIONS, arithmetic, (arguments(fmt, 60),), (close,))
    require(two, kernels.BINARY_FUNCTIONS, arithmetic, pairs(fmt, 100), close_two)


def variates(words, out):
    for i in range(words.size):
        out[0, i] = uniform_from_bits(words[i])
        out[1, i] = exponential_from_bits(words[i])
        out[2, i] = normal_from_bits(words[i])


@pytest.mark.parametrize(
    "name", ["fp16", "mlu370", *(pytest.param(b, marks=pytest.mark.slow) for b in ("fp32", ODD))]
)
def test_variates_of_integers_are_rounded_once(name):
    """Tails too: in binary16 the least normal variate is -6.3379, as of an unrounded uniform."""
    arithmetic, rng = resolve_backend(name).compute, np.random.default_rng(6)
    ends = [0, 1, 2, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1]
    words = np.concatenate([ends, rng.integers(0, 2**32, 60)]).astype(np.int64)
    out = np.empty((3, words.size))
    lift(variates, name)(words, out)
    for row, kind in zip(out, ("uniform", "exponential", "normal"), strict=True):
        assert row.tolist() == [
            functions.from_bits(f"{kind}_from_bits", u, arithmetic) for u in words
        ]
    if name == "fp16":
        assert out[2, 0] == exact.round_exact(-6.337957754553788, arithmetic)
