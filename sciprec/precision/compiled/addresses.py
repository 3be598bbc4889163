"""Compiled functions by their addresses: loops over calls of any of them are compiled once.

Python calls a kernel in a few microseconds and holds its lock meanwhile; threads that call short
kernels wait for each other. A loop that calls by address needs neither, and is kept on disk.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic


def address_of(dispatcher: Any, args: tuple) -> int:
    """Return the address of a jitted function's machine code for arguments like these; it is
    compiled, or loaded, if need be, and stays there as long as the dispatcher lives.
    """
    kinds = tuple(dispatcher.typeof_pyval(argument) for argument in args)
    compiled = dispatcher.overloads.get(kinds)
    if compiled is None:
        dispatcher.compile(kinds)
        compiled = dispatcher.overloads[kinds]
    return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)


@intrinsic
def call_at(typingctx, address, args):
    """Call the function at an address, which returns None, with a tuple of arguments.

    Nothing checks their types: they are those for which `address_of` was asked.
    """
    if not isinstance(address, types.Integer) or not isinstance(args, types.BaseTuple):
        raise TypingError("call_at takes an address and a tuple")

    def codegen(context, builder, signature, values):
        convention, kinds = context.call_conv, list(args)
        kind = convention.get_function_type(types.none, kinds)
        function = builder.inttoptr(values[0], ir.PointerType(kind))
        arguments = cgutils.unpack_tuple(builder, values[1], len(kinds))
        status, _ = convention.call_function(builder, function, types.none, kinds, arguments)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.none(address, args), codegen


@intrinsic
def part_at(typingctx, array, first, shape):
    """The elements of a contiguous array from a number on, as an array of a shape: what a slice
    gives, reshaped, in a third of the instructions and of the time that they take to compile.

    Nothing checks that so many are there.
    """
    contiguous = isinstance(array, types.Array) and array.layout == "C"
    if not contiguous or not isinstance(shape, types.UniTuple):
        raise TypingError("part_at takes a contiguous array, a number and a tuple of lengths")
    kind = types.Array(array.dtype, shape.count, "C")

    def codegen(context, builder, signature, values):
        from numba.np.arrayobj import make_array, populate_array

        source = make_array(array)(context, builder, values[0])
        part = make_array(kind)(context, builder)
        lengths = cgutils.unpack_tuple(builder, values[2], shape.count)
        size = context.get_abi_sizeof(context.get_data_type(array.dtype))
        strides = [context.get_constant(types.intp, size)]
        for length in lengths[:0:-1]:
            strides.insert(0, builder.mul(strides[0], length))
        populate_array(
            part,
            data=builder.gep(source.data, [values[1]]),
            shape=cgutils.pack_array(builder, lengths),
            strides=cgutils.pack_array(builder, strides),
            itemsize=source.itemsize,
            meminfo=source.meminfo,
            parent=source.parent,
        )
        context.nrt.incref(builder, kind, part._getvalue())
        return part._getvalue()

    return kind(array, first, shape), codegen
