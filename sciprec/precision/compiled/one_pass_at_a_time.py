"""Compilations that end: LLVM may make a loop do several of its passes at once, and asks of each
operation whether it is the same in all of them. It asks that of its operands, and of theirs, along
every way (`isUniformAcrossVFsAndUFs` of LLVM 20 to 22): a rounding uses its number more than once,
so that the time doubles with every rounding of what stays the same in a loop, as in
`y[i, k] = math.exp(u[i])`, and twenty of them do not end. One pass at a time, as vectors, is as
fast.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import llvmlite.binding as llvm
from numba.core import config
from numba.core.registry import cpu_target

from sciprec.precision.compiled.quicker import another


@contextlib.contextmanager
def one_pass_at_a_time() -> Iterator[None]:
    """Interleave no loop of what is compiled inside; to be held with Numba's lock of compilers."""
    codegen = cpu_target.target_context.codegen()
    if not hasattr(codegen, "_pass_builder") or not hasattr(codegen, "_tm"):
        yield  # a version of Numba that builds its passes elsewhere
        return

    def builder(opt=None, loop_vectorize=None, slp_vectorize=None):
        """Numba's own but for the loops."""
        options = llvm.create_pipeline_tuning_options()
        options.speed_level = config.OPT if opt is None else opt
        options.loop_vectorization = (
            config.LOOP_VECTORIZE if loop_vectorize is None else loop_vectorize
        )
        options.slp_vectorization = config.SLP_VECTORIZE if slp_vectorize is None else slp_vectorize
        options.loop_interleaving = False
        return llvm.create_pass_builder(codegen._tm, options)

    with another(codegen, "_pass_builder", builder):
        yield
