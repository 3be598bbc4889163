"""Other emulators, measured beside ours when they are installed (`pip install sciprec[peers]`).

Each does the same operations on whole arrays, rounding every result, as its users would write it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import numpy as np

from sciprec.bench import kernels

COLUMN = "trusted"


class Peer:
    """A peer's way of running one of the kernels on its own arrays."""

    def __init__(self, function: Callable, arrays: list):
        self.function, self.arrays = function, arrays

    def __call__(self, *ignored) -> None:
        self.function(*self.arrays)


def _same(x):
    return x


def _add(a, b, c, rounded=_same):
    return rounded(a + b)


def _advect(q, u, v, cx, cy, diffusion, four, out, rounded=_same):
    r = rounded
    centre, east, west = q[1:-1, 1:-1], q[1:-1, 2:], q[1:-1, :-2]
    north, south = q[2:, 1:-1], q[:-2, 1:-1]
    along = r(u[1:-1, 1:-1] * r(east - west))
    across = r(v[1:-1, 1:-1] * r(north - south))
    around = r(r(r(east + west) + r(north + south)) - r(four * centre))
    return r(r(r(centre - r(cx * along)) - r(cy * across)) + r(diffusion * around))


FORMS = {kernels.add: _add, kernels.advect: _advect}


def contenders(kernel: Callable, plain: list) -> dict[tuple[str, str], tuple[Callable, list]]:
    """The peers that are installed and can do this kernel; large arrays are left to ours alone."""
    form = FORMS.get(kernel)
    if form is None or plain[0].size > 1_000_000:
        return {}
    found = {("NumPy float16", COLUMN): (_numpy_like(form, plain, np.float16), [])}
    if importlib.util.find_spec("ml_dtypes"):
        import ml_dtypes

        found["ml_dtypes bfloat16", COLUMN] = _numpy_like(form, plain, ml_dtypes.bfloat16), []
    if importlib.util.find_spec("pychop"):
        found["pychop binary16", COLUMN] = _pychop(form, plain), []
    if importlib.util.find_spec("jax"):
        found["JAX reduce_precision, binary16", COLUMN] = _jax(form, plain), []
    return found


def _numpy_like(form, plain, dtype) -> Peer:
    return Peer(form, [np.asarray(x).astype(dtype) for x in plain])


def _pychop(form, plain) -> Peer:
    import pychop

    pychop.backend("numpy")
    rounded = pychop.Chop(exp_bits=5, sig_bits=10, rmode=1)
    return Peer(lambda *arrays: form(*arrays, rounded=rounded), plain)


def _jax(form, plain) -> Peer:
    import jax

    def rounded(x):
        return jax.lax.reduce_precision(x, exponent_bits=5, mantissa_bits=10)

    compiled = jax.jit(lambda *arrays: form(*arrays, rounded=rounded))
    return Peer(
        lambda *arrays: compiled(*arrays).block_until_ready(), [jax.numpy.asarray(x) for x in plain]
    )
