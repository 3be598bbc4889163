"""Meeting points of the threads of one computation, inside compiled kernels.

A kernel that several threads run at once, each on its share, calls `meet` between two parts of
which the second reads what others write in the first. Nothing of it depends on how many there are.
"""

from __future__ import annotations

import os
import platform

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from sciprec.precision.compiled.disk_cache import kept
from sciprec.precision.compiled.lowering import helper

ARRIVED, ABANDONED = 0, 1
_LOOKS = 2048
"""Looks at the counter between two offers of the processor to others: some microseconds."""
_INTEL = platform.machine().lower() in ("x86_64", "amd64")
_NOTHING, _WORD = ir.VoidType(), ir.IntType(32)


def new_counters() -> np.ndarray:
    """New counters of a meeting of threads: arrivals, and whether a thread has given up."""
    return np.zeros(2, np.int64)


def abandon(counters: np.ndarray) -> None:
    """Let nobody wait here, now or later: a thread has failed, and results do not count."""
    counters[ABANDONED] = 1


def meet(counters, parties):
    """Wait until all threads are here; in plain Python there is only one.

    Args:
        counters: from `new_counters`, shared by the threads.
        parties: how many they are.
    """


def _place(context, builder, kind, array, index):
    data = make_array(kind)(context, builder, array).data
    return builder.gep(data, [index])


def _require(kind) -> None:
    if not isinstance(kind, types.Array) or kind.dtype != types.int64 or kind.ndim != 1:
        raise TypingError("meet takes an int64 array and a number")


@intrinsic
def _arrive(typingctx, counters, index):
    """Add one to an element; its value before."""
    _require(counters)

    def codegen(context, builder, signature, args):
        place = _place(context, builder, counters, *args)
        return builder.atomic_rmw("add", place, ir.Constant(ir.IntType(64), 1), "seq_cst")

    return types.int64(counters, types.intp), codegen


@intrinsic
def _count(typingctx, counters, index):
    """An element as it is in memory now."""
    _require(counters)

    def codegen(context, builder, signature, args):
        return builder.load_atomic(_place(context, builder, counters, *args), "acquire", 8)

    return types.int64(counters, types.intp), codegen


def _calling(name: str, result: ir.Type):
    """An intrinsic that calls a C function without arguments, for what it does."""

    @intrinsic
    def calling(typingctx):
        def codegen(context, builder, signature, args):
            if name:
                kind = ir.FunctionType(result, [])
                builder.call(builder.module.globals.get(name) or
                             ir.Function(builder.module, kind, name), [])  # fmt: skip
            return context.get_dummy_value()

        return types.none(), codegen

    return calling


_pause = _calling("llvm.x86.sse2.pause" if _INTEL else "", _NOTHING)
_give_way = _calling("sched_yield" if hasattr(os, "sched_yield") else "", _WORD)


@helper(forceinline=True)
def compiled_meet(counters, parties):
    """The form of `meet` in a compiled kernel."""
    if parties > 1:
        last = (_arrive(counters, ARRIVED) // parties + 1) * parties
        looks = 0
        while _count(counters, ARRIVED) < last and _count(counters, ABANDONED) == 0:
            looks += 1
            if looks % _LOOKS == 0:
                _give_way()
            else:
                _pause()


@kept(nogil=True)
def meet_from_python(counters, parties):
    """`meet` for Python code between kernels; its lock is free while a thread waits."""
    compiled_meet(counters, parties)
