"""Counter-based random integers: Philox4x32-10, addressed by (seed, path, step, dimension).

A word is a function of its address alone, so that no result depends on threads, chunks, order or
the arithmetic a kernel is lifted to. All operations are on integers, which every backend leaves
as they are. Values are kept in signed 64-bit integers with explicit masks: the same source runs on
Python integers, on NumPy int64 arrays and in compiled kernels, and gives the same words.
"""

import numpy as np

from sciprec.foundation.arguments import integer

MASK32 = 0xFFFFFFFF
MULTIPLIER_0 = 0xD2511F53
MULTIPLIER_1 = 0xCD9E8D57
WEYL_0 = 0x9E3779B9
WEYL_1 = 0xBB67AE85
ROUNDS = 10


def philox4x32(counter_0, counter_1, counter_2, counter_3, key_0, key_1):
    """Encrypt a 128-bit counter by a 64-bit key into four random 32-bit words.

    One round, with hi and lo the halves of a 32 x 32-bit product:
    (c0, c1, c2, c3) <- (hi(M1 c2) ^ c1 ^ k0, lo(M1 c2), hi(M0 c0) ^ c3 ^ k1, lo(M0 c0)),
    after which the key gains the Weyl constants.

    Args:
        counter_0, counter_1, counter_2, counter_3: the counter, lowest word first; integers (or
            int64 arrays) in [0, 2**32).
        key_0, key_1: the key, likewise.

    Returns:
        Four integers (or int64 arrays) in [0, 2**32).

    Source: Salmon, Moraes, Dror and Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3",
        sec. 3.3 (Philox-4x32, 10 rounds).
    Differs from the source: nothing in the words. A product of two 32-bit numbers may pass 2**63
        and wrap in a signed 64-bit integer; the shift is then arithmetic, and the mask keeps
        exactly the bits 32 to 63.
    """
    c0, c1, c2, c3 = counter_0, counter_1, counter_2, counter_3
    k0, k1 = key_0, key_1
    for _ in range(ROUNDS):
        product_0 = c0 * MULTIPLIER_0
        product_1 = c2 * MULTIPLIER_1
        c0 = ((product_1 >> 32) & MASK32) ^ c1 ^ k0
        c2 = ((product_0 >> 32) & MASK32) ^ c3 ^ k1
        c1 = product_1 & MASK32
        c3 = product_0 & MASK32
        k0 = (k0 + WEYL_0) & MASK32
        k1 = (k1 + WEYL_1) & MASK32
    return c0, c1, c2, c3


def word_at(seed, path, step, dimension):
    """Return the one random word at an address: the definition that blocks of words agree with.

    Args:
        seed: integer in [0, 2**64).
        path: integer in [0, 2**63).
        step, dimension: integers in [0, 2**33).

    Returns:
        An integer in [0, 2**32).
    """
    key_0, key_1 = seed_words(seed)
    four = philox4x32(path & MASK32, path >> 32, step // 2, dimension // 2, key_0, key_1)
    return four[2 * (step % 2) + dimension % 2]


def seed_words(seed):
    """Split a 64-bit seed into the two key words of Philox.

    Args:
        seed: integer in [0, 2**64).

    Returns:
        (lower 32 bits, upper 32 bits).

    Raises:
        InputError: the seed is no integer or lies outside [0, 2**64).
    """
    seed = integer("seed", seed, 0, 2**64 - 1, "an integer from 0 to 2**64 - 1")
    return seed & MASK32, seed >> 32


def symmetric_uniform(points, seed, member, array, use):
    """Random numbers (points,) in (-1, 1): odd multiples of 2^-32, less one.

    Args:
        points: how many, at most 2**32; number i has the same value however many there are.
        seed: integer in [0, 2**64).
        member, array: in [0, 2**32); which numbers of this use.
        use: the last word of the counter, in [0, 2**32): no other use of a seed has it.
    """
    point = np.arange(points, dtype=np.int64)
    zeros = np.zeros_like(point)
    words = philox4x32(point, zeros + array, zeros + member, zeros + use, *seed_words(seed))
    return (2.0 * words[0] + 1.0) * 2.0**-32 - 1.0
