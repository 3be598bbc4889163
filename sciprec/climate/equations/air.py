"""Between fields of an atmosphere in SI units and the state of the primitive equations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sciprec.climate.constants import ModelUnits
from sciprec.climate.equations.mass import mass_constants
from sciprec.climate.equations.primitive_implicit import implicit_constants
from sciprec.climate.equations.primitive_spectral import (
    make_air_work,
    primitive_factors,
    primitive_spectra,
)
from sciprec.climate.equations.share import Share
from sciprec.climate.equations.spherical import few_bits, inverse_cosine_squared, rotation_constants
from sciprec.climate.equations.vertical import SigmaLevels, compression_matrix, hydrostatic_matrix
from sciprec.climate.equations.winds import rotation
from sciprec.climate.transform.compiled import compiled
from sciprec.climate.transform.spectral import SpectralTransform
from sciprec.foundation.portable import portable

REFERENCE_TEMPERATURE_K = 300.0
"""Temperature of the state of rest about which gravity waves are implicit."""
REFERENCE_PRESSURE_PA = 1.0e5
AIR_PROGNOSTIC = (
    ("vorticity", "levels"), ("divergence", "levels"), ("temperature", "levels"),
    ("log_surface_pressure", 1),
)  # fmt: skip
"""Variables of the state and their numbers of levels."""
AIR_FIELDS = (
    "u", "v", "temperature", "vorticity", "divergence", "omega", "geopotential", "surface_pressure"
)  # fmt: skip
AIR_UNITS = {
    "mass": "Pa", "energy": "J m-2", "angular_momentum": "kg s-1", "enstrophy": "kg m-2 s-2",
}  # fmt: skip
"""Units of the budgets."""
AIR_BUDGETS = tuple(AIR_UNITS)


@dataclass(frozen=True)
class Planet:
    """A planet with dry air.

    Args:
        radius_m: m.
        rotation_per_second: angular velocity, 1/s.
        gravity_m_per_s2: m/s2.
        gas_constant: of dry air, J/(kg K).
        kappa: gas constant over heat capacity at constant pressure.
    """

    radius_m: float
    rotation_per_second: float
    gravity_m_per_s2: float
    gas_constant: float
    kappa: float


@dataclass(frozen=True)
class AirState:
    """An atmosphere in SI units on sigma levels; fields (levels, nlon, nlat) or (nlon, nlat).

    Args:
        planet: the planet.
        levels: the levels.
        u, v: eastward and northward wind, m/s, with levels.
        temperature: K, with levels.
        surface_pressure: Pa.
        orography: height of the ground, m.
        friction: rates at which the wind is braked, 1/s (levels,).
    """

    planet: Planet
    levels: SigmaLevels
    u: np.ndarray
    v: np.ndarray
    temperature: np.ndarray
    surface_pressure: np.ndarray
    orography: np.ndarray
    friction: np.ndarray

    def shapes(self, across: tuple[int, int]) -> dict[str, tuple[int, ...]]:
        """The shapes of all fields; `across` is that of a level."""
        on_levels = (self.levels.count, *across)
        flat = dict.fromkeys(("surface_pressure", "orography"), across)
        return dict.fromkeys(("u", "v", "temperature"), on_levels) | flat | {
            "friction": on_levels[:1]
        }

    def positive(self) -> dict[str, np.ndarray]:
        """The quantities that are above zero in any air, by name."""
        return {"temperature": self.temperature, "surface_pressure": self.surface_pressure}


@dataclass(frozen=True)
class AirConversion:
    """Converts between SI fields and coefficients at a truncation, in binary64.

    Args:
        transform: the binary64 transform.
        units: the model's units.
        planet, levels, friction: of the initial state.
        ground: coefficients of Phi_s in model units (coefficients, 2).
        mean_excess: global mean of surface pressure over the reference pressure, less 1.
        implicit_time: implicit time of the time scheme, in model units.
    """

    transform: SpectralTransform
    units: ModelUnits
    planet: Planet
    levels: SigmaLevels
    friction: np.ndarray
    ground: np.ndarray
    mean_excess: float
    implicit_time: float

    @classmethod
    def of(
        cls,
        initial: AirState,
        transform: SpectralTransform,
        units: ModelUnits,
        implicit_time: float,
        levels: int = 0,
    ) -> AirConversion:
        """The conversion for an initial state: its planet, levels, mountains and mass.

        Args:
            initial: the initial state; the number of levels is its.
            transform, units, implicit_time: of the model.
            levels: as given to the case.
        """
        height = units.geopotential / initial.planet.gravity_m_per_s2
        q = portable(np.log, initial.surface_pressure / REFERENCE_PRESSURE_PA)
        q = transform.to_spectrum(q[None])
        excess = portable(np.expm1, transform.grid.to_output(transform.to_grid(q)[0]))
        return cls(
            transform=transform,
            units=units,
            planet=initial.planet,
            levels=initial.levels,
            friction=initial.friction * units.seconds,
            ground=transform.to_spectrum(initial.orography[None] / height),
            mean_excess=float(transform.grid.mean(excess)),
            implicit_time=implicit_time,
        )

    @property
    def vertical(self) -> dict[str, np.ndarray]:
        """sigma of the levels and its bounds."""
        half = np.array(self.levels.half)
        return {"sigma": self.levels.full, "sigma_bnds": np.stack([half[:-1], half[1:]], axis=1)}

    def work(self, dtype: type) -> tuple:
        """The work arrays of the set."""
        return make_air_work(self.transform.truncation, self.levels.count, dtype)

    @property
    def transformed(self) -> tuple[int, int]:
        """The number of fields that go to the grid, and of products that come from it."""
        return 5 * self.levels.count + 3, 6 * self.levels.count + 1

    @property
    def kelvin(self) -> float:
        """One unit of temperature (of geopotential over the gas constant) in K."""
        return self.units.geopotential / self.planet.gas_constant

    @property
    def reference(self) -> float:
        """T_0 in model units, a number of 8 bits."""
        return few_bits(REFERENCE_TEMPERATURE_K / self.kelvin)

    @cached_property
    def constants(self) -> tuple:
        """The constants of the equations in binary64, as `air_tendency` wants them."""
        transform, grid, planet = self.transform, self.transform.grid, self.planet
        twice_rotation = 2 * planet.rotation_per_second / self.units.vorticity
        reference, kappa = self.reference, planet.kappa
        time, truncation = self.implicit_time, transform.truncation
        return (
            self.levels.column,
            implicit_constants(self.levels, reference, kappa, self.friction, truncation, time),
            primitive_factors(truncation),
            np.array([reference, 1.0 / reference, kappa]),
            (inverse_cosine_squared(grid), self.ground),
            mass_constants(grid, self.mean_excess),
            rotation_constants(truncation, twice_rotation),
            Share(truncation).array,
        )

    def to_state(self, initial: AirState) -> np.ndarray:
        """Coefficients (coefficients, 6 levels + 2) of an initial state."""
        transform = self.transform
        vorticity, divergence = self._rotation(initial.u, initial.v)
        temperature = transform.to_spectrum(initial.temperature / self.kelvin - self.reference)
        q = portable(np.log, initial.surface_pressure / REFERENCE_PRESSURE_PA)
        pressure = self.reference * transform.to_spectrum(q[None])
        return np.concatenate([vorticity, divergence, temperature, pressure], axis=1)

    def _rotation(self, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of vorticity and divergence of a wind (levels, nlon, nlat) in m/s."""
        cosine = 1.0 / np.sqrt(inverse_cosine_squared(self.transform.grid))
        return rotation(self.transform, *(x / (self.units.velocity * cosine) for x in (u, v)))

    def to_fields(self, state: np.ndarray) -> dict[str, np.ndarray]:
        """SI fields (levels, nlat, nlon), or (nlat, nlon) at the ground, south to north.

        Returns:
            u, v (m/s), temperature (K), vorticity, divergence (1/s), omega (Pa/s), geopotential
            (m2/s2), surface_pressure (Pa).
        """
        count, units = self.levels.count, self.units
        grid = self.transform.grid
        spectra = np.zeros((state.shape[0], 2 * (5 * count + 3)))
        compiled(primitive_spectra, "fp64")(np.ascontiguousarray(state), self.constants, spectra)
        model = self.transform.to_grid(np.concatenate([spectra, self.ground], axis=1))
        rows = np.stack([grid.to_output(row) for row in model])
        vorticity, divergence, anomaly, u, v = rows[: 5 * count].reshape(5, count, *rows.shape[1:])
        q, ground = rows[-2], rows[-1]
        cosine = grid.cosine[:, None]
        pressure = REFERENCE_PRESSURE_PA * portable(np.exp, q)
        temperature = self.reference + anomaly
        flow = (u * rows[5 * count] + v * rows[5 * count + 1]) / cosine**2
        compressed = _each_column(compression_matrix(self.levels), divergence + flow)
        rate = (flow - compressed) * units.vorticity
        above_ground = _each_column(hydrostatic_matrix(self.levels), temperature)
        return {
            "u": u * units.velocity / cosine,
            "v": v * units.velocity / cosine,
            "temperature": temperature * self.kelvin,
            "vorticity": vorticity * units.vorticity,
            "divergence": divergence * units.vorticity,
            "omega": rate * self.levels.full[:, None, None] * pressure,
            "geopotential": (ground + above_ground) * units.geopotential,
            "surface_pressure": pressure,
        }

    @property
    def orography(self) -> np.ndarray:
        """Height of the ground in m (nlat, nlon), south to north."""
        ground = self.transform.grid.to_output(self.transform.to_grid(self.ground)[0])
        return ground * self.units.geopotential / self.planet.gravity_m_per_s2

    def budgets(self, fields: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Global means of mass, energy, angular momentum and enstrophy.

        mass = mean of ps; with the column integral I(x) = ps / g sum of thickness x:
        energy = mean of I((u**2 + v**2) / 2 + cp T) + ps z_s;
        angular_momentum = mean of I((u + Omega a cos(lat)) a cos(lat));
        enstrophy = mean of I(vorticity**2) / 2

        Args:
            fields: from `to_fields`, with leading axes as they come.

        Returns:
            mass (Pa), energy (J/m2), angular_momentum (kg/s), enstrophy (kg/(m2 s2)), each (...).

        Source: Simmons and Burridge (1981), section 2.
        """
        grid, planet = self.transform.grid, self.planet
        pressure = fields["surface_pressure"]
        arm = planet.radius_m * grid.cosine[:, None]

        def column(x):
            integral = np.einsum("k,...kji->...ji", self.levels.thickness, x)
            return pressure / planet.gravity_m_per_s2 * integral

        motion = 0.5 * (fields["u"] ** 2 + fields["v"] ** 2)
        heat = planet.gas_constant / planet.kappa * fields["temperature"]
        spin = (fields["u"] + planet.rotation_per_second * arm) * arm
        return {
            "mass": grid.mean(pressure),
            "energy": grid.mean(column(motion + heat) + pressure * self.orography),
            "angular_momentum": grid.mean(column(spin)),
            "enstrophy": grid.mean(0.5 * column(fields["vorticity"] ** 2)),
        }


def _each_column(matrix: np.ndarray, field: np.ndarray) -> np.ndarray:
    """matrix @ column for every column of (levels, nlat, nlon)."""
    return np.einsum("kj,jab->kab", matrix, field)
