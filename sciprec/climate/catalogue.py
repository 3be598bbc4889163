"""Everything that is registered: importing this module registers all cases, sets and schemes."""

from sciprec.climate import (  # noqa: F401 - imported for what they register
    advection,
    baroclinic,
    barotropic_vorticity,
    galewsky,
    held_suarez,
    imex,
    primitive_equations,
    runge_kutta,
    shallow_water,
)
from sciprec.climate.equations import EQUATIONS
from sciprec.climate.initial import CASES
from sciprec.climate.timestepping import TIME_SCHEMES

__all__ = ["CASES", "EQUATIONS", "TIME_SCHEMES"]
