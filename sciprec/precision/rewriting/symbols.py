"""What a name in a kernel means to the engine, besides the operations (`operation`)."""

from __future__ import annotations

import ast
import math

import numba
import numpy as np

from sciprec.precision.operations import reduce

BINARY_OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Mod: "mod",
    ast.FloorDiv: "floordiv", ast.Pow: "pow",
}  # fmt: skip
INTEGER_OPERATORS = (ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor)
REDUCTIONS = {
    np.sum: reduce.total, np.mean: reduce.mean, np.prod: reduce.running_product, np.dot: reduce.dot,
    np.vdot: reduce.dot, np.matmul: reduce.dot, np.max: reduce.largest, np.amax: reduce.largest,
    np.min: reduce.smallest, np.amin: reduce.smallest, np.cumsum: reduce.running_sum,
}  # fmt: skip
"""function -> the engine's own kernel, with a named order, that is lifted in its place."""

NATIVE = {
    range, len, int, bool, enumerate, zip, print, isinstance, tuple, list, reversed, slice,
    math.isnan, math.isinf, math.isfinite, math.floor, math.ceil, math.trunc, math.gcd,
    np.shape, np.int8, np.int16, np.int32, np.int64, np.intp, np.uint8, np.uint16, np.uint32,
    np.uint64, np.bool_, numba.uint32, numba.uint64, numba.int32, numba.int64,
}  # fmt: skip
"""Functions whose results are not floating-point numbers, or no arithmetic at all."""

VIEWING = {
    np.asarray, np.ascontiguousarray, np.reshape, np.ravel, np.transpose, np.swapaxes, np.flip,
    np.expand_dims, np.atleast_1d, np.broadcast_to,
}  # fmt: skip
"""Functions that show the same memory in another shape: what is written there is in the array."""

MOVING = {
    np.array, np.copy, np.isnan, np.isinf, np.isfinite, np.any, np.all, np.argmax, np.argmin,
    np.argsort, np.sort, np.searchsorted, np.nonzero, np.where, np.concatenate, np.stack, np.hstack,
    np.vstack, np.column_stack, np.roll, np.diag, np.repeat, np.logical_and, np.logical_or,
    np.logical_not, np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
    np.signbit, np.zeros_like, np.empty_like, np.ones_like, np.size, np.count_nonzero,
    np.flatnonzero, np.array_equal,
}  # fmt: skip
"""Functions that compare or move numbers: their array arguments are rounded first."""

CREATING = {np.empty: 1, np.zeros: 1, np.ones: 1, np.full: 2, np.full_like: 2}
"""Functions that make arrays of the carrier's dtype -> position of their dtype argument."""

MIXING = {
    np.full, np.full_like, np.array, np.where, np.concatenate, np.stack, np.hstack, np.vstack,
    np.column_stack,
}  # fmt: skip
"""Functions that may put integers into arrays of floating-point numbers, where they are rounded
when they are loaded.
"""

METHODS = {
    "sum": np.sum, "mean": np.mean, "prod": np.prod, "dot": np.dot, "max": np.max, "min": np.min,
    "cumsum": np.cumsum,
}  # fmt: skip
"""Methods of arrays that are reductions."""

DECIDING_METHODS = {"copy", "argmax", "argmin", "argsort", "any", "all", "nonzero"}
"""Methods that copy or compare elements: these are rounded first."""

QUIET_METHODS = {
    "reshape", "ravel", "flatten", "transpose", "item", "append", "pop", "extend", "insert",
    "clear", "keys", "values", "items", "get", "index", "count", "reverse", "sort", "repeat",
}  # fmt: skip
"""Methods that do no arithmetic."""

ADVICE = {
    "np.linspace": "write x[i] = start + i * step in a loop",
    "np.outer": "write the two loops, out[i, j] = a[i] * b[j]",
    "np.linalg.norm": "write math.sqrt(np.dot(x, x))",
    "np.var": "write a loop over the squared differences from np.mean(x)",
    "np.std": "write a loop over the squared differences from np.mean(x)",
    "np.interp": "write the linear interpolation as a loop",
    "np.convolve": "write the two loops",
    "np.clip": "write min(max(x, low), high)",
    "np.diff": "write x[1:] - x[:-1]",
    "np.trapezoid": "write the loop over the intervals",
    "np.average": "use np.mean, or np.dot with the weights",
    "math.fsum": "use np.sum (pairwise), or a compensated loop",
    "sum": "use np.sum on an array, or write the loop",
    "round": "use np.rint, or math.floor(x + 0.5)",
    "np.round": "use np.rint",
    "divmod": "write x // y and x % y",
    "math.degrees": "multiply by 180 / math.pi",
    "math.radians": "multiply by math.pi / 180",
    "complex": "keep real and imaginary parts in separate variables",
}
"""What to write instead, for constructs that cannot be rewritten."""
