"""Functions that choose by the type of numbers, real or complex, for the engine's own kernels: in
lifted kernels, in plain Numba and in Python.
"""

from __future__ import annotations

import numpy as np
from numba.core import types
from numba.extending import overload

from sciprec.precision.operations.number_types import Companioned

REAL_BLOCK, COMPLEX_BLOCK = 128, 64
"""Terms of a block of NumPy's pairwise sum: 128 numbers, of complex ones two each."""


def sum_block(a):
    """The largest number of terms of `a` in a block of a pairwise sum."""
    return COMPLEX_BLOCK if np.iscomplexobj(a) else REAL_BLOCK


def zeros_for(shape, a, b):
    """Zeros in an array for sums of products of elements of `a` and `b`: binary64, complex where
    one of them is.
    """
    pairs = np.iscomplexobj(a) or np.iscomplexobj(b)
    return np.zeros(shape, np.complex128 if pairs else np.float64)


@overload(sum_block, inline="always")
def _sum_block(a):
    size = COMPLEX_BLOCK if _is_complex(a) else REAL_BLOCK
    return lambda a: size


@overload(zeros_for)
def _zeros_for(shape, a, b):
    dtype = np.complex128 if _is_complex(a) or _is_complex(b) else np.float64
    for number in (getattr(kind, "dtype", kind) for kind in (a, b)):
        dtype = number.wide_dtype if isinstance(number, Companioned) else dtype
    return lambda shape, a, b: np.zeros(shape, dtype)


def _is_complex(kind) -> bool:
    return isinstance(getattr(kind, "dtype", kind), types.Complex)
