"""The Legendre stage on a matrix unit: number by number, in runs, and what it costs a forecast."""


import numpy as np
import pytest

from sciprec.climate.running.integration import integrate
from sciprec.climate.stages.matrix_legendre import MatrixLegendre
from sciprec.climate.stages.staged_transform import StagedTransform
from sciprec.climate.transform.grid import Truncation
from sciprec.climate.transform.legendre import coefficient_orders, gauss_nodes, legendre_table
from sciprec.climate.transform.legendre_stage import LANES
from sciprec.facets.stages.arithmetics import Stages, resolve_stages
from sciprec.foundation.errors import InputError
from tests.oracles.matrix_unit import Oracle
from tests.precision.test_matrix_unit import random_unit

TINY, SMALL = Truncation(4, 8, 16, 1200.0), Truncation(10, 16, 32, 1200.0)
SLICED = "matrix:table=int8,field=int8,slices={}"


def unit_for(seed):
    """A random unit that sums of eight products fit."""
    return random_unit(np.random.default_rng(seed))


def legendre(truncation):
    """Functions, and functions times weights, in binary64; degrees and orders of the rows."""
    half = truncation.nlat // 2
    sin_lat, weights = gauss_nodes(truncation.nlat, np.longdouble)
    functions = legendre_table(truncation.number, sin_lat[:half])
    weighted = (functions * weights[:half]).astype(float)
    return functions, weighted, *coefficient_orders(truncation.number)


def oracles(unit, truncation, step):
    """Of synthesis and analysis, a matrix for each order and parity, and the rows of each."""
    functions, weighted, degree, order = legendre(truncation)
    forth, back, rows = [], [], []
    for m in range(truncation.number + 1):
        for parity in range(2):
            own = np.flatnonzero((order == m) & ((degree - m) % 2 == parity))
            latitudes = -(-functions.shape[1] // step) * step
            table, inverse = np.zeros((2, step, latitudes))
            table[: own.size, : functions.shape[1]] = functions[own]
            inverse[: own.size, : functions.shape[1]] = weighted[own]
            forth.append(table.tolist())
            back.append(inverse.T.tolist())
            rows.append(own)
    return Oracle(unit, forth, "rows"), Oracle(unit, back, "columns"), rows


def wrong_in(seed):
    """How many numbers of both directions are not the oracle's, for one complex field at T4."""
    rng, unit = np.random.default_rng(seed), unit_for(seed)
    step = unit.step
    stage = MatrixLegendre(TINY, unit, np.ones(20, bool))
    forth, back, rows = oracles(unit, TINY, step)
    spectrum = rng.normal(size=(20, 2)) * 10.0 ** rng.integers(-3, 2, (20, 1))
    fourier = stage.synthesis(spectrum)
    given = np.zeros((len(rows), step, 2))
    for b, own in enumerate(rows):
        given[b, : own.size] = spectrum[own]
    columns, wrong = given.tolist(), 0
    for m in range(5):
        for j in range(4):
            for part in range(2):
                even, odd = (forth.product(columns, b, j, part) for b in (2 * m, 2 * m + 1))
                lane = j + LANES * part
                wrong += fourier[0, 0, m, lane] != even + odd
                wrong += fourier[0, 1, m, lane] != even - odd
    spectrum_back = stage.analysis(fourier, spectrum.shape)
    given = np.zeros((len(rows), step, 2))
    for m in range(5):
        for part in range(2):
            north, south = (fourier[0, h, m, LANES * part :][:4] for h in (0, 1))
            given[2 * m, :4, part], given[2 * m + 1, :4, part] = north + south, north - south
    columns = given.tolist()
    for b, own in enumerate(rows):
        for place, row in enumerate(own):
            for part in range(2):
                wrong += spectrum_back[row, part] != back.product(columns, b, place, part)
    return wrong, unit.text


@pytest.mark.slow
def test_random_units_in_both_directions():
    """Groups of both sizes, two of four, slices, clipped and pruned tables, sums in fp16 and fp32
    are among them.
    """
    seeds = 5, 6, 9, 12
    assert [(seed, text) for seed in seeds for n, text in [wrong_in(seed)] if n] == []


def test_eight_slices_are_the_transform_in_binary64():
    rng = np.random.default_rng(0)
    exact, sliced = (StagedTransform(SMALL, s) for s in (Stages(), Stages(SLICED.format(8))))
    spectrum = rng.normal(size=(exact._size, 6))
    fields = exact.to_grid(spectrum)
    np.testing.assert_allclose(sliced.to_grid(spectrum), fields, rtol=0, atol=1e-13)
    np.testing.assert_allclose(
        sliced.to_spectrum(fields), exact.to_spectrum(fields), rtol=0, atol=1e-14
    )


@pytest.mark.parametrize("kept", ["fp64", SLICED.format(2)])
def test_lowest_orders_and_degrees_stay_apart(kept):
    degree, order = coefficient_orders(SMALL.number)
    low = (order < 2) | (degree < 4)
    keys = {"legendre": "matrix:table=int4,field=fp16", "kept_orders": 2, "kept_degrees": 4}
    mixed = StagedTransform(SMALL, Stages(kept=kept, **keys))
    whole = StagedTransform(SMALL, Stages(kept))
    fields = np.random.default_rng(1).normal(size=(3, SMALL.nlon, SMALL.nlat))
    np.testing.assert_array_equal(mixed.to_spectrum(fields)[low], whole.to_spectrum(fields)[low])
    assert (mixed.to_spectrum(fields)[~low] != whole.to_spectrum(fields)[~low]).any()
    spectrum = np.random.default_rng(2).normal(size=(low.size, 2))
    spectrum[~low] = 0.0
    np.testing.assert_array_equal(mixed.to_grid(spectrum), whole.to_grid(spectrum))
    first, *others = mixed.report()
    assert first["unit"] == keys["legendre"] and len(others) == (kept != "fp64")
    functions = int((~low).sum())
    number = functions * SMALL.nlat // 2
    assert first["bytes"] == 2 * (number / 2 + 4 * functions)
    assert first["multiplications"] == 2 * number


def test_what_a_unit_keeps_is_reported():
    number = (11 * 14 // 2) * 8
    of = {}
    for text in ("fp16,field=fp16", "int8,field=int8,slices=3", "fp16,field=fp16,sparsity=2:4"):
        (of[text],) = StagedTransform(SMALL, Stages(f"matrix:table={text}")).report()
    half, sliced, sparse = of.values()
    assert half["bytes"] == 2 * number * 2 and half["products"] == 1
    assert half["numbers"] == half["multiplications"] == 2 * number
    assert half["field_numbers"] == 2 * 77 + 4 * 11 * 8
    assert sliced["products"] == 6 and sparse["bytes"] == half["bytes"] * 18 / 32
    assert max(sliced["table_errors"]) < 1e-6 < max(half["table_errors"]) < 1e-3


def mountain(stages, days=5.0):
    """Flow over the mountain at T42 for so many days."""
    options = {"step_seconds": 1200.0, "time_scheme": "rk4", "output_hours": 24.0}
    return integrate("williamson_5", 42, days, stages=stages, **options)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"legendre": "matrix:table=int8,field=fp16", "sums": "fp32"},
         "stages have sums in 'fp32' beside 'matrix:table=int8,field=fp16', which has its own"),
        ({"fourier": "matrix:table=int8,field=fp16"}, "is a matrix unit, which multiplies"),
        ({"legendre": "matrix:table=int8,field=fp61"}, "unknown format of a matrix unit's field"),
        ({"legendre": "matrix:table=int8,field=int8,slices=2,accumulate=fp16"},
         r"holds sums exactly up to 2\^11: take accumulate=fp32 or int32"),
    ],
)  # fmt: skip
def test_stages_that_are_refused(given, words):
    with pytest.raises(InputError, match=words):
        StagedTransform(SMALL, resolve_stages(given))
    with pytest.raises(InputError, match=words):
        integrate("williamson_5", SMALL, 0.25, stages=given, output_hours=6.0)
