"""The Legendre stage on a matrix unit: a product of matrices for each order and parity of l - m.

Channels are Legendre functions: in the synthesis rows of a matrix, whose scales go into the
coefficients, in the analysis columns, whose scales multiply the sums. Groups are latitudes of a
function. Hemispheres are joined and folded in binary64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sciprec.arrays.aligned import Pool
from sciprec.arrays.matrix_unit.multiplying import unit_product
from sciprec.arrays.matrix_unit.unit import ROWS, MatrixUnit
from sciprec.arrays.matrix_unit.unit_table import UnitTable
from sciprec.climate.transform.grid import Truncation
from sciprec.climate.transform.legendre import coefficient_orders, gauss_nodes, legendre_table
from sciprec.climate.transform.legendre_stage import LANES, PAIR
from sciprec.precision.compiled.disk_cache import kept


class MatrixLegendre:
    """The Legendre stage with tables of a matrix unit; arrays go in and come out in binary64.

    Args:
        truncation: the truncation and its grid.
        unit: what multiplies.
        held: (coefficients,), whose functions it has; the others are zero.
        matrices: of the synthesis and of the analysis; left out, those of `legendre_matrices`.

    Precision: as `unit_product` says; the sum of even and odd functions in the synthesis, and the
        sums and differences of hemispheres before the analysis, are binary64's.
    """

    def __init__(
        self, truncation: Truncation, unit: MatrixUnit, present_places: np.ndarray,
        matrices: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        self.unit, self.north = unit, truncation.nlat // 2
        self.orders, self.tiles = truncation.number + 1, -(-self.north // LANES)
        self.places = _places(truncation.number, unit.step)
        self._inverse = np.argsort(self.places, axis=None, kind="stable")[: present_places.size]
        functions = legendre_matrices(truncation, unit.step) if matrices is None else matrices
        present = np.append(present_places, False)[self.places]
        entries = present[:, :, None] & (np.arange(functions[0].shape[2]) < self.north)
        of_analysis = entries.swapaxes(1, 2)
        self.tables = (
            UnitTable.of(functions[0] * entries, unit, "rows", entries),
            UnitTable.of(functions[1] * of_analysis, unit, "columns", of_analysis),
        )

    def synthesis(self, spectrum: np.ndarray, pool: Pool | None = None) -> np.ndarray:
        """Fourier coefficients of (coefficients, 2 fields), in an array of the pool or of its own.
        """
        room, columns = np.empty if pool is None else pool.array, spectrum.shape[1]
        padded = room((len(spectrum) + 1, columns))
        padded[:-1], padded[-1] = spectrum, 0.0
        spectrum_rows = room((*self.places.shape, columns))
        np.take(padded, self.places, axis=0, out=spectrum_rows, mode="clip")
        sums = unit_product(self.tables[0], spectrum_rows, room)
        fourier = room((columns // 2, 2 * self.tiles, self.orders + 1, PAIR))
        fourier.fill(0.0)
        _join_hemispheres(sums, self.north, fourier.reshape(self._in_tiles))
        return fourier

    def analysis(
        self, fourier: np.ndarray, shape: tuple[int, int], pool: Pool | None = None
    ) -> np.ndarray:
        """Return coefficients, some rows and columns, of Fourier coefficients."""
        room = np.empty if pool is None else pool.array
        _, groups, filled, _ = self.tables[1].shape
        folded = room((2 * self.orders, groups * filled, shape[1]))
        folded.fill(0.0)
        _fold_hemispheres(fourier.reshape(self._in_tiles), self.north, folded)
        sums, spectrum = unit_product(self.tables[1], folded, room), room(shape)
        np.take(sums.reshape(-1, shape[1]), self._inverse, axis=0, out=spectrum, mode="clip")
        return spectrum

    @property
    def _in_tiles(self) -> tuple[int, ...]:
        """Fields, hemispheres, tiles, orders and one more, parts, lanes of Fourier coefficients."""
        return -1, 2, self.tiles, self.orders + 1, 2, LANES

    def report(self) -> dict[str, Any]:
        """Return the stored numbers and the work of the unit, as plain data.

        Returns:
            unit, its text; numbers and bytes of both tables; products of matrices in place of one;
            table_errors, of synthesis and analysis, relative; multiplications of a field in one
            direction and one product; field_numbers, of a field in both domains.
        """
        number = self.tables[0].count
        return {
            "unit": self.unit.text,
            "numbers": 2 * number,
            "bytes": sum(table.bytes for table in self.tables),
            "products": self.unit.products,
            "table_errors": [table.error for table in self.tables],
            "multiplications": 2 * number,
            "field_numbers": 2 * number // self.north + 4 * self.orders * self.north,
        }


@kept(nogil=True, error_model="numpy")
def _join_hemispheres(sums, north, fourier):
    """Sums (even and odd functions of each order, latitudes, columns) to both hemispheres."""
    for m in range(sums.shape[0] // 2):
        for j in range(north):
            tile, lane = j // LANES, j % LANES
            for c in range(sums.shape[2]):
                even, odd = sums[2 * m, j, c], sums[2 * m + 1, j, c]
                fourier[c // 2, 0, tile, m, c % 2, lane] = even + odd
                fourier[c // 2, 1, tile, m, c % 2, lane] = even - odd


@kept(nogil=True, error_model="numpy")
def _fold_hemispheres(fourier, north, folded):
    """Fold both hemispheres into (sums and differences for each order, latitudes, columns)."""
    for m in range(folded.shape[0] // 2):
        for j in range(north):
            tile, lane = j // LANES, j % LANES
            for c in range(folded.shape[2]):
                northern = fourier[c // 2, 0, tile, m, c % 2, lane]
                southern = fourier[c // 2, 1, tile, m, c % 2, lane]
                folded[2 * m, j, c] = northern + southern
                folded[2 * m + 1, j, c] = northern - southern


def require_unit(truncation: Truncation, unit: MatrixUnit) -> None:
    """Make sure that a unit can have the Legendre products of a truncation.

    Raises:
        InputError: its accumulator does not hold their sums, or its format not the tables.
    """
    step, north = unit.step, truncation.nlat // 2
    degrees = -(-((truncation.number + 3) // 2) // step) * step
    latitudes = -(-north // step) * step
    grouped = unit.scale == "group"
    unit.require_sums(max(degrees, step if grouped else latitudes))
    if unit.scale == "none" or isinstance(unit.scale, float):  # numbers may be too large
        degree, _ = coefficient_orders(truncation.number)
        MatrixLegendre(truncation, unit, np.ones(degree.size, bool))


def legendre_matrices(truncation: Truncation, step: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    """Legendre functions by order and parity of l - m, and the same times the Gauss weights.

    Args:
        truncation: the truncation and its grid.
        step: degrees and latitudes are filled up with zeros to a multiple of it; 8, or one of it.

    Returns:
        (2 orders, degrees, northern latitudes) and (2 orders, northern latitudes, degrees), rows of
        even l - m of an order, then odd ones.
    """
    north = truncation.nlat // 2
    sin_lat, weights = gauss_nodes(truncation.nlat, np.longdouble)
    functions = legendre_table(truncation.number, sin_lat[:north])
    weighted = (functions * weights[:north]).astype(np.float64)
    places, fill = _places(truncation.number, step), -north % step
    forth, back = (
        np.pad(table, ((0, 1), (0, fill)))[places] for table in (functions, weighted)
    )
    return forth, np.ascontiguousarray(back.swapaxes(1, 2))


def _places(number: int, step: int) -> np.ndarray:
    """(2 orders, degrees) rows of the coefficients; that after the last one where there is none."""
    degree, order = coefficient_orders(number)
    most = -(-((number + 3) // 2) // step) * step
    places = np.full((2 * (number + 1), most), degree.size)
    places[2 * order + (degree - order) % 2, (degree - order) // 2] = np.arange(degree.size)
    return places
