"""The precision engine: number formats, backends, and kernels lifted into them."""

from sciprec.precision.formats.backend import Arithmetic, Backend, backends, resolve_backend
from sciprec.precision.formats.float_format import FORMATS, Format
from sciprec.precision.lifting.lifting import Lifted, LiftError, lift
from sciprec.precision.registry import KERNELS, kernel

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
    "resolve_backend",
]
