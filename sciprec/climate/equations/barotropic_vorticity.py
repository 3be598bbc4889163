"""The barotropic vorticity equation on the sphere, and its Rossby-Haurwitz wave.

    d zeta/dt = -div((zeta + f) v),    v = k x grad psi,    laplacian psi = zeta

It has no gravity waves: nothing is stiff. -div(f v) turns each coefficient by itself.
Source: Haurwitz (1940); Williamson et al. (1992), section 3.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from sciprec.climate.constants import ROTATION_PER_SECOND, ModelUnits
from sciprec.climate.equations.registry import equation_set
from sciprec.climate.equations.spherical import (
    inverse_cosine_squared,
    rotation_constants,
    spectral_constants,
)
from sciprec.climate.transform.compiled import compiled
from sciprec.climate.transform.grid import Truncation
from sciprec.climate.transform.spectral import SpectralTransform
from sciprec.precision.registry import kernel


@dataclass(frozen=True)
class InitialVorticity:
    """A wind without divergence on a rotating sphere.

    Args:
        vorticity: of the wind, 1/s (nlon, nlat).
        rotation_per_second: angular velocity of the sphere, 1/s.
    """

    vorticity: np.ndarray
    rotation_per_second: float = ROTATION_PER_SECOND


@dataclass(frozen=True)
class VorticityConversion:
    """Converts between SI fields and coefficients at a truncation, in binary64.

    Args:
        transform: the binary64 transform.
        units: the model's units.
        twice_rotation: 2 Omega in model units.
    """

    transform: SpectralTransform
    units: ModelUnits
    twice_rotation: float
    transformed: ClassVar = (3, 2)
    vertical: ClassVar[dict] = {}

    @classmethod
    def of(
        cls, initial: InitialVorticity, transform: SpectralTransform, units: ModelUnits,
        implicit_time: float,
    ) -> VorticityConversion:  # fmt: skip
        """The conversion for an initial state; nothing is implicit here."""
        return cls(transform, units, 2 * initial.rotation_per_second / units.vorticity)

    @cached_property
    def constants(self) -> tuple[tuple, np.ndarray, np.ndarray]:
        """Constants in binary64: of the coefficients, of the grid, of the rotation."""
        truncation = self.transform.truncation
        turning = rotation_constants(truncation, self.twice_rotation)[2]
        factors = spectral_constants(truncation, 0.0)
        return factors, inverse_cosine_squared(self.transform.grid), turning

    def to_state(self, initial: InitialVorticity) -> np.ndarray:
        """Coefficients (coefficients, 2) of an initial state."""
        return self.transform.to_spectrum(initial.vorticity[None] / self.units.vorticity)

    def to_fields(self, state: np.ndarray) -> dict[str, np.ndarray]:
        """vorticity (1/s), u, v (m/s), streamfunction (m2/s), each (nlat, nlon), of a state."""
        grid, units, degree = self.transform.grid, self.units, self.transform.degree
        spectra = np.zeros((state.shape[0], 6))
        compiled(rotation_spectra, "fp64")(np.ascontiguousarray(state), self.constants, spectra)
        stream = -state / np.maximum(degree * (degree + 1.0), 1.0)[:, None]
        fields = self.transform.to_grid(np.concatenate([spectra, stream], axis=1))
        vorticity, u_cos, v_cos, stream = (grid.to_output(field) for field in fields)
        per_cos = units.velocity / grid.cosine[:, None]
        return {
            "vorticity": vorticity * units.vorticity,
            "u": u_cos * per_cos,
            "v": v_cos * per_cos,
            "streamfunction": stream * units.velocity * units.length,
        }

    def budgets(self, fields: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Means of energy v.v / 2 (m2/s2), enstrophy zeta**2 / 2 (1/s2), u a cos(lat) (m2/s)."""
        grid = self.transform.grid
        arm = self.units.radius_m * grid.cosine[:, None]
        return {
            "energy": grid.mean(0.5 * (fields["u"] ** 2 + fields["v"] ** 2)),
            "enstrophy": grid.mean(0.5 * fields["vorticity"] ** 2),
            "angular_momentum": grid.mean(fields["u"] * arm),
        }


def _random(*shape):
    return np.random.default_rng(9).uniform(-1.0, 1.0, shape)


def _small_factors():
    return spectral_constants(Truncation(2, 4, 8, 3600.0), 0.0)


@kernel(example=lambda: (_random(9, 2), (_small_factors(),), np.zeros((9, 6))))
def rotation_spectra(state, constants, spectra):
    """Coefficients of vorticity, u cos(lat) and v cos(lat) from those of vorticity.

    U[l] = eps(l+1) / (l+1) zeta[l+1] - eps(l) / l zeta[l-1];  V[l] = -i m / (l (l+1)) zeta[l]

    Args:
        state: (coefficients, 2).
        constants: of the set; the first are `spectral_constants`.
        spectra: (coefficients, 6), written.
    """
    _, zonal_inverse, wind_above, wind_below, _, _, _, _ = constants[0]
    last = state.shape[0] - 1
    for i in range(last + 1):
        above = min(i + 1, last)
        below = max(i - 1, 0)
        for part in range(2):
            spectra[i, part] = state[i, part]
            up = wind_above[i] * state[above, part]
            spectra[i, 2 + part] = up - wind_below[i] * state[below, part]
        spectra[i, 4] = zonal_inverse[i] * state[i, 1]
        spectra[i, 5] = -(zonal_inverse[i] * state[i, 0])


@kernel(
    example=lambda: (_random(3, 8, 4), (0.0, 1.0 + _random(4) ** 2), (), np.zeros((2, 8, 4)))
)
def vorticity_fluxes(fields, constants, work, fluxes):
    """zeta u and zeta v, both over cos(lat).

    Args:
        fields: (3, nlon, nlat): vorticity, u cos(lat), v cos(lat).
        constants: of the set; the second is 1 / cos(lat)**2 (nlat,).
        work: none.
        fluxes: (2, nlon, nlat), written.
    """
    inverse_cos2 = constants[1]
    for component in range(2):
        for i in range(fields.shape[1]):
            vorticity = fields[0, i]
            wind = fields[1 + component, i]
            for j in range(inverse_cos2.shape[0]):
                fluxes[component, i, j] = vorticity[j] * (wind[j] * inverse_cos2[j])


@kernel(example=lambda: (_random(9, 4), _small_factors(), np.zeros((9, 2))))
def flux_convergence(spectra, factors, tendency):
    """-div(A, B)[l] = -i m A[l] + ((l+1) eps(l) B[l-1] - l eps(l+1) B[l+1]).

    Args:
        spectra: (coefficients, 4): A and B.
        factors: from `spectral_constants`.
        tendency: (coefficients, 2), written.
    """
    zonal, _, _, _, flux_above, flux_below, _, _ = factors
    last = spectra.shape[0] - 1
    for i in range(last + 1):
        above = min(i + 1, last)
        below = max(i - 1, 0)
        north_re = flux_below[i] * spectra[below, 2] - flux_above[i] * spectra[above, 2]
        north_im = flux_below[i] * spectra[below, 3] - flux_above[i] * spectra[above, 3]
        tendency[i, 0] = north_re + zonal[i] * spectra[i, 1]
        tendency[i, 1] = north_im - zonal[i] * spectra[i, 0]


@kernel(example=lambda: (_random(9, 2), _random(9), _random(9, 2)))
def turn_vorticity(state, turning, tendency):
    """Add -div(f v)[l] = 2 Omega i m / (l (l+1)) zeta[l].

    Args:
        state: (coefficients, 2).
        turning: (coefficients,), the last of `rotation_constants`.
        tendency: (coefficients, 2), changed.
    """
    for i in range(state.shape[0]):
        tendency[i, 0] = tendency[i, 0] - turning[i] * state[i, 1]
        tendency[i, 1] = tendency[i, 1] + turning[i] * state[i, 0]


@equation_set(
    "barotropic_vorticity",
    prognostic=(("vorticity", 1),),
    spectra=rotation_spectra,
    products=vorticity_fluxes,
    conversion=VorticityConversion,
    state=InitialVorticity,
    fields=("vorticity", "u", "v", "streamfunction"),
    budgets=("energy", "enstrophy", "angular_momentum"),
    source="Haurwitz (1940); Williamson et al. (1992), section 3.6",
    units={"energy": "m2 s-2"},
)
def barotropic_vorticity(state, spectra, constants, tendency):
    """Tendency of vorticity from the coefficients of its fluxes.

    Args:
        state: (coefficients, 2).
        spectra: (coefficients, 4), of the products of `vorticity_fluxes`.
        constants: (`spectral_constants`, 1 / cos(lat)**2, the last of `rotation_constants`).
        tendency: (coefficients, 2), written.
    """
    flux_convergence(spectra, constants[0], tendency)
    turn_vorticity(state, constants[2], tendency)
