"""Compiled functions that only compiled functions call: they are lowered to LLVM code, which is
linked into the code of their callers; neither is it optimised, nor machine code made of it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Container

from llvmlite import binding
from numba import jit
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic, overload


class Lowered(JITCodeLibrary):
    """LLVM code of a function and of what it calls, ready to be linked into its callers'."""

    def finalize(self):
        """Link what is called; nothing is optimised, and no machine code made."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def reads(self, environment) -> bool:
        """Whether the code finds Python's objects in an environment, see `compilations`."""
        try:
            return bool(self._final_module.get_global_variable(environment.env_name))
        except NameError:
            return False

    def kept(self) -> tuple[str, bytes]:
        """Return the name and the bitcode from which another process makes the library."""
        self._ensure_finalized()
        return self.name, self._final_module.as_bitcode()

    @classmethod
    def restored(cls, codegen, name: str, bitcode: bytes) -> Lowered:
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
    library = Lowered(context.codegen(), name)
    module = library.create_ir_module(name)
    with context.push_code_library(library):
        write(module)
    library._final_module = binding.parse_assembly(cgutils.normalize_ir_text(str(module)))
    library.finalize()
    return library


def rename(module, suffix: str, unchanged: Container[str] = ()) -> None:
    """Rename the functions that a module of LLVM's defines, but for some: other names end in a
    suffix.
    """
    for function in module.functions:
        name = function.name
        if name.startswith("_Z") and not function.is_declaration and name not in unchanged:
            function.name += suffix


class LoweringCompiler(Compiler):
    """Numba's compiler up to LLVM code."""

    def define_pipelines(self):
        """Numba's passes, whose code goes into a library that is only lowered."""
        identity = self.state.func_id
        if getattr(identity.func, "is_shared", False):  # the same name in every process
            identity.unique_id, identity.unique_name = 0, identity.func_qualname
        self.state.library = Lowered(self.state.targetctx.codegen(), identity.func_qualname)
        self.state.flags.no_compile = True
        return super().define_pipelines()


class Key:
    """A stand-in for machine code that can be called: Numba knows lowered code by it."""


def place(target_context, environment) -> None:
    """Give an environment (where compiled code finds Python's objects, as `print` does) the address
    that Numba gives to those of functions with machine code only.
    """
    codegen, name = target_context.codegen(), environment.env_name
    if not codegen._engine.is_symbol_defined(name):
        module = codegen._create_empty_module(name)
        target_context.declare_env_global(module, name)
        codegen._add_module(binding.parse_assembly(str(module)))
    codegen.set_env(name, environment)


class Lowering(CPUDispatcher):
    """A jitted function for other jitted functions to call.

    Numba makes it again from these arguments where it was pickled.
    """

    def __init__(self, function, local_types: dict, options: dict):
        super().__init__(function, local_types, options, pipeline_class=LoweringCompiler)

    def add_overload(self, result):
        """Keep compiled code; Numba knows it by a key."""
        if result.library.reads(result.environment):
            place(result.target_context, result.environment)
        if not isinstance(result.entry_point, Key):
            result = result._replace(entry_point=Key())
            result.target_context.insert_user_function(
                result.entry_point, result.fndesc, [result.library]
            )
        self.overloads[tuple(result.signature.args)] = result

    def __call__(self, *args):
        return self._entry(*args)

    @functools.cached_property
    def _entry(self):
        """The function for calls from Python."""
        wrapped = dict.fromkeys(("no_cpython_wrapper", "no_cfunc_wrapper"), False)
        return jit(**self.targetoptions | wrapped)(self.py_func)


_WITHOUT_WRAPPERS = {"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def helper(function=None, **options) -> Callable:
    """A decorator as numba.njit, for functions that hardly anybody but compiled functions calls."""
    if function is None:
        return lambda function: helper(function, **options)
    return Lowering(function, {}, _WITHOUT_WRAPPERS | options)


def by_type(choose: Callable) -> Callable:
    """A decorator that makes a function of compiled code alone: what it gives for the arguments'
    types is the code of a call.
    """

    def called(*_):
        raise NotImplementedError(f"{choose.__name__} is for compiled code only")

    overload(called)(choose)
    return functools.update_wrapper(called, choose)


def intrinsic_of_operands(count: int, resolve: Callable):
    """An intrinsic of `count` operands, typed by resolve(typingctx, *operands)."""
    names = "".join(f", x{i}" for i in range(count))
    text = f"lambda typingctx{names}: resolve(typingctx{names})"
    return intrinsic(eval(text, {"resolve": resolve}))
