"""Sums along one axis, in NumPy's order for arrays in C order."""

from __future__ import annotations

from sciprec.precision.operations.by_type import zeros_for
from sciprec.precision.operations.reduce import accumulate, pairwise, total


def total_along(a, shape, axis):
    """np.sum(a, axis), in the accumulate role: pairwise where the elements of a sum lie beside each
    other, otherwise sequential.

    Args:
        a: the array.
        shape: that of a without its axis.
        axis: 0 or more.
    """
    if a.ndim == 1:
        return total(a)
    out = zeros_for(shape, a, a)
    flat, flat_out, n, behind = a.ravel(), out.ravel(), a.shape[axis], _behind(a, axis)
    for i in range(out.size):
        first = i // behind * n * behind + i % behind
        if behind == 1:
            flat_out[i] = pairwise(flat, first, first + n)
        else:
            result = 0.0
            for k in range(n):
                result = accumulate(result, flat[first + k * behind])
            flat_out[i] = result
    return out


def running_sum_along(a, axis):
    """np.cumsum(a, axis): sequential, in the accumulate role."""
    out = zeros_for(a.shape, a, a)
    flat, flat_out, n, behind = a.ravel(), out.ravel(), a.shape[axis], _behind(a, axis)
    for i in range(out.size // max(n, 1)):
        first, carried = i // behind * n * behind + i % behind, 0.0
        for k in range(n):
            carried = accumulate(carried, flat[first + k * behind])
            flat_out[first + k * behind] = carried
    return out


def _behind(a, axis):
    """Return the number of elements behind each index of an axis."""
    count = 1
    for d in range(axis + 1, a.ndim):
        count *= a.shape[d]
    return count
