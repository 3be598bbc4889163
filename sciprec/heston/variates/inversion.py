"""Normal and exponential variates of 32-bit words by inversion, fast, in binary32 and binary64.

A word u stands for p = (u + 1/2) / 2^32. With d = min(p, 1 - p) and t = -log2(2 d) in [0, 32]

    |Phi^-1(p)| = t P(t) / Q(t),  P and Q polynomials with coefficients above zero,

one formula for the centre, where t goes to zero in proportion, and for the tails: no branch, and no
cancellation. The logarithm is taken of 2 d = 2^k (1 + f) as k + s L(s^2), s = f / (2 + f), with
sqrt(1/2) <= 1 + f < sqrt(2); around the centre f = -2 |p - 1/2| comes from the word, exactly or
rounded once. The engine's own normal_from_bits is accurate to an ulp of binary64 at twice the cost.

The functions are generic: the type of `like` decides in which format they compute. They are no
arithmetic under test and not lifted, but compiled as they stand.
"""

import math

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from sciprec.heston.variates.inversion_tables import DENOMINATOR, LOG2, NUMERATOR
from sciprec.precision.compiled.disk_cache import kept
from sciprec.precision.elementary.logarithm import log
from sciprec.precision.elementary.normal import erfc
from sciprec.precision.streams import philox4x32

PLUS_TWO = ((2.0, 1.0), (2.0, 1.0))
SQRT_HALF = math.sqrt(0.5)
LN2 = ((0.0, 0.6931471805599453), (0.0, 0.6931471805599453))

_WORD = ir.IntType(32)
_KINDS = {
    types.float32: (0, ir.FloatType(), _WORD, 23, 0x3F3504F3, "llvm.fma.f32"),
    types.float64: (1, ir.DoubleType(), ir.IntType(64), 52, 0x3FE6A09E667F3BCD, "llvm.fma.f64"),
}
"""type -> number of its tables, LLVM's types, fraction bits, bits of sqrt(1/2), fma's name."""


@intrinsic
def horner(typingctx, x, tables):
    """c0 + x (c1 + x (c2 + ...)) by fused multiply-adds, from the table of x's type."""

    def codegen(context, builder, signature, arguments):
        number, kind, _, _, _, name = _KINDS[signature.return_type]
        table = builder.extract_value(arguments[1], number)
        terms = [builder.extract_value(table, i) for i in range(tables.types[number].count)]
        if number == 0:
            terms = [builder.fptrunc(term, kind) for term in terms]
        function_type = ir.FunctionType(kind, [kind] * 3)
        function = cgutils.get_or_insert_function(builder.module, function_type, name)
        value = terms.pop()
        while terms:
            value = builder.call(function, [value, arguments[0], terms.pop()])
        return value

    return x(x, tables), codegen


@intrinsic
def fma(typingctx, a, b, c):
    """a * b + c, rounded once."""

    def codegen(context, builder, signature, arguments):
        _, kind, _, _, _, name = _KINDS[signature.return_type]
        function_type = ir.FunctionType(kind, [kind] * 3)
        function = cgutils.get_or_insert_function(builder.module, function_type, name)
        return builder.call(function, arguments)

    return a(a, a, a), codegen


@intrinsic
def folded(typingctx, word, like):
    """2 |p - 1/2| and 2 d, in the type of `like`, and the sign bit of p - 1/2, of a word.

    2 |p - 1/2| = j / 2^32 with j = 2 a + 1, where a is the word less 2^31 or its complement, and
    2 d = (2^32 - j) / 2^32; both are rounded once.
    """

    def codegen(context, builder, signature, arguments):
        kind = _KINDS[like][1]
        word = builder.trunc(arguments[0], _WORD)
        centred = builder.xor(word, _WORD(1 << 31))
        size = builder.xor(centred, builder.ashr(centred, _WORD(31)))
        near = builder.or_(builder.shl(size, _WORD(1)), _WORD(1))
        pair = [near, builder.sub(_WORD(0), near)]
        pair = [builder.fmul(builder.uitofp(x, kind), kind(2.0**-32)) for x in pair]
        sign = builder.and_(centred, _WORD(1 << 31))
        return context.make_tuple(builder, signature.return_type, [*pair, sign])

    return types.Tuple((like, like, types.uint32))(word, like), codegen


@intrinsic
def above(typingctx, word, like):
    """1 - p of a word, rounded to the type of `like`."""

    def codegen(context, builder, signature, arguments):
        kind = _KINDS[like][1]
        rest = builder.not_(builder.trunc(arguments[0], _WORD))
        return builder.fmul(builder.fadd(builder.uitofp(rest, kind), kind(0.5)), kind(2.0**-32))

    return like(word, like), codegen


@intrinsic
def split(typingctx, x):
    """k and f with x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), for a normal x above zero."""

    def codegen(context, builder, signature, arguments):
        _, kind, integer, fraction, sqrt_half, _ = _KINDS[x]
        bits = builder.bitcast(arguments[0], integer)
        exponent = builder.ashr(builder.sub(bits, integer(sqrt_half)), integer(fraction))
        scaled = builder.sub(bits, builder.shl(exponent, integer(fraction)))
        rest = builder.fsub(builder.bitcast(scaled, kind), kind(1.0))
        parts = [builder.sitofp(exponent, kind), rest]
        return context.make_tuple(builder, signature.return_type, parts)

    return types.UniTuple(x, 2)(x), codegen


@intrinsic
def select(typingctx, condition, if_true, if_false):
    """`if_true` where `condition` holds, else `if_false`, without a branch."""

    def codegen(context, builder, signature, arguments):
        return builder.select(*arguments)

    return if_true(types.boolean, if_true, if_true), codegen


@intrinsic
def signed(typingctx, magnitude, sign):
    """magnitude, its sign turned where bit 31 of a 32-bit integer is set."""

    def codegen(context, builder, signature, arguments):
        _, kind, integer, fraction, _, _ = _KINDS[magnitude]
        bits = arguments[1]
        if fraction > 23:
            bits = builder.shl(builder.zext(bits, integer), integer(32))
        return builder.bitcast(builder.xor(builder.bitcast(arguments[0], integer), bits), kind)

    return magnitude(magnitude, types.uint32), codegen


_inlined = njit(forceinline=True, error_model="numpy", nogil=True)
_compiled = kept(error_model="numpy", nogil=True)
_philox = _inlined(philox4x32)


@_inlined
def log2_reduced(f):
    """s and L(s^2) with log2(1 + f) = s L(s^2), for sqrt(1/2) <= 1 + f < sqrt(2)."""
    s = f / horner(f, PLUS_TWO)
    return s, horner(s * s, LOG2)


@_inlined
def normal(word, like):
    """The normal variate of a word, in the type of `like`.

    Precision: relative to the quantile, within 6 * 2^-52 in binary64 and 4 * 2^-23 in binary32.
    """
    near, far, sign = folded(word, like)
    k, f = split(far)
    s, slope = log2_reduced(select(k == 0, -near, f))
    t = -fma(s, slope, k)
    return signed(t * horner(t, NUMERATOR) / horner(t, DENOMINATOR), sign)


@_inlined
def exponential(word, like):
    """The exponential variate -log(1 - p) of a word, in the type of `like`.

    Precision: within 3 * 2^-52 of it in binary64; in binary32 within 2 * 2^-23 of max(1, it), as
        1 - p is rounded.
    """
    k, f = split(above(word, like))
    s, slope = log2_reduced(f)
    return -horner(fma(s, slope, k), LN2)


@_inlined
def write_variates(first, second, row, across, draws):
    """Write row `row` of draws from the words of its two dimensions, each of shape (paths,)."""
    like = draws[0, 0, 0]
    for i in range(draws.shape[2]):
        draws[row, 0, i] = normal(first[i], like)
    if across:
        for i in range(draws.shape[2]):
            draws[row, 1, i] = normal(second[i], like)
    if draws.shape[1] > 2:
        for i in range(draws.shape[2]):
            draws[row, 2, i] = exponential(first[i], like)


@_compiled
def philox_variates(first_path, first_step, key_0, key_1, across, words, draws):
    """Fill draws from Philox.

    Args:
        first_path, first_step: address of draws[0, :, 0].
        key_0, key_1: see sciprec.precision.streams.seed_words.
        across: whether row 1 is wanted.
        words: uint32 scratch, shape (4, paths).
        draws: float32 or float64, shape (steps, 2 or 3, paths); written.
    """
    for row in range(draws.shape[0]):
        step = first_step + row
        if row == 0 or step % 2 == 0:
            for i in range(draws.shape[2]):
                path = first_path + i
                w0, w1, w2, w3 = _philox(path & 0xFFFFFFFF, path >> 32, step // 2, 0, key_0, key_1)
                words[0, i] = w0
                words[1, i] = w1
                words[2, i] = w2
                words[3, i] = w3
        pair = 2 * (step % 2)
        write_variates(words[pair], words[pair + 1], row, across, draws)


@_compiled
def combined_variates(short, per_step, across, draws):
    """Write the variates of long steps from the normal variates of short ones.

    z = (z_1 + ... + z_r) / sqrt(r),  E = -log(Phi(-z)) = -log(erfc(z / sqrt(2)) / 2)

    Args:
        short: of the type of draws, shape (steps * per_step, 2, paths).
        per_step: r.
        across: whether row 1 is wanted.
        draws: shape (steps, 2 or 3, paths); written.

    Precision: sums in the type of draws, E in binary64 from them.
    """
    inverse = draws.dtype.type(1 / math.sqrt(per_step))
    for row in range(draws.shape[0]):
        for dimension in range(2 if across else 1):
            for i in range(draws.shape[2]):
                draws[row, dimension, i] = short[row * per_step, dimension, i]
            for part in range(1, per_step):
                for i in range(draws.shape[2]):
                    draws[row, dimension, i] += short[row * per_step + part, dimension, i]
            for i in range(draws.shape[2]):
                draws[row, dimension, i] *= inverse
        if draws.shape[1] > 2:
            for i in range(draws.shape[2]):
                draws[row, 2, i] = -log(0.5 * erfc(draws[row, 0, i] * SQRT_HALF))
