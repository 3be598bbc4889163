"""Kernels of whole arrays: each is run in pairs, and as it stands on arrays of real numbers."""

import numpy as np


def sums(x, y, out):
    out[0] = np.sum(x * y)
    out[1] = np.dot(x, y)
    out[2] = x.sum()
    out[3] = x @ y
    out[4] = np.mean(x)
    out[5] = x.max() - np.min(y)
    out[6] = np.prod(x)


def running(x, y, out):
    out[:] = np.cumsum(x)
    out[3:] += np.diff(y)[2:]


def ordered(x, y, out):
    s = np.sort(x)
    out[:] = s
    out[0] = np.argmax(x)
    out[1] = np.argmin(y)
    out[2] = np.argsort(x)[3]
    out[3] = np.searchsorted(s, y[0])


def chosen(x, y, out):
    out[:] = np.where(x > y, x, y)
    mask = x > 0.5
    out[mask] = x[mask] + y[mask]
    out[4] = np.clip(x, y.min(), y[0])[1]


def matrices(x, y, out):
    a, b = x.reshape(4, 5), y.reshape(5, 4)
    out[:16] = (a @ b).ravel()
    out[16:] = np.outer(x, y).T[3, :4]


def in_place(x, y, out):
    out[:] = x * y + np.abs(x)
    out += y
    out *= x
    out[3] /= 7.0
    out[:5], a = np.roll(x, 3)[:5], np.zeros_like(x)
    for i, (p, q) in enumerate(zip(x, y)):  # noqa: B905
        a[i] = p - q
    out[5:] -= np.concatenate((a[:10], a[:5].copy()))


EVERY = sums, running, ordered, chosen, matrices, in_place
