"""Everything that is registered: importing this module registers all cases, sets and schemes."""

from sciprec.climate import (
    advection,
    baroclinic,
    barotropic_vorticity,
    galewsky,
    held_suarez,
    imex,
    primitive_equations,
    shallow_water,
)
from sciprec.climate.equations import EQUATIONS
from sciprec.climate.initial import CASES
from sciprec.climate.timestepping import TIME_SCHEMES

REGISTERING = (
    advection,
    baroclinic,
    barotropic_vorticity,
    galewsky,
    held_suarez,
    imex,
    primitive_equations,
    shallow_water,
)
"""The modules of equation sets, of further cases and of further schemes."""

__all__ = ["CASES", "EQUATIONS", "REGISTERING", "TIME_SCHEMES"]
