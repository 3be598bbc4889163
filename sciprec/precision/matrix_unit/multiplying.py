"""Products of a matrix unit: fields scaled and rounded, multiplied from what is kept of a table."""

from __future__ import annotations

import numpy as np

from sciprec.precision.formats.matrix_unit import INTEGER_BITS, MatrixUnit
from sciprec.precision.matrix_unit.slicing import pairs_of, sliced
from sciprec.precision.matrix_unit.unit_kernels import compiled_for
from sciprec.precision.matrix_unit.unit_table import UnitTable, real_scales, rounded_to


@np.errstate(over="ignore", invalid="ignore", under="ignore")
def unit_product(table: UnitTable, field: np.ndarray) -> np.ndarray:
    """Matrices by fields: out[b, n, c] = sum over k of table[b, k, n] field[b, k, c].

    Args:
        table: of matrices (matrices, rows, columns).
        field: (matrices, rows, columns of the field) in binary64.

    Returns:
        (matrices, columns, columns of the field) in binary64; NaN where a column of the field has
        a number that is not finite.

    Precision: the field is multiplied by scales of rows in binary64, and each number rounded once
        to its format over the scale of its column (of its matrix and group; of all matrices where
        the scale is that of a tensor). Products are exact; sums run over ascending rows from zero
        in the accumulator. Then in binary64: slices are added, the smallest first, scales multiply,
        and groups are added in their order. No result depends on other columns of the field.
    """
    unit, (whole, groups, rows, columns) = table.unit, table.shape
    fields = field.shape[2]
    if table.along == "rows":
        given = field[:, None] * table.scales[..., None]
    else:
        given = field.reshape(whole, groups, rows, fields)
    lines = np.ascontiguousarray(given.transpose(0, 1, 3, 2)).reshape(-1, rows)
    numbers, scales = _numbers(lines, unit, fields)
    summed = _sums(table, [_by_rows(one, fields, unit) for one in numbers], fields)
    made = summed * scales.reshape(-1, fields, 1)
    made = made.reshape(whole, groups, fields, columns)
    if table.along == "rows":
        return made.transpose(0, 1, 3, 2).reshape(whole, groups * columns, fields)
    made = made * table.scales[:, :, None, :]
    total = made[:, 0]
    for group in range(1, groups):
        total = total + made[:, group]
    return total.transpose(0, 2, 1)


def _sums(table: UnitTable, numbers: list[np.ndarray], fields: int) -> np.ndarray:
    """Sums of products of all pairs of slices, (blocks, columns of the field, columns)."""
    unit, (_, _, _, columns) = table.unit, table.shape
    dtype = np.int32 if unit.accumulate == "int32" else np.float32
    out = np.empty((table.rows.size, fields, columns), dtype)
    total: np.ndarray | None = None
    for i, j in pairs_of(unit.slices):
        kept = table.slices[i]
        kernel = compiled_for(kept.kernel, str(unit.accumulate))
        kernel(numbers[j], table.rows, out, *kept.arrays)
        term = out.astype(np.float64)
        if unit.slices > 1:
            term *= 2.0 ** (-unit.slice_bits * (i + j))
        total = term if total is None else total + term
    assert total is not None
    return total


def _by_rows(numbers: np.ndarray, fields: int, unit: MatrixUnit) -> np.ndarray:
    """Numbers (blocks fields, rows) as a kernel takes them: (blocks, rows, fields)."""
    dtype = np.int32 if unit.accumulate == "int32" else np.float32
    apart = numbers.reshape(-1, fields, numbers.shape[1])
    return np.ascontiguousarray(apart.swapaxes(1, 2), dtype)


def _numbers(
    lines: np.ndarray, unit: MatrixUnit, fields: int
) -> tuple[list[np.ndarray], np.ndarray]:
    """The slices of the field's columns as lines, and the lines' scales."""
    if unit.slices > 1:
        if unit.scale != "tensor":
            return sliced(lines, INTEGER_BITS[unit.field], unit.slices)
        made, scales = sliced(_of_tensor(lines, fields), INTEGER_BITS[unit.field], unit.slices)
        whole = [_to_lines(one, lines, fields) for one in made]
        return whole, np.tile(scales, len(lines) // fields)
    if not unit.scaled:
        return [rounded_to(lines, np.ones(len(lines)), unit.field)], np.ones(len(lines))
    largest = np.abs(lines).max(axis=1, initial=0.0)
    if unit.scale == "tensor":
        largest = np.tile(largest.reshape(-1, fields).max(axis=0), len(lines) // fields)
    scales = real_scales(largest, unit.field)
    return [rounded_to(lines, scales, unit.field)], scales


def _of_tensor(lines: np.ndarray, fields: int) -> np.ndarray:
    """Lines (blocks fields, rows) with those of a column of the field, of all blocks, in one."""
    apart = lines.reshape(-1, fields, lines.shape[1]).swapaxes(0, 1)
    return np.ascontiguousarray(apart).reshape(fields, -1)


def _to_lines(one: np.ndarray, lines: np.ndarray, fields: int) -> np.ndarray:
    """The inverse of `_of_tensor`."""
    apart = one.reshape(fields, -1, lines.shape[1]).swapaxes(0, 1)
    return np.ascontiguousarray(apart).reshape(lines.shape)
