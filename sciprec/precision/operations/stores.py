"""Stores of a kernel into arrays: rounded to the storage format, with its noise."""

from __future__ import annotations

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError

from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.formats.float_format import FORMATS
from sciprec.precision.operations import arrays, complex_numbers, keys
from sciprec.precision.operations.evaluation import Evaluation
from sciprec.precision.operations.number_types import (
    identity,
    is_complex,
    is_inexact,
    is_narrow,
    is_number,
    is_numeric_array,
    is_whole,
)
from sciprec.precision.rounding.sticky import Sticky
from sciprec.precision.rounding.words import F32, F64, I32, ONE, V64, call


def stored(ops: Evaluation):
    """stored(target, value): like leave, of a value that is in the array's unit already."""
    return leave(ops, in_unit=True)


def leave(ops: Evaluation, in_unit: bool = False):
    """leave(target, value): what is stored into target: rounded to the storage format, with
    its noise.
    """
    noted = in_unit and ops.storage.observes
    same = ops.backend.storage == ops.backend.compute and not (ops.backend.mixed or noted)
    same = same and ops.backend.noise is None and (in_unit or not ops.storage.in_units)
    store = getattr(ops.storage, "left", None)
    same = same and store is None

    def resolve(typingctx, key, target, x):
        complex_numbers.refuse(ops, "", [x])
        kind = types.unliteral(x)
        dtype = target if is_inexact(target) else getattr(target, "dtype", None)
        if dtype is not None and is_complex(getattr(kind, "dtype", kind)) and not is_complex(dtype):
            raise TypingError(
                f"{kind} is stored into an array of {dtype}; it takes real numbers: store z.real, "
                "or make the array with dtype=np.complex128"
            )
        narrow = narrowing(ops, dtype)
        if dtype is not None and not is_inexact(dtype) or not is_number(kind):
            if is_numeric_array(kind) and (dtype is None or is_inexact(dtype)):
                return arrays.stored(ops.careful, target, kind, key)
            return identity(x, key, before=[target])
        carrier = complex_numbers.carrier_of(ops) if is_complex(kind) else ops.carrier
        if kind == carrier and same and narrow is None:
            return identity(x, key, before=[target])

        def emit(b, kind, value, word):
            if store is not None:
                return store(b, ops, kind, value, word, dtype, narrow)
            if noted and kind == ops.carrier:
                value = ops.in_unit(b, value, word)
            elif kind != ops.carrier or not same:
                value = ops.rounded(b, kind, value, ops.storage, word, 0)
            if ops.storage.in_units and is_whole(kind):
                draw = ops.draw(b, ops.storage, word)
                value = ops.storage.from_binary64(b, value, **draw)
            value = noisy(ops, b, value, word)
            return value if narrow is None else narrow.from_binary64(b, value)

        def codegen(context, b, signature, args):
            word, (_, value) = keys.split(key, args)
            if is_complex(kind):
                return complex_numbers.each_part(
                    ops, context, b, kind, value, word, lambda *part: emit(b, *part)
                )
            return emit(b, kind, value, word)

        return carrier(*keys.join(key, [target, x])), codegen

    return ops.intrinsic(2, resolve)


def put(ops: Evaluation):
    """put(field, value): what is stored into a field of an object, of the type of `field`; numbers
    as into arrays, arrays as they are.
    """
    to_leave = ops.leave  # made before Numba looks for intrinsics

    def resolve(typingctx, key, field, x):
        kind = types.unliteral(x)
        if not is_inexact(types.unliteral(field)) or not is_number(kind):
            return identity(x, key, before=[field])
        result, emit = ops.passing(typingctx, to_leave, key, [field, x])

        def codegen(context, b, signature, args):
            return emit(context, b, *keys.split(key, args))

        return result(*keys.join(key, [field, x])), codegen

    return ops.intrinsic(2, resolve)


def narrowing(ops: Evaluation, dtype):
    """A function that rounds numbers of a wide carrier for an array of float32 in the storage's
    direction; None where the processor's conversion does that.
    """
    storage = ops.backend.storage
    usual = storage.fixed or storage.rule.usual
    narrow = dtype is not None and is_narrow(dtype) and not is_narrow(ops.carrier)
    if not narrow or usual or ops.word:
        return None
    return Sticky(Arithmetic(FORMATS["binary32"], storage.rounding), F64, F64, None)


def noisy(ops: Evaluation, b, value, key):
    """value * (1 + eps), eps = n * 2^-31 uniform in the backend's interval: exact in binary64,
    rounded once.
    """
    if ops.backend.noise is None:
        return value
    low, high = (round(edge * 2**31) for edge in ops.backend.noise)
    draw = b.lshr(keys.emit_hash(b, key, 7), ir.Constant(I32, 16))
    span = b.mul(draw, ir.Constant(I32, high - low + 1))
    n = b.add(b.lshr(span, ir.Constant(I32, 16)), ir.Constant(I32, low))
    if ops.word and ops.kind == F32:
        eps = b.fmul(b.sitofp(n, F32), ir.Constant(F32, 2.0**-31))
        return ops.storage.round(b, call(b, "fma", value, eps, value))
    factor = b.fadd(b.fmul(b.sitofp(n, F64), V64.constant(2.0**-31)), ONE)
    wide = b.fpext(value, F64) if ops.kind == F32 else value
    return ops.storage.from_binary64(b, b.fmul(wide, factor), **ops.draw(b, ops.storage, key))
