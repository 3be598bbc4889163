"""The start of a sum or product in chunks of a parallel loop, and the place of their results.

The functions are for compiled code, and decide by type: numbers, or arrays that rows are added to.
"""

from __future__ import annotations

import numpy as np
from numba.core import types

from sciprec.precision.compiled.lowering import by_type


@by_type
def start_of_sum(s):
    """Zero, or an array of zeros like `s`."""
    return (lambda s: np.zeros_like(s)) if isinstance(s, types.Array) else lambda s: 0


@by_type
def start_of_product(s):
    """One, or an array of ones like `s`."""
    return (lambda s: np.ones_like(s)) if isinstance(s, types.Array) else lambda s: 1


@by_type
def results(count, first):
    """A place for the results of `count` chunks, the first of them in it."""
    if not isinstance(first, types.Array):
        return lambda count, first: np.full(count, first)

    def of_arrays(count, first):
        parts = np.empty((count, *first.shape), first.dtype)
        parts[0] = first
        return parts

    return of_arrays
