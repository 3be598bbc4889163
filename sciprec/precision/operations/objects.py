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
    found = {}
    for name in value._numba_type_.struct:
        try:
            found[name] = getattr(value, name)
        except (AttributeError, TypeError, NotImplementedError):  # of a type without counterpart
            continue
    return found


def object_with(value, fields: dict[str, Any]):
    """A new object with the fields of the given one, but for those given."""
    made = _another(value)
    for name, held in fields.items():
        setattr(made, name, held)
    return made


@intrinsic
def _alike(typingctx, x):
    """alike(object): a new object whose fields are those of the given one."""

    def codegen(context, b, signature, args):
        kind = signature.return_type
        fields = kind.get_data_type()
        data = context.get_data_type(fields)
        size = context.get_constant(types.uintp, context.get_abi_sizeof(data))
        release = imp_dtor(context, b.module, kind)
        made = context.make_helper(b, kind)
        made.meminfo = context.nrt.meminfo_alloc_dtor(b, size, release)
        made.data = b.bitcast(context.nrt.meminfo_data(b, made.meminfo), data.as_pointer())
        given = context.make_helper(b, kind, value=args[0])
        b.store(b.load(given.data), made.data)
        held = context.make_helper(b, fields, ref=made.data)._getvalue()
        context.nrt.incref(b, fields, held)
        return impl_ret_new_ref(context, b, kind, made._getvalue())

    return x(x), codegen


@helper
def _another(x):
    return _alike(x)
