"""The steps of a block of paths, tile by tile, in one compiled loop.

State and variates of a tile stay in the cache. A tile takes tens of microseconds: were its two
kernels called from Python, threads would wait for Python's lock most of the time.
"""

import functools

import numpy as np

from sciprec.heston.variates.inversion import philox_variates
from sciprec.precision.compiled.addresses import address_of, call_at, part_at
from sciprec.precision.compiled.disk_cache import kept


@kept(error_model="numpy", nogil=True)
def _advance(
    fill, run, constants, arrays, room, drawn, rows, width, across, first_path, steps, key
):  # fmt: skip
    """Advance a block of paths; see `advance_tiles`."""
    paths = arrays[0].shape[0]
    log_spot, log_spot_carry, variance, variance_carry, integral, integral_carry = arrays
    for first in range(0, paths, width):
        size = min(paths - first, width)
        words = np.empty((4, size), np.uint32)
        most = room.size // (rows * size)
        for step in range(steps[0], steps[1], most):
            count = min(most, steps[1] - step)
            fresh = part_at(drawn, 0, (count, rows, size))
            if not across:
                for i in range(count):
                    for j in range(size):
                        fresh[i, 1, j] = 0.0
            call_at(fill, (first_path + first, step, key[0], key[1], across, words, fresh))
            if drawn.itemsize != room.itemsize:
                for i in range(count * rows * size):
                    room[i] = drawn[i]
            tile = (
                constants, part_at(room, 0, (count, rows, size)),
                part_at(log_spot, first, (size,)), part_at(log_spot_carry, first, (size,)),
                part_at(variance, first, (size,)), part_at(variance_carry, first, (size,)),
                part_at(integral, first, (size,)), part_at(integral_carry, first, (size,)),
            )  # fmt: skip
            call_at(run, tile)


def advance_tiles(
    kernel, constants, arrays, room, made, rows, width, across, first_path, steps, key
):  # fmt: skip
    """Advance a block of paths on Philox's variates.

    Args:
        kernel: the scheme's, lifted to an arithmetic without random bits or units.
        constants: the kernel's.
        arrays: the six of the state, shape (paths,) each, changed.
        room: for the variates of a tile, in the type of the state.
        made: room for them in the type that they are made in; `room` where that is the same.
        rows: of variates of a step, 2 or 3.
        width: most paths of a tile.
        across: whether row 1 of the variates is wanted; it is zero otherwise.
        first_path: the number of the first path.
        steps: the first one, and the one after the last.
        key: see sciprec.precision.streams.seed_words.
    """
    fill, run = _addresses(kernel, room.dtype, made.dtype)
    how = room, made, rows, width, across, first_path, steps, key
    _advance(fill, run, constants, arrays, *how)


@functools.lru_cache(maxsize=64)
def _addresses(kernel, dtype, dtype_of_draws):
    """Return where the compiled source of variates and a compiled path kernel are, for types."""
    column, draws = np.empty(1, dtype), np.empty((1, 2, 1), dtype)
    drawn = np.empty((1, 2, 1), dtype_of_draws)
    arguments = 0, 0, 0, 0, True, np.empty((4, 1), np.uint32), drawn
    run = kernel.address(column, draws, *[column] * 6)
    return address_of(philox_variates, arguments), run
