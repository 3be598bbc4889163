"""Kernels that use memory wrongly, and kernels that use it in unusual, right ways.

The line of a fault ends with `# fault`; what it leaves is in an element of `seen`.
"""

from __future__ import annotations

import numba
import numpy as np

X = np.linspace(0.1, 2.0, 9)
SQUARE = np.linspace(0.1, 2.0, 12).reshape(3, 4)
WHOLE = np.array([3, 1, 2])


def beyond_what_was_written(x, out):
    w = np.empty(x.size + 1)  # fault
    for i in range(x.size):
        w[i] = 0.5 * x[i]
    for i in range(x.size):
        out[i] = w[i] + w[i + 1]


def as_index(x, n):
    order = np.empty(n.size, np.int64)  # fault
    order[0] = 1
    return x[order[0]] + x[order[2]]


def _table(x):
    rows = np.empty((2, x.size))  # fault
    for i in range(x.size):
        rows[0, i] = x[i]
    return rows


def in_an_inner_function(x, seen):
    def spread(v):
        w = np.empty(2)  # fault
        w[0] = v
        return w[0] - w[1]

    seen[0] = spread(x[0])


def in_calls(x, out, seen):
    """In a called kernel, in a loop of several threads, and given back."""
    seen[0] = np.sum(_table(x))
    for i in numba.prange(x.size):
        w = np.empty(2)  # fault
        w[0] = x[i]
        out[i] = w[0] * w[1]
    given = np.empty(x.size)  # fault
    for i in range(x.size - 1):
        given[i] = x[i] * x[i + 1]
    return given


def of_integers(x, n, seen):
    """As an index, a bound, a size and a flag."""
    seen[0] = as_index(x, n)
    ends = np.empty(2, np.int32)  # fault
    ends[0] = 5
    for i in range(ends[1]):
        seen[1] += n[i % 3]
    known = np.empty(x.size, np.bool_)  # fault
    known[0] = True
    for i in range(x.size):
        if known[i]:
            seen[2] += 1
    sizes = np.empty(1, np.int32)  # fault
    other = np.empty(sizes[0])
    other[:] = x[0]
    seen[3] = other[0]


def compared(x, seen):
    """Where a value of one sign or size alone changes what is decided."""
    w = np.empty(4)  # fault
    w[0] = x[0]
    seen[0] = -1.0
    for i in range(w.size):
        if w[i] > seen[0]:
            seen[0] = w[i]
    v = np.empty(4, np.float32)  # fault
    v[0] = x[0]
    seen[1] = 100.0
    for i in range(v.size):
        if v[i] < seen[1]:
            seen[1] = v[i]
    u = np.empty(x.size)  # fault
    for i in range(x.size):
        if u[i] == 0.0:
            seen[2] += 1
    t = np.empty(1)  # fault
    seen[3] = x[0]
    while seen[3] < t[0]:
        seen[3] += 1.0


def in_part(x, out, seen):
    """Arrays of which an edge, a half, a branch or a swapped one was never written."""
    pair = np.empty(x.size + 1, np.complex128)  # fault
    pair.real[:] = 0.0
    for i in range(x.size):
        pair[i] = x[i] * 1j
    seen[0] = (pair[x.size] * 2.0).imag
    seen[1] = np.sum(np.empty(64))  # fault
    w = np.empty_like(x)  # fault
    for i in range(1, x.size - 1):
        w[i] += x[i - 1] + x[i + 1]
    out[:] = w
    m = np.empty((3, 3))  # fault
    for i in range(3):
        for j in range(i + 1):
            m[i, j] = x[i] * x[j]
    seen[3] = m[0, 1] + m[2, 0]
    some = np.empty(x.size)  # fault
    for i in range(x.size):
        if x[i] > 0.5:
            some[i] = x[i]
    seen[4] = np.sum(some)
    old = np.empty(x.size)  # fault
    new = np.empty(x.size)
    for i in range(x.size):
        new[i] = x[i]
    for step in range(2):
        old, new = new, old
        for i in range(x.size):
            new[i] = old[i] * 0.5 if step else new[i]
    seen[5] = new[1]


def too_far(x, n, a, k, out, seen):
    """Reads and writes beyond an array, by every kind of index but constants."""
    for i in range(x.size):
        seen[0] += 0.5 * (x[i] + x[i + 1])  # fault
    for i in range(x.size):
        out[i + 1] = x[i]  # fault
    for i in range(x.size + 1):
        out[i] += 1.0  # fault
    seen[3] = np.sum(x[n * 4])  # fault
    for i in range(15):
        index = (i // 5, i % 5)
        seen[4] += a[index]  # fault
    seen[5] = np.sum(a[..., k])  # fault
    for i in range(4):
        seen[6] += a[:, 1][i] + a.T[1, 0]  # fault


def constant_index(n, x):
    return x[0] * n[3]  # fault


def from_the_end(n):
    return n[-4]  # fault


def indices_swapped(a, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[0] += a[j, i]  # fault


def out() -> np.ndarray:
    return np.zeros(X.size)


FAULTY = {
    beyond_what_was_written: (X, out()), as_index: (X, WHOLE), indices_swapped: (SQUARE, out()),
    in_an_inner_function: (X, np.zeros(1)), constant_index: (WHOLE, X), from_the_end: (WHOLE,),
    in_calls: (X, out(), out()), of_integers: (X, WHOLE, out()), compared: (X, out()),
    in_part: (X, out(), out()), too_far: (X, WHOLE, SQUARE, 4, out(), out()),
}  # fmt: skip
"""kernel -> its arguments."""


# ---- clean ------------------------------------------------------------------------------------


def ring(x, out):
    """A buffer read only where it was written."""
    kept = np.empty(3)
    for i in range(x.size):
        kept[i % 3] = x[i]
        out[i] = kept[i % 3] - (kept[(i - 1) % 3] if i else 0.0)


def stack(x):
    waiting, depth = np.empty(x.size, np.int64), 0
    total = 0.0
    for i in range(x.size):
        waiting[depth] = i
        depth += 1
        if i % 3 == 2:
            while depth:
                depth -= 1
                total += x[waiting[depth]]
    return total


def moved_without_use(x):
    """Elements that were never written are copied, and overwritten."""
    w = np.empty(x.size + 2)
    w[: x.size] = x
    other = w.copy()
    other[x.size :] = 1.0
    return np.sum(other)


def unusual_indices(a, n, x, out):
    last = a[-1, -a.shape[1]] + a[..., 1][0] + a[None, 0, 0][0]
    for i in range(a.size):
        index = (i // 4, i % 4)
        last += a[index]
    out[: n.size] = a[0, n]
    out[0] += np.sum(a[1][a[1] > 0.5]) + a.T[3, 2] + a[1:][1, 2]
    last += x.reshape(3, 3)[a.shape[0] - 1, 0]
    listed = [x.reshape(3, 3)[k, 1] + x.reshape(-1)[k] for k in range(3)]
    return last, out[-1], a.shape[-1], (1, 2.5)[1], listed[2]


def empty_ones(x):
    none = np.empty(0)
    total = np.sum(none)
    for i in range(none.size):
        total += none[i]
    return total + x[x.size - 1]


def written_by_a_slice(x):
    w, like = np.empty((2, x.size)), np.empty_like(x)
    w[0] = x
    w[1, :] = 2.0 * x
    like[:] = w[1] - w[0]
    return like


def in_chunks(x, out):
    for i in numba.prange(x.size):
        w = np.empty(2)
        w[0], w[1] = x[i], 2.0
        out[i] = w[0] * w[1]


def flags(n):
    seen = np.empty(n.size + 1, np.bool_)
    seen[:] = False
    for i in range(n.size):
        seen[n[i]] = True
    return np.sum(np.where(seen, 1, 0))


def index_sum(x, s):
    for i in range(x.size):
        s[0] += x[i]


def hashed(h, out):
    for i in range(out.size):
        h = h * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        h ^= h << np.uint64(13)
        out[i] = np.int32(h)
    return h


def right(n, x, out):
    """All of them but unusual indices."""
    ring(x, out)
    in_chunks(x, out)
    of_numbers = stack(x), moved_without_use(x), empty_ones(x), flags(n)
    return of_numbers, written_by_a_slice(x)


RIGHT = {right: (WHOLE, X, out()), unusual_indices: (SQUARE, WHOLE, X, out())}
"""kernel -> its arguments."""
