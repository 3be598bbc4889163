"""Places in sorted vectors, where every comparison is to be seen: for traces and bounds.

Elsewhere Numba's own np.searchsorted looks; these make the same comparisons in the same order, so
that they find the same places in vectors that are not sorted, too. NaN stands last.
"""

from __future__ import annotations

import numpy as np


def search_left(a, v):
    """np.searchsorted(a, v): before elements that are equal, v a number or an array."""
    if isinstance(v, (int, float)):
        return _place(a, v, 0, len(a), True)
    return _places(a, v, True)


def search_right(a, v):
    """np.searchsorted(a, v, side="right"): behind elements that are equal."""
    if isinstance(v, (int, float)):
        return _place(a, v, 0, len(a), False)
    return _places(a, v, False)


def _places(a, v, leftmost):
    """Search for each value, beginning where the last search ended."""
    targets = v.ravel()
    out = np.empty(targets.size, np.intp)
    low, high = 0, len(a)
    for i in range(targets.size):
        if i > 0 and _is_before(targets[i - 1], targets[i], leftmost):
            high = len(a)
        else:
            low = 0
            high = high + 1 if high < len(a) else len(a)
        low = _place(a, targets[i], low, high, leftmost)
        out[i] = high = low
    return out.reshape(v.shape)


def _place(a, v, low, high, leftmost):
    while low < high:
        middle = low + ((high - low) >> 1)
        if _is_before(a[middle], v, leftmost):
            low = middle + 1
        else:
            high = middle
    return low


def _is_before(x, v, leftmost):
    if np.isnan(v):
        return not (leftmost and np.isnan(x))
    return x < v if leftmost else x <= v


def digitize(x, bins, right=False):
    """np.digitize(x, bins, right): in which of the intervals between rising or falling numbers."""
    rises, falls = True, True
    for i in range(1, len(bins)):
        rises = rises and bins[i - 1] <= bins[i]
        falls = falls and bins[i - 1] >= bins[i]
    if not (rises or falls):
        raise ValueError("bins must be monotonically increasing or decreasing")
    if rises:
        return search_left(bins, x) if right else search_right(bins, x)
    turned = bins[::-1]
    return len(bins) - (search_left(turned, x) if right else search_right(turned, x))
