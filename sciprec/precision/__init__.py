"""The precision engine: number formats, backends, and kernels lifted into them."""

from sciprec.precision.formats.backend import MAKERS, Arithmetic, Backend, backends, resolve_backend
from sciprec.precision.formats.float_format import FORMATS, Format
from sciprec.precision.lifting.lifting import Lifted, LiftError, lift
from sciprec.precision.quantization import quantize
from sciprec.precision.registry import KERNELS, kernel

for _kind, _module in (("assignment", "assignment"), ("policy", "policies"), ("scaled", "scaling")):
    MAKERS.add(_kind, f"sciprec.precision.assigning.{_module}", "backend_called")

__all__ = [
    "FORMATS",
    "KERNELS",
    "Arithmetic",
    "Backend",
    "Format",
    "LiftError",
    "Lifted",
    "backends",
    "kernel",
    "lift",
    "quantize",
    "resolve_backend",
]
