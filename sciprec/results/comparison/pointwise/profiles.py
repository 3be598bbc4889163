"""The compiled loop that collects errors along the axes of a block, and in the cells of a map."""

from __future__ import annotations

import numpy as np

from sciprec.precision.compiled.disk_cache import kept
from sciprec.precision.compiled.lowering import helper
from sciprec.precision.elementary.bits import bits, fabs, from_bits, select

_loop = helper(nogil=True, error_model="numpy")

_LARGEST = 1.7976931348623157e308


@kept(nogil=True, error_model="numpy")
def profile(golden, actual, weights, rows, columns, cells, width, phase):
    """Errors of a block, row by row and column by column, over its finite pairs.

    Args:
        golden, actual: contiguous (n, m).
        weights: (n, m), or (0, 0) where all weigh 1.
        rows, columns: added to, (n, 4) and (4, m): largest |e|, sum w e e, sum w e, sum w.
        cells: largest |e| by row and cell of columns, (n, blocks), added to.
        width: columns in a cell.
        phase: columns of the first cell that lie before this block.
    """
    n, m = golden.shape
    error, weight = np.empty(m), np.empty(m)
    for r in range(n):
        for i in range(m):
            good = (fabs(golden[r, i]) <= _LARGEST) & (fabs(actual[r, i]) <= _LARGEST)
            difference = select(good, actual[r, i] - golden[r, i], 0.0)
            difference = select(difference > _LARGEST, _LARGEST, difference)
            error[i] = select(difference < -_LARGEST, -_LARGEST, difference)
            weight[i] = select(good, 1.0, 0.0)
        if weights.size:
            for i in range(m):
                weight[i] *= weights[r, i]
        for i in range(m):
            columns[1, i] += weight[i] * (error[i] * error[i])
        for i in range(m):
            columns[2, i] += weight[i] * error[i]
        for i in range(m):
            columns[3, i] += weight[i]
        for i in range(m):
            size = fabs(error[i])
            columns[0, i] = select(size > columns[0, i], size, columns[0, i])
        _add_row_sums(error, weight, rows[r])
        rows[r, 0] = max(rows[r, 0], _add_cells(error, cells[r], width, phase))


@_loop
def _add_row_sums(error, weight, row):
    """Add the sums of one row, from left to right."""
    square, bias, total = 0.0, 0.0, 0.0
    for i in range(error.size):
        square += weight[i] * (error[i] * error[i])
        bias += weight[i] * error[i]
        total += weight[i]
    row[1] += square
    row[2] += bias
    row[3] += total


@_loop
def _add_cells(error, cells, width, phase):
    """The largest errors of one row by cell; returns the largest of all."""
    most = 0.0
    for c in range(cells.size):
        largest = 0
        for i in range(max(c * width - phase, 0), min((c + 1) * width - phase, error.size)):
            pattern = bits(fabs(error[i]))
            if pattern > largest:
                largest = pattern
        cells[c] = max(cells[c], from_bits(largest))
        most = max(most, from_bits(largest))
    return most
