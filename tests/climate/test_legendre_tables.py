"""Blocks of the Legendre tables that are left out: which, in what arithmetics, what it moves."""

from functools import cache

import numpy as np
import pytest

from sciprec.climate.transform import legendre_tables
from sciprec.climate.transform.grid import resolve_truncation
from sciprec.climate.transform.legendre import coefficient_orders, gauss_nodes, legendre_table
from sciprec.climate.transform.legendre_stage import LANES, ROWS
from sciprec.climate.transform.spectral import (
    SpectralTransform,
    make_tables,
)

SINGLE = 2.0**-24


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
@pytest.mark.parametrize("limit", [None, SINGLE])
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


def test_without_tiny_numbers_every_bit_is_the_same(monkeypatch):
    """With numbers dropped that are not tiny they differ."""
    few, whole, too_few = (
        transforms("fp32", least, monkeypatch) for least in (2.0**-63, 0.0, 1e-9)
    )
    for a, b in zip(few, whole, strict=True):
        np.testing.assert_array_equal(a, b)
    assert any((a != b).any() for a, b in zip(too_few, whole, strict=True))
