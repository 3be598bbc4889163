"""Checksums of a product (Huang and Abraham 1984): rounding alone never passes the bound of
docs/reference/machine.md, and what changes an element by more than twice the bound always does.
"""

from functools import cache

import numpy as np
import pytest

import sciprec

ROWS, INNER, COLUMNS = 24, 40, 8


def product_with_sums(a, b, c, of_rows, of_product):
    """c = a b; the columns of a summed, and that sum times b."""
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total = total + a[i, k] * b[k, j]
            c[i, j] = total
    for k in range(a.shape[1]):
        total = 0.0
        for i in range(a.shape[0]):
            total = total + a[i, k]
        of_rows[k] = total
    for j in range(b.shape[1]):
        total = 0.0
        for k in range(a.shape[1]):
            total = total + of_rows[k] * b[k, j]
        of_product[j] = total


def column_sums(c, of_columns):
    for j in range(c.shape[1]):
        total = 0.0
        for i in range(c.shape[0]):
            total = total + c[i, j]
        of_columns[j] = total


@cache
def lifted(backend):
    return sciprec.lift(product_with_sums, backend), sciprec.lift(column_sums, backend)


class Product:
    """A product in an arithmetic, with its checksums and their bound."""

    def __init__(self, backend, seed):
        rng = np.random.default_rng(seed)
        scales = 2.0 ** rng.integers(-8, 8, INNER)  # columns of different sizes
        a, b = rng.normal(size=(ROWS, INNER)) * scales, rng.normal(size=(INNER, COLUMNS))
        a, b = (sciprec.quantize(x, backend) for x in (a, b))
        self.c, self.expected = np.zeros((ROWS, COLUMNS)), np.zeros(COLUMNS)
        self.sums = lifted(backend)[1]
        lifted(backend)[0](a, b, self.c, np.zeros(INNER), self.expected)
        u = sciprec.backends()[backend].compute.format.unit_roundoff
        count = ROWS + INNER - 1
        self.bound = 2 * count * u / (1 - count * u) * (np.abs(a) @ np.abs(b)).sum(axis=0)

    def difference(self, c):
        found = np.zeros(COLUMNS)
        self.sums(c, found)
        return np.abs(found - self.expected)


def flipped(values, rng):
    """One bit of one binary32 element changed; element and column."""
    changed = values.astype(np.float32)
    bits = changed.view(np.uint32)
    i, j = rng.integers(ROWS), rng.integers(COLUMNS)
    bits[i, j] ^= np.uint32(1) << np.uint32(rng.integers(32))
    return changed.astype(np.float64), j


def experiment(backend, products, flips, seed=0):
    """The largest difference over the bound without flips; of flips: found; of those that change an
    element by more than twice the bound: found.
    """
    rng, largest, found, large = np.random.default_rng(seed), 0.0, [], []
    for k in range(products):
        one = Product(backend, seed + k)
        largest = max(largest, float((one.difference(one.c) / one.bound).max()))
        for _ in range(flips):
            changed, j = flipped(one.c, rng)
            with np.errstate(invalid="ignore", over="ignore"):
                seen = bool(not one.difference(changed)[j] <= one.bound[j])
                change = np.abs(changed - one.c).max()
            found.append(seen)
            if not change <= 2.0 * one.bound[j]:
                large.append(seen)
    return largest, float(np.mean(found)), float(np.mean(large))


@pytest.mark.parametrize("backend", ["fp32", "mlu370"])
def test_rounding_is_never_found_and_large_flips_always_are(backend):
    largest, found, large = experiment(backend, products=30, flips=25)
    assert 0.0 < largest < 1.0
    assert large == 1.0 and 0.1 < found < 0.9


def test_an_example_of_the_article_is_above_what_truncation_can_give():
    """1.0001 x 2^3 + 1.0000 x 2^0: docs/reference/machine.md."""
    x = float(sciprec.quantize(1.0001 * 2.0**3, "mlu370"))
    total = float(sciprec.quantize(x + 1.0, "mlu370"))  # an exact sum, rounded once
    assert total == x + 1.0 == 9.00079345703125 < 9.0008 < 9.00176
    assert round(total, 6) == 9.000793 and (9.00176 - 9.0008) / 2.0**-17 > 125
