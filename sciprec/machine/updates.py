"""Compensated state updates written with the machine's instructions only.

| step of the protocol | instruction |
|---|---|
| a + b, a - b in floats | VCOMP.F32 (a, b, 1), VCOMP.F32 (a, b, -1): a product with 1 is exact |
| alpha r | VCOMP.F32 (-0, r, alpha): the sum with -0 is exact and keeps the sign of a zero |
| dx in units of x, what is lost dropped | VSCALE.I32 (dx, scale) |
| dx in units of x, what is lost carried | VACC.I64 (residual, dx, scale), read as two words |
| a sum of scaled products | VACC.I64, one per term: exact while nothing leaves 64 bits |

`compensated_update` is `sums.compensation` in mlu370 arithmetic bit for bit, and takes
14 VCOMP.F32. `rescaled_update` is what fixed point allows: nothing is lost at all, where the
protocol rounds its residual to the storage format; the two therefore have different bits, and
alpha and beta have no counterpart (it is alpha = 1, beta = 0).
"""

from __future__ import annotations

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.machine.instructions import _vacc, _vcomp, vscale_i32
from sciprec.precision.compiled.disk_cache import kept

_compiled = kept(nogil=True, error_model="numpy")
_LOW_WORD = 2**32 - 1


@_compiled
def _lost(a, b, total):
    """The rounding error of total = a + b: two instructions and a choice."""
    larger, smaller = (a, b) if abs(a) >= abs(b) else (b, a)
    part = _vcomp(total, larger, -1.0, False)
    return _vcomp(smaller, part, -1.0, False)


@_compiled
def _update(state, residual, increment, alpha, beta):
    """One pass over the state, element by element."""
    for i in range(state.size):
        x, carried, step = state[i], residual[i], increment[i]
        without = _vcomp(x, step, 1.0, False)
        scaled = _vcomp(-0.0, carried, alpha, False)
        carry = _vcomp(scaled, _lost(x, step, without), beta, False)
        total = _vcomp(step, carry, 1.0, False)
        state[i] = _vcomp(x, total, 1.0, False)
        unused = _vcomp(carried, carry, -1.0, False)
        rest = _vcomp(unused, _lost(step, carry, total), 1.0, False)
        residual[i] = _vcomp(_lost(x, total, state[i]), rest, 1.0, False)


def compensated_update(
    state: np.ndarray, residual: np.ndarray, increment: np.ndarray, alpha: float = 1.0,
    beta: float = 0.0,
) -> None:  # fmt: skip
    """state <- state + increment by VCOMP.F32, with the rounding error carried in the residual.

    carry = alpha r + beta c,  whole = dx + carry,  x' = x + whole,
    r' = what is lost in x + whole + (r - carry) + what is lost in dx + carry

    Args:
        state, residual: float32 arrays (n,) of mlu370 numbers (made by `quantize`), changed in
            place.
        increment: float32 array (n,), likewise.
        alpha, beta: shares of the kept residual r and of this update's own loss c.

    Raises:
        InputError: arrays of other dtypes or of different shapes.

    Precision:
        The same bits as `sciprec.arrays.sums.compensation.compensated_update` lifted to mlu370.
    """
    arrays = {"state": state, "residual": residual, "increment": increment}
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray) or array.dtype != np.float32 or array.ndim != 1:
            raise InputError(
                f"compensated_update was given {name} of {_kind(array)}; accepted: a 1-D array of "
                "float32; write np.float32(x).ravel()"
            )
    _refuse_shapes("compensated_update", arrays)
    _update(state, residual, increment, np.float32(alpha), np.float32(beta))


@_compiled
def _rescaled(state, residual, increment, scale):
    """One pass over integers; returns how many sums left their register."""
    overflows = 0
    for i in range(state.size):
        pair, gone = _vacc(residual[i], increment[i], scale)
        overflows += gone
        residual[i] = pair & _LOW_WORD
        state[i], gone = _vacc(state[i], pair >> 32, 1)
        overflows += gone
    return overflows


def rescaled_update(
    state: np.ndarray, residual: np.ndarray, increment: np.ndarray, scale: int
) -> int:
    """state <- state + increment * scale / 2^32 in fixed point, the remainder carried.

    pair = VACC.I64(residual, increment, scale): its upper word goes into the state, its lower word
    is the next residual, so that state * 2^32 + residual is the exact sum at any time. With the
    residual left out the upper word is VSCALE.I32(increment, scale).

    Args:
        state: int64 array (n,), changed in place.
        residual: int64 array (n,) in [0, 2^32), changed in place.
        increment: int32 array (n,).
        scale: the increment's unit as a fraction of the state's, in units of 2^-32: an integer in
            [-2^31, 2^31).

    Returns:
        How many sums left 64 bits (and wrapped); 0 means that the result is exact.

    Raises:
        InputError: arrays of other dtypes or of different shapes; a residual or a scale out of
            range.

    Precision:
        Exact: the state is the exact sum rounded down, whatever the number of updates.
    """
    arrays = {"state": state, "residual": residual, "increment": increment}
    types = {"state": np.int64, "residual": np.int64, "increment": np.int32}
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray) or array.dtype != types[name] or array.ndim != 1:
            raise InputError(
                f"rescaled_update was given {name} of {_kind(array)}; accepted: a 1-D array of "
                f"{np.dtype(types[name])}"
            )
    _refuse_shapes("rescaled_update", arrays)
    if residual.size and not (residual.min() >= 0 and residual.max() <= _LOW_WORD):
        raise InputError(
            f"rescaled_update was given residuals from {residual.min()} to {residual.max()}; "
            "accepted: 0 to 2^32 - 1; start with zeros"
        )
    vscale_i32(0, scale)  # refuses what is no 32-bit integer
    return int(_rescaled(state, residual, increment, np.int64(scale)))


def _refuse_shapes(name, arrays) -> None:
    """All arrays have one length."""
    if len({array.shape for array in arrays.values()}) > 1:
        shapes = ", ".join(f"{key} {array.shape}" for key, array in arrays.items())
        raise InputError(f"{name} was given shapes {shapes}; accepted: arrays of one length")


def _kind(array) -> str:
    """Words for an argument, in a message."""
    if isinstance(array, np.ndarray):
        return f"{array.ndim}-D {array.dtype}"
    return type(array).__name__
