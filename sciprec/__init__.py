"""sciprec: can my model run in this arithmetic?

Real solvers and your own Numba kernels, in selectable arithmetics, compared with binary64.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from sciprec.plugins.later import MODEL_STAGES, imported, public

if TYPE_CHECKING:  # what editors and type checkers see; at run time each is imported when asked for
    from sciprec import accumulation as accumulation
    from sciprec import climate as climate
    from sciprec import extend as extend
    from sciprec import heston as heston
    from sciprec import machine as machine
    from sciprec import precision as precision
    from sciprec.batch.workflow import run as run
    from sciprec.comparison.rows import compare as compare
    from sciprec.diagnosis.lines import Line as Line
    from sciprec.diagnosis.memory import MemoryFinding as MemoryFinding
    from sciprec.diagnosis.memory import MemoryReport as MemoryReport
    from sciprec.diagnosis.memory import check_memory as check_memory
    from sciprec.diagnosis.models.traces import ModelTrace as ModelTrace
    from sciprec.errors import InputError as InputError
    from sciprec.kinds import load_scenario as load_scenario
    from sciprec.kinds.climate_runs import run_climate as run_climate
    from sciprec.kinds.scenario_trace import trace_scenario as trace_scenario
    from sciprec.kinds.scenario_tune import TunedModel as TunedModel
    from sciprec.kinds.scenario_tune import tune_scenario as tune_scenario
    from sciprec.machine.fit import fit_compensation as fit_compensation
    from sciprec.machine.footprint import compensation_footprint as compensation_footprint
    from sciprec.models.arithmetic import ModelArithmetic as ModelArithmetic
    from sciprec.models.declaration import model as model
    from sciprec.output.bounded_prices import greeks_dataset as greeks_dataset
    from sciprec.output.bounded_prices import price_dataset as price_dataset
    from sciprec.output.pressure import on_pressure_levels as on_pressure_levels
    from sciprec.precision.assigning.assignment import Assignment as Assignment
    from sciprec.precision.formats.backend import Arithmetic as Arithmetic
    from sciprec.precision.formats.backend import Backend as Backend
    from sciprec.precision.formats.backend import backends as backends
    from sciprec.precision.formats.float_format import Format as Format
    from sciprec.precision.integers.fixed_point import adaptive_quantize as adaptive_quantize
    from sciprec.precision.integers.fixed_point import dequantize as dequantize
    from sciprec.precision.integers.matrix_products import fixed_matmul as fixed_matmul
    from sciprec.precision.lifting.lifting import Lifted as Lifted
    from sciprec.precision.lifting.lifting import LiftError as LiftError
    from sciprec.precision.lifting.lifting import lift as lift
    from sciprec.precision.operations.reduce import fma as fma
    from sciprec.precision.quantization import quantize as quantize
    from sciprec.precision.sums.compensation import CarriedUpdate as CarriedUpdate
    from sciprec.precision.sums.compensation import Compensation as Compensation
    from sciprec.precision.sums.summation import compensated_dot as compensated_dot
    from sciprec.precision.sums.summation import compensated_sum as compensated_sum
    from sciprec.report.stored.verification import VerifiedBatch as VerifiedBatch
    from sciprec.report.stored.verification import verify as verify
    from sciprec.studies.bounds import Bound as Bound
    from sciprec.studies.bounds import bound as bound
    from sciprec.studies.kernel_page import Study as Study
    from sciprec.studies.kernel_page import study as study
    from sciprec.studies.monitored import Monitored as Monitored
    from sciprec.studies.monitored import monitor as monitor
    from sciprec.studies.traces import Trace as Trace
    from sciprec.studies.traces import trace as trace
    from sciprec.studies.tuned import Tuned as Tuned
    from sciprec.studies.tuned import tune as tune

__version__ = "0.1.0"

_PUBLIC = {
    "lift": "sciprec.precision.lifting.lifting",
    "LiftError": "sciprec.precision.lifting.lifting",
    "Lifted": "sciprec.precision.lifting.lifting",
    "quantize": "sciprec.precision.quantization",
    "adaptive_quantize": "sciprec.precision.integers.fixed_point",
    "dequantize": "sciprec.precision.integers.fixed_point",
    "fixed_matmul": "sciprec.precision.integers.matrix_products",
    "backends": "sciprec.precision.formats.backend",
    "Arithmetic": "sciprec.precision.formats.backend",
    "Backend": "sciprec.precision.formats.backend",
    "Format": "sciprec.precision.formats.float_format",
    "Compensation": "sciprec.precision.sums.compensation",
    "CarriedUpdate": "sciprec.precision.sums.compensation",
    "compensated_sum": "sciprec.precision.sums.summation",
    "compensation_footprint": "sciprec.machine.footprint",
    "fit_compensation": "sciprec.machine.fit",
    "compensated_dot": "sciprec.precision.sums.summation",
    "fma": "sciprec.precision.operations.reduce",
    "check_memory": "sciprec.diagnosis.memory",
    "MemoryReport": "sciprec.diagnosis.memory",
    "MemoryFinding": "sciprec.diagnosis.memory",
    "trace_scenario": "sciprec.kinds.scenario_trace",
    "tune_scenario": "sciprec.kinds.scenario_tune",
    "TunedModel": "sciprec.kinds.scenario_tune",
    "ModelTrace": "sciprec.diagnosis.models.traces",
    "Assignment": "sciprec.precision.assigning.assignment",
    "trace": "sciprec.studies.traces",
    "Trace": "sciprec.studies.traces",
    "Line": "sciprec.diagnosis.lines",
    "tune": "sciprec.studies.tuned",
    "Tuned": "sciprec.studies.tuned",
    "bound": "sciprec.studies.bounds",
    "Bound": "sciprec.studies.bounds",
    "load_scenario": "sciprec.kinds",
    "run": "sciprec.batch.workflow",
    "monitor": "sciprec.studies.monitored",
    "Monitored": "sciprec.studies.monitored",
    "study": "sciprec.studies.kernel_page",
    "Study": "sciprec.studies.kernel_page",
    "model": "sciprec.models.declaration",
    "ModelArithmetic": "sciprec.models.arithmetic",
    "run_climate": "sciprec.kinds.climate_runs",
    "on_pressure_levels": "sciprec.output.pressure",
    "compare": "sciprec.comparison.rows",
    "verify": "sciprec.report.stored.verification",
    "VerifiedBatch": "sciprec.report.stored.verification",
    "price_dataset": "sciprec.output.bounded_prices",
    "greeks_dataset": "sciprec.output.bounded_prices",
    "InputError": "sciprec.errors",
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


def _register_accessor() -> None:
    """Give xarray's objects `.sciprec` where xarray is imported; nobody else waits for it."""
    if "xarray" in sys.modules:
        imported("sciprec.accessor")


_register_accessor()
