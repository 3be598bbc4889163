"""Where the chunks of a parallel loop start a sum or product, and where their results are kept.

The functions are for compiled code, and decide by type: numbers, or arrays that rows are added to.
"""

from __future__ import annotations

import numpy as np
from numba.core import types
from numba.extending import overload


def start_of_sum(s):
    """Zero, or an array of zeros like `s`."""
    raise NotImplementedError("for compiled code only")


def start_of_product(s):
    """One, or an array of ones like `s`."""
    raise NotImplementedError("for compiled code only")


def results(count, first):
    """A place for the results of `count` chunks, the first of them in it."""
    raise NotImplementedError("for compiled code only")


@overload(start_of_sum)
def _start_of_sum(s):
    if isinstance(s, types.Array):
        return lambda s: np.zeros_like(s)
    return lambda s: 0


@overload(start_of_product)
def _start_of_product(s):
    if isinstance(s, types.Array):
        return lambda s: np.ones_like(s)
    return lambda s: 1


@overload(results)
def _results(count, first):
    if not isinstance(first, types.Array):
        return lambda count, first: np.full(count, first)

    def of_arrays(count, first):
        made = np.empty((count, *first.shape), first.dtype)
        made[0] = first
        return made

    return of_arrays
