"""Every fixed-point operation against Python's integers, bit for bit, in every variant."""

from fractions import Fraction

import numpy as np
import pytest

from sciprec.precision import lift, resolve_backend
from sciprec.precision.rounding.variant import VARIANTS
from tests.oracles import fixed
from tests.precision import fixed_kernels as kernels

SPECS = (
    "fixed32",
    "fixed:bits=24,round=rz,headroom=0",
    "fixed:bits=31,round=ru,headroom=3",
    "fixed:bits=9,saturate=no,round=rd",
)
OPERATIONS = {
    "total": lambda a, b, c, place: fixed.add(a, b, place),
    "difference": lambda a, b, c, place: fixed.sub(a, b, place),
    "multiple": lambda a, b, c, place: fixed.mul(a, b, place),
    "quotient": lambda a, b, c, place: fixed.div(a, b, place),
    "root": lambda a, b, c, place: fixed.sqrt(a, place),
    "negative": lambda a, b, c, place: fixed.neg(a, place),
    "size": lambda a, b, c, place: fixed.absolute(a, place),
    "fused": lambda a, b, c, place: fixed.fma(a, b, c, place),
}
RANGES = (  # of a, b, c, and of the results in the order of OPERATIONS: middling, far below half a
    # unit, beyond the range, operands whose units are far apart
    (1.0, 1.0, 1.0, 2.5, 2.5, 1.0, 4.0, 1.0, 1.0, 1.0, 2.0),
    (1.0, 3e-8, 1e-3, 1.0, 1.0, 3e-8, 1e9, 1e6, 0.6, 40.0, 1e-3),
    (2e-11, 700.0, 1e5, 800.0, 0.1, 1e-5, 1e-13, 1e-5, 1e-11, 1.0, 1e5),
    (1e5, 1e5, 1e-7, 1.0, 1e3, 1e10, 1.0, 0.4, 1e5, 3e4, 1e-2),
    (3.0, 2e-12, 1.0, 1e-3, 3.0, 1e-3, 1e-2, 1e3, 3.0, 3.0, 4e-12),
)
NAMES = ("a", "b", "c", *OPERATIONS)
BACKENDS = {spec: resolve_backend(spec) for spec in SPECS}


def place(spec, largest) -> fixed.Place:
    arithmetic = BACKENDS[spec].compute
    fmt = arithmetic.format
    exponent = fixed.smallest_unit(largest, fmt.bits, fmt.headroom)
    return fixed.Place(fmt.bits, exponent, arithmetic.rounding, fmt.saturate)


def variant_of(lifted) -> str:
    return lifted.units.variant(lifted._literals).name


def operands(where: fixed.Place, rng, count: int) -> np.ndarray:
    """Numbers of a place: its ends, small counts, powers of two and neighbours, random ones."""
    top = 1 << (where.bits - 1)
    counts = [-top, -top + 1, top - 1, top - 2, -1, 0, 1, 2, 3, -3]
    for k in range(where.bits - 1):
        counts += [1 << k, -(1 << k), (1 << k) - 1]
    counts += rng.integers(-top, top, count).tolist()
    counts += (rng.integers(-top, top, count) >> rng.integers(0, where.bits, count)).tolist()
    chosen = rng.choice(np.array(counts), 4 * count)
    return np.array([float(int(k) * where.unit) for k in chosen])


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_every_operation_is_that_of_integers(spec):
    rng = np.random.default_rng(5)
    counted = 0
    for ranges in RANGES:
        named = dict(zip(NAMES, ranges, strict=True))
        lifted = lift(kernels.every_operation, spec, ranges=named | {"*": 1.0}, adapt=None)
        places = {name: place(spec, largest) for name, largest in named.items()}
        given = [operands(places[name], rng, 60) for name in "abc"]
        out = {name: np.zeros_like(given[0]) for name in OPERATIONS}
        lifted(*given, *out.values())
        for name, oracle in OPERATIONS.items():
            exact = zip(*(map(Fraction, x.tolist()) for x in given), strict=True)
            expected = [oracle(*numbers, places[name]) for numbers in exact]
            assert [Fraction(x) for x in out[name].tolist()] == expected, name
        report = lifted.report()
        assert report.saturations == sum(p.saturated for p in places.values())
        assert report.invalid == sum(p.invalid for p in places.values())
        counted += report.saturations
    assert counted > 1000


@pytest.mark.parametrize("spec", SPECS[::2])
def test_all_variants_agree_where_nothing_leaves_its_range(spec):
    rng = np.random.default_rng(6)
    for ranges in (
        (1, 1, 1, 3, 3, 2, 8, 2, 2, 2, 3),
        (1, 1e-9, 1e-9, 2, 2, 1e-8, 1e14, 2, 2, 2, 2),
    ):
        named = dict(zip(NAMES, map(float, ranges), strict=True))
        lifted = lift(kernels.every_operation, spec, ranges=named | {"*": 1.0}, adapt=None)
        places = [place(spec, named[name]) for name in "abc"]
        given = [np.abs(operands(p, rng, 50)) / 4 + float(p.unit) * 2 for p in places]
        given[1] = np.maximum(given[1], given[1].max() / 4)
        found = {}
        for variant in ("wide", "careful") + ("plain",) * (variant_of(lifted) == "plain"):
            out, table = np.zeros((8, given[0].size)), lifted.units.table.copy()
            _, marks = lifted._variant(VARIANTS[variant])(table.ctypes.data, *given, *out)
            assert marks == 0 and not table[:, 4:6].any()
            found[variant] = out.tobytes()
        assert len(set(found.values())) == 1


@pytest.mark.parametrize("spec", ["fixed32", "fixed16", "fixed:bits=20,round=rz"])
def test_sums_of_products_do_not_depend_on_their_order(spec):
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=500), rng.normal(size=500)
    lifted, out = lift(kernels.dot, spec), np.zeros(1)
    lifted(a, b, out)
    first = out[0]
    for _ in range(5):
        order = rng.permutation(500)
        lifted(a[order], b[order], out)
        assert out[0] == first
    truth = float(np.dot(a, b))
    assert abs(first - truth) < 500 * 2.0 ** (2 - lifted.backend.compute.format.bits)


def test_an_accumulator_at_its_limit():
    half = 1 << 49
    unit = 2.0 ** fixed.smallest_unit(1.0, 50, 8)
    where = fixed.Place(50, fixed.smallest_unit(1.0, 50, 8))
    a = np.array([half - 1, half - 1, -half, -half, half - 2, 0, -half + 3]) * unit
    b = np.array([1, 0, -1, 0, 1, half - 1, -5]) * unit
    out = np.zeros_like(a)
    trusted = lift(
        kernels.accumulated, "fixed32", ranges={"a": 1.0, "b": 1.0, "*": 1.0}, adapt=None,
        trust_inputs=True,
    )  # fmt: skip
    trusted(a, b, out)
    exact = [fixed.accumulate(*map(Fraction, v), where) for v in zip(a, b, strict=True)]
    stored = fixed.Place(32, fixed.smallest_unit(1.0, 32, 1))
    assert [Fraction(x) for x in out] == [stored.rounded(x) for x in exact]
    assert trusted.report().saturations == where.saturated + stored.saturated
    assert where.saturated == 3
