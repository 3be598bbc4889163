"""Compiled functions that only compiled functions call: parts of the machine code of these.

Numba optimises every function and makes machine code of it, together with all that it calls and
with two wrappers for calls from outside; along a chain of n calls the last function is compiled n
times. A part keeps what was lowered; it is optimised and becomes machine code once, in the function
that is called from outside.
"""

from __future__ import annotations

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher

_OPTIONS = {
    "nopython": True, "nogil": True, "error_model": "numpy", "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}  # fmt: skip


class _Lowered(JITCodeLibrary):
    """LLVM code of a function and of what it calls, ready to be linked into its callers'."""

    def finalize(self):
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True


class _PartCompiler(Compiler):
    """Numba's compiler up to LLVM code."""

    def define_pipelines(self):
        codegen = self.state.targetctx.codegen()
        self.state.library = _Lowered(codegen, self.state.func_id.func_qualname)
        self.state.flags.no_compile = True
        return super().define_pipelines()


class _Entry:
    """What Numba knows the compiled code of a part by; it cannot be called from Python."""


class Part(CPUDispatcher):
    """A jitted function for other jitted functions to call; see `part`.

    Numba makes it again from these arguments where it was pickled.
    """

    def __init__(self, function, local_types: dict, options: dict):
        super().__init__(function, local_types, options, pipeline_class=_PartCompiler)

    def add_overload(self, result):
        """Keep what was compiled, and give its environment (where compiled code finds Python's
        objects, as `print` does) the address that Numba gives to functions with machine code only.
        """
        codegen, held = result.library.codegen, result.fndesc.env_name
        module = codegen._create_empty_module(held)
        result.target_context.declare_env_global(module, held)
        codegen._add_module(binding.parse_assembly(str(module)))
        codegen.set_env(held, result.environment)
        entry = _Entry()
        result.target_context.insert_user_function(entry, result.fndesc, [result.library])
        self.overloads[tuple(result.signature.args)] = result._replace(entry_point=entry)

    def __call__(self, *args):
        raise TypeError(f"'{self.__name__}' is called by compiled functions only: call their entry")


def part(function) -> Part:
    """A function jitted as a part of those that call it, division by zero as in NumPy.

    Args:
        function: plain Python, in Numba's subset; not recursive.
    """
    return Part(function, {}, {**_OPTIONS, "forceinline": False})


def inlined_part(function) -> Part:
    """A `part` that vanishes into the functions that call it."""
    return Part(function, {}, {**_OPTIONS, "forceinline": True})
