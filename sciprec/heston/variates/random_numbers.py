"""The random numbers of the paths: from 32-bit words to normal and exponential variates.

Every variate is a function of one word, and every word of its address (seed, path, step,
dimension), so that all arithmetics, block sizes and numbers of threads see the same ones. They are
numbers given to the machine under test, not results of it: made in binary64 (in binary32 for the
paths of narrower formats), and rounded once into its format.

A source fills `draws`, shape (steps, rows, paths), with the rows

    0  Z, the normal variate of the variance
    1  the normal variate of the log spot, independent of it
    2  E = -log(1 - Phi(Z)), an exponential variate of the same word as Z, where a scheme asks
"""

import math

import numpy as np

from sciprec.foundation.arguments import at_least
from sciprec.heston.variates.inversion import combined_variates, philox_variates
from sciprec.precision.streams import seed_words


class PhiloxVariates:
    """Variates of the words of Philox4x32-10.

    Args:
        seed: integer in [0, 2**64).
        first_path: the path of column 0.

    Raises:
        InputError: the seed is outside its domain.
    """

    def __init__(self, seed, first_path):
        self._key = seed_words(seed)
        self._first_path = first_path

    def fill(self, column, first_step, draws, across=True):
        """Fill draws for neighbouring steps and paths.

        Args:
            column: the path of draws[:, :, 0], counted from first_path.
            first_step: the step of draws[0].
            draws: float64 or float32, shape (steps, 2 or 3, paths); written.
            across: whether row 1 is wanted; it is left alone otherwise.
        """
        words = np.empty((4, draws.shape[2]), dtype=np.uint32)
        philox_variates(self._first_path + column, first_step, *self._key, across, words, draws)


class CombinedVariates:
    """Variates of long steps, each made of those of neighbouring short steps.

    A path of long steps then follows a path of short ones as one Brownian motion seen at two
    resolutions: z = (z_1 + ... + z_r) / sqrt(r).

    Args:
        source: fills the variates of the short steps.
        draws_per_step: r, short steps of a long one.
    """

    def __init__(self, source, draws_per_step):
        self._source, self._per_step = source, draws_per_step
        self._room = None

    def fill(self, column, first_step, draws, across=True):
        """Fill draws as PhiloxVariates.fill does, for long steps."""
        steps, _, paths = draws.shape
        shape = steps * self._per_step, 2, paths
        size = math.prod(shape)
        if self._room is None or self._room.size < size or self._room.dtype != draws.dtype:
            self._room = np.empty(size, dtype=draws.dtype)
        short = self._room[:size].reshape(shape)
        self._source.fill(column, first_step * self._per_step, short, across)
        combined_variates(short, self._per_step, across, draws)


class MirroredVariates:
    """The variates of the antithetic paths: -Z in place of Z, for both normals.

    Args:
        source: fills the variates of the paths themselves.
    """

    def __init__(self, source):
        self._source = source

    def fill(self, column, first_step, draws, across=True):
        """Fill draws as PhiloxVariates.fill does."""
        steps, _, paths = draws.shape
        normals = np.zeros((steps, 2, paths), dtype=draws.dtype)
        self._source.fill(column, first_step, normals, across)
        np.negative(normals, out=normals)
        combined_variates(normals, 1, across, draws)


def variates_for(seed, first_path, *, draws_per_step=1, mirrored=False):
    """Return the source of a block's variates.

    Args:
        seed: integer in [0, 2**64).
        first_path: the first path of the block.
        draws_per_step: short steps whose variates make those of one step (see CombinedVariates).
        mirrored: whether they are those of the antithetic paths (see MirroredVariates).

    Raises:
        InputError: an argument outside its domain.
    """
    draws_per_step = at_least("draws_per_step", draws_per_step, 1)
    source = PhiloxVariates(seed, first_path)
    if draws_per_step > 1:
        source = CombinedVariates(source, draws_per_step)
    return MirroredVariates(source) if mirrored else source
