"""The three kernels of the precision benchmark. They hold no literal, so that plain Numba keeps
binary32 too.
"""

from __future__ import annotations

import numpy as np

from sciprec.precision.registry import kernel


def _vectors() -> tuple:
    rng = np.random.default_rng(1)
    return rng.uniform(-1, 1, 9), rng.uniform(-1, 1, 9), np.zeros(9)


@kernel(example=_vectors)
def add(a, b, c):
    """c = a + b."""
    for i in range(a.size):
        c[i] = a[i] + b[i]


def _fields() -> tuple:
    rng = np.random.default_rng(2)
    q, u, v = rng.uniform(-1, 1, (3, 6, 7))
    return q, u, v, 0.3, 0.2, 0.05, 4.0, np.zeros((6, 7))


@kernel(example=_fields)
def advect(q, u, v, cx, cy, diffusion, four, out):
    """One step of advection and diffusion on a plane: centred differences, 15 operations a point.
    """
    for i in range(1, q.shape[0] - 1):
        for j in range(1, q.shape[1] - 1):
            along = u[i, j] * (q[i, j + 1] - q[i, j - 1])
            across = v[i, j] * (q[i + 1, j] - q[i - 1, j])
            around = (q[i, j + 1] + q[i, j - 1]) + (q[i + 1, j] + q[i - 1, j]) - four * q[i, j]
            out[i, j] = q[i, j] - cx * along - cy * across + diffusion * around


def _matrices() -> tuple:
    rng = np.random.default_rng(3)
    return rng.uniform(-1, 1, (4, 5)), rng.uniform(-1, 1, (5, 6)), np.zeros((4, 6))


@kernel(example=_matrices)
def matrix_product(a, b, c):
    """c += a @ b, every product and every sum rounded, sequential over the contracted index."""
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            x = a[i, k]
            for j in range(b.shape[1]):
                c[i, j] += x * b[k, j]
