"""What stands between the transforms of the primitive equations: see `staged_tendency.Parts`."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from sciprec.climate.compiled import compiled
from sciprec.climate.equations import Conversion
from sciprec.climate.held_suarez import brake_wind, forced_air_products
from sciprec.climate.primitive_spectral import air_products, air_tendency, primitive_spectra
from sciprec.climate.transform import rounded
from sciprec.precision import Backend, resolve_backend


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
        kernels = primitive_spectra, self.products_kernel, air_tendency
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
        self.work[4][:] = rounded(spectra, self.backend)
        self._kernels[2](state, self.constants, self.work, out)


class ForcedAirParts(AirParts):
    """The parts of `forced_primitive_equations`; see `AirParts`."""

    products_kernel = staticmethod(forced_air_products)

    def tendency(self, state: np.ndarray, spectra: np.ndarray, out: np.ndarray) -> None:
        """The tendency of a state, friction included."""
        super().tendency(state, spectra, out)
        compiled(brake_wind, self.backend)(state, self.constants[1][0], out)
