"""The operations of code that all arithmetics of binary32 variables share: see `asked`."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.operations.asked import Asking
from sciprec.precision.operations.intrinsics import Operations

_ANY = "bf16"
"""An arithmetic that shares; nothing asks which it is."""


def can_share(backend: Backend) -> bool:
    """Whether a backend's numbers are in binary32 variables and nothing but its arithmetic, the
    same in every role, tells its code from that of others.
    """
    alike = len(set(backend.roles)) == 1 and not (backend.random or backend.fixed)
    return alike and type(backend) is Backend and backend.carrier == np.float32


@lru_cache(maxsize=1)
def shared_operations() -> Operations:
    """The (one) operations of shared code: they are asked for, but what is exact in every
    arithmetic.
    """
    return Operations(resolve_backend(_ANY), 0, roles=(Asking(),) * 4)
