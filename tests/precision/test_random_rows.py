"""Formats and roundings of nobody's, drawn and registered from outside: as the spec strings of the
same numbers, and as exact integers.
"""

import itertools
import math
import operator
import random
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest

import sciprec
from sciprec.precision import FORMATS, Format
from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.formats.float_format import OVERFLOWS
from sciprec.precision.formats.rounding_rules import ROUNDINGS, Rounding
from tests.oracles import exact
from tests.precision.comparison import assert_same
from tests.precision.samples import triples

STANDARD = ("rn", "rz", "ru", "rd", "ro")


def operations(x, y, z, out):
    for i in range(x.size):
        out[0, i] = x[i] + y[i]
        out[1, i] = x[i] - y[i]
        out[2, i] = x[i] * y[i]
        out[3, i] = x[i] / y[i]
        out[4, i] = math.sqrt(x[i])
        out[5, i] = sciprec.fma(x[i], y[i], z[i])
        out[6, i] = x[i] * 1.1
        out[7, i] = y[i] - -3.0000001


def expected(x, y, z, arithmetic):
    """The expected number by exact integers."""
    literals = [exact.round_exact(value, arithmetic) for value in (1.1, 3.0000001)]
    return np.array([
        [exact.add(a, b, arithmetic), exact.sub(a, b, arithmetic), exact.mul(a, b, arithmetic),
         exact.div(a, b, arithmetic), exact.sqrt(a, arithmetic), exact.fma(a, b, c, arithmetic),
         exact.mul(a, literals[0], arithmetic), exact.sub(b, -literals[1], arithmetic)]
        for a, b, c in zip(x.tolist(), y.tolist(), z.tolist(), strict=True)
    ]).T  # fmt: skip


def computed(backend, numbers):
    """By a kernel that is lifted."""
    out = np.zeros((8, numbers[0].size))
    sciprec.lift(operations, backend)(*numbers, out)
    return out


def drawn(fmt, seed):
    """Every third one of a thousand operands and more."""
    return tuple(x[::3].copy() for x in triples(fmt, 900, seed))


@pytest.fixture
def tables():
    """Forget afterwards what is registered."""
    before = [(table, dict(table)) for table in (FORMATS, ROUNDINGS)]
    yield
    for table, rows in before:
        table.clear()
        table.update(rows)


def random_format(seed):
    """A row, and the text that stands for the same numbers; none where the row has no infinity."""
    rng = random.Random(f"format {seed}")
    p = rng.choice([2, 3, 5, 8, 11, 17, 24, 25, 40, 53])
    emin = rng.randint(-380, 20) if seed % 2 else rng.randint(-40, 2)
    emax = emin + rng.randint(1, 60)
    subnormals, overflow = rng.random() < 0.5, rng.choice(OVERFLOWS)
    row = Format(f"row-{seed}", p, emin, emax, subnormals, overflow)
    spec = (f"float:p={p},emin={emin},emax={emax},overflow={overflow},"
            f"subnormals={'keep' if subnormals else 'flush'}")  # fmt: skip
    return row, None if overflow == "nan" else spec


@pytest.mark.parametrize("seed", range(3))
def test_a_row_of_formats_is_its_spec_string_and_exact(seed, tables):
    row, spec = random_format(seed)
    FORMATS.add(row)
    rounding = STANDARD[seed % len(STANDARD)]
    name = f"{row.name},round={rounding}"
    numbers = drawn(row, seed)
    found = computed(name, numbers)
    arithmetic = resolve_backend(name).compute
    assert_same(found, expected(*numbers, arithmetic))
    assert rounding != "rn" or resolve_backend(row.name).compute == arithmetic
    wide = np.concatenate([*numbers, 3.0 * numbers[0], numbers[1] / 7.0])
    exactly = np.array([exact.round_exact(x, arithmetic) for x in wide.tolist()])
    assert_same(sciprec.quantize(wide, name), exactly)
    if spec is not None:
        by_spec = resolve_backend(f"{spec},round={rounding}").compute
        assert replace(by_spec.format, name=row.name) == row and by_spec.rounding == rounding


@pytest.mark.parametrize("rounding", ["rz", "ru"])
def test_24_bits_with_exponents_of_their_own_keep_the_last_one(rounding, tables):
    """Under the processor's directed modes they were rounded to 23."""
    name = f"float:p=24,emin=-29,emax=31,round={rounding}"
    arithmetic = resolve_backend(name).compute
    numbers = drawn(arithmetic.format, 1)
    exactly = expected(*numbers, arithmetic)
    assert_same(computed(name, numbers), exactly)


def random_rounding(seed):
    """A row, and its table: whether to go up, by (more, tie, odd, negative)."""
    rng = random.Random(f"rounding {seed}")
    states = [s for s in itertools.product((False, True), repeat=4) if not (s[0] and s[1])]
    goes_up = {state: rng.random() < 0.5 for state in states}

    def up(lost):
        asked = lost.more, lost.tie, lost.odd, lost.negative
        terms = [
            reduce(operator.and_, (a if yes else ~a for a, yes in zip(asked, state, strict=True)))
            for state, taken in goes_up.items()
            if taken
        ]
        return lost.some & reduce(operator.or_, terms, lost.some & ~lost.some)

    overflows = rng.random() < 0.5, rng.random() < 0.5
    return Rounding(f"drawn{seed}", "drawn", up, overflows), goes_up


@pytest.mark.parametrize("seed", range(2))
def test_a_row_of_roundings_is_exact(seed, tables, monkeypatch):
    rule, goes_up = random_rounding(seed)
    row, _ = random_format(seed + 100)
    ROUNDINGS.add(rule)
    FORMATS.add(row)

    def to_grid(sign, m, e, sticky, grid, rounding, drawn):
        if rounding != rule.name:
            return standard(sign, m, e, sticky, grid, rounding, drawn)
        shift = max(grid - e, 0)
        kept, rest = m >> shift, m - ((m >> shift) << shift)
        if rest == 0 and not sticky:
            return kept << max(e - grid, 0)
        half = (1 << shift) >> 1
        more, tie = rest > half or (rest == half and sticky), rest == half and not sticky
        return kept + goes_up[more, tie, kept % 2 == 1, bool(sign)]

    def overflowed(sign, fmt, rounding):
        if rounding != rule.name:
            return beyond(sign, fmt, rounding)
        infinite = rule.overflows[sign] and fmt.overflow != "saturate"
        largest = -fmt.max_finite if sign else fmt.max_finite
        return exact.infinite(sign, fmt) if infinite else largest

    standard, beyond = exact._round_to_grid, exact._overflowed
    monkeypatch.setattr(exact, "_round_to_grid", to_grid)
    monkeypatch.setattr(exact, "_overflowed", overflowed)
    name = f"{row.name},round={rule.name}"
    numbers = drawn(row, seed)
    arithmetic = resolve_backend(name).compute
    assert_same(computed(name, numbers), expected(*numbers, arithmetic))
