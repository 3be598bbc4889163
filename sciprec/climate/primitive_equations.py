"""The dry primitive equations as a set: see `primitive_spectral` for the equations themselves."""

from __future__ import annotations

from sciprec.climate.air import (
    AIR_BUDGETS,
    AIR_FIELDS,
    AIR_PROGNOSTIC,
    AIR_UNITS,
    AirConversion,
    AirState,
)
from sciprec.climate.equations import equation_set
from sciprec.climate.mass import restore_mass
from sciprec.climate.primitive_implicit import primitive_linear, primitive_solve
from sciprec.climate.primitive_spectral import air_products, air_tendency, primitive_fields
from sciprec.climate.transform import analyze

AIR_SET = {
    "prognostic": AIR_PROGNOSTIC,
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
"""What every set has whose state is that of the air: see `EquationSet`."""


@equation_set(
    "primitive_equations",
    conversion=AirConversion,
    state=AirState,
    source="Simmons and Burridge (1981); Hoskins and Simmons (1975)",
    **AIR_SET,
)
def primitive_equations(state, tendency, constants, tables, work):
    """Tendency of the dry primitive equations: to the grid, products there, and back.

    Args:
        state: (coefficients, 6 levels + 2): zeta, D, T', P; real and imaginary parts in turn.
        tendency: (coefficients, 6 levels + 2), written; without friction.
        constants: (column of the levels, `implicit_constants`, `primitive_factors`, air,
            (1 / cos(lat)**2, Phi_s), those of `restore_mass`, `rotation_constants`).
        tables: from `transform.make_tables`.
        work: from `make_primitive_work`.
    """
    primitive_fields(state, constants, tables, work)
    air_products(constants, work)
    analyze(work[3], tables[1], work[5], work[4])
    air_tendency(state, constants, work, tendency)
