"""Casts to types that Numba finds when it compiles: `T = type(x)`, `x.dtype.type`."""

from __future__ import annotations

from numba.core import types
from numba.core.errors import TypingError

from sciprec.precision.compiled.lowering import helper
from sciprec.precision.operations import keys
from sciprec.precision.operations.evaluation import Evaluation
from sciprec.precision.operations.number_types import is_complex, is_float, is_whole, passing


@helper
def _converted(kind, x):
    return x.astype(kind)


def cast_to(ops: Evaluation):
    """cast_to(T, x): a number of the backend where T is a floating-point type; for other types
    Numba's own conversion, as `np.int64(x)`; where T is a function (both come as arguments of
    kernels) its value.
    """

    to_float, to_complex = ops.cast, ops.to_complex  # made before Numba looks for intrinsics

    def resolve(typingctx, key, kind, x):
        target = getattr(kind, "instance_type", getattr(kind, "dtype", None))
        source = types.unliteral(x)
        if target is None and isinstance(kind, types.Callable):
            return _called(typingctx, kind, source)
        operands = keys.join(key, [kind, source])
        if is_complex(target) or is_float(target):
            cast = to_complex if is_complex(target) else to_float
            result, emit = ops.passing(typingctx, cast, key, [source])

            def casting(context, b, signature, args):
                word, (_, value) = keys.split(key, args)
                return emit(context, b, word, [value])

            return result(*operands), casting
        if isinstance(source, types.Array) and is_whole(target):
            result, passed = passing(typingctx, _converted, [kind, source])
            return result(*operands), lambda context, b, _, args: passed(context, b, args[-2:])
        if not is_whole(target) or not (is_float(source) or is_whole(source)):
            raise TypingError(f"a cast of {source} to {kind} is given; it takes a number's type")

        def codegen(context, b, signature, args):
            return context.cast(b, args[-1], source, target)

        return target(*operands), codegen

    return ops.intrinsic(2, resolve)


def _called(typingctx, kind, source):
    """A call of a function, in a backend without keys."""
    result, passed = passing(typingctx, kind, [source])

    def codegen(context, b, signature, args):
        return passed(context, b, args[1:])

    return result(kind, source), codegen
