"""The Legendre stage on a matrix unit: number by number, in runs, and what it costs a forecast."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from sciprec.arrays.matrix_unit.unit_table import UnitTable
from sciprec.climate.running.integration import integrate
from sciprec.climate.stages.matrix_legendre import MatrixLegendre
from sciprec.climate.stages.staged_transform import StagedTransform
from sciprec.climate.transform.grid import Truncation
from sciprec.climate.transform.legendre import coefficient_orders, gauss_nodes, legendre_table
from sciprec.climate.transform.legendre_stage import LANES
from sciprec.foundation.errors import InputError
from sciprec.precision.formats.matrix_unit import MatrixUnit, resolve_matrix_unit
from sciprec.precision.formats.stages import Stages, resolve_stages
from tests.oracles.matrix_unit import Oracle
from tests.precision.test_matrix_unit import random_unit
from tests.project.test_tables import table as table_of

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
    seeds = 0, 4, 5, 6, 9, 12
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


UNITS_IN_RUNS = [
    ("int8", "fp16", "channel"), ("bf16", "bf16", "tensor"), ("int8", "int8", "group"),
    ("fp16", "int8", "channel"),
]  # fmt: skip


@pytest.mark.slow
def test_units_run_in_the_primitive_equations_too():
    """No farther from fp64 than the tables are."""
    case, name, levels = "held_suarez", "temperature", {"levels": 3}
    options = {"truncation": SMALL, "days": 0.25, "output_hours": 6.0, "parameters": levels}
    truth = integrate(case, **options).fields[name]
    for table, field, scale in UNITS_IN_RUNS:
        unit = MatrixUnit(table, field, scale=scale)
        made = integrate(case, stages=Stages(unit.text), **options)
        error = np.linalg.norm(made.fields[name] - truth) / np.linalg.norm(truth)
        (report,) = StagedTransform(SMALL, Stages(unit.text)).report()
        assert made.blow_up is None and 0 < error < max(report["table_errors"]), (unit.text, error)
        again = integrate(case, stages=Stages(unit.text), threads=2, **options)
        np.testing.assert_array_equal(again.fields[name], made.fields[name])


TRIAL = {
    "fp16 x fp16, fp32 sums": ("matrix:table=fp16,field=fp16", 3.8e-6),
    "e4m3fn x e4m3fn, scale per channel": ("matrix:table=e4m3fn,field=e4m3fn", 5.5e-4),
    "int8 x fp16": ("matrix:table=int8,field=fp16", 6.9e-5),
    "int4 x fp16": ("matrix:table=int4,field=fp16", 3.6e-3),
    "int4 x fp16, scale per group of 8": ("matrix:table=int4,field=fp16,scale=group", 2.8e-3),
    "fp16, two of four": ("matrix:table=fp16,field=fp16,sparsity=2:4", 7.0e-3),
    "int8 in 3 slices": (SLICED.format(3), 9.3e-8),
}
"""Row of docs/explain/matrix_unit.md -> unit, and the relative error of the height of day 5 in a
trial with a program of its own; rows that differ from one of these by a format alone are left out.
"""


def height_error(run, truth):
    """Of the last height, relative l2 over the sphere."""
    found, wanted = (x.fields["height"][-1] for x in (run, truth))
    weights = np.cos(np.deg2rad(truth.lat))[:, None]
    return np.sqrt((weights * (found - wanted) ** 2).sum() / (weights * wanted**2).sum())


def mountain(stages, days=5.0):
    """Flow over the mountain at T42 for so many days."""
    options = {"step_seconds": 1200.0, "time_scheme": "rk4", "output_hours": 24.0}
    return integrate("williamson_5", 42, days, stages=stages, **options)


@pytest.mark.slow
def test_errors_of_a_forecast_are_those_of_the_trial():
    """Within 1.5 times, and three slices within 2e-7; docs show them to the last digit but one."""
    truth, told = mountain(None), table_of("reference/matrix_unit", "table x field")
    errors = {row: height_error(mountain(Stages(text)), truth) for row, (text, _) in TRIAL.items()}
    assert all(errors[row] <= 1.5 * trial for row, (_, trial) in TRIAL.items()), errors
    assert errors["int8 in 3 slices"] <= 2e-7
    truncation_error = 6.1e-4  # of the depth; of the height 9.4e-5
    for row in ("int4 x fp16", "fp16, two of four"):
        assert errors[row] > truncation_error
    for row, error in errors.items():
        assert float(told[row][0].strip("*")) == pytest.approx(error, rel=0.05), row


@pytest.mark.slow
def test_two_of_four_blow_up_where_the_zonal_mean_is_exact():
    stages = Stages("matrix:table=fp16,field=fp16,sparsity=2:4", kept="fp64", kept_orders=1)
    assert "not finite" in mountain(stages, 3.0).blow_up


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


def test_text_of_a_unit_in_stages():
    unit = resolve_matrix_unit("matrix:table=int8,field=fp16")
    made = [Stages(given).resolved("fp64")["legendre"] for given in (unit, unit.text)]
    assert made[0] == made[1] == unit


@pytest.mark.slow
def test_a_policy_leaves_the_products_to_the_unit():
    """Its error from Legendre products in fp16 goes; a unit in int8 brings more."""
    options = {"truncation": SMALL, "days": 0.25, "output_hours": 6.0}
    truth = integrate("williamson_1", **options).fields["height"]

    def error(stages):
        made = integrate("williamson_1", backend="policy:dcu", stages=stages, **options)
        return np.linalg.norm(made.fields["height"] - truth) / np.linalg.norm(truth)

    policy, sliced, whole = (
        error(s) for s in (None, Stages(SLICED.format(8)), Stages("matrix:table=int8,field=fp16"))
    )
    assert 10 * sliced < policy < whole
    with pytest.raises(InputError, match="a matrix unit for 'legendre' alone is accepted"):
        error(Stages(SLICED.format(8), fourier="fp16"))


def test_the_program_of_inverses_inverts():
    """Analysis after synthesis, as rounded, gives the coefficients of the truncation again."""
    path = Path(__file__).parents[2] / "data" / "climate" / "matrix_inverse.py"
    made = runpy.run_path(str(path))
    unit = resolve_matrix_unit(made["INT8"])
    forth, back = made["inverted"](SMALL, unit)
    rounded = UnitTable.of(forth, unit, "rows").values()
    for table, inverse in zip(rounded, back, strict=True):
        there = np.abs(table).max(axis=1) > 0
        whole = 2 * inverse[:, there].T @ table[there].T
        np.testing.assert_allclose(whole, np.eye(there.sum()), atol=1e-9)
