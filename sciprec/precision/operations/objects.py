"""Objects of jitclasses as arguments: copies of them, and what their fields hold."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core.imputils import impl_ret_new_ref
from numba.experimental.jitclass.base import imp_dtor
from numba.extending import intrinsic

from sciprec.precision.compiled.lowering import helper


def is_object(value) -> bool:
    """Whether a value is an object of a jitclass."""
    return isinstance(getattr(type(value), "_numba_type_", None), types.ClassType) or isinstance(
        getattr(value, "_numba_type_", None), types.ClassInstanceType
    )


def fields_of(value) -> dict[str, Any]:
    """The fields of an object that Python can see, by name."""
    fields = {}
    for name in value._numba_type_.struct:
        try:
            fields[name] = getattr(value, name)
        except (AttributeError, TypeError, NotImplementedError):  # of a type without counterpart
            continue
    return fields


def object_with(value, fields: dict[str, Any]):
    """A new object with the fields of the given one, but for those given."""
    result = _another(value)
    for name, field in fields.items():
        setattr(result, name, field)
    return result


@intrinsic
def _alike(typingctx, x):
    """alike(object): a new object whose fields are those of the given one."""

    def codegen(context, b, signature, args):
        kind = signature.return_type
        fields = kind.get_data_type()
        data = context.get_data_type(fields)
        size = context.get_constant(types.uintp, context.get_abi_sizeof(data))
        release = imp_dtor(context, b.module, kind)
        result = context.make_helper(b, kind)
        result.meminfo = context.nrt.meminfo_alloc_dtor(b, size, release)
        result.data = b.bitcast(context.nrt.meminfo_data(b, result.meminfo), data.as_pointer())
        source = context.make_helper(b, kind, value=args[0])
        b.store(b.load(source.data), result.data)
        value = context.make_helper(b, fields, ref=result.data)._getvalue()
        context.nrt.incref(b, fields, value)
        return impl_ret_new_ref(context, b, kind, result._getvalue())

    return x(x), codegen


@helper
def _another(x):
    return _alike(x)
