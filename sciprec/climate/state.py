"""Between fields in SI units and the model's state: coefficients in model units."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sciprec.climate.constants import Units
from sciprec.climate.equations import grid_constants, grid_spectra, spectral_constants
from sciprec.climate.initial import InitialState
from sciprec.climate.transform import SpectralTransform, reference_transform
from sciprec.precision import lift

_REFERENCE_BITS = 8


@dataclass(frozen=True)
class Conversion:
    """Converts between SI fields and coefficients at a truncation, in binary64.

    Args:
        transform: the binary64 transform.
        units: the model's units.
        reference: Phi_0 in model units, a number of 8 bits: nearly every format holds it exactly.
        ground: Phi_s on the grid in the model's order and units, truncated as the state is.
        coriolis: f on the grid in the model's order and units.
    """

    transform: SpectralTransform
    units: Units
    reference: float
    ground: np.ndarray
    coriolis: np.ndarray

    @classmethod
    def of(cls, initial: InitialState, transform: SpectralTransform, units: Units) -> Conversion:
        """The conversion for a case: its mean height, mountains and rotation."""
        mean = float(np.mean(initial.height @ np.tile(transform.grid.weights_north, 2)))
        ground = transform.to_spectrum(initial.orography[None] / units.height)
        return cls(
            transform=transform,
            units=units,
            reference=_few_bits(mean / units.height),
            ground=transform.to_grid(ground)[0],
            coriolis=initial.coriolis / units.vorticity,
        )

    @property
    def orography(self) -> np.ndarray:
        """Height of the ground in m (nlat, nlon), south to north."""
        return self.transform.grid.to_output(self.ground) * self.units.height

    @property
    def constants(self) -> tuple[tuple, tuple]:
        """The constants of the equations in binary64: of the coefficients, of the grid."""
        factors = spectral_constants(self.transform.truncation, self.reference)
        return factors, grid_constants(self.transform.grid, self.coriolis, self.ground)

    def to_state(self, initial: InitialState) -> np.ndarray:
        """Coefficients (coefficients, 6) of an initial state."""
        return self.transform.to_spectrum(
            np.stack(
                [
                    initial.vorticity / self.units.vorticity,
                    initial.divergence / self.units.vorticity,
                    initial.height / self.units.height - self.reference,
                ]
            )
        )

    def to_fields(self, state: np.ndarray) -> dict[str, np.ndarray]:
        """height (m), u, v (m/s), vorticity and divergence (1/s), each (nlat, nlon), of a state."""
        grid, units = self.transform.grid, self.units
        factors = spectral_constants(self.transform.truncation, self.reference)
        spectra = np.zeros((state.shape[0], 8))
        lift(grid_spectra, "fp64")(np.ascontiguousarray(state), *factors[1:4], spectra)
        fields = self.transform.to_grid(np.concatenate([spectra, state[:, 2:4]], axis=1))
        vorticity, surface, u_cos, v_cos, divergence = (grid.to_output(field) for field in fields)
        per_cos = units.velocity / np.cos(np.radians(grid.lat))[:, None]
        return {
            "height": (surface + self.reference) * units.height,
            "u": u_cos * per_cos,
            "v": v_cos * per_cos,
            "vorticity": vorticity * units.vorticity,
            "divergence": divergence * units.vorticity,
        }


def _few_bits(x: float) -> float:
    """x rounded to a significand of 8 bits."""
    fraction, exponent = math.frexp(x)
    return math.ldexp(round(math.ldexp(fraction, _REFERENCE_BITS)), exponent - _REFERENCE_BITS)


def conversion(initial: InitialState, truncation, units: Units) -> Conversion:
    """The conversion for an initial state on a truncation's grid, in the model's order."""
    return Conversion.of(initial, reference_transform(truncation), units)
