"""sciprec: can my model run in this arithmetic?

Real solvers and your own Numba kernels, in selectable arithmetics, compared with binary64.
"""

import sys
from typing import TYPE_CHECKING, Any

from sciprec.foundation.later import (
    BACKEND_MAKERS,
    KERNEL_TRUTHS,
    MODEL_STAGES,
    NAMED_BACKENDS,
    REMEDIES,
    imported,
    names_of,
)
from sciprec.foundation.moved import GONE, renamed
from sciprec.foundation.moved import install as find_moved_modules

if TYPE_CHECKING:  # what editors and type checkers see; at run time each is imported when asked for
    from sciprec import arrays as arrays
    from sciprec import climate as climate
    from sciprec import extend as extend
    from sciprec import heston as heston
    from sciprec import machine as machine
    from sciprec import precision as precision
    from sciprec import report as report
    from sciprec import results as results
    from sciprec import tools as tools
    from sciprec import workbench as workbench
    from sciprec.arrays.quantization import quantize as quantize
    from sciprec.foundation.errors import InputError as InputError
    from sciprec.instruments.assigning.assignment import Assignment as Assignment
    from sciprec.instruments.pairs.lifted import Pair as Pair
    from sciprec.precision.formats.backend import Backend as Backend
    from sciprec.precision.formats.backend import backends as backends
    from sciprec.precision.formats.float_format import Format as Format
    from sciprec.precision.lifting.lifting import LiftError as LiftError
    from sciprec.precision.lifting.lifting import lift as lift
    from sciprec.precision.operations.reduce import fma as fma
    from sciprec.report.stored.verification import verify as verify
    from sciprec.results.comparison.rows import compare as compare
    from sciprec.tools.bound.bounds import bound as bound
    from sciprec.tools.digits.kernel_digits import digits as digits
    from sciprec.tools.memory.memory import check_memory as check_memory
    from sciprec.tools.monitor.monitored import monitor as monitor
    from sciprec.tools.trace.traces import trace as trace
    from sciprec.tools.tune.tuned import tune as tune
    from sciprec.workbench.batch.workflow import run as run
    from sciprec.workbench.kinds import load_scenario as load_scenario
    from sciprec.workbench.kinds import load_scenarios as load_scenarios
    from sciprec.workbench.models.declaration import model as model
    from sciprec.workbench.study.kernel_page import study as study

    __version__: str

_ELSEWHERE = {
    "Arithmetic": "sciprec.precision.Arithmetic",
    "Bound": "sciprec.tools.bound.Bound",
    "CarriedUpdate": "sciprec.arrays.sums.CarriedUpdate",
    "Compensation": "sciprec.arrays.sums.Compensation",
    "Lifted": "sciprec.precision.Lifted",
    "Line": "sciprec.tools.trace.Line",
    "MemoryFinding": "sciprec.tools.memory.MemoryFinding",
    "MemoryReport": "sciprec.tools.memory.MemoryReport",
    "ModelArithmetic": "sciprec.workbench.models.ModelArithmetic",
    "ModelTrace": "sciprec.tools.trace.ModelTrace",
    "Monitored": "sciprec.tools.monitor.Monitored",
    "Study": "sciprec.workbench.study.Study",
    "Trace": "sciprec.tools.trace.Trace",
    "Tuned": "sciprec.tools.tune.Tuned",
    "TunedModel": "sciprec.workbench.TunedModel",
    "VerifiedBatch": "sciprec.report.VerifiedBatch",
    "adaptive_quantize": "sciprec.arrays.adaptive_quantize",
    "compensated_dot": "sciprec.arrays.sums.compensated_dot",
    "compensated_sum": "sciprec.arrays.sums.compensated_sum",
    "compensation_footprint": "sciprec.machine.compensation_footprint",
    "dequantize": "sciprec.arrays.dequantize",
    "fit_compensation": "sciprec.machine.fit_compensation",
    "fixed_matmul": "sciprec.arrays.fixed_matmul",
    "greeks_dataset": "sciprec.results.output.bounded_prices.greeks_dataset",
    "on_pressure_levels": "sciprec.results.on_pressure_levels",
    "price_dataset": "sciprec.results.output.bounded_prices.price_dataset",
    "run_climate": "sciprec.climate.run",
    "trace_scenario": "sciprec.workbench.trace_scenario",
    "tune_scenario": "sciprec.workbench.tune_scenario",
}
"""Names that stood here in version 0.1, and their names of today; they go with version 0.3."""

_public, _named, _ = names_of("sciprec")
__all__ = [*_public, "climate", "extend", "heston", "__version__"]


if not TYPE_CHECKING:  # a checker knows the names above, and no others

    def __getattr__(name: str) -> Any:
        if name == "__version__":  # as the installed package's metadata say
            definitions = imported("sciprec.foundation.definitions")
            result = globals()[name] = definitions.version_of("sciprec")
        elif name in _ELSEWHERE:
            result = globals()[name] = renamed(f"sciprec.{name}", _ELSEWHERE[name])
        elif f"sciprec.{name}" in GONE:
            raise AttributeError(GONE[f"sciprec.{name}"])
        else:
            result = _named(name)
        _register_accessor()
        return result


def __dir__() -> list[str]:
    return sorted(__all__)


for _model, _module, _stages in (
    ("climate", "sciprec.climate.stages.policies", "CLIMATE_STAGES"),
    ("heston", "sciprec.heston.schemes.stages", "HESTON_STAGES"),
):
    MODEL_STAGES.add(_model, _module, _stages)
KERNEL_TRUTHS.add("dd", "sciprec.tools.digits.own_error", "own_errors")
for _kind, _module in (("assignment", "assignment"), ("policy", "policies"), ("scaled", "scaling")):
    BACKEND_MAKERS.add(_kind, f"sciprec.instruments.assigning.{_module}", "backend_called")
NAMED_BACKENDS.add("dd", "sciprec.instruments.pairs.backend", "pair_backend")
REMEDIES.add("kernel", "sciprec.tools.mend.mends", "mended")
find_moved_modules()


def _register_accessor() -> None:
    """Give xarray's objects `.sciprec` where xarray is imported; nobody else waits for it."""
    if "xarray" in sys.modules:
        imported("sciprec.results.accessor")


_register_accessor()
