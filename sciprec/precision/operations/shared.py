"""The operations of code that all arithmetics of binary32 variables share: see `asked`."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.operations.asked import Asking, asked
from sciprec.precision.operations.intrinsics import Operations
from sciprec.precision.operations.operation import OPERATIONS, Operation
from sciprec.precision.rounding.words import I64

_ANY = "bf16"
"""An arithmetic that shares; nothing asks which it is."""


def can_share(backend: Backend) -> bool:
    """Whether a backend's numbers are in binary32 variables and nothing but its arithmetic, the
    same in every role, tells its code from that of others.
    """
    alike = len(set(backend.roles)) == 1 and not (backend.random or backend.fixed)
    return alike and type(backend) is Backend and backend.carrier == np.float32


class SharedOperations(Operations):
    """Operations that are asked for; what is exact in every arithmetic is done."""

    def _rounder(self, arithmetic, others=()):
        return Asking()

    def _emitted(self, name, role):
        if OPERATIONS[name].by in ("step", "signed", "exact"):
            return super()._emitted(name, role)
        return lambda context, b, values, key: asked(b, f"operation {name}", *values)

    def of_bits(self, context, b, row: Operation, value, role, key):
        """A function of a 32-bit integer."""
        return asked(b, f"of_bits {row.name}", value)

    def zero_word(self, b):
        """A zero, hidden where the arithmetic asks for it."""
        return asked(b, "zero_word", result=I64)

    def number(self, b, value: float):
        """A constant."""
        return asked(b, f"number {float(value).hex()}")

    def rounded_number(self, b, value: float, role):
        """A constant, rounded."""
        return asked(b, f"literal {float(value).hex()}")

    def bound(self, b, name: str, role):
        """A number that depends on the format."""
        return asked(b, f"bound {name}")


@lru_cache(maxsize=1)
def shared_operations() -> SharedOperations:
    """The (one) operations of shared code."""
    return SharedOperations(resolve_backend(_ANY), 0)
