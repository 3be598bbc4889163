"""Choice of a call's meaning by its operands' types, for functions of numbers and of arrays."""

from __future__ import annotations

import hashlib
from types import CodeType

from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from sciprec.precision.compiled.lowering import intrinsic_of_operands
from sciprec.precision.operations import arrays, complex_numbers
from sciprec.precision.operations.evaluation import Evaluation
from sciprec.precision.operations.number_types import (
    identity,
    is_complex,
    is_inexact,
    is_whole,
    passing,
)


def chosen(ops: Evaluation, arity: int):
    """chosen(function, loop, [their keys,] x1, ...): the function of numbers, or its loop over
    arrays where an operand is one.
    """
    keys = 0 if ops.key_type is None else 2

    def resolve(typingctx, function, loop, *arguments):
        operands = [types.unliteral(k) for k in arguments[keys:]]
        over = any(isinstance(k, types.Array) for k in operands)
        called, skipped = (loop, 1) if over else (function, 0)
        kinds = [*arguments[:keys][skipped : skipped + 1], *operands]
        result, passed = passing(typingctx, called, kinds)

        def codegen(context, b, signature, args):
            prefix, values = args[2 : 2 + keys][skipped : skipped + 1], args[2 + keys :]
            return passed(context, b, [*prefix, *values])

        return result(function, loop, *arguments[:keys], *operands), codegen

    return intrinsic_of_operands(2 + keys + arity, resolve)


def result_type(ops: Evaluation, arity: int):
    """result_type(function, [key,] x1, ...): the dtype of a new array of what a function gives of
    elements; that of floating-point numbers is as in operations on these arrays.
    """
    keys = 0 if ops.key_type is None else 1

    def resolve(typingctx, function, *arguments):
        elements = [
            getattr(types.unliteral(k), "dtype", types.unliteral(k)) for k in arguments[keys:]
        ]
        kinds = [*arguments[:keys], *(complex_numbers.held_as(ops, k) for k in elements)]
        result = function.get_call_type(typingctx, tuple(kinds), {}).return_type
        result = result[0] if ops.variant.row_bytes else result
        over = [k for k in arguments[keys:] if isinstance(k, types.Array)]
        if is_inexact(result) and over:
            result = arrays.result_dtype(ops, over, is_complex(result))

        def codegen(context, b, signature, args):
            return context.get_dummy_value()

        return types.DType(result)(function, *arguments), codegen

    return intrinsic_of_operands(1 + keys + arity, resolve)


def of_dimensions(count: int):
    """of_dimensions(x): x, an array of so many dimensions, or a number (0)."""

    @intrinsic
    def checked(typingctx, x):
        kind = types.unliteral(x)
        if getattr(kind, "ndim", 0) != count:
            raise TypingError(
                f"a function made by guvectorize is given {kind} for {count} core dimensions; "
                "inside a kernel it takes the core dimensions alone: write the loop around it"
            )

        def codegen(context, b, signature, args):
            if context.enable_nrt:
                context.nrt.incref(b, kind, args[0])
            return args[0]

        return kind(kind), codegen

    return checked


def on_integers(arity: int):
    """on_integers(function, x1, ...): an intrinsic of somebody else's, which no number enters or
    leaves that would have to be rounded.
    """

    def resolve(typingctx, function, *operands):
        result, passed = passing(typingctx, function, operands)
        if not all(map(is_whole, map(types.unliteral, (result, *operands)))):
            names = ", ".join(map(str, operands))
            raise TypingError(
                f"an intrinsic is given {names} and gives {result}; in a lifted kernel intrinsics "
                "take and give integers: write it out with operators"
            )

        def codegen(context, b, signature, args):
            return passed(context, b, args[1:])

        return result(function, *operands), codegen

    return intrinsic_of_operands(1 + arity, resolve)


def code_digest(code: CodeType) -> str:
    """A digest of a method's code, alike in every process, to tell it from others of its name."""
    facts = f"{code.co_code!r} {code.co_consts!r} {code.co_names}"
    return hashlib.sha256(facts.encode()).hexdigest()[:16]


def of_method(attribute: str, digest: str):
    """of_method(object): an object of a jitclass that has this method."""

    @intrinsic
    def checked(typingctx, x):
        methods = getattr(getattr(x, "class_type", None), "jit_methods", {})
        method = methods.get(attribute)
        if method is None or code_digest(method.py_func.__code__) != digest:
            raise TypingError(
                f"{x} is given, and its method {attribute} is called; the kernel's module names "
                "another class that has it: name this one there, too"
            )
        return identity(x, None)

    return checked
