"""`fixed_matmul` against Python's own integers: exact where it says so, else within its bound."""

import functools
import re

import numpy as np
import pytest
from numba import njit

from sciprec.arrays.integers import matrix_products, tiled_product
from sciprec.arrays.integers.fixed_point import adaptive_quantize
from sciprec.arrays.integers.matrix_products import (
    _dropped_bits,
    fixed_matmul,
    rounded_sums,
)
from sciprec.foundation.errors import InputError
from sciprec.precision.rounding.mode import has_feature
from tests.oracles import integers

SHAPES = [
    (1, 1, 1), (1, 5, 1), (3, 0, 4), (0, 3, 2), (2, 3, 0), (1, 700, 40), (13, 251, 33),
    (12, 252, 32), (25, 253, 65), (5, 513, 31), (3, 2049, 5), (100, 1, 130),
]  # fmt: skip
SMALL = [shape for shape in SHAPES if np.prod(shape) < 120_000]
"""Of 32 bits, whose exact products are Python's."""


def patterns(shape, kind, rng):
    """Pairs of matrices: random over the whole range, all at the ends, signs in turn, one-sided."""
    m, k, n = shape
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    ends = np.array([low, high, low + 1], kind)
    yield (rng.integers(low, high, s, kind, endpoint=True) for s in ((m, k), (k, n)))
    yield np.full((m, k), low, kind), np.full((k, n), low, kind)
    yield np.full((m, k), low, kind), np.full((k, n), high, kind)
    yield rng.choice(ends, (m, k)), rng.choice(ends, (k, n))
    alternating = np.where(np.arange(k) % 2, low, high).astype(kind)
    yield np.tile(alternating, (m, 1)), np.full((k, n), high, kind)


def exact(a, b):
    """The exact product, of 32 bits as Python integers in an object array."""
    if a.shape[1] == 0 or max(a.itemsize, b.itemsize) <= 2:
        return a.astype(np.int64) @ b.astype(np.int64)
    rows = integers.product(a.tolist(), b.tolist())
    return np.array(rows, object).reshape(a.shape[0], b.shape[1])


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32])
def test_integer_products_are_the_exact_sums_rounded_once(kind):
    for shape in SHAPES if kind is not np.int32 else SMALL:
        for a, b in patterns(shape, kind, np.random.default_rng(sum(shape))):
            found = fixed_matmul(a, b, accurate=True)
            assert found.dtype == np.float64
            assert np.array_equal(found, exact(a, b).astype(np.float64)), shape


@pytest.mark.parametrize("way", ["integer_matmul", "split_matmul", "halves_matmul"])
def test_every_way_of_multiplying_16_bits_is_exact(way):
    """Upper parts at -128 and rests at +-128 too, with the same sign in every product."""
    if way == "split_matmul" and not tiled_product.BYTES:
        pytest.skip("this processor does not multiply and add bytes")
    multiplied = getattr(matrix_products, way)
    for inner in (1, 3, 4, 250, 252, 255, 256, 257, 504, 512, 1021, 4099):
        for a, b in patterns((7, inner, 34), np.int16, np.random.default_rng(inner)):
            found = multiplied(*map(np.ascontiguousarray, (a, b)))
            assert found.dtype == np.int64 and np.array_equal(found, exact(a, b)), inner
    a = np.full((3, 2000), -(2**15), np.int16)
    b = np.full((2000, 33), -128 * 257 + 128, np.int16)
    for x, y in ((a, b), (a, -b - 1), (b.T.copy(), a.T.copy()), (a + 257, b + 256)):
        assert np.array_equal(multiplied(x, y), exact(x, y))
    for largest in (2**15, 6000, 2900, 100):  # sums of blocks at their limit
        a = np.full((2, 3000), -largest, np.int16)
        b = np.full((3000, 3), min(largest, 2**15 - 1), np.int16)
        assert np.array_equal(multiplied(a, b), exact(a, b))


@pytest.mark.parametrize("size", [2**15 - 129, 16500, 16200, 8300, 8000, 4000])
def test_blocks_of_split_numbers_follow_the_sums_of_magnitudes(size):
    """All rests with one sign, as large as they can be, in blocks as long as they are allowed."""
    a = np.full((3, 2100), -(size // 257 * 257 + 128), np.int16)
    b = np.full((2100, 33), a[0, 0], np.int16)
    block = matrix_products.split_block(a, b)
    rest = abs(int(a[0, 0]) ** 2 - 257**2 * int(matrix_products.upper_part(a)[0, 0]) ** 2)
    assert block * rest < 2**31
    # 2^24 / (2 n) - 64 is 16320 for blocks of 512 and 8128 for blocks of 1024
    assert block == (252 if size > 16400 else 512 if size > 8200 else 1024)
    if tiled_product.BYTES:
        assert np.array_equal(matrix_products.split_matmul(a, b), exact(a, b))
        assert np.array_equal(matrix_products.split_matmul(a, ~b), exact(a, ~b))


def test_dropped_bits_are_the_fewest_that_cannot_overflow():
    for inner in (1, 2, 3, 4, 5, 1000, 1023, 1024, 1025, 2**20, 2**31 - 1):
        for top_a, top_b in ((2**31, 2**31), (2**31 - 1, 2**31), (2**31, 100), (7, 2**31)):
            drop_a, drop_b = _dropped_bits(inner, top_a, top_b)
            assert 0 <= drop_a - drop_b <= 1
            rounded = -(-top_a // 2**drop_a), -(-top_b // 2**drop_b)
            assert inner * rounded[0] * rounded[1] <= 2**63 - 1
            if drop_a + drop_b:
                one_less = (drop_a - 1, drop_b) if drop_a > drop_b else (drop_a, drop_b - 1)
                kept = -(-top_a // 2 ** one_less[0]), -(-top_b // 2 ** one_less[1])
                assert inner * kept[0] * kept[1] > 2**63 - 1
    assert _dropped_bits(1, 2**31, 2**31) == (0, 0) and _dropped_bits(2, 2**31, 2**31) == (1, 0)
    assert _dropped_bits(1024, 2**31, 2**31) == (5, 5), "1024 * 2^26 * 2^26 = 2^62"


@pytest.mark.parametrize("inner", [1, 2, 3, 1023, 1024, 5000])
@pytest.mark.parametrize("end", [-(2**31), 2**31 - 1])
def test_full_scale_32_bits_never_overflow(inner, end):
    """Every product has the same sign and the largest size; the sum of two is 2^63, which comes out
    negative in int64, as the MLU370's description has it.
    """
    a, b = np.full((2, inner), end, np.int32), np.full((inner, 3), end, np.int32)
    found, expected = fixed_matmul(a, b), float(inner * end * end)
    drop_a, drop_b = _dropped_bits(inner, abs(end), abs(end))
    rounding = 2.0**31 * (2**drop_a * (drop_a > 0) + 2**drop_b * (drop_b > 0))
    assert (np.abs(found - expected) <= inner * rounding / 2 + 2.0**-52 * expected).all()
    assert np.array_equal(fixed_matmul(a, b, accurate=True), np.full((2, 3), expected))


def test_two_words_are_rounded_once():
    """Any sum of fewer than 2^32 products, ties and their neighbours included."""
    rng = np.random.default_rng(6)
    sums = [int(x) * 2 ** int(s) for x, s in zip(
        rng.integers(-(2**62), 2**62, 4000), rng.integers(-40, 31, 4000), strict=True
    ) if s >= 0]  # fmt: skip
    ties = [(2 * n + 1) << s for n in (2**52, 2**52 + 1, 2**53 - 1) for s in range(39)]
    sums += [sign * (t + d) for t in ties for d in (-1, 0, 1) for sign in (-1, 1)]
    sums += [0, 1, -1, 2**32, -(2**32), 2**53, -(2**85) + 1]
    for terms in (1, 2**31):
        rests = rng.integers(0, 2**32, len(sums)).tolist()
        high = [(s >> 32) - r % terms for s, r in zip(sums, rests, strict=True)]
        low = [(s + 2**63) % 2**64 - 2**63 for s in sums]
        found = rounded_sums(np.array([low]), np.array([high]))
        assert found[0].tolist() == [float(s) for s in sums]


@pytest.mark.parametrize("block", [4, 64, 252, 4096])
def test_blocking_changes_no_bit(block, monkeypatch):
    rng = np.random.default_rng(7)
    a, b = rng.integers(-700, 700, (40, 900), "i2"), rng.integers(-700, 700, (900, 100), "i2")
    expected = exact(a, b)
    monkeypatch.setattr(matrix_products, "NEAR", block % 5 + 1)
    monkeypatch.setattr(matrix_products, "FAR", 2)
    assert np.array_equal(matrix_products.tiled_matmul(a, b, "int16", block=block), expected)
    assert np.array_equal(matrix_products.tiled_matmul(a, b, "int64", block=block), expected)


def bound(a, b, qa, qb):
    """The error that the docstring states, from the data and the scales, with the last rounding."""
    sa, sb = float(np.max(qa.scale)), float(np.max(qb.scale))
    top_a, top_b = np.abs(a).max(), np.abs(b).max()
    inner = a.shape[1]
    return inner * (sb * top_a + sa * top_b + sa * sb / 2) / 2 + 2.0**-53 * inner * top_a * top_b


@pytest.mark.parametrize("bits", [2, 8, 16, 27, 32])
@pytest.mark.parametrize("accurate", [False, True])
def test_float_matrices_within_the_stated_error(bits, accurate):
    rng = np.random.default_rng(bits)
    a, b = rng.standard_normal((20, 900)) * 1e-5, rng.standard_normal((900, 40)) * 1e7
    qa, qb = adaptive_quantize(a, bits), adaptive_quantize(b, bits)
    drop = _dropped_bits(900, *(matrix_products.magnitude(q.integers) for q in (qa, qb)))
    if not accurate:
        qa, qb = (
            adaptive_quantize(x, bits, scale=q.scale * 2.0**d)
            for x, q, d in zip((a, b), (qa, qb), drop, strict=True)
        )
    assert (sum(drop) > 0) == (bits > 27), "only these lose bits"
    found = fixed_matmul(a, b, bits, accurate)
    assert np.array_equal(found, fixed_matmul(qa, qb, accurate=accurate))
    exactly = exact(qa.integers, qb.integers).astype(float) * float(qa.scale * qb.scale)
    assert np.array_equal(found, exactly), "rounded once, no further bit lost"
    errors = np.abs(found - (a.astype(np.longdouble) @ b.astype(np.longdouble)))
    assert errors.max() <= bound(a, b, qa, qb)
    left = bits - (0 if accurate else drop[0])
    assert qa.scale <= 2.0 ** (2 - left) * np.abs(a).max() * (1 + 2.0 ** (1 - left))


MATRIX, PAIR = np.ones((2, 3)), (np.ones((3, 2), np.int8), 1.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((MATRIX, MATRIX), r"\(2, 3\) and \(2, 3\) cannot be multiplied: A has 3 columns and B 2"),
        ((np.ones(3), MATRIX), r"arrays of shapes \(3,\) and \(2, 3\); it takes matrices: reshape"),
        ((MATRIX, PAIR[0].astype("i8")), "B has dtype int64; it takes floats, or int8, int16"),
        ((MATRIX, (MATRIX.T, 1.0)), "B has dtype float64; it takes floats, or int8"),
        ((MATRIX * 1j, PAIR), "accepted: floats, or integers of at most 32 bits"),
        ((MATRIX, (PAIR[0], np.ones((3, 1)))), r"scale of B has shape \(3, 1\); a number or shape "
         r"\(1, 2\) is accepted, because all products of one sum need the same scale"),
        ((MATRIX, PAIR, 32, False, (None, 1.0)), "B comes with a scale, and scales gives another"),
        ((MATRIX, PAIR, 32, False, (0.0, None)), "a scale of A is not a finite number above zero"),
        ((MATRIX, PAIR, 32, False, 3.0), "scales is not a pair"),
        ((MATRIX, PAIR, 64), "bits is 64; accepted: an integer from 2 to 32"),
        ((MATRIX * np.nan, PAIR), "6 NaN and 0 infinities among 6 elements"),
    ],
)  # fmt: skip
def test_what_cannot_be_multiplied_is_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        fixed_matmul(*arguments)


@functools.cache
def assembly_of(dtypes: tuple[str, str]) -> str:
    """The machine code of a tile's product, which what is on disk does not show."""
    fresh, tile = njit(tiled_product.add_product.py_func), tiled_product.tile_of(dtypes[0])
    panels, c = tuple(np.zeros(2**12, d) for d in dtypes), np.zeros((tile.rows, tile.columns), "i8")
    fresh(panels, np.zeros((1, tile.columns), np.int32), c, 8, 8, 1, 1)
    (assembly,) = fresh.inspect_asm().values()
    return assembly


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtypes", "instruction", "feature"),
    [
        (("int16", "int16"), "vpdpwssd", "avx512vnni"),
        (("int16", "int16"), "vpmaddwd|vpdpwssd", "avx2"),
        (("uint8", "int8"), "vpdpbusd", "avx512vnni"),
        (("int64", "int64"), "vpmuldq", "avx2"),
    ],
)
def test_the_multiply_add_instructions_are_used(dtypes, instruction, feature):
    if not has_feature(feature):
        pytest.skip(f"this processor has no {feature}")
    assembly = assembly_of(dtypes)
    sums = tiled_product.tile_of(dtypes[0]).rows * tiled_product.VECTORS
    assert len(re.findall(rf"\b({instruction})\b", assembly)) >= sums
    assert not re.search(r"\bvpmullq\b|\bvpmulld\b", assembly), "no wider product in its place"
