"""The planet, and the units in which the model computes.

Inside the model lengths are radii and the unit of time is a power of two of steps, close to one
day. Velocities, vorticities and geopotential anomalies are then of order one, and the step is a
power of two, exact in every format, so that no clock runs slow. A naive formulation has SI units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

RADIUS_M = 6.37122e6
"""Radius of the sphere, m (Williamson et al. 1992, Table 1)."""
ROTATION_PER_SECOND = 7.292e-5
"""Angular velocity of the sphere, 1/s (Williamson et al. 1992, Table 1)."""
GRAVITY_M_PER_S2 = 9.80616
"""Acceleration of gravity, m/s2 (Williamson et al. 1992, Table 1)."""
SECONDS_PER_DAY = 86400.0
SECONDS_PER_HOUR = 3600.0

_TARGET_TIME_UNIT_SECONDS = 1.0e5


@dataclass(frozen=True)
class ModelUnits:
    """Model units for a given step: lengths in radii, time in 2**k steps; or SI units.

    Args:
        step_seconds: the time step, s.
        radius_m: radius of the sphere, m.
        gravity_m_per_s2: acceleration of gravity, m/s2.
        scaled: whether units make numbers of order one; otherwise they are metre and second.
    """

    step_seconds: float
    radius_m: float = RADIUS_M
    gravity_m_per_s2: float = GRAVITY_M_PER_S2
    scaled: bool = True

    @property
    def unscaled(self) -> ModelUnits:
        """SI units of the same planet and step."""
        return replace(self, scaled=False)

    @property
    def exponent(self) -> int:
        """k: the step is 2**-k units of time."""
        return round(math.log2(_TARGET_TIME_UNIT_SECONDS / self.step_seconds))

    @property
    def step(self) -> float:
        """The step in units of time: a power of two where they are scaled."""
        return math.ldexp(1.0, -self.exponent) if self.scaled else self.step_seconds

    @property
    def seconds(self) -> float:
        """One unit of time in seconds."""
        return math.ldexp(self.step_seconds, self.exponent) if self.scaled else 1.0

    @property
    def length(self) -> float:
        """One unit of length in m."""
        return self.radius_m if self.scaled else 1.0

    @property
    def radius(self) -> float:
        """Radius of the sphere in units of length."""
        return self.radius_m / self.length

    @property
    def velocity(self) -> float:
        """One unit of velocity in m/s."""
        return self.length / self.seconds

    @property
    def vorticity(self) -> float:
        """One unit of vorticity or divergence in 1/s."""
        return 1.0 / self.seconds

    @property
    def geopotential(self) -> float:
        """One unit of geopotential in m2/s2."""
        return self.velocity**2

    @property
    def height(self) -> float:
        """One unit of geopotential as a height in m."""
        return self.geopotential / self.gravity_m_per_s2
