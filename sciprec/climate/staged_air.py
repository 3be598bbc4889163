"""What stands between the transforms of the primitive equations: see `staged_tendency.Parts`."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from sciprec.climate.compiled import compiled
from sciprec.climate.equations import Conversion
from sciprec.climate.held_suarez import brake_wind, relax_temperature
from sciprec.climate.primitive_spectral import (
    primitive_products,
    primitive_spectra,
    primitive_spectral_tendency,
)
from sciprec.climate.transform import rounded
from sciprec.precision import Backend, resolve_backend


def air_products(constants, work):
    """The products of all longitudes, in the place of their fields.

    Args:
        constants, work: as in `primitive_equations`.
    """
    for i in range(work[3].shape[1] - 1):
        primitive_products(i, constants, work)


def forced_air_products(constants, work):
    """`air_products`, the relaxation of the temperature added.

    Args:
        constants, work: as in `forced_primitive_equations`.
    """
    for i in range(work[3].shape[1] - 1):
        primitive_products(i, constants, work)
        relax_temperature(work[2][0], i, constants[6], constants[3], work[6][2], work[3])


class AirParts:
    """The parts of `primitive_equations`.

    Args:
        convert: the conversion of the set.
        backend: their arithmetic.
    """

    products_kernel: ClassVar[Callable] = staticmethod(air_products)

    def __init__(self, convert: Conversion, backend: str | Backend) -> None:
        self.backend = resolve_backend(backend)
        self.constants = rounded(convert.constants, self.backend)
        self.work = convert.work(self.backend.carrier)
        kernels = primitive_spectra, self.products_kernel, primitive_spectral_tendency
        self._kernels = tuple(compiled(kernel, self.backend) for kernel in kernels)

    def spectra(self, state: np.ndarray) -> np.ndarray:
        """Coefficients (coefficients, 2 (5 levels + 3)) of all fields that products need."""
        self._kernels[0](state, *self.constants[2:4], self.work[0])
        return self.work[0]

    def products(self, fields: np.ndarray) -> np.ndarray:
        """Products (6 levels + 1, nlon, nlat) of these fields (5 levels + 3, nlon, nlat)."""
        places = fields.shape[1]
        self.work[1][:, :places] = rounded(fields, self.backend)
        self._kernels[1](self.constants, self.work)
        return self.work[3][:, :places]

    def tendency(self, state: np.ndarray, spectra: np.ndarray, out: np.ndarray) -> None:
        """The tendency of a state, given coefficients (coefficients, 2 (6 levels + 1))."""
        column, ground = self.constants[0], self.constants[4][2]
        known = rounded(spectra, self.backend)
        self._kernels[2](state, known, self.constants[2], column, ground, out)


class ForcedAirParts(AirParts):
    """The parts of `forced_primitive_equations`; see `AirParts`."""

    products_kernel = staticmethod(forced_air_products)

    def tendency(self, state: np.ndarray, spectra: np.ndarray, out: np.ndarray) -> None:
        """The tendency of a state, friction included."""
        super().tendency(state, spectra, out)
        compiled(brake_wind, self.backend)(state, self.constants[1][0], out)
