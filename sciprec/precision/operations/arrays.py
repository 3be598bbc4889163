"""Operations on whole arrays: the scalar operation on each element, with NumPy's broadcasting."""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.core import types
from numba.core.errors import TypingError
from numba.core.imputils import impl_ret_new_ref

from sciprec.precision.elementary.bits import distinct
from sciprec.precision.operations import complex_numbers, keys
from sciprec.precision.operations.number_types import is_complex

_NARROW = (types.float32, types.complex64)


def result_dtype(ops, kinds, pairs: bool):
    """The dtype of a new array: NumPy's for these arrays, where it holds the backend's numbers;
    `pairs` says that these are complex.
    """
    narrow = all(k.dtype in _NARROW for k in kinds) and ops.carrier == types.float32
    if pairs:
        return types.complex64 if narrow else types.complex128
    return types.float32 if narrow else types.float64


def elementwise(ops, op, kinds, key, gives: str):
    """op(x, ...) with at least one array among the operands: a new array, in NumPy's dtype for
    them; `gives` is "complex" or "real".
    """
    if gives == "polar":
        raise TypingError("cmath.polar of an array is given; it takes a number: write the loop")
    array_kinds = [k for k in kinds if isinstance(k, types.Array)]
    made = result_dtype(ops, array_kinds, gives == "complex")
    result = types.Array(made, max(k.ndim for k in array_kinds), "C")
    flat = all(k.layout == "C" and k.ndim == result.ndim for k in array_kinds)
    are_arrays = (isinstance(kinds[0], types.Array), isinstance(kinds[-1], types.Array))
    apply = _element(ops, op, len(kinds), are_arrays)
    dtype = np.dtype(made.name)
    if len(kinds) == 1:
        function = _unary(apply, dtype)
    elif len(array_kinds) == 2:
        function = (_pair_flat if flat else _pair)(apply, dtype)
    elif isinstance(kinds[0], types.Array):
        function = _with_right_scalar(apply, dtype)
    else:
        function = _with_left_scalar(apply, dtype)
    return _call(function, result, kinds, key)


def mapped(ops, kind, key):
    """A new array of the elements, each rounded."""
    made = result_dtype(ops, [kind], is_complex(kind.dtype))
    function = _unary(_element(ops, None, 1), np.dtype(made.name))
    return _call(function, types.Array(made, kind.ndim, "C"), [kind], key)


def stored(ops, target, kind, key):
    """What is stored when an array is assigned to (part of) the array `target`."""
    held = complex_numbers.carrier_of(ops) if is_complex(kind.dtype) else ops.carrier
    result = types.Array(held, kind.ndim, "C")
    function = _storing(_leaving(ops), np.dtype(held.name))
    return _call(function, result, [target, kind], key)


def in_place(ops, op, target, kind, key):
    """target op= operand, written into target."""
    other = isinstance(kind, types.Array)
    apply, leave = _element(ops, op, 2, (True, other)), _leaving(ops)
    function = (_updating if other else _updating_by_scalar)(apply, leave)
    return _call(function, target, [target, kind], key)


def label_of(ops, op) -> str:
    """What tells an operation's functions apart from those of others and of other backends."""
    return f"{'enter' if op is None else op.label}_{ops.label}"


def _call(function, result, kinds, key):
    def codegen(context, b, signature, args):
        word, values = keys.split(key, args)
        kind = key or types.uint32
        word = context.get_constant(kind, 0) if word is None else word
        inner = result(kind, *kinds)
        made = context.compile_internal(b, function, inner, [word, *values])
        return impl_ret_new_ref(context, b, result, made)

    return result(*keys.join(key, kinds)), codegen


@njit(forceinline=True)
def _as_it_is(*key_and_number):
    return key_and_number[-1]


def _element(ops, op, arity, are_arrays=(True, True)):
    """apply(key, n, x, ...): the n-th element's operation on raw array elements, and on numbers of
    the kernel's own beside them; where roles differ in format its result is rounded to that of the
    storage, since no load may do it.
    """
    enter = ops.enter
    kept = enter if ops.backend.mixed else _as_it_is
    left, right = (enter if array or not ops.backend.mixed else _as_it_is for array in are_arrays)
    if ops.variant.row_bytes:

        def one(key, n, x):
            return enter(key, 0, x) if op is None else op(key, 0, enter(key, 1, x))

        def two(key, n, x, y):
            return op(key, 0, enter(key, 1, x), enter(key, 2, y))

    elif ops.backend.random:

        def one(key, n, x):
            own = keys.descend(key, n)
            if op is None:
                return enter(own, x)
            return kept(keys.descend(own, 1), op(own, enter(own, x)))

        def two(key, n, x, y):
            own = keys.descend(key, n)
            return kept(keys.descend(own, 1), op(own, left(own, x), right(own, y)))

    else:

        def one(key, n, x):
            return enter(x) if op is None else kept(op(enter(x)))

        def two(key, n, x, y):
            return kept(op(left(x), right(y)))

    chosen = distinct(one if arity == 1 else two, label_of(ops, op) + f"_{are_arrays}")
    return njit(chosen, forceinline=True, error_model="numpy")


def _leaving(ops):
    """put(key, n, target, x): what is stored for the n-th element."""
    leave, enter = ops.leave, ops.enter
    if ops.variant.row_bytes:

        def put(key, n, target, x):
            return leave(key, 0, target, enter(key, 0, x))

    elif ops.backend.random:

        def put(key, n, target, x):
            own = keys.descend(key, n)
            return leave(own, target, enter(own, x))

    else:

        def put(key, n, target, x):
            return leave(target, enter(x))

    return njit(distinct(put, label_of(ops, None)), forceinline=True, error_model="numpy")


def _unary(apply, dtype):
    def unary(key, x):
        out = np.empty(x.shape, dtype)
        n = 0
        for index in np.ndindex(x.shape):
            out[index] = apply(key, n, x[index])
            n += 1
        return out

    return distinct(unary, f"{apply.py_func.__qualname__}_{dtype}")


def _pair(apply, dtype):
    def pair(key, x, y):
        shape = np.broadcast_shapes(x.shape, y.shape)
        out = np.empty(shape, dtype)
        left, right = np.broadcast_to(x, shape), np.broadcast_to(y, shape)
        n = 0
        for index in np.ndindex(shape):
            out[index] = apply(key, n, left[index], right[index])
            n += 1
        return out

    return distinct(pair, f"{apply.py_func.__qualname__}_{dtype}")


def _pair_flat(apply, dtype):
    general = njit(_pair(apply, dtype), error_model="numpy")

    def pair_flat(key, x, y):
        if x.shape != y.shape:
            return general(key, x, y)
        out = np.empty(x.shape, dtype)
        left, right, flat = x.reshape(x.size), y.reshape(y.size), out.reshape(out.size)
        for n in range(flat.size):
            flat[n] = apply(key, n, left[n], right[n])
        return out

    return distinct(pair_flat, f"{apply.py_func.__qualname__}_{dtype}")


def _with_right_scalar(apply, dtype):
    def with_right_scalar(key, x, y):
        out = np.empty(x.shape, dtype)
        n = 0
        for index in np.ndindex(x.shape):
            out[index] = apply(key, n, x[index], y)
            n += 1
        return out

    return distinct(with_right_scalar, f"{apply.py_func.__qualname__}_{dtype}")


def _with_left_scalar(apply, dtype):
    def with_left_scalar(key, x, y):
        out = np.empty(y.shape, dtype)
        n = 0
        for index in np.ndindex(y.shape):
            out[index] = apply(key, n, x, y[index])
            n += 1
        return out

    return distinct(with_left_scalar, f"{apply.py_func.__qualname__}_{dtype}")


def _storing(put, dtype):
    def storing(key, target, x):
        out = np.empty(x.shape, dtype)
        n = 0
        for index in np.ndindex(x.shape):
            out[index] = put(key, n, target, x[index])
            n += 1
        return out

    return distinct(storing, f"{put.py_func.__qualname__}_{dtype}")


def _updating(apply, put):
    def updating(key, target, x):
        other = np.broadcast_to(x, target.shape)
        n = 0
        for index in np.ndindex(target.shape):
            target[index] = put(key, n, target, apply(key, n, target[index], other[index]))
            n += 1
        return target

    return distinct(updating, f"{apply.py_func.__qualname__}_{put.py_func.__qualname__}")


def _updating_by_scalar(apply, put):
    def updating_by_scalar(key, target, x):
        n = 0
        for index in np.ndindex(target.shape):
            target[index] = put(key, n, target, apply(key, n, target[index], x))
            n += 1
        return target

    return distinct(updating_by_scalar, f"{apply.py_func.__qualname__}_{put.py_func.__qualname__}")
