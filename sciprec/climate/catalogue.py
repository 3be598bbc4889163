"""Everything that is registered: importing this module registers all cases, sets and schemes."""

from sciprec.climate.cases import (  # noqa: F401
    baroclinic,
    galewsky,
    held_suarez_start,
    rossby_haurwitz,
    williamson,
)
from sciprec.climate.cases.registry import CASES
from sciprec.climate.equations import (  # noqa: F401
    advection,
    barotropic_vorticity,
    held_suarez,
    primitive_equations,
    shallow_water,
)
from sciprec.climate.equations.registry import EQUATIONS
from sciprec.climate.stepping import runge_kutta  # noqa: F401
from sciprec.climate.stepping.schemes import TIME_SCHEMES

__all__ = ["CASES", "EQUATIONS", "TIME_SCHEMES"]
