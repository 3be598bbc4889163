"""sciprec: can my model run in this arithmetic?

Real solvers and your own Numba kernels, in selectable arithmetics, compared with binary64.
"""

from __future__ import annotations

import importlib
import sys

__version__ = "0.1.0"

_PUBLIC = {
    "lift": "sciprec.precision.lifting",
    "LiftError": "sciprec.precision.lifting",
    "Lifted": "sciprec.precision.lifting",
    "quantize": "sciprec.precision.quantization",
    "adaptive_quantize": "sciprec.precision.fixed_point",
    "dequantize": "sciprec.precision.fixed_point",
    "fixed_matmul": "sciprec.precision.fixed_matmul",
    "backends": "sciprec.precision.backend",
    "Arithmetic": "sciprec.precision.backend",
    "Backend": "sciprec.precision.backend",
    "Format": "sciprec.precision.formats",
    "Compensation": "sciprec.precision.compensation",
    "CarriedUpdate": "sciprec.precision.compensation",
    "compensated_sum": "sciprec.precision.summation",
    "compensation_footprint": "sciprec.compensation_plan",
    "fit_compensation": "sciprec.compensation_fit",
    "compensated_dot": "sciprec.precision.summation",
    "fma": "sciprec.precision.reduce",
    "load_scenario": "sciprec.scenario",
    "run": "sciprec.workflow",
    "run_climate": "sciprec.climate_runs",
    "on_pressure_levels": "sciprec.output.pressure",
    "compare": "sciprec.compare",
    "price_dataset": "sciprec.output.bounded_prices",
    "greeks_dataset": "sciprec.output.bounded_prices",
    "InputError": "sciprec.errors",
}
_PACKAGES = ("accumulation", "climate", "heston", "machine", "precision")

__all__ = [*_PUBLIC, *_PACKAGES, "__version__"]


def __getattr__(name: str):
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    if name in _PACKAGES:
        return importlib.import_module(f"sciprec.{name}")
    raise AttributeError(f"module 'sciprec' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)


if "xarray" in sys.modules:  # whoever uses xarray gets the accessor; nobody else waits for it
    importlib.import_module("sciprec.accessor")
