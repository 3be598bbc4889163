"""Arithmetic of indices, which is binary64's and the integers' in every arithmetic: how many
elements, and at which index.

Lifted kernels call these functions as they are, with numbers of their own type and in their own
rounding mode; a float that one gives is rounded where it is used.
"""

from __future__ import annotations

import math

import numpy as np

from sciprec.precision.compiled.lowering import helper
from sciprec.precision.rounding.mode import NORMAL, call_in_mode

_normally = call_in_mode(NORMAL, 3)


@helper(error_model="numpy")
def index_of_rank(n, q, percent):
    """The index of the last of n sorted elements at or before the percentile q * percent; -1 where
    that is not in [0, 100].
    """
    return _normally(_index, n, q, percent)


@helper(error_model="numpy")
def fraction_of_rank(n, q, percent):
    """Return the distance of the percentile from that element, in [0, 1): binary64."""
    return _normally(_fraction, n, q, percent)


@helper(error_model="numpy")
def number_of_steps(start, stop, step):
    """Return the number of elements of np.arange(start, stop, step)."""
    if step == 0:
        raise ValueError("a step of zero in np.arange")
    return _normally(_steps, start, stop, step)


@helper(error_model="numpy")
def _rank(n, q, percent):
    return 1 + (n - 1) * ((np.float64(q) * percent) / 100.0)


@helper(error_model="numpy")
def _index(n, q, percent):
    if not 0.0 <= np.float64(q) * percent <= 100.0:
        return -1
    if np.float64(q) * percent == 100.0:
        return n - 1
    return int(math.floor(_rank(n, q, percent))) - 1


@helper(error_model="numpy")
def _fraction(n, q, percent):
    rank = _rank(n, q, percent)
    return rank - math.floor(rank)


@helper(error_model="numpy")
def _steps(start, stop, step):
    return max(int(math.ceil((np.float64(stop) - np.float64(start)) / step)), 0)
