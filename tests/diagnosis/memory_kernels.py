"""Kernels that use memory wrongly, one fault each, and kernels that use it in unusual, right ways.

The line of a fault ends with `# fault`.
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


def half_of_a_pair(x):
    w = np.empty(x.size + 1, np.complex128)  # fault
    w.real[:] = 0.0
    for i in range(x.size):
        w[i] = x[i] * 1j
    return w[x.size] * 2.0


def never_written(x):
    return x[0] + np.sum(np.empty(64))  # fault


def edges_forgotten(x, out):
    w = np.empty_like(x)  # fault
    for i in range(1, x.size - 1):
        w[i] = x[i - 1] + x[i + 1]
    out[:] = w


def added_to(x):
    w = np.empty(3)  # fault
    for i in range(x.size):
        w[i % 3] += x[i]
    return w[0] + w[1] * w[2]


def as_index(x, n):
    order = np.empty(n.size, np.int64)  # fault
    order[0] = 1
    return x[order[0]] + x[order[2]]


def as_bound(n):
    ends = np.empty(2, np.int32)  # fault
    ends[0] = 5
    total = 0
    for i in range(ends[1]):
        total += n[i % 3]
    return total


def as_flag(x):
    known = np.empty(x.size, np.bool_)  # fault
    known[0] = True
    count = 0
    for i in range(x.size):
        if known[i]:
            count += 1
    return count


def largest(x):
    w = np.empty(4)  # fault
    w[0] = x[0]
    best = -1.0
    for i in range(w.size):
        if w[i] > best:
            best = w[i]
    return best


def smallest(x):
    w = np.empty(4, np.float32)  # fault
    w[0] = x[0]
    best = 100.0
    for i in range(w.size):
        if w[i] < best:
            best = w[i]
    return best


def compared_with_zero(x):
    w = np.empty(x.size)  # fault
    count = 0
    for i in range(x.size):
        if w[i] == 0.0:
            count += 1
    return count


def given_back(x):
    out = np.empty(x.size)  # fault
    for i in range(x.size - 1):
        out[i] = x[i] * x[i + 1]
    return out


def _table(x):
    rows = np.empty((2, x.size))  # fault
    for i in range(x.size):
        rows[0, i] = x[i]
    return rows


def in_a_called_kernel(x):
    return np.sum(_table(x))


def in_an_inner_function(x):
    def spread(v):
        w = np.empty(2)  # fault
        w[0] = v
        return w[0] - w[1]

    return spread(x[0])


def in_parallel(x, out):
    for i in numba.prange(x.size):
        w = np.empty(2)  # fault
        w[0] = x[i]
        out[i] = w[0] * w[1]


def half_a_matrix(x):
    m = np.empty((3, 3))  # fault
    for i in range(3):
        for j in range(i + 1):
            m[i, j] = x[i] * x[j]
    return m[0, 1] + m[2, 0]


def in_one_branch(x, out):
    w = np.empty(x.size)  # fault
    for i in range(x.size):
        if x[i] > 0.5:
            w[i] = x[i]
    for i in range(x.size):
        out[i] = w[i]


def wrong_buffer(x, out):
    old = np.empty(x.size)  # fault
    new = np.empty(x.size)
    for i in range(x.size):
        new[i] = x[i]
    for step in range(2):
        old, new = new, old
        for i in range(x.size):
            new[i] = old[i] * 0.5 if step else new[i]
    out[:] = new


def as_size(x):
    ends = np.empty(1, np.int32)  # fault
    other = np.empty(ends[0])
    other[:] = x[0]
    return other[0]


def until_small(x):
    w = np.empty(1)  # fault
    v = x[0]
    while v < w[0]:
        v += 1.0
    return v


def one_too_far(x, out):
    for i in range(x.size):
        out[i] = 0.5 * (x[i] + x[i + 1])  # fault


def written_too_far(x, out):
    for i in range(x.size):
        out[i + 1] = x[i]  # fault


def updated_too_far(x, out):
    for i in range(x.size + 1):
        out[i] += 1.0  # fault


def indices_swapped(a, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[0] += a[j, i]  # fault


def constant_index(n, x):
    return x[0] * n[3]  # fault


def from_the_end(n):
    return n[-4]  # fault


def index_array(x, n):
    return np.sum(x[n * 4])  # fault


def index_tuple(a, x):
    total = 0.0
    for i in range(15):
        index = (i // 5, i % 5)
        total += a[index]  # fault
    return total + x[0]


def after_an_ellipsis(a, k):
    return np.sum(a[..., k])  # fault


def of_a_view(a):
    total = 0.0
    for i in range(4):
        total += a[:, 1][i] + a.T[1, 0]  # fault
    return total


def out() -> np.ndarray:
    return np.zeros(X.size)


FAULTY = {
    beyond_what_was_written: (X, out()), never_written: (X,), edges_forgotten: (X, out()),
    added_to: (X,), as_index: (X, WHOLE), as_bound: (WHOLE,), as_flag: (X,), largest: (X,),
    smallest: (X,), compared_with_zero: (X,), given_back: (X,), in_a_called_kernel: (X,),
    in_an_inner_function: (X,), in_parallel: (X, out()), half_a_matrix: (X,),
    in_one_branch: (X, out()), wrong_buffer: (X, out()), until_small: (X,), as_size: (X,),
    one_too_far: (X, out()), half_of_a_pair: (X,),
    written_too_far: (X, out()), updated_too_far: (X, out()), indices_swapped: (SQUARE, out()),
    constant_index: (WHOLE, X), from_the_end: (WHOLE,), index_array: (X, WHOLE),
    index_tuple: (SQUARE, X), after_an_ellipsis: (SQUARE, 4), of_a_view: (SQUARE,),
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


def wholes(a, b, x):
    c = a + a
    a += a
    a[:] = b[:1]
    d = [b[k] * (b[k] * 2**40) for k in range(b.size)]
    e = -b[:1] + b[1:] ** 60
    a[0] = x[0]
    a.fill(x[1])
    return c[0], d[0], e[0]


def hashed(h, out):
    for i in range(out.size):
        h = h * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        h ^= h << np.uint64(13)
        out[i] = np.int32(h)
    return h


CLEAN = {
    ring: (X, out()), stack: (X,), moved_without_use: (X,),
    unusual_indices: (SQUARE, WHOLE, X, out()),
    empty_ones: (X,), written_by_a_slice: (X,), in_chunks: (X, out()), flags: (WHOLE,),
}  # fmt: skip
"""kernel -> its arguments."""
