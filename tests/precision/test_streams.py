"""Random words: Random123's known answers, one definition for every block, first moments."""

import numba
import numpy as np
import pytest

from sciprec.foundation.errors import InputError
from sciprec.precision.streams import MASK32, philox4x32, seed_words, word_at

# Random123 1.09, examples/kat_vectors, rows "philox4x32 10": counter, key, words.
KNOWN_ANSWERS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.fixture(scope="module")
def compiled_philox():
    return numba.njit(philox4x32)


@pytest.mark.parametrize("counter, key, words", KNOWN_ANSWERS)
def test_known_answers(counter, key, words, compiled_philox):
    assert philox4x32(*counter, *key) == words
    assert compiled_philox(*counter, *key) == words
    arrays = [np.full(3, c, dtype=np.int64) for c in counter]
    for got, word in zip(philox4x32(*arrays, *key), words, strict=True):
        assert np.array_equal(got, np.full(3, word))


@pytest.mark.parametrize("first_path", [0, 7, 2**32 - 2, 2**40 + 5])
def test_blocks_agree_with_the_single_word(first_path):
    seed = 0x0123456789ABCDEF
    path = first_path + np.arange(5)
    words = philox4x32(path & MASK32, path >> 32, 3, 0, *seed_words(seed))
    for i in range(5):
        for step in (6, 7):
            for dimension in (0, 1):
                expected = word_at(seed, first_path + i, step, dimension)
                assert words[2 * (step - 6) + dimension][i] == expected


def test_words_are_uniform():
    count = 200_000
    path = np.arange(count, dtype=np.int64)
    words = np.stack(philox4x32(path, 0 * path, 0 * path, 0 * path, 1, 2))
    assert words.min() >= 0 and words.max() < 2**32
    uniform = (words + 0.5) / 2.0**32
    for moment in (1, 2, 3, 4):
        mean = 1 / (moment + 1)
        spread = np.sqrt((1 / (2 * moment + 1) - mean**2) / uniform.size)
        assert abs(np.mean(uniform**moment) - mean) < 4 * spread
    correlation = np.corrcoef(uniform)
    assert np.abs(correlation - np.eye(4)).max() < 5 / np.sqrt(count)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, True, "7", None])
def test_bad_seed(seed):
    with pytest.raises(InputError, match=r"seed is .*; accepted: an integer from 0 to 2\*\*64 - 1"):
        seed_words(seed)


def test_seed_words():
    assert seed_words(2**32 + 7) == (7, 1)
    assert seed_words(np.int64(9)) == (9, 0)
