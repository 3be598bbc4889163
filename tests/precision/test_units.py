"""Units of fixed point against their definition, row by row in exact fractions: random rows, sizes
and formats.
"""

from fractions import Fraction

import numpy as np
import pytest

from sciprec.precision import resolve_backend
from sciprec.precision.fixed.profile import Profile
from sciprec.precision.fixed.units import FixedUnits
from sciprec.precision.rewriting.layout import Row
from sciprec.precision.rewriting.syntax import Site

BACKENDS = "fixed32", "fixed16", "fixed:bits=24", "fixed:bits=9", "mix-fp32-fix16"
OPERATIONS = "enter", "add", "isub", "mul", "accumulate", "product"


def format_of(backend, operation, part):
    """Of a row, by the roles of the backend."""
    if operation in ("accumulate", "product") and part == 0 and backend.accumulate.fixed:
        return backend.accumulate.format
    if operation == "product" and part or not backend.compute.fixed:
        return backend.matmul.format
    return backend.compute.format


def exponent(size, form):
    """The least e with size / 2^e < 2^(bits - 1) - 1/2, and the headroom, within -960 to 900."""
    e = int(np.frexp(size)[1]) - form.bits - 3
    while Fraction(size) / Fraction(2) ** e >= 2 ** (form.bits - 1) - Fraction(1, 2):
        e += 1
    return min(max(e + form.headroom, -960), 900)


def expected(backend, sites, rows, largest, zero):
    """(sizes, exponents) of all rows."""
    sizes = [float(x) if np.isfinite(x) else 0.0 for x in largest]
    for group in {row.group for row in rows} - {""}:
        members = [n for n, row in enumerate(rows) if row.group == group]
        for n in members:
            sizes[n] = max(sizes[m] for m in members)
    functions = [sites[row.site].function for row in rows]
    everywhere, known = max(sizes) or 1.0, list(sizes)
    for n, size in enumerate(known):
        if size == 0.0:
            of_function = [known[m] for m, f in enumerate(functions) if f == functions[n]]
            sizes[n] = max(of_function) or everywhere
    forms = [format_of(backend, sites[row.site].operation, row.part) for row in rows]
    exponents = [exponent(x, form) for x, form in zip(sizes, forms, strict=True)]
    used, before = [x > 0.0 for x in largest], list(exponents)
    for n in range(len(rows)):
        if zero is None or not zero[n] or used[n]:
            continue
        mine = [m for m, f in enumerate(functions) if f == functions[n] and used[m]]
        mine = mine or [m for m in range(len(rows)) if used[m]]
        sizes[n] = 2.0 ** (max((before[m] for m in mine), default=0) + 1)
        exponents[n] = exponent(sizes[n], forms[n])
    return sizes, exponents


def check(units, largest, zero):
    sizes, exponents = expected(units.backend, units.sites, units.rows, largest, zero)
    np.testing.assert_array_equal(units.largest, sizes)
    np.testing.assert_array_equal(units.exponents, exponents)
    sums = [units.sites[row.site].operation in ("add", "isub") for row in units.rows]
    forms = [format_of(units.backend, units.sites[r.site].operation, r.part) for r in units.rows]
    every = zip(exponents, forms, sums, strict=True)
    tops = [e + form.bits for e, form, is_sum in every if is_sum]
    exact = max(tops, default=-np.inf) - min(exponents) <= 53
    assert units.variant(()).exact_sums == exact


def sizes(rng, count, reach, empty):
    """Random sizes, many at or just below a power of two, some zero or infinite."""
    found = 10.0 ** rng.uniform(-reach, reach, count)
    whole = 2.0 ** np.round(np.log2(found)) - rng.choice([0.0, 0.5, 1e-9], count)
    found = np.where(rng.random(count) < 0.3, np.abs(whole), found)
    found[rng.random(count) < empty] = 0.0
    found[rng.random(count) < 0.05] = np.inf
    return found


@pytest.mark.parametrize("name", BACKENDS)
def test_units_are_those_of_their_definition(name):
    backend = resolve_backend(name)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        sites = tuple(
            Site(rng.choice(["f", "g", "h"]), 1, 0, rng.choice(OPERATIONS)) for _ in range(6)
        )
        rows = tuple(
            Row(int(rng.integers(6)), int(rng.integers(2)), (), rng.choice(["", "", "a", "b"]))
            for _ in range(rng.integers(1, 15))
        )
        reach, empty = rng.choice([3, 40, 280]), rng.choice([0.1, 0.6])
        first, more = (sizes(rng, len(rows), reach, empty) for _ in range(2))
        zero = rng.random(len(rows)) < 0.3
        units = FixedUnits(backend, sites, rows, first, None, zero if seed % 2 else None)
        check(units, first, units.zero)
        most = np.maximum(np.where(first > 0.0, units.largest, 0.0), more)
        check(units.widened(more), most, units.zero)


def test_units_of_a_profile_hold_what_was_met_before():
    rng, backend = np.random.default_rng(1), resolve_backend("fixed32")
    sites = Site("f", 1, 0, "add"), Site("g", 2, 0, "mul")
    rows = tuple(Row(n % 2, 0) for n in range(6))
    counts = np.zeros(6, np.int64)

    def profile():
        largest = 10.0 ** rng.uniform(-3, 3, 6) * (rng.random(6) < 0.5)
        spread = rng.integers(0, 5, (6, 120))
        return Profile(sites, rows, counts + 1, largest, largest, counts, counts, spread)

    first, second = profile(), profile()
    known = FixedUnits.of_profile(backend, first)
    both = FixedUnits.of_profile(backend, second, known)
    most = np.maximum(second.largest, np.where(first.largest > 0, known.largest, 0))
    check(known, first.largest, first.largest == 0)
    check(both, most, most == 0)
    np.testing.assert_array_equal(both.spread, first.exponents + second.exponents)
