"""Blocks of the Legendre tables that are left out: which, in what arithmetics, what it moves."""

from functools import cache

import numpy as np
import pytest

from benchmarks.climate_blocks import LegendreStage
from sciprec.climate.running.request import check_request
from sciprec.climate.transform import legendre_tables
from sciprec.climate.transform.grid import resolve_truncation
from sciprec.climate.transform.legendre import coefficient_orders, gauss_nodes, legendre_table
from sciprec.climate.transform.legendre_stage import LANES, ROWS
from sciprec.climate.transform.spectral import (
    SpectralTransform,
    make_tables,
    negligible_in,
    rounded,
    tables_in,
)
from sciprec.precision import resolve_backend
from tests.climate.small_models import model_of

SINGLE, DOUBLE = 2.0**-24, 2.0**-53


@cache
def functions_of(name):
    row = resolve_truncation(name)
    sin_lat, weights = gauss_nodes(row.nlat, np.longdouble)
    half = row.nlat // 2
    functions = legendre_table(row.number, sin_lat[:half])
    return functions, (functions * weights[:half]).astype(float)


def spread_out(table, row, columns_are_latitudes):
    """The numbers of a table by coefficient and latitude; NaN where there is none."""
    numbers, stairs, ends = table
    degree, order = coefficient_orders(row.number)
    half, place = row.nlat // 2, 0
    found = np.full((degree.size, half), np.nan)
    for matrix in range(len(ends) - 1):
        (own,) = np.nonzero((order == matrix // 2) & ((degree - order) % 2 == matrix % 2))
        width = -(-(half if columns_are_latitudes else own.size) // LANES)
        for begin, top, below in stairs[ends[matrix] : ends[matrix + 1]]:
            for k in range(top, below, ROWS):
                for tile in range(begin, width):
                    block = numbers[place : place + ROWS * LANES].reshape(ROWS, LANES)
                    place += ROWS * LANES
                    a, b = np.indices((ROWS, LANES)) + np.array([k, LANES * tile])[:, None, None]
                    of, at = (a, b) if columns_are_latitudes else (b, a)
                    held = (of < own.size) & (at < half)
                    found[own[of[held]], at[held]] = block[held]
                    assert not block[~held].any()
    assert place == numbers.size
    return found


@pytest.mark.slow
@pytest.mark.parametrize("limit", [None, DOUBLE, SINGLE, 1e-2])
def test_what_is_left_out_is_at_most_the_limit_and_all_else_is_there(limit):
    row = resolve_truncation("T85")
    functions, weighted = functions_of("T85")
    (forth, _), (back, _) = make_tables(row, limit)
    for table, numbers, way in ((forth, functions, True), (back, weighted, False)):
        found = spread_out(table, row, way)
        there = ~np.isnan(found)
        np.testing.assert_array_equal(found[there], numbers[there])
        assert there.all() == (limit is None)
        if limit is not None:
            assert np.abs(functions[~there]).max() <= limit
            assert np.abs(functions[~there]).max() > 1e-3 * limit


def shares(name, limit):
    """Per cent of the blocks of both tables that are left out."""
    row = resolve_truncation(name)
    whole, less = make_tables(row), make_tables(row, limit)
    pairs = zip(whole, less, strict=True)
    return [100 * (1 - few[0].size / all_[0].size) for (all_, _), (few, _) in pairs]


@pytest.mark.parametrize("name", ["T42", "T63"])
def test_below_t64_nothing_is_left_out(name):
    assert shares(name, 1e-2) == [0.0, 0.0]


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("fp32", SINGLE), ("fp64", DOUBLE), ("float:p=24", SINGLE), ("mlu370", None),
        ("fp16", None), ("binary32,round=rz", None), ("float:p=24,round=sr", None),
        ("fixed32", None), ("mix-fp32-fix16", None), ("policy:dcu", None), ("tf32", None),
    ],
)  # fmt: skip
def test_only_the_processors_own_arithmetics_leave_out(name, limit):
    assert negligible_in(resolve_backend(name)) == limit


@pytest.mark.parametrize(("compensation", "whole"), [("carry", False), ("carry-sums", True)])
def test_compensated_sums_have_all_blocks(compensation, whole):
    """Their error is below the rounding."""
    given = check_request("williamson_5", "T85", 0.1, backend="fp32", compensation=compensation)
    model, _, _ = model_of(given)
    expected = make_tables(given.truncation, None if whole else SINGLE)
    for (own, _), (table, _) in zip(model.tables, expected, strict=True):
        assert own[0].size == table[0].size


@pytest.mark.parametrize("backend", ["fp32", pytest.param("fp64", marks=pytest.mark.slow)])
def test_the_error_is_below_the_rounding(backend):
    """Against binary64: with the blocks left out no more than a hundredth larger. The changes
    alone, of exact results, are below the unit roundoff of the largest one.
    """
    stage = LegendreStage(resolve_truncation("T85"), resolve_backend(backend))
    assert min(stage.left_out) > 0.02
    whole, without = stage.errors("whole"), stage.errors("without")
    limit = stage.backend.compute.rounding_error
    for a, b in zip(whole, without, strict=True):
        assert b <= max(1.01 * a, limit)
    exact = LegendreStage(stage.truncation, resolve_backend("fp64"))
    ways = [[np.array(x) for x in exact.run("whole")]]
    exact._tables["without"] = tuple(t for t, _ in make_tables(stage.truncation, limit))
    ways.append(exact.run("without"))
    for a, b in zip(*ways, strict=True):
        assert 0 < np.abs(a - b).max() < limit * np.abs(a).max()


@pytest.mark.parametrize(
    ("name", "drops"),
    [
        ("fp32", True), ("bf16", True), ("float:p=13", True), ("fp64", False), ("mlu370", False),
        ("binary32,round=rz", False), ("float:p=24,round=sr", False), ("policy:dcu", False),
    ],
)  # fmt: skip
def test_tiny_numbers_are_zero_in_binary32_to_nearest_alone(name, drops):
    """Toward one side the least addend moves a sum."""
    row, backend = resolve_truncation("T42"), resolve_backend(name)
    given = rounded(make_tables(row), backend), tables_in(row, backend)
    for ((numbers, *stairs), _), ((own, *own_stairs), _) in zip(*given, strict=True):
        tiny = (numbers != 0.0) & (np.abs(numbers) < 2.0**-63)
        assert tiny.mean() > 0.01
        np.testing.assert_array_equal(own, np.where(tiny, 0.0, numbers) if drops else numbers)
        for a, b in zip(stairs, own_stairs, strict=True):
            np.testing.assert_array_equal(a, b)


def transforms(backend, least, monkeypatch):
    """Fields of random coefficients, and coefficients of these times random numbers, at T42, with
    numbers of the tables below the least set to zero.
    """
    monkeypatch.setattr(legendre_tables, "LEAST_IN_BINARY32", least)
    transform, found = SpectralTransform(resolve_truncation("T42"), backend), []
    rng = np.random.default_rng(20)
    for _ in range(10):
        size = 10.0 ** rng.uniform(-10, 6) * (1.0 + transform.degree) ** -rng.uniform(0, 6)
        size *= 10.0 ** (rng.uniform(-6, 0, size.size) * rng.integers(0, 2))
        fields = transform.to_grid(rng.normal(size=(size.size, 4)) * size[:, None])
        spread = np.exp(rng.normal(size=fields.shape) * rng.uniform(0, 3))
        found += [fields, transform.to_spectrum(fields * spread)]
    return found


@pytest.mark.parametrize(
    ("backend", "too_much"), [("fp32", 1e-9), pytest.param("bf16", 1e-3, marks=pytest.mark.slow)]
)
def test_without_tiny_numbers_every_bit_is_the_same(backend, too_much, monkeypatch):
    """With numbers dropped that are not tiny they differ."""
    few, whole, too_few = (
        transforms(backend, least, monkeypatch) for least in (2.0**-63, 0.0, too_much)
    )
    for a, b in zip(few, whole, strict=True):
        np.testing.assert_array_equal(a, b)
    assert any((a != b).any() for a, b in zip(too_few, whole, strict=True))
