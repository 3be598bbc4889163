"""The functions of kernels that Python calls: whoever calls them, they compute in the processor's
mode of their arithmetic, and bring the operations that shared code asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from llvmlite import binding
from numba.core.codegen import CodeLibrary, JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import cpu_target

from sciprec.precision.compiled.disk_cache import Kept, keep
from sciprec.precision.compiled.lowering import rename

_IN_MODE = ".in_mode"
_OPTIONS = {"nopython": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


class EntryOperations(Protocol):
    """The operations of an arithmetic, as far as an entry needs them.

    Attributes:
        word: the processor's control word, 0 for its normal mode.
    """

    word: int

    def answered(self, context, module) -> tuple[CodeLibrary | None, str]:
        """The library of what a module's code asks for, and what names end in then."""

    def put_in_mode(self, module, kind, name: str, caller: str) -> None:
        """Write a function that calls one of the same type in the mode."""


class _Library(JITCodeLibrary):
    """The code of an entry: whoever calls the function calls it in the mode.

    Args:
        codegen, name: Numba's.
        operations: of the arithmetic.
    """

    def __init__(self, codegen, name: str, operations: EntryOperations) -> None:
        super().__init__(codegen, name)
        self._operations = operations
        self._types: dict = {}

    def add_ir_module(self, ir_module) -> None:
        """Add the function, afterwards what calls it from Python."""
        self._types = self._types or {f.name: f.function_type for f in ir_module.functions}
        super().add_ir_module(ir_module)

    def add_llvm_module(self, module) -> None:
        """Add the function, as LLVM has it."""
        is_first, word = not self._defined(), self._operations.word
        super().add_llvm_module(module)
        if is_first and word:
            (name,) = self._defined(binding.Linkage.external)
            computing = self._final_module.get_function(name)
            computing.name += _IN_MODE
            guard = self.create_ir_module(name)
            self._operations.put_in_mode(guard, self._types[name], computing.name, name)
            super().add_llvm_module(binding.parse_assembly(str(guard)))

    def finalize(self) -> None:
        """Link the called functions, as the arithmetic computes them."""
        defined, context = self._defined(), cpu_target.target_context
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        answer, suffix = self._operations.answered(context, self._final_module)
        self._linking_libraries = []
        if answer is not None:
            self._linking_libraries.append(answer)
            rename(self._final_module, suffix, unchanged=defined)
        super().finalize()

    def _defined(self, *linkages) -> set[str]:
        functions = [f for f in self._final_module.functions if not f.is_declaration]
        return {f.name for f in functions if not linkages or f.linkage in linkages}


class _Compiler(Compiler):
    """Numba's compiler of an entry."""

    def define_pipelines(self):
        """Numba's passes, whose code goes into a library of entries."""
        identity, codegen = self.state.func_id, self.state.targetctx.codegen()
        library = _Library(codegen, identity.func_qualname, identity.func.operations)
        library.enable_object_caching()
        self.state.library = library
        return super().define_pipelines()


class Entry(Kept):
    """A jitted function for Python to call; see `entry`.

    Numba makes it again from these arguments where it was pickled.
    """

    def __init__(self, function, local_types: dict, options: dict) -> None:
        super().__init__(function, local_types, options, pipeline_class=_Compiler)


def entry(operations: EntryOperations, on_disk: bool) -> Callable:
    """A decorator: a function for Python to call, computed as an arithmetic says.

    Args:
        on_disk: whether its code is kept on disk.
    """

    def decorator(function):
        function.operations = operations
        dispatcher = Entry(function, {}, _OPTIONS)
        return keep(dispatcher) if on_disk else dispatcher

    return decorator
