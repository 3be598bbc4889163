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

from llvmlite import binding
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult

from sciprec.precision.compiled.disk_cache import DiskCache, Kept, compiler_settings, engine_digest

_OPTIONS = {
    "nopython": True, "nogil": True, "error_model": "numpy", "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}  # fmt: skip
_known: weakref.WeakValueDictionary[tuple, Part] = weakref.WeakValueDictionary()
_making = threading.Lock()


class _Lowered(JITCodeLibrary):
    """LLVM code of a function and of what it calls, ready to be linked into its callers'."""

    def finalize(self):
        """Link what is called; nothing is optimised, and no machine code made."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def kept(self) -> tuple[str, bytes]:
        """What another process makes the library from."""
        self._ensure_finalized()
        return self.name, self._final_module.as_bitcode()

    @classmethod
    def restored(cls, codegen, name: str, bitcode: bytes) -> _Lowered:
        """The library that was kept."""
        library = cls(codegen, name)
        library._final_module = binding.parse_bitcode(bitcode)
        library._finalized = True
        return library


def lowered(context, name: str, write: Callable) -> JITCodeLibrary:
    """A library of functions of LLVM's alone, for code that calls them.

    Args:
        context: Numba's.
        write: writes them into an empty module of llvmlite.
    """
    library = _Lowered(context.codegen(), name)
    module = library.create_ir_module(name)
    with context.push_code_library(library):
        write(module)
    library._final_module = binding.parse_assembly(cgutils.normalize_ir_text(str(module)))
    library.finalize()
    return library


def renamed(context, library: _Lowered, suffix: str, kept: str) -> JITCodeLibrary:
    """A copy of a part's library whose functions have other names, but for one.

    Args:
        context: Numba's.
        suffix: of the names.
        kept: the name of the one.
    """
    copied = _Lowered.restored(context.codegen(), *library.kept())
    copied._reload_init.update(library._reload_init)
    for function in copied._final_module.functions:
        if function.name.startswith("_Z") and not function.is_declaration and function.name != kept:
            function.name += suffix
    return copied


class _PartCompiler(Compiler):
    """Numba's compiler up to LLVM code."""

    def define_pipelines(self):
        """Numba's passes, whose code goes into a library that is only lowered."""
        identity = self.state.func_id
        if getattr(identity.func, "is_shared", False):  # the same name in every process
            identity.unique_id, identity.unique_name = 0, identity.func_qualname
        self.state.library = _Lowered(self.state.targetctx.codegen(), identity.func_qualname)
        self.state.flags.no_compile = True
        return super().define_pipelines()


class _Entry:
    """What Numba knows the compiled code of a part by; it cannot be called from Python."""


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
        kept, fndesc, signature, reload_init, environment, environments = reduced
        for function in reload_init:
            function()
        library = _Lowered.restored(target_context.codegen(), *kept)
        library._reload_init.update(reload_init)
        for held in environments:
            _place(target_context, held)
        fields = dict.fromkeys(CompileResult._fields)
        return CompileResult(**fields | {
            "target_context": target_context, "typing_context": target_context.typing_context,
            "library": library, "fndesc": fndesc, "signature": signature, "lifted": (),
            "objectmode": False, "environment": environment, "reload_init": reload_init,
            "entry_point": _Entry(), "referenced_envs": environments,
        })  # fmt: skip

    def _identity(self) -> str:
        return self.function.__qualname__


def _place(target_context, environment) -> None:
    """Give an environment (where compiled code finds Python's objects, as `print` does) the address
    that Numba gives to those of functions with machine code only.
    """
    codegen, name = target_context.codegen(), environment.env_name
    if not codegen._engine.is_symbol_defined(name):
        module = codegen._create_empty_module(name)
        target_context.declare_env_global(module, name)
        codegen._add_module(binding.parse_assembly(str(module)))
    codegen.set_env(name, environment)


class Part(Kept):
    """A jitted function for other jitted functions to call; see `part`.

    Numba makes it again from these arguments where it was pickled.
    """

    def __init__(self, function, local_types: dict, options: dict):
        super().__init__(function, local_types, options, pipeline_class=_PartCompiler)

    def add_overload(self, result):
        """Keep what was compiled; Numba knows it by its entry."""
        _place(result.target_context, result.environment)
        if not isinstance(result.entry_point, _Entry):
            result = result._replace(entry_point=_Entry())
            result.target_context.insert_user_function(
                result.entry_point, result.fndesc, [result.library]
            )
        self.overloads[tuple(result.signature.args)] = result

    def __call__(self, *args):
        raise TypeError(f"'{self.__name__}' is called by compiled functions only: call their entry")


def part(identity: str) -> Callable:
    """A decorator: a function jitted as a part of those that call it, division by zero as in NumPy.
    The function is plain Python, in Numba's subset; not recursive.

    Args:
        identity: the same for functions that do the same, in every process; "" for a function that
            nothing shares.
    """
    return lambda function: _made(function, identity, {**_OPTIONS, "forceinline": False})


def inlined_part(identity: str) -> Callable:
    """A `part` that vanishes into the functions that call it."""
    return lambda function: _made(function, identity, {**_OPTIONS, "forceinline": True})


def _made(function, identity: str, options: dict) -> Part:
    if not identity:
        return Part(function, {}, options)
    with _making:
        key = identity, compiler_settings()
        known = _known.get(key)
        if known is None:
            known = _known[key] = _shared(function, identity, options)
        return known


def _shared(function, identity: str, options: dict) -> Part:
    """A part whose symbols have the same names wherever it is compiled."""
    digest = hashlib.sha256(f"{identity} {compiler_settings()} {engine_digest()}".encode())
    function.__module__ = __name__  # where others find the globals of its environment
    function.__qualname__ = f"{function.__name__}_{digest.hexdigest()[:24]}"
    function.is_shared = True
    made = Part(function, {}, options)
    made._cache = _PartCache(function)
    return made
