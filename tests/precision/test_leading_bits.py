"""Roundings to nearest on the bits of binary32: in the processor's toward-zero mode from leading
bits, of short formats from sums; against integers, MPFR, and the evaluation in binary64.
"""

import random

import gmpy2
import numpy as np
import pytest

from sciprec.precision import lift, resolve_backend
from sciprec.precision.formats.backend import Backend
from sciprec.precision.formats.float_format import FORMATS
from sciprec.precision.rounding.leading_bits import LARGEST_BITS
from sciprec.precision.rounding.mode import available, has_feature
from tests.oracles import vector
from tests.precision import arithmetic_kernels as kernels
from tests.precision.comparison import assert_bits
from tests.precision.samples import aimed_pairs, in_format, landmarks, random_numbers, triples


def drawn(p: int) -> str:
    """A format of p bits with exponents of its own, the ends of binary32's often among them."""
    rng = random.Random(p)
    emin = rng.choice([-126, -125, rng.randint(-126, -p), rng.randint(-60, -p)])
    emax = rng.choice([127, 126, rng.randint(1, 126), rng.randint(1, 60)])
    return f"float:p={p},emin={emin},emax={emax},overflow={rng.choice(['infinity', 'saturate'])}"


SPECS = [f"float:p={p}" for p in range(12, LARGEST_BITS + 1)]
SPECS += [drawn(p) for p in range(12, LARGEST_BITS + 1)]
SPECS += ["float:p=10,emin=-120,emax=120", "float:p=2,emin=-120,emax=120,overflow=saturate"]
SPECS += ["float:p=14,emin=-40,emax=127", "float:p=16,emin=-60,emax=60"]
QUICK = ("float:p=12", "float:p=23", "float:p=14,emin=-40,emax=127", "float:p=16,emin=-60,emax=60")
QUICK_FIRST = [
    pytest.param(s, marks=[] if s in QUICK else pytest.mark.slow)
    for n, s in enumerate(SPECS)
    if s in QUICK or n % 8 == 1 or "emin=-120" in s
]
"""Of every eighth one, by turns with the usual exponents and with others."""
SHORT = (
    "float:p=10,emin=-30,emax=30",
    pytest.param("float:p=11,emin=-115,emax=57", marks=pytest.mark.slow),
    pytest.param("float:p=2,emin=-4,emax=4", marks=pytest.mark.slow),
)
"""Rounded to nearest in binary32, with sums on their bits."""
ROUNDED_ON_BITS = (
    "float:p=16", "float:p=16,emin=-60,emax=60", "float:p=10,emin=-30,emax=30", "bf16",
    "float:p=8,round=sr", "float:p=14,round=ru", "float:p=14,round=rd",
)  # fmt: skip
ARITY = {"sqrt": 1, "fma": 3}
MPFR = {"add": gmpy2.add, "sub": gmpy2.sub, "mul": gmpy2.mul, "div": gmpy2.div,
        "sqrt": gmpy2.sqrt, "fma": gmpy2.fma}  # fmt: skip


def operands(fmt, size: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Landmarks, close and random numbers, and as many that are aimed at."""
    rng = np.random.default_rng(seed)
    a, b = aimed_pairs(fmt, size - size // 2, rng)
    with np.errstate(all="ignore"):
        product = in_format(np.clip(-a * b, -fmt.max_finite, fmt.max_finite), fmt)
    c = np.where(rng.random(a.size) < 0.5, product, random_numbers(fmt, a.size, rng))
    known = triples(fmt, size // 2, seed)
    return tuple(np.concatenate(pair) for pair in zip(known, (a, b, c), strict=True))


def results(backend, path, a, b, c) -> np.ndarray:
    """A row for each operation."""
    out = np.empty((len(kernels.ARITHMETIC), a.size))
    lift(kernels.arithmetic, backend, path=path)(a, b, c, out)
    return out


def one_more(x, out):
    for i in range(x.size):
        out[i] = x[i] + 1.0


def by_mpfr(name, fmt, *given) -> np.ndarray:
    """The operation in MPFR, in a context of the format's own precision and exponents."""
    p = fmt.significand_bits
    own = gmpy2.context(
        precision=p, emax=fmt.emax + 1, emin=fmt.emin - p + 2, subnormalize=True,
        round=gmpy2.RoundToNearest,
    )  # fmt: skip
    with own:
        rows = zip(*(map(gmpy2.mpfr, x.tolist()) for x in given), strict=True)
        return np.array([float(MPFR[name](*row)) for row in rows])


@pytest.mark.parametrize("spec", [*QUICK_FIRST, *SHORT])
def test_operations_are_rounded_once(spec):
    """The quick ones in MPFR, too."""
    backend = resolve_backend(spec)
    fmt = backend.compute.format
    given = operands(fmt, 20_000)
    found = results(backend, "auto", *given)
    for row, name in zip(found, kernels.ARITHMETIC, strict=True):
        taken = given[: ARITY.get(name, 2)]
        assert_bits(row, getattr(vector, name)(*taken, backend.compute), taken, f"{spec} {name}")
        if spec in QUICK:
            taken = [x[-2000:] for x in taken]
            assert_bits(row[-2000:], by_mpfr(name, fmt, *taken), taken, f"{spec} {name} of MPFR")


@pytest.mark.parametrize(
    ("spec", "dtype"),
    [(spec, (np.float32, np.float64)[n % 2]) for n, spec in enumerate(ROUNDED_ON_BITS)],
)
def test_a_nan_of_any_payload_stays_one(spec, dtype):
    """Rounded on its bits the largest payload would be carried into the sign: -0."""
    whole = np.dtype(f"u{np.dtype(dtype).itemsize}").type(-1 % 2 ** (8 * np.dtype(dtype).itemsize))
    x = np.array([whole, whole >> whole.dtype.type(1)]).view(dtype)
    given = np.repeat(x.astype(dtype), 40)
    found = np.empty(given.size)
    lift(one_more, spec)(given, found)
    assert np.isnan(found).all()


def test_what_takes_the_toward_zero_mode():
    """A backend of one arithmetic that binary64 would have to evaluate; every other one not."""

    def uses(backend) -> bool:
        return lift(kernels.copied, backend).uses_processor_mode

    modal = available() and has_feature("fma")
    assert all(uses(spec) == modal for spec in SPECS)
    for other in ("fp16", "bf16", "tf32", "float:p=24", "float:p=16,subnormals=flush",
                  "float:p=10,emin=-30,emax=30", "float:p=25", "float:p=16,emin=-14,emax=15",
                  "float:p=12,emin=-200,emax=200"):  # fmt: skip
        assert not uses(other), other
    mixed = [resolve_backend(s).compute for s in ("float:p=16", "float:p=20")]
    assert not uses(Backend("mixed", mixed[0], mixed[1], mixed[1], mixed[1]))
    one = (mixed[0],) * 4
    assert not uses(Backend("noise", *one, noise=(1e-7, 1e-5)))
    assert not uses(FORMATS["binary32"])


def scaled(x, whole, out):
    for i in range(x.size):
        out[0, i] = 2.0 * x[i]
        out[1, i] = x[i] * 4
        out[2, i] = -8.0 * x[i]
        out[3, i] = 0.5 * x[i]
        out[4, i] = x[i] / 2.0
        out[5, i] = x[i] / -0.125
        out[6, i] = 2.0 * whole[i]
        out[7, i] = (whole[i] * 2) // 3
        out[8, i] = whole[i] / 4
    out[9] = 2.0 * x
    out[10] = whole / 4


BY_POWERS = [
    "float:p=16,emin=-60,emax=60", "tf32",
    *(pytest.param(spec, marks=pytest.mark.slow)
      for spec in ("mlu370", "fp16", "float:p=14,round=ru")),
]  # fmt: skip


@pytest.mark.parametrize("spec", BY_POWERS)
def test_products_with_powers_of_two(spec):
    """Rounded where they leave the range of normal numbers, else exact; of integers, integers."""
    arithmetic = resolve_backend(spec).compute
    fmt = arithmetic.format
    x = np.concatenate([landmarks(fmt), random_numbers(fmt, 3000, np.random.default_rng(4))])
    whole = np.random.default_rng(5).integers(-(2**40), 2**40, x.size)
    out = np.empty((11, x.size))
    lift(scaled, spec)(x, whole, out)
    by = {0: 2.0, 1: 4.0, 2: -8.0, 3: 0.5, 4: 0.5, 5: -8.0, 6: 2.0, 8: 0.25, 9: 2.0, 10: 0.25}
    with np.errstate(all="ignore"):
        for row, factor in by.items():
            taken = vector.round_values(whole.astype(float), arithmetic) if row in (6, 8, 10) else x
            expected = vector.mul(taken, np.full(x.size, factor), arithmetic)
            assert_bits(out[row], expected, (taken,), f"{spec} times {factor}, row {row}")
    integers = vector.round_values((whole * 2 // 3).astype(float), arithmetic)
    assert_bits(out[7], integers, (whole.astype(float),), f"{spec} of integers")


def signs_and_floors(x, out):
    for i in range(x.size):
        out[i] = np.sign(x[i]) + np.floor(x[i])


def test_signs_beside_whole_numbers_are_compiled_in_a_directed_mode():
    """Both hide a zero from the compiler: a number, and a word of the same size."""
    x, out = np.array([-2.5, -0.0, 0.0, 0.25, 3.75]), np.empty(5)
    lift(signs_and_floors, "float:p=11,emin=-14,emax=15,round=ru")(x, out)
    np.testing.assert_array_equal(out, np.sign(x) + np.floor(x))
