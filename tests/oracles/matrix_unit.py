"""Results of a matrix unit, number by number, in Python's integers and fractions.

Shares nothing with `sciprec.arrays.matrix_unit`: no table, no kernel, no packing.
"""

import math
from fractions import Fraction

from sciprec.precision import resolve_backend
from tests.oracles.exact import round_exact

BITS = {"int8": 8, "int4": 4}
TOP = {"e4m3fn": 256}


def to_integer(x: Fraction) -> int:
    """The nearest integer, ties to even."""
    below = math.floor(x)
    rest = x - below
    return below + int(rest > Fraction(1, 2) or rest == Fraction(1, 2) and below % 2 == 1)


def to_format(x: Fraction, name: str) -> Fraction:
    """The nearest number of a float format."""
    return Fraction(round_exact(x, resolve_backend(name).compute))


def power_above(x: Fraction) -> Fraction:
    """The smallest power of two that is not below x > 0."""
    power = Fraction(2) ** (x.numerator.bit_length() - x.denominator.bit_length() - 1)
    while power < x:
        power *= 2
    return power


def binary32_above(x: Fraction) -> Fraction:
    """The smallest number of binary32 that is not below x > 0, within its normal range."""
    unit = power_above(x) / 2**24
    if power_above(x) == x:
        unit *= 2
    return -((-x) // unit) * unit


def scale_for(numbers: list[Fraction], name: str) -> Fraction:
    """The scale of numbers that share one."""
    largest = max(map(abs, numbers), default=Fraction(0))
    if largest == 0:
        return Fraction(1)
    if name in BITS:
        return binary32_above(largest / (2 ** (BITS[name] - 1) - 1))
    return power_above(largest) / TOP.get(name, 1)


def digits(numbers: list[Fraction], bits: int, slices: int) -> tuple[list[list[int]], Fraction]:
    """Slices of numbers that share a scale, and the scale."""
    largest = max(map(abs, numbers), default=Fraction(0))
    scale = Fraction(1)
    if largest:
        scale = power_above(largest) * 4
        low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
        while all(low <= to_integer(x / (scale / 2)) <= high for x in numbers):
            scale /= 2
    rests, unit, made = list(numbers), scale, []
    for _ in range(slices):
        made.append([to_integer(x / unit) for x in rests])
        rests = [x - d * unit for x, d in zip(rests, made[-1], strict=True)]
        unit /= 2 ** (bits - 1)
    return made, scale


def cut(x, channel, unit):
    """A number of the table after clipping and pruning by its channel."""
    largest = max(map(abs, channel), default=Fraction(0))
    if abs(x) < Fraction(unit.prune * float(largest)):
        return Fraction(0)
    end = Fraction(unit.clip * float(largest))
    return max(-end, min(end, x))


def two_of_four(column: list[Fraction]) -> list[Fraction]:
    """A column with the two largest of every four left, the first of equals."""
    made = []
    for start in range(0, len(column), 4):
        four = column[start : start + 4]
        best = sorted(range(4), key=lambda i: (-abs(four[i]), i))[:2]
        made += [x if i in best else Fraction(0) for i, x in enumerate(four)]
    return made


def prepared(matrix, unit, along):
    """The table of fractions [row][column] after all that is done before rounding."""
    rows, columns = len(matrix), len(matrix[0])
    exact = [[Fraction(x) for x in row] for row in matrix]

    def channel(k, n):
        return exact[k] if along == "rows" else [exact[i][n] for i in range(rows)]

    made = [[cut(exact[k][n], channel(k, n), unit) for n in range(columns)]
            for k in range(rows)]  # fmt: skip
    if unit.sparsity == "2:4":
        kept = [two_of_four([made[k][n] for k in range(rows)]) for n in range(columns)]
        made = [[kept[n][k] for n in range(columns)] for k in range(rows)]
    return made


class Oracle:
    """The products of a unit.

    Args:
        unit: a MatrixUnit, whose attributes alone are read.
        matrices: lists of rows of floats.
        along: "rows" or "columns".
    """

    def __init__(self, unit, matrices, along):
        self.unit, self.along = unit, along
        self.tables = [prepared(matrix, unit, along) for matrix in matrices]
        self.rows, self.columns = len(matrices[0]), len(matrices[0][0])
        self.group = unit.group if unit.scale == "group" else None
        self._cache: dict = {}

    def _members(self, b, k, n):
        """The places (b, k, n) of all numbers that share the scale of one."""
        if self.unit.scale == "tensor":
            return [(i, j, m) for i in range(len(self.tables)) for j in range(self.rows)
                    for m in range(self.columns)]  # fmt: skip
        if self.along == "rows":
            start = 0 if self.group is None else n // self.group * self.group
            return [(b, k, m) for m in range(start, start + (self.group or self.columns))]
        start = 0 if self.group is None else k // self.group * self.group
        return [(b, j, n) for j in range(start, start + (self.group or self.rows))]

    def stored(self, b, k, n):
        """The numbers of a place of the table, one for each slice, and their scale."""
        members = self._members(b, k, n)
        if members[0] not in self._cache or self._cache[members[0]][0] != len(members):
            numbers = [self.tables[i][j][m] for i, j, m in members]
            self._cache[members[0]] = len(members), self._rounded(numbers, members)
        made, scale = self._cache[members[0]][1]
        return made[b, k, n], scale

    def _rounded(self, numbers, members):
        unit = self.unit
        if unit.slices > 1:
            slices, scale = digits(numbers, BITS[unit.table], unit.slices)
            return dict(zip(members, zip(*slices, strict=True), strict=True)), scale
        if unit.scale == "none":
            scale = Fraction(1)
        elif isinstance(unit.scale, float):
            scale = Fraction(unit.scale)
        else:
            scale = scale_for(numbers, unit.table)
        return {m: (self._one(x / scale, unit.table),)
                for m, x in zip(members, numbers, strict=True)}, scale  # fmt: skip

    @staticmethod
    def _one(x, name):
        if name not in BITS:
            return to_format(x, name)
        ends = 2 ** (BITS[name] - 1)
        return max(-ends, min(ends - 1, to_integer(x)))

    def product(self, field, b, n, c):
        """One number of the product: field[b][k][c] are floats."""
        if self.along == "rows" or self.group is None:
            return self._block(field, b, n, c, 0, self.rows)
        total = None
        for start in range(0, self.rows, self.group):
            part = self._block(field, b, n, c, start, start + self.group)
            total = part if total is None else total + part
        return total

    def _given(self, field, b, n, c, start, stop):
        """The part of the field's column that is multiplied, scales of rows before it."""
        given = [field[b][k][c] for k in range(start, stop)]
        if self.along == "columns":
            return given
        return [x * float(self.stored(b, k, n)[1]) for k, x in enumerate(given, start)]

    def _block(self, field, b, n, c, start, stop):
        unit = self.unit
        given = [Fraction(x) for x in self._given(field, b, n, c, start, stop)]
        shared = given
        if unit.scale == "tensor":
            shared = [Fraction(x) for i in range(len(self.tables))
                      for x in self._given(field, i, n, c, 0, self.rows)]  # fmt: skip
        table = [self.stored(b, k, n)[0] for k in range(start, stop)]
        if unit.slices > 1:
            slices, scale = digits(shared, BITS[unit.field], unit.slices)
            first = b * self.rows if unit.scale == "tensor" else 0
            slices = [one[first : first + len(given)] for one in slices]
            sums, q = None, BITS[unit.table] - 1
            for total in range(unit.slices - 1, -1, -1):
                for j in range(total + 1):
                    whole = sum(t[total - j] * f for t, f in zip(table, slices[j], strict=True))
                    term = float(whole) * 2.0 ** (-q * total)
                    sums = term if sums is None else sums + term
        else:
            scale = Fraction(1) if unit.scale == "none" else scale_for(shared, unit.field)
            numbers = [self._one(x / scale, unit.field) for x in given]
            sums = self._summed([t[0] * f for t, f in zip(table, numbers, strict=True)])
        made = sums * float(scale)
        return made if self.along == "rows" else made * float(self.stored(b, start, n)[1])

    def _summed(self, terms):
        """The sum of exact products in the accumulator, as a float."""
        if self.unit.accumulate == "int32":
            whole = sum(terms)
            assert -(2**31) <= whole < 2**31
            return float(whole)
        arithmetic = resolve_backend(self.unit.accumulate).compute
        total = Fraction(0)
        for term in terms:
            total = Fraction(round_exact(total + term, arithmetic))
        return float(total)
