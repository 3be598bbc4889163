"""Matrix units against exact integers and fractions: random units, tables and fields, and planted
faults.
"""

from fractions import Fraction

import numpy as np
import pytest

from sciprec.arrays.matrix_unit import multiplying
from sciprec.arrays.matrix_unit.multiplying import unit_product
from sciprec.arrays.matrix_unit.slicing import pairs_of, sliced
from sciprec.arrays.matrix_unit.unit import (
    ACCUMULATORS,
    GROUPS,
    INTEGER_BITS,
    SCALES,
    UNIT_FORMATS,
    MatrixUnit,
    resolve_matrix_unit,
)
from sciprec.arrays.matrix_unit.unit_table import UnitTable, pruned_to_two
from sciprec.foundation.errors import InputError
from sciprec.precision import resolve_backend
from tests.oracles.matrix_unit import Oracle, two_of_four

SEEDS = range(20)


def random_unit(rng):
    """One of all units, where its parts go together."""
    while True:
        pick = lambda of: of[rng.integers(len(of))]  # noqa: E731
        table, field = pick(UNIT_FORMATS), pick(UNIT_FORMATS)
        given = {
            "scale": pick((None, *SCALES)), "group": pick((None, *GROUPS[:2])),
            "accumulate": pick((None, *ACCUMULATORS)), "sparsity": pick(("none", "2:4")),
            "clip": float(pick((1.0, 1.0, 0.8))), "prune": float(pick((0.0, 0.0, 0.2))),
        }  # fmt: skip
        if rng.integers(3) == 0:
            table = field = pick(tuple(INTEGER_BITS))
            given |= {"slices": int(rng.integers(2, 9))}
        try:
            unit = MatrixUnit(table, field, **given)
            unit.require_sums(16)
        except InputError:
            continue
        return unit


def random_case(seed):
    """A unit, the way its channels lie, matrices, and fields with numbers of many sizes."""
    rng = np.random.default_rng(seed)
    unit, along = random_unit(rng), ("rows", "columns")[rng.integers(2)]
    shape = int(rng.integers(1, 3)), *(unit.step * int(n) for n in rng.integers(1, 3, 2))
    matrices = rng.normal(size=shape) * 10.0 ** rng.integers(-2, 2, shape)
    matrices[rng.uniform(size=shape) < 0.2] = 0.0
    if rng.integers(4) == 0:  # ties, and channels of one size
        matrices = np.rint(4 * matrices) / 4
    field = rng.normal(size=(*shape[:2], 1)) * 10.0 ** rng.integers(-3, 3, (*shape[:2], 1))
    field[rng.uniform(size=field.shape) < 0.1] = 0.0
    return unit, along, matrices, field


def wrong_in(seed):
    """How many numbers of a random product are not the oracle's."""
    unit, along, matrices, field = random_case(seed)
    found = unit_product(UnitTable.of(matrices, unit, along), field)
    oracle, given = Oracle(unit, matrices.tolist(), along), field.tolist()
    wanted = np.array(
        [[[oracle.product(given, b, n, c) for c in range(field.shape[2])]
          for n in range(matrices.shape[2])] for b in range(matrices.shape[0])]
    )  # fmt: skip
    assert found.shape == wanted.shape
    same = (found == wanted) | np.isnan(found) & np.isnan(wanted)
    return int((~same).sum()), unit.text


def test_random_units_give_the_oracles_bits():
    assert [(seed, text) for seed in SEEDS for n, text in [wrong_in(seed)] if n] == []


def _neighbours(table):
    object.__setattr__(table, "scales", np.roll(table.scales, 1, axis=-1))
    return table


FAULTS = {
    "a pair of slices left out": (
        multiplying, "pairs_of", lambda pairs: lambda n: pairs(n)[n > 1 :]
    ),
    "a scale of the neighbour": (
        UnitTable, "of", lambda of: lambda *a, **k: _neighbours(of(*a, **k))
    ),
    "a slice too coarse": (
        multiplying, "slices_of", lambda of: lambda x, ends, b, n, room: (
            lambda made, s: ([*made[:-1], 0 * made[-1]] if n > 1 else made, s)
        )(*of(x, ends, b, n, room))
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_found(fault, monkeypatch):
    where, name, wrong = FAULTS[fault]
    monkeypatch.setattr(where, name, wrong(getattr(where, name)))
    assert any(wrong_in(seed)[0] for seed in SEEDS), fault


def test_sums_that_32_bits_do_not_hold_are_refused():
    with pytest.raises(
        InputError,
        match=r"sums 140000 products .* 127 x 127, which takes 32 bits "
        r"beside the sign; 'int32' holds sums exactly up to 2\^31 - 1: sum fewer",
    ):
        resolve_matrix_unit("matrix:table=int8,field=int8").require_sums(140_000)


def test_the_pattern_keeps_the_two_largest_of_four():
    numbers = np.random.default_rng(3).integers(-3, 4, (2, 16, 9)).astype(float)
    for b, n in np.ndindex(2, 9):
        column = [Fraction(x) for x in numbers[b, :, n].tolist()]
        assert two_of_four(column) == pruned_to_two(numbers)[b, :, n].tolist()


def slice_bound(inner, bits, slices):
    """Return a bound of the distance between the products of pairs i + j <= n + 1 and the whole
    product, in units of both scales, before the additions in binary64.

    |C - A B| <= K sa sb ((2^q + 1/2) 2^-(n - 1) q + 2^-(2 n - 2) q / 4
                          + 2^(2 q - 2) sum over p >= n + 2 of (2 n + 1 - p) 2^-(p - 2) q)

    The first terms are what the rests after n slices come to: each is at most 2^-(n - 1) q / 2 of
    its scale, the numbers 2^q + 1/2. The sum is over the pairs i + j = p that are left out, whose
    integers are at most 2^(q - 1). As sa (2^q - 1/2) <= 2 max|A|, that is about
    (n + 3) K 2^-nq max|A| max|B|.

    Args:
        inner: K, products of a sum.
        bits: of the integers, sign included: q + 1.
        slices: n.
    """
    q, n = bits - 1, slices
    unit = Fraction(1, 2**q)
    rests = (2**q + Fraction(1, 2)) * unit ** (n - 1) + unit ** (2 * n - 2) / 4
    left_out = sum(
        ((2 * n + 1 - p) * unit ** (p - 2) for p in range(n + 2, 2 * n + 1)), Fraction(0)
    )
    return inner * (rests + Fraction(4**q, 4) * left_out)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("slices", range(1, 9))
def test_slices_are_within_their_bound(bits, slices):
    """The rest of every number, and the error of the products of pairs, exactly."""
    rng, inner = np.random.default_rng(slices), 24
    a, b = rng.normal(size=(2, 4, inner)) * 10.0 ** rng.integers(-4, 4, (2, 4, inner))
    a[0], b[0] = 1.0 - 2.0**-53, -1.0 + 2.0**-30  # all at the end of the range
    q = bits - 1
    (made_a, scale_a), (made_b, scale_b) = sliced(a, bits, slices), sliced(b, bits, slices)
    for made, scale, x in ((made_a, scale_a, a), (made_b, scale_b, b)):
        for row in range(4):
            s = Fraction(scale[row])
            rests = [
                abs(Fraction(value) - sum(int(d[row, i]) * s / 2 ** (q * n)
                                          for n, d in enumerate(made)))
                for i, value in enumerate(x[row].tolist())
            ]  # fmt: skip
            assert max(rests) <= s / 2 ** (q * (slices - 1)) / 2
    bound = slice_bound(inner, bits, slices)
    for i in range(4):
        units = Fraction(scale_a[i]) * Fraction(scale_b[i])
        pairs = zip(a[i].tolist(), b[i].tolist(), strict=True)
        exact = sum(Fraction(x) * Fraction(y) for x, y in pairs)
        taken = Fraction(0)
        for m, n in pairs_of(slices):
            whole = int(made_a[m][i].astype(int) @ made_b[n][i].astype(int))
            taken += Fraction(whole, 2 ** (q * (m + n)))
        assert abs(exact - taken * units) <= bound * units
        largest = Fraction(abs(a[i]).max()) * Fraction(abs(b[i]).max())
        assert bound * units <= 2 * (slices + 3) * inner * largest / 2 ** (q * slices)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("text", ["table=int8,field=int8", "table=int8,field=int8,slices=2",
                                  "table=fp16,field=fp16", "table=int4,field=e4m3fn"])  # fmt: skip
def test_fields_that_are_not_finite_stay_so(text, bad):
    field = np.ones((1, 8, 2))
    field[0, 3, 0] = bad
    made = unit_product(UnitTable.of(np.ones((1, 8, 4)), resolve_matrix_unit(text), "rows"), field)
    assert not np.isfinite(made[..., 0]).any() and (abs(made[..., 1] - 8.0) < 0.2).all()


def test_text_and_keys_are_one_unit():
    for seed in range(50):
        unit = random_unit(np.random.default_rng(seed))
        assert resolve_matrix_unit(unit.text) == unit == resolve_matrix_unit(vars(unit))
    other_way = resolve_matrix_unit("matrix:field=fp16,table=int8")
    assert other_way.text == "matrix:table=int8,field=fp16"
    assert resolve_matrix_unit("matrix:table=int8,field=int8,scale=0.5").scale == 0.5


@pytest.mark.parametrize("along", ["rows", "columns"])
def test_bytes_are_of_numbers_and_scales_that_are_there(along):
    """Counted one by one: what fills matrices up has neither."""
    rng = np.random.default_rng(3)
    there = np.zeros((3, 24, 32), bool)
    for b, (rows, columns) in enumerate(((24, 32), (9, 17), (0, 0))):
        there[b, :rows, :columns] = True
    matrices = rng.normal(size=there.shape) * there
    channels = there if along == "rows" else there.swapaxes(1, 2)
    for scale in ("tensor", "channel", "group", 1.0):
        unit = MatrixUnit("int8", "fp16", scale=scale)
        scales = set()
        for b, channel, place in np.argwhere(channels):
            block = {"channel": 0, "group": place // 8}.get(scale)
            scales.add(() if block is None else (b, channel, block))
        table = UnitTable.of(matrices, unit, along, there)
        assert table.bytes == there.sum() + 4 * len(scales), scale
    bare = UnitTable.of(matrices, MatrixUnit("fp16", "fp16"), along, there)
    assert bare.bytes == 2 * there.sum()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("table=int9,field=fp16", "unknown format of a matrix unit's table 'int9'.*mean 'int"),
        ("table=int8,field=fp61", "unknown format of a matrix unit's field 'fp61'.*mean 'fp16'"),
        ("table=int8", "'field' is missing; accepted keys: table, field, scale"),
        ("scale=channel", "'table' and 'field' are missing; accepted keys: table, field, scale"),
        ("table=int8,field=fp16,group=8", "groups of 8 beside the scale 'channel', where they"),
        ("table=int8,field=fp16,scale=0.5,group=16", "of 16 beside the scale 0.5, .* give scale="),
        ("table=int8,field=int8,scal=none", "'scal=none' is not key=value .* mean 'scale'"),
        ("table=int8,table=int4,field=int8", "'table' is given twice"),
        ("table=int8,field=int8,slices=two", "slices='two' is not a whole number"),
        ("table=int8,field=int8,accumulate=int23", "accumulator .*'int23'.*mean 'int32'"),
        ("table=int8,field=fp16,accumulate=int32", "'int32' beside 'fp16', whose products are no"),
        ("table=int8,field=fp16,scale=chanel", "scale .*'chanel'.*mean 'channel'"),
        ("table=int8,field=fp16,scale=none", "no scale beside integers"),
        ("table=fp16,field=fp16,scale=0.5", "scale 0.5 of its own beside a table in 'fp16'"),
        ("table=int8,field=fp16,scale=-1", "scale of a matrix unit is -1.0; accepted: none"),
        ("table=int8,field=fp16,group=6", "group of a matrix unit is 6; accepted: 8, 16"),
        ("table=int8,field=int8,slices=9", "slices of a matrix unit is 9; accepted: a whole num"),
        ("table=int8,field=fp16,slices=2", "2 slices of a table in 'int8' and a field in 'fp16'"),
        ("table=int8,field=int8,slices=2,scale=group", "2 slices and the scale 'group'; accepted"),
        ("table=int8,field=fp16,sparsity=1:4", "sparsity of a matrix unit '1:4'; .*2:4"),
        ("table=int8,field=fp16,clip=0", "clip of a matrix unit is 0.0; accepted: a share"),
        ("table=int8,field=fp16,prune=1.5", "prune of a matrix unit is 1.5; accepted: a share"),
    ],
)
def test_units_that_are_refused(text, words):
    with pytest.raises(InputError, match=words):
        resolve_matrix_unit(f"matrix:{text}")


@pytest.mark.parametrize(
    ("text", "matrices", "words"),
    [
        ("table=int8,field=int8,slices=2,accumulate=fp16", np.ones((1, 32, 8)),
         r"sums 32 products of integers up to 128 x 128, which takes 19 bits beside the sign; "
         r"'fp16' holds sums exactly up to 2\^11: take accumulate=fp32 or int32"),
        ("table=int8,field=int8,accumulate=fp16", np.ones((1, 32, 8)),
         "may reach 516128 in sums of 32 products; 'fp16' ends at 65504"),
        ("table=int8,field=fp16,scale=0.01", np.full((1, 8, 8), 3.0),
         "64 of 64 numbers of the table are beyond 1.27, where 'int8' ends at this scale; the "
         "largest is 3: give a scale of 0.0237 at least, or clip"),
        ("table=e4m3fn,field=fp16,scale=none", np.full((1, 8, 8), 1000.0),
         "are beyond 448, where 'e4m3fn' ends at this scale; .* give a scale: tensor, channel"),
        ("table=int8,field=fp16,scale=group", np.ones((1, 16, 12)),
         "groups of 8 do not divide channels of 12 numbers; fill up with zeros to 16, or take"),
        ("table=int8,field=fp16", np.ones((1, 12, 8)), "the table has 12 rows; .* multiple of 8"),
        ("table=int8,field=fp16", np.full((1, 8, 8), np.nan), "numbers that are not finite"),
        ("table=int8,field=fp16", np.ones((8, 8)),
         r"the table has the shape \(8, 8\); a matrix unit takes three dimensions: matrices, rows"),
    ],
)  # fmt: skip
def test_tables_that_are_refused(text, matrices, words):
    with pytest.raises(InputError, match=words):
        UnitTable.of(matrices, resolve_matrix_unit(text), "rows")


def test_a_unit_is_no_backend():
    with pytest.raises(InputError, match="is a matrix unit, which multiplies and does nothing"):
        resolve_backend("matrix:table=int8,field=fp16")
