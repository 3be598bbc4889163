"""Numba types that the operations tell apart, and calls of what Numba has compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from llvmlite import ir
from numba.core import types
from numba.core.imputils import impl_ret_borrowed

from sciprec.precision.compiled.lowering import helper
from sciprec.precision.operations import keys


class Companioned(types.Type):
    """Real floating-point numbers with something beside them, as a type for Numba.

    Attributes:
        narrow: whether they stand for binary32 numbers, else for binary64 ones.
    """

    narrow = False


def is_float(kind: types.Type) -> bool:
    """Whether values of this Numba type are real floating-point numbers."""
    return isinstance(kind, (types.Float, Companioned))


def is_narrow(kind: types.Type) -> bool:
    """Whether they are binary32 numbers, or pairs of them."""
    return kind in (types.float32, types.complex64) or getattr(kind, "narrow", False)


def is_complex(kind: types.Type) -> bool:
    """Whether values of this Numba type are complex numbers."""
    return isinstance(kind, types.Complex)


def is_inexact(kind: types.Type) -> bool:
    """Whether values of this Numba type are floating-point numbers, real or complex."""
    return is_float(kind) or is_complex(kind)


def is_whole(kind: types.Type) -> bool:
    """Whether values of this Numba type are integers or booleans."""
    return isinstance(kind, (types.Integer, types.Boolean))


def is_numeric_array(kind: types.Type) -> bool:
    """Whether this is the Numba type of an array of numbers."""
    return isinstance(kind, types.Array) and is_number(kind.dtype)


def is_number(kind: types.Type) -> bool:
    """Whether values of this Numba type are numbers."""
    return is_inexact(kind) or is_whole(kind)


def call_inlined(context, b, dispatcher, kinds, values):
    """Call a jitted function so that LLVM inlines it (and can vectorise the loop around it)."""
    resolved = types.Dispatcher(dispatcher).get_call_type(context.typing_context, kinds, {})
    compiled = dispatcher.overloads[tuple(resolved.args)]
    context.add_linking_libs([compiled.library])
    callee = context.declare_function(b.module, compiled.fndesc)
    _, result = context.call_conv.call_function(
        b, callee, resolved.return_type, resolved.args, values, attrs=("alwaysinline",)
    )
    return result


def tells_exceptions(function: ir.Function) -> bool:
    """Whether a function has the first arguments of Numba's, by which it tells of exceptions."""
    return len(function.args) > 1 and all(x.type.is_pointer for x in function.args[:2])


@lru_cache(maxsize=64)
def plainly_called(function: Callable, arity: int):
    """A jitted function that calls a native one, for code that cannot tell of exceptions."""
    return helper((lambda x: function(x)) if arity == 1 else (lambda x, y: function(x, y)))


def has_float(kind) -> bool:
    """Whether values of this Numba type are or contain floating-point numbers."""
    if isinstance(kind, types.BaseTuple):
        return any(has_float(k) for k in kind)
    return is_inexact(kind)


def identity(kind, key, before=()):
    """The last operand, as it is."""

    def codegen(context, b, signature, args):
        return impl_ret_borrowed(context, b, signature.return_type, args[-1])

    return kind(*keys.join(key, [*before, kind])), codegen


def passing(typingctx, function, kinds):
    """The type of what a function, or one of this type, gives for operands of these types, and
    codegen(context, builder, values) that calls it.
    """
    is_type = isinstance(function, types.Type)
    function_type = function if is_type else typingctx.resolve_value_type(function)
    resolved = function_type.get_call_type(typingctx, tuple(kinds), {})
    passed, result = forward(function_type, resolved), resolved.return_type
    return result, lambda context, b, values: passed(context, b, result(*kinds), values)


def forward(function, resolved):
    """Codegen that calls a resolved Numba function with its arguments cast to what it takes."""

    def codegen(context, b, signature, args):
        cast = [
            context.cast(b, value, source, target)
            for value, source, target in zip(args, signature.args, resolved.args, strict=True)
        ]
        return context.get_function(function, resolved)(b, cast)

    return codegen
