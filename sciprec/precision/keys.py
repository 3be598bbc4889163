"""Counter-based random bits for stochastic rounding and noise.

A lifted kernel of a random backend carries a 32-bit key: a hash of (seed, call number) at its
entry, of (key, loop iteration) in each loop, of (key, operation site) at each operation. So the
bits depend on where in the computation they are drawn and on nothing else: not on threads, chunks
or the order of execution.

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


def _emit_round(b: ir.IRBuilder, word, factor: int):
    """One round of the mixing: the high bits into the low ones, then a multiplication."""
    word = b.xor(word, b.lshr(word, ir.Constant(_I32, 16)))
    return b.mul(word, ir.Constant(_I32, factor))


def emit_hash(b: ir.IRBuilder, key, salt: int):
    """32 random bits of an operation, the high ones best; `salt` tells several draws of one
    operation apart.

    The key is well mixed already (`descend`): one round spreads the site over the word.
    """
    word = b.add(key, ir.Constant(_I32, (salt * 0x85EBCA6B) & 0xFFFFFFFF))
    return _emit_round(b, word, 0x846CA68B)


@intrinsic
def at_site(typingctx, key, number):
    """The key of the operation at a site of the source."""

    def codegen(context, b, signature, args):
        return b.add(args[0], b.trunc(args[1], _I32))

    return types.uint32(types.uint32, types.int64), codegen


@intrinsic
def descend(typingctx, key, number):
    """The key of one iteration of a loop, or of a called kernel."""

    def codegen(context, b, signature, args):
        counter = b.trunc(args[1], _I32)
        word = b.add(args[0], b.mul(counter, ir.Constant(_I32, _GOLDEN)))
        return _emit_round(b, word, 0x7FEB352D)

    return types.uint32(types.uint32, types.int64), codegen


def site_number(index: int) -> int:
    """A well-spread constant for the index-th operation site of a kernel."""
    return mix(index * _GOLDEN + 1) & 0x7FFFFFFF


def split(key, args) -> tuple:
    """(key, operands) of an intrinsic's arguments; the key is None in a backend without random
    bits.
    """
    return (None, args) if key is None else (args[0], args[1:])


def join(key, kinds) -> list:
    """The argument types of an intrinsic: the key's first, in a random backend."""
    return list(kinds) if key is None else [key, *kinds]


def intrinsic_of(arity: int, random: bool, resolve: Callable):
    """A Numba intrinsic of `arity` operands typed by resolve(typingctx, key, *operands)."""
    if random:
        makers = {
            1: lambda typingctx, key, x: resolve(typingctx, types.uint32, x),
            2: lambda typingctx, key, x, y: resolve(typingctx, types.uint32, x, y),
            3: lambda typingctx, key, x, y, z: resolve(typingctx, types.uint32, x, y, z),
        }
    else:
        makers = {
            1: lambda typingctx, x: resolve(typingctx, None, x),
            2: lambda typingctx, x, y: resolve(typingctx, None, x, y),
            3: lambda typingctx, x, y, z: resolve(typingctx, None, x, y, z),
        }
    return intrinsic(makers[arity])
