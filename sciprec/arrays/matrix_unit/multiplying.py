"""Products of a matrix unit: fields scaled and rounded, multiplied by a stored table.

The kernel is written once, compiled for integers and for floats: compiled plainly, integers give
sums of 32 bits; lifted, products and sums have their formats.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from sciprec.arrays.integers.fixed_point import ends_of_rows
from sciprec.arrays.matrix_unit.slicing import Allocator, pairs_of, slices_of
from sciprec.arrays.matrix_unit.unit import INTEGER_BITS, MatrixUnit
from sciprec.arrays.matrix_unit.unit_table import UnitTable, real_scales, rounded_to
from sciprec.precision.compiled.disk_cache import kept
from sciprec.precision.formats.backend import Arithmetic, Backend
from sciprec.precision.formats.float_format import ALIASES, FORMATS
from sciprec.precision.lifting.lifting import lift
from sciprec.precision.operations.reduce import accumulate, product


def multiply_numbers(field, rows, out, table):
    """out[b, c, n] = sum over k of field[b, k, c] table[b, k, n], k ascending from zero.

    Args:
        field: (blocks, rows, columns of the field).
        rows: (blocks,), how many count, multiples of 4; the others are zero.
        out: (blocks, columns of the field, columns), written.
        table: (blocks, rows, columns).
    """
    for b in range(field.shape[0]):
        for c in range(field.shape[2]):
            sums = out[b, c]
            sums[:] = 0
            for k in range(0, rows[b], 4):
                w0 = field[b, k, c]
                w1 = field[b, k + 1, c]
                w2 = field[b, k + 2, c]
                w3 = field[b, k + 3, c]
                t0 = table[b, k]
                t1 = table[b, k + 1]
                t2 = table[b, k + 2]
                t3 = table[b, k + 3]
                for n in range(sums.shape[0]):
                    upto = accumulate(sums[n], product(w0, t0[n]))
                    upto = accumulate(upto, product(w1, t1[n]))
                    upto = accumulate(upto, product(w2, t2[n]))
                    sums[n] = accumulate(upto, product(w3, t3[n]))


@lru_cache(maxsize=16)
def compiled_for(accumulator: str) -> Callable:
    """`multiply_numbers` with sums in this format; products are exact in binary32, or integers.

    Args:
        accumulator: "int32", or the name of a format.
    """
    if accumulator == "int32":
        return kept(nogil=True)(multiply_numbers)
    sums = Arithmetic(FORMATS[ALIASES[accumulator]])
    products = Arithmetic(FORMATS["binary32"])
    backend = Backend(f"sums in {accumulator}", sums, sums, sums, products)
    return lift(multiply_numbers, backend, trust_inputs=True)


@np.errstate(over="ignore", invalid="ignore", under="ignore")
def unit_product(table: UnitTable, field: np.ndarray, room: Allocator = np.empty) -> np.ndarray:
    """Matrices by fields: out[b, n, c] = sum over k of table[b, k, n] field[b, k, c].

    Args:
        table: of matrices (matrices, rows, columns).
        field: (matrices, rows, columns of the field) in binary64.
        room: makes all arrays, such as a pool's.

    Returns:
        (matrices, columns, columns of the field) in binary64; NaN where a column of the field has
        a number that is not finite.

    Precision: the field is multiplied by scales of rows in binary64, and each number rounded once
        to its format over the scale of its column (of its matrix and group; of all matrices where
        the scale is that of a tensor). Products are exact; sums run over ascending rows from zero
        in the accumulator. Then in binary64: slices are added, the smallest first, scales multiply,
        and groups are added in their order. No result depends on other columns of the field.
    """
    unit, (count, groups, rows, columns) = table.unit, table.shape
    fields = field.shape[2]
    of_rows = table.along == "rows"
    lines = room((count, groups, fields, rows))
    _take_lines(field, table.scales, of_rows, lines)
    numbers, scales = _numbers(lines.reshape(-1, rows), unit, fields, room)
    by_rows = [_by_rows(digits, fields, unit, room) for digits in numbers]
    sums = _sums(table, by_rows, fields, room)
    out = room((count, groups * columns if of_rows else columns, fields))
    blocks, of_field = sums.reshape(count, groups, fields, columns), scales.reshape(-1, fields)
    _give_sums(blocks, of_field.reshape(count, groups, fields), table.scales, of_rows, out)
    return out


@kept(nogil=True, error_model="numpy")
def _take_lines(field, scales, of_rows, lines):
    """lines[b, g, c, k] = field in row k of a block, times its scale where channels are rows."""
    whole, groups, fields, rows = lines.shape
    for b in range(whole):
        for g in range(groups):
            for k in range(rows):
                factor = scales[b, g, k] if of_rows else 1.0
                row = k if of_rows else g * rows + k
                for c in range(fields):
                    lines[b, g, c, k] = field[b, row, c] * factor


@kept(nogil=True, error_model="numpy")
def _give_sums(sums, of_field, scales, of_rows, out):
    """out[b, n, c] = sums[b, g, c, n] times their scales: of groups of columns n, or where channels
    are columns, those of all groups of rows, in order.
    """
    whole, groups, fields, columns = sums.shape
    for b in range(whole):
        for g in range(groups):
            for c in range(fields):
                factor = of_field[b, g, c]
                for n in range(columns):
                    made = sums[b, g, c, n] * factor
                    if of_rows:
                        out[b, g * columns + n, c] = made
                    elif g == 0:
                        out[b, n, c] = made * scales[b, g, n]
                    else:
                        out[b, n, c] += made * scales[b, g, n]


def _sums(table: UnitTable, numbers: list[np.ndarray], fields: int, room: Allocator) -> np.ndarray:
    """Sums of products of all pairs of slices, (blocks, columns of the field, columns)."""
    unit, (_, _, _, columns) = table.unit, table.shape
    shape = table.rows.size, fields, columns
    out, term, total = room(shape, _kind(unit)), room(shape), room(shape)
    multiply = compiled_for(str(unit.accumulate))
    for number, (i, j) in enumerate(pairs_of(unit.slices)):
        multiply(numbers[j], table.rows, out, table.slices[i])
        result = term if number else total
        result[...] = out
        if unit.slices > 1:
            np.multiply(result, 2.0 ** (-unit.slice_bits * (i + j)), out=result)
        if number:
            np.add(total, term, out=total)
    return total


def _kind(unit: MatrixUnit) -> type:
    """The kind of the numbers that a kernel multiplies and adds."""
    return np.int32 if unit.accumulate == "int32" else np.float32


def _by_rows(numbers: np.ndarray, fields: int, unit: MatrixUnit, room: Allocator) -> np.ndarray:
    """Numbers (blocks fields, rows) as a kernel takes them: (blocks, rows, fields)."""
    apart = numbers.reshape(-1, fields, numbers.shape[1]).swapaxes(1, 2)
    result = room(apart.shape, _kind(unit))
    result[...] = apart
    return result


def _numbers(
    lines: np.ndarray, unit: MatrixUnit, fields: int, room: Allocator
) -> tuple[list[np.ndarray], np.ndarray]:
    """The slices of the field's columns as lines, which change, and the lines' scales."""
    ends = room((2, len(lines)))
    ends_of_rows(lines, ends, spoil=True)
    if unit.scale == "tensor":
        apart, most = ends.reshape(2, -1, fields), room((2, 1, fields))
        np.max(apart, axis=1, out=most, keepdims=True)
        apart[...] = most
    if unit.slices > 1:
        return slices_of(lines, ends, INTEGER_BITS[unit.field], unit.slices, room)
    if unit.scaled:
        largest = np.maximum(*ends, out=ends[0])
        scales = real_scales(largest, unit.field, room)
    else:
        scales = room(len(lines))
        scales.fill(1.0)
    return [rounded_to(lines, scales, unit.field, room)], scales
