"""Keys: what an operation knows about its place in the computation.

Random bits for stochastic rounding and noise. A lifted kernel of a random backend carries a key of
two words. The lower one, of which draws are made, is a hash of (seed, call number) at the kernel's
entry, of (key, loop iteration) in each loop, of (key, operation site) at each operation. So the
bits depend on where in the computation they are drawn and on nothing else: not on threads, chunks
or the order of execution. The upper word is a hash of both words of the loop or call around: it
tells draws apart whose lower words are equal, and stays as it is within an innermost loop, where it
costs nothing.

Streams that are asked for by number count their calls by themselves. Their call numbers in the
lower word are further by a multiple of the golden ratio: at the entry no two calls, of one stream
or of two, have a lower word in common while streams times calls are below 1.6e8, and none ever have
both words. Within loops lower words are hashes, equal by chance now and then, as those of plain
calls are.

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

from sciprec.precision.compiled.lowering import intrinsic_of_operands

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_GOLDEN = 0x9E3779B9
_UPPER = 0x85EBCA6B
_LOWER_SEED, _UPPER_SEED = 0x51ED2700, 0x2545F491
KEY = types.uint64
"""The type of keys of random bits."""


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


STREAMS = 2**32 - 1
"""How many streams there are to be asked for, each of 2^32 calls."""


def entry_words(seed: int, stream: int | None = None) -> tuple[int, int]:
    """The words that a stream has for all its calls: the lower one, and the upper one.

    Args:
        seed: from -2**63 to 2**64 - 1.
        stream: its number, from 0; None of plain calls.
    """
    lower = mix((seed ^ mix(abs(seed) >> 32)) + _LOWER_SEED)
    if stream is not None:
        lower += (stream + 1) * _GOLDEN * _GOLDEN  # further by the golden ratio of 2^32 calls
    return lower & 0xFFFFFFFF, mix((seed >> 32 ^ seed) + _UPPER_SEED)


def entry_key(words: tuple[int, int], number: int) -> int:
    """The key at the entry of a kernel in the call of some number, from 0, of a stream."""
    lower, upper = words
    return mix(upper + number * _UPPER) << 32 | mix(lower + number * _GOLDEN)


def _words(b: ir.IRBuilder, key):
    """The lower word of a key, and the upper one."""
    return b.trunc(key, _I32), b.trunc(b.lshr(key, ir.Constant(_I64, 32)), _I32)


def _joined(b: ir.IRBuilder, lower, upper):
    """The key of two words."""
    return b.or_(b.zext(lower, _I64), b.shl(b.zext(upper, _I64), ir.Constant(_I64, 32)))


def emit_at(b: ir.IRBuilder, key, number):
    """The key of a part of an operation or iteration, by an odd number of its own.

    Sums would leave the draws of two parts a fixed distance apart.
    """
    lower, upper = _words(b, key)
    return _joined(b, b.mul(lower, number), upper)


def emit_hash(b: ir.IRBuilder, key, salt: int):
    """32 random bits of an operation, the high ones best; `salt` numbers further draws of it."""
    lower, _ = _words(b, key)
    if salt == 0:
        return lower
    word = b.xor(lower, b.lshr(lower, ir.Constant(_I32, 16)))
    return b.mul(word, ir.Constant(_I32, mix(salt) | 1))


def emit_second(b: ir.IRBuilder, key):
    """32 further random bits of an operation, for what its own 32 leave open."""
    return _words(b, key)[1]


@intrinsic
def at_site(typingctx, key, number):
    """The key of the operation at a site: the iteration's, and a number of the site's own."""

    def codegen(context, b, signature, args):
        return emit_at(b, args[0], b.or_(b.trunc(args[1], _I32), ir.Constant(_I32, 1)))

    return KEY(KEY, types.int64), codegen


@intrinsic
def descend(typingctx, key, number):
    """The key of one iteration of a loop, or of a called kernel."""

    def codegen(context, b, signature, args):
        (lower, upper), counter = _words(b, args[0]), b.trunc(args[1], _I32)
        upper = b.mul(b.xor(lower, upper), ir.Constant(_I32, _UPPER))
        lower = _emit_mix(b, b.add(lower, b.mul(counter, ir.Constant(_I32, _GOLDEN))))
        return _joined(b, lower, upper)

    return KEY(KEY, types.int64), codegen


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

    def typed(typingctx, *args):
        resolved = resolve(typingctx, kind, *args[-arity:])
        return _at_row(resolved, row_bytes) if row_bytes else resolved

    return intrinsic_of_operands((kind is not None) + bool(row_bytes) + arity, typed)


def _at_row(resolved, row_bytes: int):
    """Turn a function resolved for a row's address into one for an address and a row's number."""
    signature, emit = resolved

    def codegen(context, b, called, args):
        number, size = args[1], ir.Constant(ir.IntType(64), row_bytes)
        is_constant = isinstance(number, ir.Constant)
        step = size.type(row_bytes * number.constant) if is_constant else b.mul(number, size)
        row = b.add(args[0], step)
        row.number = number.constant if is_constant else None
        return emit(context, b, signature, [row, *args[2:]])

    kinds = signature.args[0], types.int64, *signature.args[1:]
    return signature.return_type(*kinds), codegen
