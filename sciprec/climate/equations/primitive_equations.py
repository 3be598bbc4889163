"""The dry primitive equations as a set: see `primitive_spectral` for the equations themselves."""

from sciprec.climate.equations.air import (
    AIR_BUDGETS,
    AIR_FIELDS,
    AIR_PROGNOSTIC,
    AIR_UNITS,
    AirConversion,
    AirState,
)
from sciprec.climate.equations.mass import restore_mass
from sciprec.climate.equations.primitive_implicit import primitive_linear, primitive_solve
from sciprec.climate.equations.primitive_spectral import (
    air_products,
    air_tendency,
    primitive_spectra,
)
from sciprec.climate.equations.registry import equation_set

AIR_SET = {
    "prognostic": AIR_PROGNOSTIC,
    "spectra": primitive_spectra,
    "work": AirConversion.work,
    "in_place": True,
    "share": 7,
    "linear": primitive_linear,
    "solve": primitive_solve,
    "fields": AIR_FIELDS,
    "budgets": AIR_BUDGETS,
    "parameters": {"levels": 20},
    "undiffused": ("log_surface_pressure",),
    "units": AIR_UNITS,
    "adjust": restore_mass,
    "time_scheme": "semi_implicit_leapfrog",
}
"""Settings shared by every set whose state is that of the air: see `EquationSet`."""


equation_set(
    "primitive_equations",
    products=air_products,
    conversion=AirConversion,
    state=AirState,
    source="Simmons and Burridge (1981); Hoskins and Simmons (1975)",
    **AIR_SET,
)(air_tendency)
