"""Compiled functions that follow some elements of a state while its levels change."""

from __future__ import annotations

import numpy as np

from sciprec.precision.compiled.disk_cache import kept


@kept(nogil=True, error_model="numpy")
def taken(values, first, stride, width, out):
    """Write what of a flat state is followed."""
    k = 0
    for row in range(first, values.size // width, stride):
        for i in range(row * width, (row + 1) * width):
            out[k] = values[i]
            k += 1


@kept(nogil=True, error_model="numpy")
def before_sum(values, increment, damping, first, stride, width, held, asked):
    """Write the state, and the change that is asked for: a - damping (x + a)."""
    k = 0
    for row in range(first, values.size // width, stride):
        for i in range(row * width, (row + 1) * width):
            x, a = np.float64(values[i]), np.float64(increment[i])
            held[k] = x
            asked[k] = a - np.float64(damping[i]) * (x + a)
            k += 1


@kept(nogil=True, error_model="numpy")
def before_filter(
    previous, current, following, strength, share, first, stride, width, held, asked
):
    """Write both states that a filter changes, and the changes: see `levels.filter_levels`."""
    k = 0
    for row in range(first, current.size // width, stride):
        for i in range(row * width, (row + 1) * width):
            x, y = np.float64(current[i]), np.float64(following[i])
            d = strength * ((np.float64(previous[i]) - x) + (y - x))
            held[0, k], held[1, k] = x, y
            asked[0, k], asked[1, k] = share * d, (share - 1.0) * d
            k += 1
