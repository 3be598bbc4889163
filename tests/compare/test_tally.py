"""The one pass over pairs of values, against plain exact sums and counts."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sciprec.results.comparison.pointwise.histograms import (
    exact_quantile,
    octaves,
    quantile,
)
from sciprec.results.comparison.pointwise.number_format import NumberFormat, number_format
from sciprec.results.comparison.pointwise.one_pass import CLASSES, SUMS, TILE, WIDTH, _carry
from sciprec.results.comparison.pointwise.statistics import statistics_of
from sciprec.results.comparison.pointwise.tally import MAP_SHAPE, Tally
from tests.oracles import error_statistics as oracle

BINARY64 = number_format({})
HALF = NumberFormat("binary16", 11, -14, 65504.0)
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-310, -5e-324, 1e308, -1e308, 65504.0, 6e-5]


def tally_of(golden, actual, weights=None, fmt=BINARY64):
    """A tally of whole arrays."""
    golden, actual = np.asarray(golden, float), np.asarray(actual, float)
    tally = Tally(golden.shape, fmt, weighted=weights is not None)
    tally.add(golden, actual, weights)
    return tally


def everything(tally):
    """The contents of a tally, to be compared to the last bit."""
    return (
        tally.matrix.tolist(), int(tally.differing[0]), tally.largest, tally.changed_place,
        [tally.sum(name) for name in SUMS], tally.worst, tally.map.tolist(),
        [(np.flatnonzero(h).tolist(), h[h > 0].tolist()) for h in tally.histograms],
        tally.magnitudes.tolist(), [p[:, 0].tolist() for p in tally.profiles],
    )  # fmt: skip


def sample(shape, seed=1, spread=3.0):
    """A field and a run of it whose errors span some orders of magnitude."""
    rng = np.random.default_rng(seed)
    golden = rng.normal(size=shape) * 10.0 ** rng.uniform(-spread, spread, shape)
    return golden, golden * (1.0 + 1e-6 * rng.normal(size=shape))


def with_specials(shape, seed=2):
    """A copy with NaN, infinities, zeros and subnormals on either side."""
    golden, actual = sample(shape, seed)
    rng = np.random.default_rng(seed)
    for one in (golden, actual):
        where = rng.random(shape) < 0.2
        one[where] = rng.choice(SPECIAL, int(where.sum()))
    both = rng.random(shape) < 0.1
    golden[both] = actual[both] = rng.choice(SPECIAL, int(both.sum()))
    return golden, actual


CASES = {
    "plain": lambda: (*sample((7, 300)), None),
    "weighted": lambda: (*sample((3, 700)), np.random.default_rng(3).uniform(0, 9, (3, 700))),
    "wide": lambda: (*sample((1500,), spread=140.0), None),
    "special": lambda: (*with_specials((2, 3, 400)), None),
    "weighted special": lambda: (*with_specials((900,)), np.linspace(0.0, 5.0, 900)),
    "scalar": lambda: (np.array(3.0), np.array(3.5), None),
    "many of a size": lambda: (
        np.full(20_000, 1 - 2.0**-53),
        np.full(20_000, 2.0 - 2.0**-52),
        None,
    ),
    "equal": lambda: (sample((50,))[0], sample((50,))[0], None),
}


@pytest.mark.parametrize("name", CASES)
def test_sums_are_exact(name):
    golden, actual, weights = CASES[name]()
    if name.endswith("special"):  # squares of these are beyond the oracle's binary64
        extreme = [1e308, 1e-310, 5e-324]
        golden, actual = (np.where(np.isin(np.abs(x), extreme), 1.0, x) for x in (golden, actual))
    tally = tally_of(golden, actual, weights)
    for name, value in oracle.sums(np.atleast_1d(golden), np.atleast_1d(actual), weights).items():
        found = tally.sum(name)
        assert float(found) == float(value), name
        assert abs(found - value) <= abs(value) * Fraction(1, 2**100), name


@pytest.mark.parametrize("sign", [1, -1])
def test_carries_of_exact_sums_go_as_far_as_they_must(sign):
    """No place leaves 61 bits: one that its neighbour's carry fills up goes on to the next."""
    places, total = np.zeros(4, np.int64), 0
    for place, units in ((1, 2**61 - 1), (0, 2**61 - 1), (0, 2**60), (1, 2**61 - 2)):
        _carry(places, place, sign * units)
        total += sign * units << WIDTH * place
        assert max(abs(n) for n in places.tolist()) < 2**61
        assert sum(n << WIDTH * k for k, n in enumerate(places.tolist())) == total
    assert places[2] != 0


@pytest.mark.parametrize("fmt", [BINARY64, HALF], ids=lambda f: f.name)
@pytest.mark.parametrize("name", CASES)
def test_counts_largest_and_percentiles(name, fmt):
    golden, actual, _ = CASES[name]()
    golden, actual = np.atleast_1d(golden), np.atleast_1d(actual)
    tally = tally_of(golden, actual, fmt=fmt)
    smallest = 2.0**fmt.emin
    matrix = np.zeros((7, 7), int)
    for g, a in zip(golden.flat, actual.flat, strict=True):
        one, two = (oracle.number_class(float(x), smallest, fmt.largest) for x in (g, a))
        matrix[CLASSES.index(one), CLASSES.index(two)] += 1
    assert tally.matrix.tolist() == matrix.tolist()
    found = statistics_of(tally)
    most = np.finfo(float).max
    sizes = [min(e, most) for e in oracle.absolute_errors(golden, actual)]
    kinds = {
        "absolute": sizes,
        "relative": oracle.relative_errors(golden, actual),
        "ulp": oracle.ulp_errors(golden, actual, fmt.significand_bits, fmt.emin)
        if 1e308 not in np.abs(golden) else None,
    }  # fmt: skip
    assert found.exact == sum(e == 0.0 for e in sizes)
    for kind, values in kinds.items():
        if values is None or (kind == "relative" and max(sizes) == most):
            continue
        numbers = getattr(found, kind)
        assert numbers["max"] == max(values), kind
        for percent in (50, 90, 95, 99):
            exact = oracle.percentile(values, percent)
            if exact > 1e-300 or exact == 0.0:
                assert numbers[f"p{percent}"] == pytest.approx(exact, rel=0.0079, abs=0.0), (
                    kind,
                    percent,
                )


def test_bits_that_differ_are_counted():
    golden = np.array([0.0, 1.0, math.nan, math.nan, math.inf, 2.0])
    actual = np.array([-0.0, 1.0, -math.nan, 1.0, math.inf, np.nextafter(2.0, 3.0)])
    assert int(tally_of(golden, actual).differing[0]) == 3
    same = tally_of(golden[[1, 2, 4]], golden[[1, 2, 4]])
    assert int(same.differing[0]) == 0


@settings(max_examples=6, deadline=None)
@given(
    st.data(),
    st.tuples(st.integers(1, 3), st.integers(1, 40), st.integers(1, 200)),
    st.integers(0, 2**32 - 1),
)
def test_any_cut_and_order_gives_the_same_bits(data, shape, seed):
    golden, actual = with_specials(shape, seed)
    weights = np.random.default_rng(seed).uniform(0.0, 2.0, shape)
    whole = everything(tally_of(golden, actual, weights))
    edges = [sorted({0, n, data.draw(st.integers(0, n)), data.draw(st.integers(0, n))})
             for n in shape]  # fmt: skip
    boxes = [
        tuple(slice(e[i], e[i + 1]) for e, i in zip(edges, index, strict=True))
        for index in np.ndindex(*(len(e) - 1 for e in edges))
    ]
    order = data.draw(st.permutations(boxes))
    parts = [Tally(shape, BINARY64, weighted=True) for _ in range(3)]
    for k, box in enumerate(order):
        start = tuple(s.start for s in box)
        parts[k % 3].add(golden[box], actual[box], weights[box], start)
    merged = parts[2]
    merged.merge(parts[0])
    merged.merge(parts[1])
    assert everything(merged) == whole


@settings(max_examples=40, deadline=None)
@given(
    arrays.arrays(float, st.integers(1, 30), elements=st.floats(width=64)),
    arrays.arrays(float, st.integers(1, 30), elements=st.floats(width=64)),
)
def test_no_value_breaks_the_pass(golden, actual):
    n = min(golden.size, actual.size)
    tally = tally_of(golden[:n], actual[:n])
    found = statistics_of(tally)
    assert found.points == n
    assert found.finite == len(oracle.finite_pairs(golden[:n], actual[:n]))
    assert not any(math.isnan(x) for x in found.absolute.values()) or not found.finite


@pytest.mark.parametrize("weighted", [False, True])
def test_correlation_and_how_far_it_is_from_one(weighted):
    golden, actual = sample((400,), spread=1.0)
    weights = np.linspace(0.5, 2.0, 400) if weighted else None
    for noise in (0.0, 1e-12, 1e-3, 3.0):
        run = actual + noise * np.random.default_rng(4).normal(size=400)
        found = statistics_of(tally_of(golden, run, weights))
        r, lack = oracle.correlation(golden, run, weights)
        assert found.correlation == pytest.approx(r, rel=1e-13)
        assert found.lack_of_correlation == pytest.approx(lack, rel=1e-6)
    turned = statistics_of(tally_of(golden, -golden, weights))
    assert turned.correlation == pytest.approx(-1.0, rel=1e-13)
    assert turned.lack_of_correlation == pytest.approx(2.0, rel=1e-13)
    assert math.isnan(statistics_of(tally_of(np.full(9, 0.1), actual[:9])).correlation)


def test_the_worst_are_found_with_their_coordinates_and_ties_by_place():
    golden = np.zeros((4, TILE))
    actual = golden.copy()
    actual[2, 5], actual[1, 1000], actual[3, 7] = -4.0, 3.0, 3.0
    actual[0, ::50] = 1.0
    found = statistics_of(
        tally_of(golden, actual), ("lat", "lon"), {"lat": np.array([10.0, 20.0, 30.0, 40.0])}
    )
    places = [w["index"] for w in found.worst]
    assert places == [[2, 5], [1, 1000], [3, 7], *([0, 50 * k] for k in range(7))]
    assert found.worst[0]["at"] == {"lat": 30.0, "lon": 5}
    assert (found.worst[0]["golden"], found.worst[0]["actual"]) == (0.0, -4.0)
    golden[0, 3:6] = actual[0, 3:6] = [math.nan, math.inf, -math.inf]
    assert statistics_of(tally_of(golden, actual)).first_change is None
    actual[3, 1] = math.nan
    assert statistics_of(tally_of(golden, actual)).first_change["index"] == [3, 1]


def test_profiles_are_sums_along_axes():
    golden, actual = with_specials((3, 40, 50))
    golden, actual = (np.where(np.abs(x) == 1e308, 1.0, x) for x in (golden, actual))
    weights = np.random.default_rng(9).uniform(1.0, 2.0, golden.shape)
    found = statistics_of(tally_of(golden, actual, weights), ("time", "lat", "lon"))
    finite = np.isfinite(golden) & np.isfinite(actual)
    weights = np.where(finite, weights, 0.0)
    error = np.zeros(golden.shape)
    error[finite] = actual[finite] - golden[finite]
    for axis, name in enumerate(("time", "lat", "lon")):
        others = tuple(k for k in range(3) if k != axis)
        profile = found.profiles[name]
        total = weights.sum(axis=others)
        assert profile["largest"] == np.abs(error).max(axis=others).tolist()
        rms = np.sqrt((weights * error**2).sum(axis=others) / total)
        assert profile["rms"] == pytest.approx(rms, rel=1e-12)
        mean = (weights * error).sum(axis=others) / total
        assert profile["bias"] == pytest.approx(mean, rel=1e-9, abs=1e-9 * np.abs(error).max())
    cells = np.array(found.map["largest"])
    assert cells.max() == np.abs(error).max()
    height, width = found.map["cell"]
    for i, j in np.ndindex(cells.shape):
        block = error[:, i * height : (i + 1) * height, j * width : (j + 1) * width]
        assert cells[i, j] == np.abs(block).max()


def test_a_spike_is_on_the_map_of_a_large_field():
    golden = np.zeros((2, 200, 333))
    actual = golden.copy()
    actual[1, 133, 217] = 2.5
    found = statistics_of(tally_of(golden, actual))
    cells = np.array(found.map["largest"])
    assert all(n <= most for n, most in zip(cells.shape, MAP_SHAPE, strict=True))
    height, width = found.map["cell"]
    assert np.argwhere(cells).tolist() == [[133 // height, 217 // width]]
    assert cells.max() == 2.5


def test_digits_that_agree_are_those_of_the_relative_errors():
    golden = np.full(1000, 3.0)
    actual = golden * (1.0 + np.repeat([0.0, 1e-9, 1e-4, 1.0], [100, 600, 295, 5]))
    found = statistics_of(tally_of(golden, actual)).digits
    assert found["max"] == 0.0
    assert found["p50"] == pytest.approx(9.0, abs=0.004)
    assert found["p99"] == pytest.approx(4.0, abs=0.004)
    assert statistics_of(tally_of(golden, golden)).digits["max"] == -math.log10(2.0**-53)


def test_distributions():
    golden, actual = sample((4000,))
    tally = tally_of(golden, actual)
    errors = np.abs(actual - golden)
    histogram = tally.histograms[0]
    counts = dict(octaves(histogram))
    expected = np.floor(np.log2(errors[errors > 0])).astype(int)
    assert counts == {int(e): int((expected == e).sum()) for e in np.unique(expected)}
    for percent in (1, 50, 95, 99, 100):
        exact = oracle.percentile(errors.tolist(), percent)
        parts = np.array_split(errors, 7)
        assert exact_quantile(lambda p=parts: iter(p), histogram, percent) == exact
        assert quantile(histogram, percent, tally.exact, errors.max()) == pytest.approx(
            exact, rel=0.0079
        )
