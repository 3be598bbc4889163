"""sciprec: can my model run in this arithmetic?

Real solvers and your own Numba kernels, in selectable arithmetics, compared with binary64.
"""

from __future__ import annotations

import importlib
import sys

__version__ = "0.1.0"

_PUBLIC = {
    "lift": "sciprec.precision.lifting.lifting",
    "LiftError": "sciprec.precision.lifting.lifting",
    "Lifted": "sciprec.precision.lifting.lifting",
    "quantize": "sciprec.precision.quantization",
    "adaptive_quantize": "sciprec.precision.integers.fixed_point",
    "dequantize": "sciprec.precision.integers.fixed_point",
    "fixed_matmul": "sciprec.precision.integers.fixed_matmul",
    "backends": "sciprec.precision.formats.backend",
    "Arithmetic": "sciprec.precision.formats.backend",
    "Backend": "sciprec.precision.formats.backend",
    "Format": "sciprec.precision.formats.float_format",
    "Compensation": "sciprec.precision.sums.compensation",
    "CarriedUpdate": "sciprec.precision.sums.compensation",
    "compensated_sum": "sciprec.precision.sums.summation",
    "compensation_footprint": "sciprec.compensation.footprint",
    "fit_compensation": "sciprec.compensation.fit",
    "compensated_dot": "sciprec.precision.sums.summation",
    "fma": "sciprec.precision.operations.reduce",
    "check_memory": "sciprec.diagnosis.memory",
    "MemoryReport": "sciprec.diagnosis.memory",
    "MemoryFinding": "sciprec.diagnosis.memory",
    "load_scenario": "sciprec.kinds",
    "run": "sciprec.batch.workflow",
    "run_climate": "sciprec.kinds.climate_runs",
    "on_pressure_levels": "sciprec.output.pressure",
    "compare": "sciprec.comparison.rows",
    "price_dataset": "sciprec.output.bounded_prices",
    "greeks_dataset": "sciprec.output.bounded_prices",
    "InputError": "sciprec.errors",
}
_PACKAGES = ("accumulation", "climate", "heston", "machine", "precision")

__all__ = [*_PUBLIC, *_PACKAGES, "__version__"]


def __getattr__(name: str):
    if name in _PUBLIC:
        found = getattr(importlib.import_module(_PUBLIC[name]), name)
    elif name in _PACKAGES:
        found = importlib.import_module(f"sciprec.{name}")
    else:
        raise AttributeError(f"module 'sciprec' has no attribute '{name}'")
    _register_accessor()
    return found


def __dir__() -> list[str]:
    return sorted(__all__)


def _register_accessor() -> None:
    """Give xarray's objects `.sciprec` where xarray is imported; nobody else waits for it."""
    if "xarray" in sys.modules:
        importlib.import_module("sciprec.accessor")


_register_accessor()
