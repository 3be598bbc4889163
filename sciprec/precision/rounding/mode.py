"""The processor's rounding mode: set for the duration of one compiled call, restored always.

On x86-64 the MXCSR register of a thread holds the rounding direction (bits 13-14), flush-to-zero
(15) and denormals-are-zero (6). `call_in_mode` saves it, sets it, calls a compiled kernel that is
never inlined, and restores it before the kernel's exception, if any, is passed on. The assembler
statements clobber memory, so that the compiler moves no floating-point work of the kernel across
them.
"""

from __future__ import annotations

import platform
from functools import lru_cache, partial

from llvmlite import binding, ir
from numba.core import cgutils, config, types
from numba.core.codegen import get_host_cpu_features
from numba.extending import intrinsic

from sciprec.precision.compiled.lowering import intrinsic_of_operands
from sciprec.precision.formats.rounding_rules import ROUNDINGS

binding.initialize_native_asmparser()  # the register is read and written by inline assembler

_BEFORE_AVX2 = ("sse", "sse2", "sse3", "ssse3", "sse4.1", "sse4.2", "avx")
_FLUSH = 0x8040  # flush-to-zero and denormals-are-zero
_MASKED = 0x1F80  # all exceptions masked, no flags
NORMAL = _MASKED
"""The mode in which processes start."""


def available() -> bool:
    """Whether this processor's rounding mode can be set here (x86-64)."""
    return platform.machine() in ("x86_64", "AMD64")


def has_feature(name: str) -> bool:
    """Whether Numba's code may use an instruction set extension, by LLVM's name (f16c, fma, ...):
    this processor has it, or NUMBA_CPU_FEATURES says so. What NUMBA_CPU_NAME implies does not
    count.
    """
    features = config.CPU_FEATURES
    return name in _features(get_host_cpu_features() if features is None else features)


@lru_cache(maxsize=4)
def _features(text: str) -> frozenset[str]:
    """The extensions that "+one,-other,..." leaves; one that is taken away takes others along."""
    enabled: set[str] = set()
    for word in text.split(","):
        sign, name = word[:1], word[1:]
        if sign == "+":
            enabled.add(name)
        else:
            enabled -= {each for each in enabled if each == name or name in _needs(each)}
    return frozenset(enabled)


def _needs(name: str) -> tuple[str, ...]:
    """The extensions without which there is none of this name."""
    if name.startswith("avx512"):
        return (*_BEFORE_AVX2, "avx2", "f16c", "fma", "avx512f")
    return _BEFORE_AVX2 if name in ("avx2", "f16c", "fma") else ()


def control_word(rounding: str, flush: bool) -> int:
    """The MXCSR value for a rounding direction, with or without flushing of subnormals."""
    return _MASKED | ROUNDINGS[rounding].mode | (_FLUSH if flush else 0)


def _store(builder, slot, instruction: str = "stmxcsr"):
    kind, changes = ir.FunctionType(ir.VoidType(), [slot.type]), "~{memory},~{dirflag},~{fpsr}"
    builder.asm(kind, f"{instruction} ($0)", f"r,{changes},~{{flags}}", [slot], True)


_load = partial(_store, instruction="ldmxcsr")


@intrinsic
def read_control_word(typingctx):
    """The calling thread's MXCSR value (0 where the processor has no such register)."""

    def codegen(context, builder, signature, args):
        slot = cgutils.alloca_once_value(builder, ir.Constant(ir.IntType(32), 0))
        if available():
            _store(builder, slot)
        return builder.load(slot)

    return types.uint32(), codegen


def _computed(builder, value):
    """A number that is computed before the mode changes: the compiler could move it behind."""
    if value.type not in (ir.FloatType(), ir.DoubleType()):
        return value
    kind = ir.FunctionType(value.type, [value.type])
    return builder.asm(kind, "", "=x,0", [value], True)


@lru_cache(maxsize=256)
def call_in_mode(word: int, arity: int):
    """An intrinsic call(function, x1, ..., x_arity) of a jitted function while MXCSR holds `word`
    (0, or where no processor mode can be set: as it is).
    """

    def resolve(typingctx, function, *arguments):
        resolved = function.get_call_type(typingctx, arguments, {})

        def codegen(context, builder, signature, args):
            compiled = function.dispatcher.overloads[tuple(resolved.args)]
            context.add_linking_libs([compiled.library])
            return _guarded_call(context, builder, signature, args, resolved, compiled, word)

        return resolved.return_type(function, *arguments), codegen

    return intrinsic_of_operands(1 + arity, resolve)


def put_caller_in_mode(module, kind, name: str, caller: str, word: int) -> None:
    """Write a function that calls another one of the same type while MXCSR holds `word`.

    Args:
        module: an empty one of llvmlite.
        kind: the type.
        name, caller: of the function that is called, and of that which calls it.
    """
    called, calling = (ir.Function(module, kind, n) for n in (name, caller))
    calling.attributes.add("noinline")  # the compiler could move numbers behind the change
    builder = ir.IRBuilder(calling.append_basic_block("entry"))
    saved = _changed(builder, word)
    result = builder.call(called, calling.args, attrs=("noinline",))
    _load(builder, saved)
    builder.ret(result)


def _changed(builder, word: int):
    """Save the register's value and return its place; the register holds `word` now."""
    saved, new = (cgutils.alloca_once(builder, ir.IntType(32)) for _ in range(2))
    builder.store(ir.Constant(ir.IntType(32), word), new)
    _store(builder, saved)
    _load(builder, new)
    return saved


def _guarded_call(context, builder, signature, args, resolved, compiled, word: int):
    callee = context.declare_function(builder.module, compiled.fndesc)
    values = [
        context.cast(builder, value, source, target)
        for value, source, target in zip(args[1:], signature.args[1:], resolved.args, strict=True)
    ]
    word = word if available() else 0
    if word:
        values = [_computed(builder, value) for value in values]
        saved = _changed(builder, word)
    status, result = context.call_conv.call_function(
        builder, callee, resolved.return_type, resolved.args, values, attrs=("noinline",)
    )
    if word:
        _load(builder, saved)
    with cgutils.if_unlikely(builder, status.is_error):
        context.call_conv.return_status_propagate(builder, status)
    return result
