"""Shallow water in vorticity-divergence form on the sphere.

    d zeta/dt  = -div((zeta + f) v)
    d delta/dt = k . curl((zeta + f) v) - laplacian(E + Phi)
    d Phi/dt   = -div((Phi - Phi_s) v) - Phi_0 delta

Terms in f = 2 Omega sin(lat) are formed from the coefficients (`spherical.coriolis_terms`). Phi is
the geopotential of the free surface as anomaly from the constant Phi_0, Phi_s that of the ground,
E = v.v / 2. A fluid at rest over a mountain stays at rest to the last bit.
Source: Williamson et al. (1992), eqs 3 to 7, with the anomaly taken from the free surface.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from sciprec.climate.constants import ModelUnits
from sciprec.climate.diagnostics.budgets import budgets
from sciprec.climate.equations.registry import equation_set
from sciprec.climate.equations.shallow_water_kernels import (
    gravity_waves,
    grid_fluxes,
    grid_spectra,
    solve_gravity_waves,
    spectral_tendency,
    wave_constants,
)
from sciprec.climate.equations.spherical import (
    coriolis_terms,
    few_bits,
    inverse_cosine_squared,
    rotation_constants,
    spectral_constants,
)
from sciprec.climate.transform.compiled import compiled
from sciprec.climate.transform.spectral import SpectralTransform

CAREFUL, ANOMALY, WHOLE, NAIVE = "careful", "anomaly", "whole", "naive"
_ROUNDING = 1e-13
"""Below this share of its largest value, f is rounding."""


@dataclass(frozen=True)
class InitialState:
    """Fields in SI units, all of the shape of the given longitudes and latitudes.

    Args:
        height: of the free surface, m.
        vorticity, divergence: of the wind, 1/s.
        coriolis: Coriolis parameter, 1/s.
        orography: height of the ground, m.
    """

    height: np.ndarray
    vorticity: np.ndarray
    divergence: np.ndarray
    coriolis: np.ndarray
    orography: np.ndarray

    def shapes(self, across: tuple[int, int]) -> dict[str, tuple[int, ...]]:
        """The shapes of all fields; `across` is that of the grid."""
        return dict.fromkeys(vars(self), across)

    def positive(self) -> dict[str, np.ndarray]:
        """The quantities that are above zero in any fluid, by name."""
        return {"height less orography": self.height - self.orography}


@dataclass(frozen=True)
class ShallowWaterConversion:
    """Converts between SI fields and coefficients at a truncation, in binary64.

    Args:
        transform: the binary64 transform.
        units: the model's units.
        mean: geopotential of the fluid at rest, for gravity waves, in model units: a number of
            8 bits where they are scaled.
        reference: Phi_0 in model units, what the state leaves out: the mean, or 0.
        ground: Phi_s on the grid in the model's order and units, truncated as the state is.
        coriolis: f on the grid in the model's order and units.
        twice_rotation: 2 Omega of the part of f that coefficients turn by, 2 Omega sin(lat), in
            model units; the rest of f, all of it where this is 0, is multiplied on the grid.
        implicit_time: c of the time scheme in model units.
    """

    transform: SpectralTransform
    units: ModelUnits
    mean: float
    reference: float
    ground: np.ndarray
    coriolis: np.ndarray
    twice_rotation: float
    implicit_time: float
    transformed: ClassVar = (4, 5)
    vertical: ClassVar[dict] = {}

    @classmethod
    def of(
        cls,
        initial: InitialState,
        transform: SpectralTransform,
        units: ModelUnits,
        implicit_time: float,
        formulation: str = CAREFUL,
    ) -> ShallowWaterConversion:
        """The conversion for a case: its mean height, mountains and rotation.

        Args:
            initial: the initial state.
            transform, units, implicit_time: of the model.
            formulation: "careful": anomalies in units that make numbers of order one, Coriolis
                terms between coefficients; "anomaly": f in the products on the grid; "whole": and
                whole geopotentials; "naive": and SI units.
        """
        mean = float(transform.grid.mean(transform.grid.to_output(initial.height)))
        mean = few_bits(mean / units.height)
        if formulation == NAIVE:
            mean, implicit_time = mean * units.geopotential, implicit_time * units.seconds
            units = units.unscaled
        ground = transform.to_spectrum(initial.orography[None] / units.height)
        coriolis = initial.coriolis / units.vorticity
        turning = _twice_rotation(coriolis, transform) if formulation == CAREFUL else 0.0
        return cls(
            transform=transform,
            units=units,
            mean=mean,
            reference=mean if formulation in (CAREFUL, ANOMALY) else 0.0,
            ground=transform.to_grid(ground)[0],
            coriolis=coriolis,
            twice_rotation=turning,
            implicit_time=implicit_time,
        )

    @property
    def orography(self) -> np.ndarray:
        """Height of the ground in m (nlat, nlon), south to north."""
        return self.transform.grid.to_output(self.ground) * self.units.height

    @cached_property
    def constants(self) -> tuple[tuple, tuple, tuple, tuple]:
        """Constants in binary64: of the coefficients, of the grid, of gravity waves, of Coriolis
        terms.
        """
        transform = self.transform
        factors = spectral_constants(transform.truncation, self.reference, self.units.radius)
        rest = self.coriolis - self.twice_rotation * transform.grid.sin_lat
        rest[np.abs(rest) < _ROUNDING * np.abs(self.coriolis).max()] = 0.0
        return (
            factors,
            (rest, self.ground, inverse_cosine_squared(transform.grid)),
            wave_constants(factors[6], self.mean, self.implicit_time),
            rotation_constants(transform.truncation, self.twice_rotation),
        )

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
        spectra = np.zeros((state.shape[0], 8))
        compiled(grid_spectra, "fp64")(np.ascontiguousarray(state), self.constants, spectra)
        fields = self.transform.to_grid(np.concatenate([spectra, state[:, 2:4]], axis=1))
        vorticity, surface, u_cos, v_cos, divergence = (grid.to_output(field) for field in fields)
        per_cos = units.velocity / grid.cosine[:, None]
        return {
            "height": (surface + self.reference) * units.height,
            "u": u_cos * per_cos,
            "v": v_cos * per_cos,
            "vorticity": vorticity * units.vorticity,
            "divergence": divergence * units.vorticity,
        }

    def budgets(self, fields: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Mass (m), energy (m3/s2), potential enstrophy (1/(m s2)): see `diagnostics`."""
        grid = self.transform.grid
        coriolis = grid.to_output(self.coriolis) * self.units.vorticity
        return budgets(grid, fields, self.orography, coriolis)


def _twice_rotation(coriolis: np.ndarray, transform: SpectralTransform) -> float:
    """2 Omega of the part of f that is 2 Omega sin(lat): sin(lat) is the function (1, 0) / sqrt(3).

    0 where the axis of rotation lies in the equator.
    """
    rotation = math.sqrt(3.0) * float(transform.to_spectrum(coriolis[None])[1, 0])
    return rotation if abs(rotation) > _ROUNDING * np.abs(coriolis).max() else 0.0


@equation_set(
    "shallow_water",
    prognostic=(("vorticity", 1), ("divergence", 1), ("geopotential", 1)),
    spectra=grid_spectra,
    products=grid_fluxes,
    linear=gravity_waves,
    solve=solve_gravity_waves,
    conversion=ShallowWaterConversion,
    state=InitialState,
    fields=("height", "u", "v", "vorticity", "divergence"),
    budgets=("mass", "energy", "potential_enstrophy"),
    source="Williamson et al. (1992), eqs 3 to 7",
    parameters={"formulation": (CAREFUL, ANOMALY, WHOLE, NAIVE)},
)
def shallow_water(state, spectra, constants, tendency):
    """Tendency of the shallow-water state from the coefficients of the products.

    Args:
        state: (coefficients, 6): vorticity, divergence, Phi; real and imaginary parts in turn.
        spectra: (coefficients, 10), of the products of `grid_fluxes`.
        constants: (`spectral_constants`, (what `rotation_constants` leave of f, Phi_s,
            1 / cos(lat)**2), `wave_constants`, `rotation_constants`).
        tendency: (coefficients, 6), written.
    """
    spectral_tendency(state, spectra, constants[0], tendency)
    coriolis_terms(state, constants[3], 1, 0, state.shape[0], tendency)
