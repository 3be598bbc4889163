"""Compiled functions that only compiled functions call: parts of the machine code of these.

Numba optimises every function and makes machine code of it, together with all that it calls and
with two wrappers for calls from outside; along a chain of n calls the last function is compiled n
times. A part keeps what was lowered; it is optimised and becomes machine code once, in the function
that is called from outside.

Parts with the same identity are one part: it is typed and lowered once in a process, and what was
lowered is kept on disk for others. Its symbols are named by its identity, so that of several
functions that hold it, in one process, any may give its code to all.
"""

from __future__ import annotations

import hashlib
import threading
import weakref
from collections.abc import Callable

from numba.core.compiler import CompileResult

from sciprec.precision.compiled.disk_cache import DiskCache, Kept, compiler_settings, engine_digest
from sciprec.precision.compiled.lowering import Key, Lowered, Lowering, place

_OPTIONS = {
    "nopython": True, "nogil": True, "error_model": "numpy", "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}  # fmt: skip
_parts: weakref.WeakValueDictionary[tuple, Part] = weakref.WeakValueDictionary()
_making = threading.Lock()


class _PartCache(DiskCache):
    """The lowered code of one part, by its identity."""

    suffix = ".part"

    def _reduced(self, data: CompileResult) -> tuple:
        data.fndesc.typemap = data.fndesc.calltypes = None  # of no use to callers
        environments = tuple(data._find_referenced_environments())
        return (
            data.library.kept(), data.fndesc, data.signature, data.reload_init, data.environment,
            environments,
        )  # fmt: skip

    def _rebuilt(self, target_context, reduced: tuple) -> CompileResult:
        code, fndesc, signature, reload_init, environment, environments = reduced
        for function in reload_init:
            function()
        library = Lowered.restored(target_context.codegen(), *code)
        library._reload_init.update(reload_init)
        for member in environments:
            place(target_context, member)
        fields = dict.fromkeys(CompileResult._fields)
        return CompileResult(**fields | {
            "target_context": target_context, "typing_context": target_context.typing_context,
            "library": library, "fndesc": fndesc, "signature": signature, "lifted": (),
            "objectmode": False, "environment": environment, "reload_init": reload_init,
            "entry_point": Key(), "referenced_envs": environments,
        })  # fmt: skip

    def _identity(self) -> str:
        return self.function.__qualname__


class Part(Lowering, Kept):
    """A jitted function for other jitted functions to call; see `part`.

    Numba makes it again from these arguments where it was pickled.
    """

    def __call__(self, *args):
        raise TypeError(f"'{self.__name__}' is called by compiled functions only: call their entry")


def part(identity: str) -> Callable:
    """A decorator: a function jitted as a part of those that call it, division by zero as in NumPy.
    The function is plain Python, in Numba's subset; not recursive.

    Args:
        identity: the same for functions that do the same, in every process; "" for a function that
            nothing shares.
    """
    return lambda function: _part(function, identity, {**_OPTIONS, "forceinline": False})


def inlined_part(identity: str) -> Callable:
    """A `part` that vanishes into the functions that call it."""
    return lambda function: _part(function, identity, {**_OPTIONS, "forceinline": True})


def _part(function, identity: str, options: dict) -> Part:
    if not identity:
        return Part(function, {}, options)
    with _making:
        key = identity, compiler_settings()
        result = _parts.get(key)
        if result is None:
            result = _parts[key] = _shared(function, identity, options)
        return result


def _shared(function, identity: str, options: dict) -> Part:
    """A part whose symbols have the same names wherever it is compiled."""
    digest = hashlib.sha256(f"{identity} {compiler_settings()} {engine_digest()}".encode())
    function.__module__ = __name__  # where others find the globals of its environment
    function.__qualname__ = f"{function.__name__}_{digest.hexdigest()[:24]}"
    function.is_shared = True
    result = Part(function, {}, options)
    result._cache = _PartCache(function)
    return result
