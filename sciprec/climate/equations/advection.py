"""Transport of a field by a given wind that does not change, and a cosine bell to transport.

    dh/dt = -div(h v),    div v = 0

Source: Williamson et al. (1992), section 3.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sciprec.climate.constants import ModelUnits
from sciprec.climate.equations.barotropic_vorticity import flux_convergence
from sciprec.climate.equations.registry import equation_set, unchanged
from sciprec.climate.equations.spherical import spectral_constants
from sciprec.climate.transform.spectral import SpectralTransform
from sciprec.foundation.portable import portable
from sciprec.precision.registry import kernel


@dataclass(frozen=True)
class InitialTracer:
    """Fields (nlon, nlat).

    Args:
        height: what is transported, m.
        u, v: the wind, m/s.
    """

    height: np.ndarray
    u: np.ndarray
    v: np.ndarray


@dataclass(frozen=True)
class TracerConversion:
    """Converts between SI fields and coefficients at a truncation, in binary64.

    Args:
        transform: the binary64 transform.
        units: the model's units; those of the field are its largest value's power of two.
        wind: u and v on the grid in the model's order, m/s (2, nlon, nlat).
        unit: one unit of the field, m.
    """

    transform: SpectralTransform
    units: ModelUnits
    wind: np.ndarray
    unit: float
    transformed: ClassVar = (1, 2)
    vertical: ClassVar[dict] = {}

    @classmethod
    def of(
        cls, initial: InitialTracer, transform: SpectralTransform, units: ModelUnits,
        implicit_time: float,
    ) -> TracerConversion:  # fmt: skip
        """The conversion for an initial state; nothing is implicit here."""
        unit = 2.0 ** math.ceil(math.log2(np.abs(initial.height).max()))
        return cls(transform, units, np.stack([initial.u, initial.v]), unit)

    @property
    def constants(self) -> tuple[tuple, np.ndarray]:
        """Constants in binary64: of the coefficients; wind over cos(lat) on the grid."""
        grid = self.transform.grid
        factors = spectral_constants(self.transform.truncation, 0.0)
        return factors, self.wind / (self.units.velocity * portable(np.cos, grid.lat_radians))

    def to_state(self, initial: InitialTracer) -> np.ndarray:
        """Coefficients (coefficients, 2) of an initial state."""
        return self.transform.to_spectrum(initial.height[None] / self.unit)

    def to_fields(self, state: np.ndarray) -> dict[str, np.ndarray]:
        """height (m), u and v (m/s), each (nlat, nlon), of a state."""
        grid = self.transform.grid
        height = grid.to_output(self.transform.to_grid(state)[0]) * self.unit
        u, v = (grid.to_output(field) for field in self.wind)
        return {"height": height, "u": u, "v": v}

    def budgets(self, fields: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Mean of the field, m."""
        return {"mass": self.transform.grid.mean(fields["height"])}


def _random(*shape):
    return np.random.default_rng(12).uniform(-1.0, 1.0, shape)


@kernel(example=lambda: (_random(1, 8, 4), (0.0, _random(2, 8, 4)), (), np.zeros((2, 8, 4))))
def tracer_fluxes(fields, constants, work, fluxes):
    """h u / cos(lat) and h v / cos(lat).

    Args:
        fields: (1, nlon, nlat): h.
        constants: of the set; the second are u and v over cos(lat) (2, nlon, nlat).
        work: none.
        fluxes: (2, nlon, nlat), written.
    """
    wind = constants[1]
    for component in range(2):
        for i in range(fields.shape[1]):
            for j in range(fields.shape[2]):
                fluxes[component, i, j] = fields[0, i, j] * wind[component, i, j]


@equation_set(
    "advection",
    prognostic=(("height", 1),),
    spectra=unchanged,
    products=tracer_fluxes,
    conversion=TracerConversion,
    state=InitialTracer,
    fields=("height", "u", "v"),
    budgets=("mass",),
    source="Williamson et al. (1992), eq 74",
)
def advection(state, spectra, constants, tendency):
    """Tendency of a transported field from the coefficients of its fluxes.

    Args:
        state: (coefficients, 2).
        spectra: (coefficients, 4), of the products of `tracer_fluxes`.
        constants: (`spectral_constants`, wind over cos(lat) (2, nlon, nlat)).
        tendency: (coefficients, 2), written.
    """
    flux_convergence(spectra, constants[0], tendency)
