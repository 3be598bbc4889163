"""sciprec: can my model run in this arithmetic?

Real solvers and your own Numba kernels, in selectable arithmetics, compared with binary64.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from sciprec.foundation.later import BACKEND_MAKERS, MODEL_STAGES, imported, public
from sciprec.foundation.moved import install as find_moved_modules

if TYPE_CHECKING:  # what editors and type checkers see; at run time each is imported when asked for
    from sciprec import accumulation as accumulation
    from sciprec import climate as climate
    from sciprec import extend as extend
    from sciprec import heston as heston
    from sciprec import machine as machine
    from sciprec import precision as precision
    from sciprec.arrays.integers.fixed_point import adaptive_quantize as adaptive_quantize
    from sciprec.arrays.integers.fixed_point import dequantize as dequantize
    from sciprec.arrays.integers.matrix_products import fixed_matmul as fixed_matmul
    from sciprec.arrays.quantization import quantize as quantize
    from sciprec.arrays.sums.compensation import CarriedUpdate as CarriedUpdate
    from sciprec.arrays.sums.compensation import Compensation as Compensation
    from sciprec.arrays.sums.summation import compensated_dot as compensated_dot
    from sciprec.arrays.sums.summation import compensated_sum as compensated_sum
    from sciprec.foundation.errors import InputError as InputError
    from sciprec.instruments.assigning.assignment import Assignment as Assignment
    from sciprec.machine.fit import fit_compensation as fit_compensation
    from sciprec.machine.footprint import (
        compensation_footprint as compensation_footprint,
    )
    from sciprec.precision.formats.backend import Arithmetic as Arithmetic
    from sciprec.precision.formats.backend import Backend as Backend
    from sciprec.precision.formats.backend import backends as backends
    from sciprec.precision.formats.float_format import Format as Format
    from sciprec.precision.lifting.lifting import Lifted as Lifted
    from sciprec.precision.lifting.lifting import LiftError as LiftError
    from sciprec.precision.lifting.lifting import lift as lift
    from sciprec.precision.operations.reduce import fma as fma
    from sciprec.report.stored.verification import VerifiedBatch as VerifiedBatch
    from sciprec.report.stored.verification import verify as verify
    from sciprec.results.comparison.rows import compare as compare
    from sciprec.results.output.bounded_prices import greeks_dataset as greeks_dataset
    from sciprec.results.output.bounded_prices import price_dataset as price_dataset
    from sciprec.results.output.pressure import on_pressure_levels as on_pressure_levels
    from sciprec.tools.bound.bounds import Bound as Bound
    from sciprec.tools.bound.bounds import bound as bound
    from sciprec.tools.memory.memory import MemoryFinding as MemoryFinding
    from sciprec.tools.memory.memory import MemoryReport as MemoryReport
    from sciprec.tools.memory.memory import check_memory as check_memory
    from sciprec.tools.monitor.monitored import Monitored as Monitored
    from sciprec.tools.monitor.monitored import monitor as monitor
    from sciprec.tools.trace.lines import Line as Line
    from sciprec.tools.trace.models.traces import ModelTrace as ModelTrace
    from sciprec.tools.trace.traces import Trace as Trace
    from sciprec.tools.trace.traces import trace as trace
    from sciprec.tools.tune.tuned import Tuned as Tuned
    from sciprec.tools.tune.tuned import tune as tune
    from sciprec.workbench.batch.workflow import run as run
    from sciprec.workbench.kinds import load_scenario as load_scenario
    from sciprec.workbench.kinds.climate_runs import run_climate as run_climate
    from sciprec.workbench.kinds.scenario_trace import trace_scenario as trace_scenario
    from sciprec.workbench.kinds.scenario_tune import TunedModel as TunedModel
    from sciprec.workbench.kinds.scenario_tune import tune_scenario as tune_scenario
    from sciprec.workbench.models.arithmetic import ModelArithmetic as ModelArithmetic
    from sciprec.workbench.models.declaration import model as model
    from sciprec.workbench.study.kernel_page import Study as Study
    from sciprec.workbench.study.kernel_page import study as study

__version__ = "0.1.0"

_PUBLIC = {
    "lift": "sciprec.precision.lifting.lifting",
    "LiftError": "sciprec.precision.lifting.lifting",
    "Lifted": "sciprec.precision.lifting.lifting",
    "quantize": "sciprec.arrays.quantization",
    "adaptive_quantize": "sciprec.arrays.integers.fixed_point",
    "dequantize": "sciprec.arrays.integers.fixed_point",
    "fixed_matmul": "sciprec.arrays.integers.matrix_products",
    "backends": "sciprec.precision.formats.backend",
    "Arithmetic": "sciprec.precision.formats.backend",
    "Backend": "sciprec.precision.formats.backend",
    "Format": "sciprec.precision.formats.float_format",
    "Compensation": "sciprec.arrays.sums.compensation",
    "CarriedUpdate": "sciprec.arrays.sums.compensation",
    "compensated_sum": "sciprec.arrays.sums.summation",
    "compensation_footprint": "sciprec.machine.footprint",
    "fit_compensation": "sciprec.machine.fit",
    "compensated_dot": "sciprec.arrays.sums.summation",
    "fma": "sciprec.precision.operations.reduce",
    "check_memory": "sciprec.tools.memory.memory",
    "MemoryReport": "sciprec.tools.memory.memory",
    "MemoryFinding": "sciprec.tools.memory.memory",
    "trace_scenario": "sciprec.workbench.kinds.scenario_trace",
    "tune_scenario": "sciprec.workbench.kinds.scenario_tune",
    "TunedModel": "sciprec.workbench.kinds.scenario_tune",
    "ModelTrace": "sciprec.tools.trace.models.traces",
    "Assignment": "sciprec.instruments.assigning.assignment",
    "trace": "sciprec.tools.trace.traces",
    "Trace": "sciprec.tools.trace.traces",
    "Line": "sciprec.tools.trace.lines",
    "tune": "sciprec.tools.tune.tuned",
    "Tuned": "sciprec.tools.tune.tuned",
    "bound": "sciprec.tools.bound.bounds",
    "Bound": "sciprec.tools.bound.bounds",
    "load_scenario": "sciprec.workbench.kinds",
    "run": "sciprec.workbench.batch.workflow",
    "monitor": "sciprec.tools.monitor.monitored",
    "Monitored": "sciprec.tools.monitor.monitored",
    "study": "sciprec.workbench.study.kernel_page",
    "Study": "sciprec.workbench.study.kernel_page",
    "model": "sciprec.workbench.models.declaration",
    "ModelArithmetic": "sciprec.workbench.models.arithmetic",
    "run_climate": "sciprec.workbench.kinds.climate_runs",
    "on_pressure_levels": "sciprec.results.output.pressure",
    "compare": "sciprec.results.comparison.rows",
    "verify": "sciprec.report.stored.verification",
    "VerifiedBatch": "sciprec.report.stored.verification",
    "price_dataset": "sciprec.results.output.bounded_prices",
    "greeks_dataset": "sciprec.results.output.bounded_prices",
    "InputError": "sciprec.foundation.errors",
}
_PACKAGES = ("accumulation", "climate", "extend", "heston", "machine", "precision")

__all__ = [*_PUBLIC, *_PACKAGES, "__version__"]


if not TYPE_CHECKING:  # a checker knows the names above, and no others

    def __getattr__(name: str) -> Any:
        if name in _PACKAGES:
            found = imported(f"sciprec.{name}")
        else:
            found = public(name, "sciprec", _PUBLIC)
        _register_accessor()
        return found


def __dir__() -> list[str]:
    return sorted(__all__)


for _model, _module, _stages in (
    ("climate", "sciprec.climate.stages.policies", "CLIMATE_STAGES"),
    ("heston", "sciprec.heston.schemes.stages", "HESTON_STAGES"),
):
    MODEL_STAGES.add(_model, _module, _stages)
for _kind, _module in (("assignment", "assignment"), ("policy", "policies"), ("scaled", "scaling")):
    BACKEND_MAKERS.add(_kind, f"sciprec.instruments.assigning.{_module}", "backend_called")
find_moved_modules()


def _register_accessor() -> None:
    """Give xarray's objects `.sciprec` where xarray is imported; nobody else waits for it."""
    if "xarray" in sys.modules:
        imported("sciprec.results.accessor")


_register_accessor()
