"""The kernels of a long accumulation: one block of increments, with and without compensation."""

import numpy as np

from sciprec.arrays.sums.compensation import add_with_carry, add_with_shares
from sciprec.precision.registry import kernel


def _example(*args):
    state, block = np.array([1.0, 1.5, 40.0]), np.full((5, 3), 3.1e-3)
    return state, block * np.arange(1, 16).reshape(5, 3), *args


@kernel(example=_example)
def add_block(state, block):
    """state <- state + block[n] for every row n in order.

    Args:
        state: (members,), changed in place.
        block: (updates, members).
    """
    for n in range(block.shape[0]):
        for i in range(state.shape[0]):
            state[i] = state[i] + block[n, i]


@kernel(example=lambda: _example(np.zeros(3), 2, 3))
def add_block_with_carry(state, block, residual, done, every):
    """Add a block, compensated with alpha = 1 and beta = 0.

    Args:
        state, residual: (members,), changed in place.
        block: (updates, members).
        done: how many updates were made before this block.
        every: forget the residual after so many updates; 0: never.
    """
    for n in range(block.shape[0]):
        for i in range(state.shape[0]):
            add_with_carry(state, residual, i, block[n, i])
        if every > 0 and (done + n + 1) % every == 0:
            for i in range(state.shape[0]):
                residual[i] = 0.0


@kernel(example=lambda: _example(np.zeros(3), 2, 3, 0.15, 0.85))
def add_block_with_shares(state, block, residual, done, every, alpha, beta):
    """Add a block, compensated with any coefficients.

    Args:
        state, block, residual, done, every: as in `add_block_with_carry`.
        alpha, beta: as in Compensation.
    """
    for n in range(block.shape[0]):
        for i in range(state.shape[0]):
            add_with_shares(state, residual, i, block[n, i], alpha, beta)
        if every > 0 and (done + n + 1) % every == 0:
            for i in range(state.shape[0]):
                residual[i] = 0.0
