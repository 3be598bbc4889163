"""The names with which modules of a user's own add rows to sciprec's tables."""

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:  # what editors and type checkers see; at run time each is imported when asked for
    from sciprec.climate.cases.registry import case as case
    from sciprec.climate.constants import RADIUS_M as RADIUS_M
    from sciprec.climate.constants import ROTATION_PER_SECOND as ROTATION_PER_SECOND
    from sciprec.climate.constants import SECONDS_PER_DAY as SECONDS_PER_DAY
    from sciprec.climate.equations.advection import InitialTracer as InitialTracer
    from sciprec.climate.equations.air import AirState as AirState
    from sciprec.climate.equations.barotropic_vorticity import InitialVorticity as InitialVorticity
    from sciprec.climate.equations.registry import EquationSet as EquationSet
    from sciprec.climate.equations.registry import equation_set as equation_set
    from sciprec.climate.equations.registry import unchanged as unchanged
    from sciprec.climate.equations.shallow_water import InitialState as InitialState
    from sciprec.climate.stepping.runge_kutta import runge_kutta as runge_kutta
    from sciprec.extend.with_rows import Rows as Rows
    from sciprec.extend.with_rows import lift_with_rows as lift_with_rows
    from sciprec.facets.tables import Section as Section
    from sciprec.facets.tables import key as key
    from sciprec.heston.schemes.registry import PathScheme as PathScheme
    from sciprec.heston.schemes.registry import Units as Units
    from sciprec.heston.schemes.registry import add_carried as add_carried
    from sciprec.precision.formats.float_format import FORMATS as FORMATS
    from sciprec.precision.formats.float_format import Format as Format
    from sciprec.precision.formats.rounding_rules import ROUNDINGS as ROUNDINGS
    from sciprec.precision.formats.rounding_rules import Rounding as Rounding
    from sciprec.precision.operations.operation import OPERATIONS as OPERATIONS
    from sciprec.precision.operations.operation import Operation as Operation
    from sciprec.precision.rounding.around import Around as Around
    from sciprec.precision.rounding.sticky import two_sum as two_sum
    from sciprec.report.section import Subject as Subject
    from sciprec.report.section import page_section as page_section
    from sciprec.results.comparison.pointwise.error_metrics import metric as metric
    from sciprec.results.comparison.pointwise.pairing import VariablePair as VariablePair
    from sciprec.results.output.stated import stated as stated
    from sciprec.scenario.loading import Scenario as Scenario
    from sciprec.scenario.variant import Variant as Variant
    from sciprec.tools.mend.catalogue import RULES as RULES
    from sciprec.tools.mend.catalogue import Rule as Rule
    from sciprec.workbench.kinds import Estimate as Estimate
    from sciprec.workbench.kinds import Kind as Kind
    from sciprec.workbench.kinds import Member as Member
    from sciprec.workbench.kinds import Surroundings as Surroundings
    from sciprec.workbench.kinds import register as register

if not TYPE_CHECKING:  # a checker knows the names above, and no others
    __all__, __getattr__, __dir__ = names_of("sciprec.extend", Pair="VariablePair")
