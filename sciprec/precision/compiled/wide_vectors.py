"""Vectors as wide as the processor does at full speed: on Intel's processors LLVM takes vectors of
256 bits where there are such of 512, because the first ones that had them ran slower as they did.
Later ones do not: with the wider ones most arithmetics take 10 to 40 % less time, models 10 to 20.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from numba.core.codegen import CPUCodeLibrary
from numba.core.registry import cpu_target

from sciprec.precision.compiled.quicker import another

AT_FULL_SPEED = frozenset({"sapphirerapids", "emeraldrapids", "graniterapids", "diamondrapids"})
"""LLVM's names of processors."""
_WIDE = '"prefer-vector-width"="512"'


@contextlib.contextmanager
def wide_vectors() -> Iterator[None]:
    """Let code compiled inside take the widest vectors where they are at full speed; to be held
    with Numba's lock of compilers.
    """
    codegen = cpu_target.target_context.codegen()
    usual = CPUCodeLibrary.add_ir_module
    is_numbas = usual.__module__ == "numba.core.codegen"  # not so inside one another
    if not is_numbas or codegen._get_host_cpu_name() not in AT_FULL_SPEED:
        yield
        return

    def add_ir_module(self, ir_module) -> None:
        for function in ir_module.functions:
            if not function.is_declaration:
                set.add(function.attributes, _WIDE)  # llvmlite's own `add` knows words alone
        usual(self, ir_module)

    with another(CPUCodeLibrary, "add_ir_module", add_ir_module):
        yield
