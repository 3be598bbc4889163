"""The memory that transforms take whose stages have arithmetics of their own: the arrays that a
tendency takes from its pool, all fields at once, and the tables of the stages.
"""

from __future__ import annotations

from sciprec.arrays.matrix_unit.unit import INTEGER_BITS, MatrixUnit
from sciprec.climate.transform.grid import Truncation
from sciprec.climate.transform.legendre_stage import LANES, PAIR
from sciprec.facets.stages.arithmetics import Stages
from sciprec.precision import Backend

_NUMBER, _NARROW = 8, 4
"""Bytes of binary64, and of the numbers that a unit multiplies and sums."""
_BUILDING = 12
"""How many arrays of a unit's matrices, in binary64, there are at once while a table is made."""


class StagedRoom:
    """Bytes of staged transforms.

    Args:
        truncation: the truncation and its grid.
        stages: the arithmetics.
        backend: that of the model.
    """

    def __init__(self, truncation: Truncation, stages: Stages, backend: Backend) -> None:
        number, nlat = truncation.number, truncation.nlat
        self.arithmetics, self.model = stages.resolved(backend), backend
        has_rest = stages.kept_orders or stages.kept_degrees
        self.parts = [
            self.arithmetics[name] for name in ("legendre", "kept") if name != "kept" or has_rest
        ]
        self.orders, self.north = number + 1, nlat // 2
        self.most = (number + 3) // 2
        self.coefficients = self.orders * (number + 4) // 2
        self.points = truncation.nlon * nlat
        self.waves = 2 * _filled(self.north, LANES) // LANES * (number + 2) * PAIR

    def pool(self, fields: int, products: int) -> int:
        """Bytes that a tendency takes from its pool; fields to the grid, products from it."""
        spectra = 2 * self.coefficients * products
        rounded = 3 * _NUMBER * (self.points * fields + spectra)  # and what rounds them
        return rounded + self._synthesis(fields) + self._analysis(products)

    def tables(self) -> int:
        """Bytes of the tables, while they are made."""
        table = _NUMBER * self.coefficients * (2 * self.north + 2 * LANES)
        units = [self._tables_of(unit) for unit in self.parts if isinstance(unit, MatrixUnit)]
        return table * (1 + len(self.parts) - len(units)) + sum(units)

    def _synthesis(self, fields: int) -> int:
        waves, spectra = self.waves * fields, 2 * self.coefficients * fields
        carrier = self.arithmetics["fourier"].carrier.itemsize
        size = _NUMBER * 3 * waves + carrier * (waves + self.points * fields)
        for part in self.parts:
            size += _NUMBER * (spectra + waves)
            if isinstance(part, MatrixUnit):
                degrees, latitudes, groups = self._filled(part)
                size += _NUMBER * (spectra + 2 * self.orders * degrees * 2 * fields)
                size += self._product(part, fields, (groups, degrees, latitudes // groups), groups)
            else:
                size += self._products_of(part, fields, spectra, waves)
        return size

    def _analysis(self, fields: int) -> int:
        waves, spectra = self.waves * fields, 2 * self.coefficients * fields
        points, carrier = self.points * fields, self.arithmetics["fourier"].carrier.itemsize
        size = _NUMBER * (waves + 2 * points) + carrier * (points + waves)
        for part in self.parts:
            size += _NUMBER * spectra
            if isinstance(part, MatrixUnit):
                degrees, latitudes, groups = self._filled(part)
                size += _NUMBER * 2 * self.orders * latitudes * 2 * fields
                size += self._product(part, fields, (groups, latitudes // groups, degrees), 1)
            else:
                size += self._products_of(part, fields, waves, spectra)
        return size

    def _products_of(self, part: Backend, fields: int, reads: int, built: int) -> int:
        """Return the bytes of the Legendre stage in an arithmetic: what is given, rounded, made,
        and its work.
        """
        longest = _filled(max(self.north, self.most), LANES)
        return 2 * _NUMBER * reads + part.carrier.itemsize * (reads + built + 16 * longest * fields)

    def _product(
        self, unit: MatrixUnit, fields: int, shape: tuple[int, int, int], groups_made: int
    ) -> int:
        """Return the bytes of `unit_product`: lines, their scales and numbers, sums, and what is
        made.
        """
        groups, rows, columns = shape
        lines = 2 * self.orders * groups * 2 * fields
        numbers, sums = lines * rows, lines * columns
        is_integer = unit.slices > 1 or unit.field in INTEGER_BITS
        rounded = unit.slices if is_integer else _NUMBER + _NARROW
        size = numbers * (_NUMBER + rounded + _NARROW * unit.slices) + 4 * _NUMBER * lines
        return size + sums * (2 * _NUMBER + _NARROW) + _NUMBER * sums * groups_made // groups

    def _tables_of(self, unit: MatrixUnit) -> int:
        degrees, latitudes, _ = self._filled(unit)
        numbers = 2 * self.orders * degrees * latitudes
        return numbers * (_BUILDING * _NUMBER + 2 * unit.slices * _NARROW)

    def _filled(self, unit: MatrixUnit) -> tuple[int, int, int]:
        """Degrees and latitudes of a unit's matrices, filled up, and its groups of latitudes."""
        latitudes = _filled(self.north, unit.step)
        groups = latitudes // unit.step if unit.scale == "group" else 1
        return _filled(self.most, unit.step), latitudes, groups


def _filled(count: int, step: int) -> int:
    return -(-count // step) * step
