"""Tendencies whose transforms have arithmetics of their own: what stands between the transforms.

An equation set that is registered here has its tendency in three parts: from the state to what is
transformed to the grid, products there, and from their coefficients to the tendency. The parts are
the kernels of the set; only the transforms between them are others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from sciprec.climate.compiled import compiled
from sciprec.climate.equations import Conversion
from sciprec.climate.shallow_water_kernels import grid_fluxes, grid_spectra, spectral_tendency
from sciprec.climate.spherical import coriolis_terms
from sciprec.climate.staged_air import AirParts, ForcedAirParts
from sciprec.climate.staged_transform import StagedTransform
from sciprec.climate.transform import rounded
from sciprec.precision import Backend, resolve_backend


class Parts(Protocol):
    """The parts of a tendency; arrays come in any float and leave in the arithmetic's carrier."""

    def __init__(self, convert: Conversion, backend: str | Backend) -> None:
        """Compile them.

        Args:
            convert: the conversion of the set.
            backend: their arithmetic.
        """

    def spectra(self, state: np.ndarray) -> np.ndarray:
        """Coefficients of the fields that are wanted on the grid."""

    def products(self, fields: np.ndarray) -> np.ndarray:
        """Products (products, nlon, nlat) of fields on the grid."""

    def tendency(self, state: np.ndarray, spectra: np.ndarray, out: np.ndarray) -> None:
        """Write the tendency of a state, given the coefficients of the products."""


class ShallowWaterParts:
    """The parts of `shallow_water`; see `Parts`."""

    def __init__(self, convert: Conversion, backend: str | Backend) -> None:
        self.backend = resolve_backend(backend)
        self.factors, self.places, _, self.rotation = rounded(convert.constants, self.backend)
        kernels = grid_spectra, grid_fluxes, spectral_tendency, coriolis_terms
        self._kernels = tuple(compiled(kernel, self.backend) for kernel in kernels)

    def spectra(self, state: np.ndarray) -> np.ndarray:
        """Coefficients (coefficients, 8) of vorticity, Phi, U and V."""
        out = np.zeros((state.shape[0], 8), self.backend.carrier)
        self._kernels[0](state, *self.factors[1:4], out)
        return out

    def products(self, fields: np.ndarray) -> np.ndarray:
        """Fluxes and kinetic energy (5, nlon, nlat) of these fields (4, nlon, nlat)."""
        out = np.zeros((5, *fields.shape[1:]), self.backend.carrier)
        self._kernels[1](rounded(fields, self.backend), *self.places, out)
        return out

    def tendency(self, state: np.ndarray, spectra: np.ndarray, out: np.ndarray) -> None:
        """The tendency (coefficients, 6) of a state, given coefficients (coefficients, 10)."""
        self._kernels[2](state, rounded(spectra, self.backend), self.factors, out)
        self._kernels[3](state, self.rotation, 1, out)


STAGED: dict[str, type[Parts]] = {
    "shallow_water": ShallowWaterParts,
    "primitive_equations": AirParts,
    "held_suarez": ForcedAirParts,
}
"""Equation set -> the parts of its tendency."""


def staged_tendency(parts: Parts, transform: StagedTransform) -> Callable:
    """The function (state, out) that writes the tendency of a state (coefficients, columns).

    Args:
        parts: in the model's arithmetic.
        transform: between them.
    """

    def tendency(state: np.ndarray, out: np.ndarray) -> None:
        fields = transform.to_grid(parts.spectra(state))
        parts.tendency(state, transform.to_spectrum(parts.products(fields)), out)

    return tendency
