"""Everything that is registered: importing this module registers all cases, sets and schemes."""

from sciprec.climate import galewsky, shallow_water
from sciprec.climate.equations import EQUATIONS
from sciprec.climate.initial import CASES
from sciprec.climate.timestepping import TIME_SCHEMES

REGISTERING = (galewsky, shallow_water)
"""The modules of equation sets and of further cases."""

__all__ = ["CASES", "EQUATIONS", "REGISTERING", "TIME_SCHEMES"]
