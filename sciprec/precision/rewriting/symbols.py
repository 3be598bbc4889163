"""The meaning of a kernel's names to the engine, besides the operations (`operation`)."""

import ast
import cmath
import heapq
import math

import numba
import numpy as np

from sciprec.precision.library import axes, places, statistics
from sciprec.precision.operations import reduce
from sciprec.precision.operations.by_type import sum_block, zeros_for
from sciprec.precision.operations.meeting import meet
from sciprec.precision.operations.operation import OPERATIONS

BINARY_OPERATORS = {row.infix: row for row in OPERATIONS.values() if row.infix is not None}
INTEGER_OPERATORS = (ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor)
REDUCTIONS = {
    np.sum: reduce.total, np.mean: reduce.mean, np.prod: reduce.running_product, np.dot: reduce.dot,
    np.vdot: reduce.vdot, np.matmul: reduce.dot, np.max: reduce.largest, np.amax: reduce.largest,
    np.min: reduce.smallest, np.amin: reduce.smallest, np.cumsum: reduce.running_sum,
    np.var: statistics.var, np.std: statistics.std,
}  # fmt: skip
"""function -> the engine's own kernel, with a named order, that is lifted in its place."""

ALONG = {reduce.total: axes.total_along, reduce.running_sum: axes.running_sum_along}
"""Reduction -> the kernel of the same along one axis."""

PLACES = {
    places.index_of_rank: "sp_index_of_rank", places.fraction_of_rank: "sp_fraction_of_rank",
    places.number_of_steps: "sp_number_of_steps",
}  # fmt: skip
"""Arithmetic of indices, called as it is -> its name in generated modules."""

RENAMED = {
    **PLACES, meet: "sp_meet", sum_block: "sp_sum_block", zeros_for: "sp_zeros_for",
    numba.pndindex: "np.ndindex",  # one index after the other
}  # fmt: skip
"""Functions that decide by type, or do no arithmetic -> what is called in their place."""

NATIVE = {
    range, len, int, bool, enumerate, zip, print, isinstance, tuple, list, reversed, slice, type,
    ord, chr, np.finfo, np.iinfo,
    math.isnan, math.isinf, math.isfinite, math.floor, math.ceil, math.trunc, math.gcd,
    np.shape, np.ndindex, np.tril_indices, np.triu_indices, np.gcd, np.lcm, np.broadcast_shapes,
    cmath.isnan, cmath.isinf, cmath.isfinite, np.iscomplexobj,
    np.int8, np.int16, np.int32, np.int64, np.intp, np.uint8, np.uint16,
    np.uint32, np.uint64, np.bool_,
}  # fmt: skip
"""Functions whose results are not floating-point numbers, or no arithmetic at all."""

VIEWING = {
    np.asarray, np.ascontiguousarray, np.reshape, np.ravel, np.transpose, np.swapaxes, np.flip,
    np.expand_dims, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.broadcast_to, np.fliplr,
    np.flipud, np.rot90, np.ndenumerate, np.moveaxis, np.split, np.array_split, np.hsplit,
    np.vsplit, np.dsplit,
    np.lib.stride_tricks.sliding_window_view, np.lib.stride_tricks.as_strided,
    np.tril_indices_from, np.triu_indices_from,
}  # fmt: skip
"""Functions that show the same memory in another shape: what is written there is in the array."""

MOVING = {
    np.array, np.copy, np.isnan, np.isinf, np.isfinite, np.any, np.all, np.argmax, np.argmin,
    np.argsort, np.sort, np.searchsorted, np.nonzero, np.where, np.concatenate, np.stack, np.hstack,
    np.vstack, np.column_stack, np.roll, np.diag, np.repeat, np.logical_and, np.logical_or,
    np.logical_not, np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
    np.signbit, np.zeros_like, np.empty_like, np.ones_like, np.size, np.count_nonzero,
    np.flatnonzero, np.array_equal, np.take, np.append, np.delete, np.dstack, np.diagflat,
    np.partition, np.argpartition, np.argwhere, np.extract, np.unique, np.union1d, np.intersect1d,
    np.setdiff1d, np.setxor1d, np.isin, np.digitize, np.take_along_axis, np.nanargmax, np.nanargmin,
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.bitwise_not, np.left_shift, np.right_shift,
    np.isneginf, np.isposinf, np.logical_xor, np.trim_zeros, np.resize, set,
    sorted,
}  # fmt: skip
"""Functions that compare or move numbers: their array arguments are rounded first."""

HEAPS = {heapq.heappush, heapq.heappop, heapq.heapify, heapq.heappushpop, heapq.heapreplace}
"""Functions that move numbers inside a list."""

CREATING = {np.empty: 1, np.zeros: 1, np.ones: 1, np.full: 2, np.full_like: 2}
"""Functions that make arrays of the carrier's dtype -> position of their dtype argument."""

METHODS = {
    "sum": np.sum, "mean": np.mean, "prod": np.prod, "dot": np.dot, "max": np.max, "min": np.min,
    "cumsum": np.cumsum, "var": np.var, "std": np.std,
}  # fmt: skip
"""Methods of arrays that are reductions."""

DECIDING_METHODS = {"copy", "argmax", "argmin", "argsort", "any", "all", "nonzero"}
"""Methods that copy or compare elements: these are rounded first."""

QUIET_METHODS = {
    "reshape", "ravel", "flatten", "transpose", "item", "append", "pop", "extend", "insert",
    "clear", "keys", "values", "items", "get", "index", "count", "reverse", "sort", "repeat",
    "add", "discard", "remove", "update", "union", "intersection", "difference", "issubset",
    "lower", "upper", "strip", "startswith", "endswith",
}  # fmt: skip
"""Methods that do no arithmetic."""
