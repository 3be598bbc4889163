"""Keys: what an operation knows about its place in the computation.

Random bits for stochastic rounding and noise. A lifted kernel of a random backend carries a 32-bit
key: a hash of (seed, call number) at its entry, of (key, loop iteration) in each loop, of (key,
operation site) at each operation. So the bits depend on where in the computation they are drawn
and on nothing else: not on threads, chunks or the order of execution.

Rows of a table for fixed point and profiles. The key is an address: of the table at the kernel's
entry, of the part that belongs to a call in the called kernel, of a row at each operation.

Source of the mixing function: Wellons (2018), "Prospecting for hash functions", lowbias32 (bias
0.17).
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

_I32 = ir.IntType(32)
_GOLDEN = 0x9E3779B9


def mix(word: int) -> int:
    """lowbias32 on a Python integer."""
    word &= 0xFFFFFFFF
    word = ((word ^ (word >> 16)) * 0x7FEB352D) & 0xFFFFFFFF
    word = ((word ^ (word >> 15)) * 0x846CA68B) & 0xFFFFFFFF
    return word ^ (word >> 16)


def _emit_mix(b: ir.IRBuilder, word):
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B), (16, None)):
        word = b.xor(word, b.lshr(word, ir.Constant(_I32, shift)))
        word = word if factor is None else b.mul(word, ir.Constant(_I32, factor))
    return word


def emit_hash(b: ir.IRBuilder, key, salt: int):
    """32 random bits of an operation, the high ones best; `salt` numbers further draws of it."""
    if salt == 0:
        return key
    word = b.xor(key, b.lshr(key, ir.Constant(_I32, 16)))
    return b.mul(word, ir.Constant(_I32, mix(salt) | 1))


@intrinsic
def at_site(typingctx, key, number):
    """The key of the operation at a site of the source: the iteration's times a number of its own.

    The number is odd. Sums would leave the draws of two sites a fixed distance apart.
    """

    def codegen(context, b, signature, args):
        return b.mul(args[0], b.or_(b.trunc(args[1], _I32), ir.Constant(_I32, 1)))

    return types.uint32(types.uint32, types.int64), codegen


@intrinsic
def descend(typingctx, key, number):
    """The key of one iteration of a loop, or of a called kernel."""

    def codegen(context, b, signature, args):
        counter = b.trunc(args[1], _I32)
        return _emit_mix(b, b.add(args[0], b.mul(counter, ir.Constant(_I32, _GOLDEN))))

    return types.uint32(types.uint32, types.int64), codegen


def site_number(index: int) -> int:
    """A well-spread constant for the index-th operation site of a kernel."""
    return mix(index * _GOLDEN + 1) | 1


def split(key, args) -> tuple:
    """(key, operands) of an intrinsic's arguments; the key is None in a backend without keys."""
    return (None, args) if key is None else (args[0], args[1:])


def join(key, kinds) -> list:
    """The argument types of an intrinsic: the key's first, in a backend with keys."""
    return list(kinds) if key is None else [key, *kinds]


def row_step(row_bytes: int):
    """An intrinsic (key, n) -> the address n rows further."""

    @intrinsic
    def step(typingctx, key, number):
        def codegen(context, b, signature, args):
            return b.add(args[0], b.mul(args[1], ir.Constant(ir.IntType(64), row_bytes)))

        return types.int64(types.int64, types.int64), codegen

    return step


def intrinsic_of(arity: int, kind: types.Type | None, resolve: Callable, row_bytes: int = 0):
    """A Numba intrinsic of `arity` operands typed by resolve(typingctx, key, *operands).

    Args:
        kind: the type of the key that comes first, or None where there is none.
        row_bytes: size of a row where the key is an address; then the number of a row follows it,
            and `resolve` gets the address of that row.
    """
    if row_bytes:
        makers = {
            1: lambda typingctx, key, n, x: _at_row(resolve(typingctx, kind, x), row_bytes),
            2: lambda typingctx, key, n, x, y: _at_row(resolve(typingctx, kind, x, y), row_bytes),
            3: lambda typingctx, key, n, x, y, z: _at_row(
                resolve(typingctx, kind, x, y, z), row_bytes
            ),
            4: lambda typingctx, key, n, w, x, y, z: _at_row(
                resolve(typingctx, kind, w, x, y, z), row_bytes
            ),
        }
    elif kind is not None:
        makers = {
            1: lambda typingctx, key, x: resolve(typingctx, kind, x),
            2: lambda typingctx, key, x, y: resolve(typingctx, kind, x, y),
            3: lambda typingctx, key, x, y, z: resolve(typingctx, kind, x, y, z),
            4: lambda typingctx, key, w, x, y, z: resolve(typingctx, kind, w, x, y, z),
        }
    else:
        makers = {
            1: lambda typingctx, x: resolve(typingctx, None, x),
            2: lambda typingctx, x, y: resolve(typingctx, None, x, y),
            3: lambda typingctx, x, y, z: resolve(typingctx, None, x, y, z),
            4: lambda typingctx, w, x, y, z: resolve(typingctx, None, w, x, y, z),
        }
    return intrinsic(makers[arity])


def _at_row(resolved, row_bytes: int):
    """What was resolved for a row's address, for an address and the number of a row."""
    signature, emit = resolved

    def codegen(context, b, given, args):
        number, size = args[1], ir.Constant(ir.IntType(64), row_bytes)
        known = isinstance(number, ir.Constant)
        step = size.type(row_bytes * number.constant) if known else b.mul(number, size)
        row = b.add(args[0], step)
        row.number = number.constant if known else None
        return emit(context, b, signature, [row, *args[2:]])

    kinds = signature.args[0], types.int64, *signature.args[1:]
    return signature.return_type(*kinds), codegen
