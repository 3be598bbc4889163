"""The steps of a block of paths, tile by tile, in one compiled loop.

State and variates of a tile stay in the cache. A tile takes tens of microseconds: were its two
kernels called from Python, threads would wait for Python's lock most of the time.
"""

import functools

import numpy as np

from sciprec.heston.variates.inversion import philox_variates
from sciprec.precision.compiled.addresses import address_of, call_at
from sciprec.precision.compiled.disk_cache import kept


@kept(error_model="numpy", nogil=True)
def _advance(fill, run, constants, arrays, room, rows, width, across, first_path, steps, key):
    """Advance a block of paths; see `advance_tiles`."""
    paths = arrays[0].shape[0]
    log_spot, log_spot_carry, variance, variance_carry, integral, integral_carry = arrays
    for first in range(0, paths, width):
        last = min(paths, first + width)
        words = np.empty((4, last - first), np.uint32)
        most = room.size // (rows * (last - first))
        for step in range(steps[0], steps[1], most):
            count = min(most, steps[1] - step)
            draws = room[: count * rows * (last - first)].reshape((count, rows, last - first))
            if not across:
                draws[:, 1] = 0.0
            call_at(fill, (first_path + first, step, key[0], key[1], across, words, draws))
            tile = (
                constants, draws, log_spot[first:last], log_spot_carry[first:last],
                variance[first:last], variance_carry[first:last],
                integral[first:last], integral_carry[first:last],
            )  # fmt: skip
            call_at(run, tile)


def advance_tiles(kernel, constants, arrays, room, rows, width, across, first_path, steps, key):
    """Advance a block of paths on Philox's variates.

    Args:
        kernel: the scheme's, lifted to an arithmetic without random bits or units.
        constants: the kernel's.
        arrays: the six of the state, shape (paths,) each, changed.
        room: for the variates of a tile, in the type of the state.
        rows: of variates of a step, 2 or 3.
        width: most paths of a tile.
        across: whether row 1 of the variates is wanted; it is zero otherwise.
        first_path: the number of the first path.
        steps: the first one, and the one after the last.
        key: see sciprec.precision.streams.seed_words.
    """
    fill, run = _addresses(kernel, room.dtype)
    _advance(fill, run, constants, arrays, room, rows, width, across, first_path, steps, key)


@functools.lru_cache(maxsize=64)
def _addresses(kernel, dtype):
    """Return where the compiled source of variates and a compiled path kernel are, for a type."""
    column, draws = np.empty(1, dtype), np.empty((1, 2, 1), dtype)
    given = 0, 0, 0, 0, True, np.empty((4, 1), np.uint32), draws
    run = kernel.address(column, draws, *[column] * 6)
    return address_of(philox_variates, given), run
