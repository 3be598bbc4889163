"""Every operation of every backend, compiled, equals the exact reference bit for bit."""

import math
import operator

import numpy as np
import pytest

from sciprec.foundation.errors import InputError
from sciprec.precision import backends, lift, resolve_backend
from sciprec.precision.formats.backend import Arithmetic, uniform_backend
from sciprec.precision.formats.float_format import Format
from sciprec.precision.rounding import mode
from tests.oracles import derived, exact, vector
from tests.oracles.random_bits import draws
from tests.precision import arithmetic_kernels as kernels
from tests.precision.comparison import assert_bits
from tests.precision.samples import (
    FROM_LEADING_BITS,
    aimed_pairs,
    in_format,
    landmarks,
    triples,
)

DETERMINISTIC = [b for b in backends().values() if not (b.random or b.fixed or b.name == "dd")]
NARROW = [b for b in DETERMINISTIC if 8 <= b.compute.format.significand_bits <= 24]
DETERMINISTIC.append(resolve_backend(FROM_LEADING_BITS[0]))
PATHS = ("auto", "software")
QUICK = ("fp64", "fp16", "mlu370")
QUICK_FIRST = [
    pytest.param(b, marks=[] if b.name in QUICK else pytest.mark.slow)
    for n, b in enumerate(DETERMINISTIC)
    if b.name in QUICK or n % 4 == 0
]
"""Of selections and comparisons, whose ways of rounding are those of the arithmetic."""
ARITY = {"sqrt": 1, "fma": 3}


SELECTION_OF_ONE = {
    "neg", "absolute", "floor", "ceil", "trunc", "rint", "sign", "square", "reciprocal",
}  # fmt: skip


def on_paths(kernel, names, backend, *operands, paths=PATHS) -> dict[str, np.ndarray]:
    """Path -> a row for each name; in the usual mode of the processor there is one path."""
    found = {}
    for path in paths:
        lifted = lift(kernel, backend, path=path)
        found[path] = np.empty((len(names), operands[0].size))
        lifted(*operands, found[path])
        if not lifted.uses_processor_mode:
            break
    return found


def compare_arithmetic(backend, a, b, c, reference, paths=PATHS) -> None:
    """Each row of the arithmetic kernel, on each path, against reference(name, *operands)."""
    found = on_paths(kernels.arithmetic, kernels.ARITHMETIC, backend, a, b, c, paths=paths)
    for row, name in enumerate(kernels.ARITHMETIC):
        operands = (a, b, c)[: ARITY.get(name, 2)]
        expected = reference(name, *operands)
        for path, out in found.items():
            assert_bits(out[row], expected, operands, f"{backend.name} ({path}) {name}")


def by_arrays(backend):
    """The reference on arrays."""
    return lambda name, *operands: getattr(vector, name)(*operands, backend.compute)


def by_scalars(backend):
    """The reference one number at a time, for formats of more than 24 bits."""

    def reference(name, *operands):
        operation = getattr(exact, name)
        rows = zip(*(x.tolist() for x in operands), strict=True)
        return [operation(*row, backend.compute) for row in rows]

    return reference


def some_of(share: int, *operands: np.ndarray) -> tuple[np.ndarray, ...]:
    """One in so many of the rows of operands, drawn."""
    keep = np.random.default_rng(3).permutation(operands[0].size)[::share]
    return tuple(x[keep] for x in operands)


def every_pair(fmt) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of the numbers of a small format, every sign, subnormal and special among them."""
    numbers = [0.0] + [math.inf] * (fmt.overflow != "nan") + [math.nan]
    p = fmt.significand_bits
    for e in range(fmt.emin, fmt.emax + 1):
        numbers += [math.ldexp(m, e - p + 1) for m in range(2 ** (p - 1), 2**p)]
    numbers += [m * fmt.min_subnormal for m in range(1, 2 ** (p - 1))] * fmt.subnormals
    numbers = np.array([x for x in numbers if not abs(x) > fmt.max_finite or math.isinf(x)])
    numbers = np.concatenate([numbers, -numbers])
    a, b = np.meshgrid(numbers, numbers)
    return a.ravel(), b.ravel()


@pytest.mark.parametrize("name", ["e4m3fn", "e5m2"])
def test_arithmetic_on_every_pair_of_8_bits(name):
    backend = resolve_backend(name)
    a, b = every_pair(backend.compute.format)
    assert a.size >= 252**2
    compare_arithmetic(backend, a, b, np.roll(a, 17), by_arrays(backend))


@pytest.mark.parametrize("backend", NARROW, ids=lambda b: b.name)
def test_arithmetic_on_landmarks_close_and_random_pairs(backend):
    fmt = backend.compute.format
    a, b = aimed_pairs(fmt, 8_000, np.random.default_rng(2))
    known = triples(fmt, 12_000)
    operands = map(np.concatenate, zip(known, (a, b, np.roll(a, 17)), strict=True))
    compare_arithmetic(backend, *operands, by_arrays(backend))


WHOLE_BINARY64 = "float:p=53,emin=-1022,emax=1023,round=rz"
WIDE = [
    "fp64",
    "float:p=30,emin=-200,emax=200,round=rz",
    "float:p=37,emin=-30,emax=31,round=ru,subnormals=flush",
    "float:p=53,emin=-300,emax=300,round=rn,overflow=saturate",
    WHOLE_BINARY64,
    "float:p=53,emin=-300,emax=300,round=ro",
]


@pytest.mark.parametrize("spec", WIDE)
def test_arithmetic_of_more_than_24_bits(spec):
    backend = resolve_backend(spec)
    operands = some_of(10, *triples(backend.compute.format, 3000))
    paths = PATHS
    if spec == WHOLE_BINARY64:
        paths = PATHS[: mode.available()]
        with pytest.raises(InputError, match="needs the processor's rounding mode"):
            lift(kernels.arithmetic, backend, path="software")
    compare_arithmetic(backend, *operands, by_scalars(backend), paths)


def custom(p, emin, emax, subnormals, overflow, rounding):
    """A backend of any shape."""
    name = f"p{p} {emin}..{emax} {'keep' if subnormals else 'flush'} {overflow} {rounding}"
    fmt = Format(name, p, emin, emax, subnormals, overflow)
    return uniform_backend(name, Arithmetic(fmt, rounding))


KINDS = [
    (subnormals, overflow, rounding)
    for subnormals in (True, False)
    for overflow in ("infinity", "saturate")
    for rounding in ("rn", "rz", "ru", "rd", "ro")
]
USUAL = [(True, "infinity"), (False, "saturate")]


SHAPES = [(11, -14, 15), (21, -126, 127), (24, -400, 400)]
OF_KINDS = [
    ((4, -6, 8), kind, "auto")
    if kind[:2] in USUAL
    else pytest.param(SHAPES[n % 3], kind, PATHS[n % 2], marks=pytest.mark.slow)
    for n, kind in enumerate(KINDS)
]
"""The usual kinds of a small format; the others in three sizes and on both paths in turn."""


@pytest.mark.parametrize(("shape", "kind", "path"), OF_KINDS)
def test_arithmetic_of_kinds_of_formats(shape, kind, path):
    backend = custom(*shape, *kind)
    fmt = backend.compute.format
    if fmt.significand_bits == 4:
        a, b = every_pair(fmt)
        operands = a, b, np.roll(a, 17)
    else:
        operands = triples(fmt, 2500)
    compare_arithmetic(backend, *operands, by_arrays(backend), [path])


STOCHASTIC = [
    "float:p=11,emin=-14,emax=15",
    "float:p=4,emin=-6,emax=8,overflow=saturate",
    "float:p=24,emin=-300,emax=300,subnormals=flush",
    "float:p=5,random_bits=4",
    "fp64",
]


@pytest.mark.parametrize(("seed", "spec"), list(enumerate(STOCHASTIC)))
def test_stochastic_rounding_draws_from_its_addresses(seed, spec):
    backend = resolve_backend(f"{spec},round=sr")
    a, b, c = some_of(20, *triples(backend.compute.format, 8000))
    lifted = lift(kernels.arithmetic, backend, seed=seed)
    for call in range(2):
        out = np.empty((len(kernels.ARITHMETIC), a.size))
        lifted(a, b, c, out)
        for row, name in enumerate(kernels.ARITHMETIC):
            operands = (a, b, c)[: ARITY.get(name, 2)]
            random = draws(lifted.sites, name, a.size, seed, call)
            rows = zip(*(x.tolist() for x in (*operands, random)), strict=True)
            expected = [getattr(exact, name)(*row, backend.compute, r) for *row, r in rows]
            assert_bits(out[row], expected, operands, f"{spec} {name}")


def test_noise_perturbs_each_store_within_its_interval():
    """x (1 + eps) with eps uniform in [1e-7, 1e-5], truncated; the mean within 5 sigma."""
    backend = resolve_backend("mlu370-noise")
    low, high = backend.noise
    n = 50_000
    x = in_format(np.random.default_rng(8).uniform(0.5, 2.0, n), backend.storage.format)
    out, again = np.empty(n), np.empty(n)
    lift(kernels.copied, backend, seed=1)(x, out)
    lift(kernels.copied, backend, seed=1)(x, again)
    assert np.array_equal(out, again)
    assert np.all(out >= vector.round_values(x * (1 + 0.99 * low), backend.storage))
    assert np.all(out <= vector.round_values(x * (1 + 1.01 * high), backend.storage))
    u = backend.storage.format.unit_roundoff
    lost = np.mean(np.ldexp(u, np.frexp(x)[1] - 1) / x)  # half a last place of a truncation
    sigma = (high - low) / math.sqrt(12 * n)
    assert abs(np.mean(out / x - 1) - ((low + high) / 2 - lost)) < 5 * sigma


@pytest.mark.parametrize("backend", QUICK_FIRST, ids=lambda b: b.name)
def test_selection_and_whole_numbers(backend):
    fmt = backend.compute.format
    a, b, _ = triples(fmt, 600)
    keep = np.random.default_rng(3).permutation(a.size)[:500]
    a, b = a[keep], b[keep]
    small = np.random.default_rng(4).integers(-40, 40, (2, 200)) / 4.0
    a = np.concatenate([a, in_format(small[0], fmt)])
    b = np.concatenate([b, in_format(small[1], fmt)])
    found = on_paths(kernels.selection, kernels.SELECTION, backend, a, b)
    for row, name in enumerate(kernels.SELECTION):
        operation = getattr(derived, name, None) or getattr(exact, name)
        operands = (a,) if name in SELECTION_OF_ONE else (a, b)
        rows = list(zip(*(x.tolist() for x in operands), strict=True))
        expected = [operation(*row, backend.compute) for row in rows]
        if name in ("mod", "floordiv") and backend.name == "fp64":  # Python's own, not rounded once
            python = getattr(operator, name)
            known = [math.isfinite(x) and y != 0.0 for x, y in rows]
            expected = [
                python(*r) if k else e for r, k, e in zip(rows, known, expected, strict=True)
            ]
        for path, out in found.items():
            assert_bits(out[row], expected, operands, f"{backend.name} ({path}) {name}")


@pytest.mark.parametrize("backend", QUICK_FIRST, ids=lambda b: b.name)
def test_comparisons(backend):
    special = landmarks(backend.compute.format)
    a, b = some_of(3, *(x.ravel() for x in np.meshgrid(special, special)))
    out = np.empty((len(kernels.COMPARISONS), a.size), np.bool_)
    lift(kernels.comparisons, backend)(a, b, out)
    rows = list(zip(a.tolist(), b.tolist(), strict=True))
    for row, name in enumerate(kernels.COMPARISONS):
        compared = getattr(operator, name)
        expected = [exact.compare(compared, x, y, backend.compute) for x, y in rows]
        assert out[row].tolist() == expected, f"{backend.name} {name}"
