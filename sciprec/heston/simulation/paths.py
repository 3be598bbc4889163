"""Monte Carlo prices: blocks of paths in the backend's arithmetic, payoffs and sums in binary64.

The work is data: `blocks` names the blocks, `simulate_block` runs one and returns sums over groups
of GROUP neighbouring paths, `combine` adds the groups exactly. Every path is addressed by its
number, and every group holds the same paths whatever the blocks, so that block size, threads and
order change no bit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from sciprec.foundation.arguments import at_least, integer, word
from sciprec.foundation.errors import InputError
from sciprec.foundation.limits import THREADS
from sciprec.foundation.timing import Timing, timing_of
from sciprec.heston.options.european_payoffs import European
from sciprec.heston.parameters import Model
from sciprec.heston.simulation.block import Simulation, lifted
from sciprec.heston.simulation.fixed_point import added
from sciprec.precision import Backend, resolve_backend
from sciprec.precision.lifting.fixed_lifting import fixed_point_summary
from sciprec.precision.registry import kernel

COMPENSATIONS = ("none", "carry", "correction")
GROUP = 256  # paths whose payments are added in one sequential sum


@dataclass(frozen=True)
class Block:
    """Paths first_path to first_path + n_paths - 1."""

    first_path: int
    n_paths: int


@dataclass(frozen=True)
class BlockSums:
    """Sums over groups of paths, shape (groups, payoffs + 1); the last column is S_T / F_T."""

    block: Block
    sums: np.ndarray
    squares: np.ndarray
    nonfinite_paths: int
    seconds: float
    fixed_point: dict | None = None


@dataclass(frozen=True)
class PriceEstimates:
    """Monte Carlo prices with their standard errors.

    Attributes:
        price, standard_error: per payoff, binary64. NaN or infinite where a path left the range
            of the backend: such paths are counted, never left out.
        martingale, martingale_standard_error: the mean of S_T / F_T, which is one for the model.
        n_paths, n_steps: as asked for.
        nonfinite_paths: paths whose log spot is no finite number.
        timing: processor time spent in the kernels and payoffs, over all blocks.
        fixed_point: saturations and places short of bits, as plain data (see
            `fixed_point_summary`), summed over blocks; None in floats.
    """

    price: np.ndarray
    standard_error: np.ndarray
    martingale: float
    martingale_standard_error: float
    n_paths: int
    n_steps: int
    nonfinite_paths: int
    timing: Timing
    fixed_point: dict | None = None


def estimate(
    model: Model,
    payoffs: European | Sequence[European],
    *,
    backend: str | Backend = "fp64",
    scheme: str = "quadratic_exponential_martingale",
    n_paths: int,
    n_steps: int,
    seed: int = 0,
    block_paths: int = 4096,
    compensation: str = "carry",
    threads: int = 1,
) -> PriceEstimates:
    """Price payoffs of one maturity by Monte Carlo.

    price = D mean(payment), standard_error = D std(payment) / sqrt(n_paths)

    Args:
        model: a Model.
        payoffs: one payoff or a sequence of payoffs with the same maturity.
        backend: arithmetic of the paths, a name, a spec string or a Backend.
        scheme: name of a registered path scheme.
        n_paths, n_steps: integers; n_paths at least 2.
        seed: integer in [0, 2**64).
        block_paths: paths simulated together, rounded up to whole groups; changes no bit.
        compensation: "carry" (the rounding errors of each state's additions) or "none".
        threads: blocks that are simulated at a time; changes no bit.

    Returns:
        PriceEstimates.

    Raises:
        InputError: an argument outside its domain.

    Precision: every operation of the paths is rounded in the backend. The terminal log spot and
        its carried rounding error are then added in binary64, where exp, payments and sums are
        done: sums of GROUP neighbouring paths in order, then an exact sum of the groups.
    """
    payoffs = _payoff_tuple(payoffs)
    options = {"backend": backend, "scheme": scheme, "n_steps": n_steps, "seed": seed}
    options["carried"] = resolve_residuals(compensation, ("none", "carry")) != "none"
    simulated = partial(simulate_block, model, payoffs, **options)
    todo = blocks(n_paths, block_paths)
    if integer("threads", threads, *THREADS) == 1:
        results = [simulated(block) for block in todo]
    else:
        with ThreadPoolExecutor(threads) as pool:
            results = list(pool.map(simulated, todo))
    return combine(model, payoffs, results, n_steps=n_steps)


def resolve_residuals(compensation: str, accepted: Sequence[str] = COMPENSATIONS) -> str:
    """Return what is done about rounding errors, one of the accepted names.

    "none" forgets the rounding errors of additions to the state, "carry" carries them along, and
    "correction" carries them and removes the mean rounding error, measured in fp64, from the price.

    Raises:
        InputError: something else.
    """
    return word("compensation", compensation, accepted)


def blocks(n_paths: int, block_paths: int = 4096) -> tuple[Block, ...]:
    """Split n_paths into blocks of block_paths, rounded up to a multiple of GROUP.

    Args:
        n_paths: integer, at least 2.
        block_paths: integer, at least 1.

    Returns:
        A tuple of Blocks.

    Raises:
        InputError: a count outside its domain.
    """
    n_paths = at_least("n_paths", n_paths, 2)
    size = -(-at_least("block_paths", block_paths, 1) // GROUP) * GROUP
    return tuple(Block(first, min(size, n_paths - first)) for first in range(0, n_paths, size))


def simulate_block(
    model: Model, payoffs: European | Sequence[European], block: Block, *,
    backend: str | Backend, scheme: str, n_steps: int, seed: int, carried: bool = True,
) -> BlockSums:  # fmt: skip
    """Simulate one block of paths and return the sums of its undiscounted payments.

    Args:
        block: a Block whose first path is a multiple of GROUP.
        carried: whether states carry their rounding errors along, see Simulation.
        model, payoffs, backend, scheme, n_steps, seed: as for estimate.

    Returns:
        BlockSums.

    Raises:
        InputError: an argument outside its domain.
    """
    payoffs = _payoff_tuple(payoffs)
    n_steps = at_least("n_steps", n_steps, 1)
    maturity = payoffs[0].maturity
    simulation = Simulation(
        model, block, step_years=maturity / n_steps, backend=backend, scheme=scheme, seed=seed,
        carried=carried,
    )  # fmt: skip
    simulation.advance(n_steps)
    log_ratio = simulation.log_ratio()
    start = time.thread_time()
    with np.errstate(over="ignore", invalid="ignore"):  # counted below
        ratio = np.exp(log_ratio)
        spot = model.forward(maturity) * ratio
        values = np.stack([*(payoff.at_maturity(spot) for payoff in payoffs), ratio])
    groups = -(-block.n_paths // GROUP)
    sums = np.zeros((groups, len(values)))
    squares = np.zeros_like(sums)
    lifted(group_sums, resolve_backend("fp64"))(values, GROUP, sums, squares)
    nonfinite = int(np.count_nonzero(~np.isfinite(log_ratio)))
    seconds = simulation.seconds + time.thread_time() - start
    summary = fixed_point_summary(simulation.fixed_point)
    return BlockSums(block, sums, squares, nonfinite, seconds, summary)


def combine(
    model: Model, payoffs: European | Sequence[European], results: Sequence[BlockSums], *,
    n_steps: int,
) -> PriceEstimates:  # fmt: skip
    """Add the sums of all blocks, exactly and so in any order, into PriceEstimates.

    Args:
        results: BlockSums of every block.
        model, payoffs, n_steps: as for simulate_block.
    """
    payoffs = _payoff_tuple(payoffs)
    n_paths = sum(result.block.n_paths for result in results)
    sums = _exact_sums([result.sums for result in results])
    squares = _exact_sums([result.squares for result in results])
    mean = sums / n_paths
    with np.errstate(invalid="ignore"):  # infinite prices have no standard error
        variance = np.maximum(squares - sums * mean, 0.0) / (n_paths - 1)
    error = np.sqrt(variance / n_paths)
    discount = model.discount(payoffs[0].maturity)
    return PriceEstimates(
        price=discount * mean[:-1],
        standard_error=discount * error[:-1],
        martingale=float(mean[-1]),
        martingale_standard_error=float(error[-1]),
        n_paths=n_paths,
        n_steps=n_steps,
        nonfinite_paths=sum(result.nonfinite_paths for result in results),
        timing=timing_of([(result.block.n_paths, result.seconds) for result in results]),
        fixed_point=added(result.fixed_point for result in results),
    )


@kernel(example=lambda: (np.arange(10.0).reshape(2, 5) / 3, 3, np.zeros((2, 2)), np.zeros((2, 2))))
def group_sums(values, group, sums, squares):
    """Write the sums of values and of their squares over groups of neighbouring paths.

    Args:
        values: shape (columns, paths).
        group: paths of a group; the last group may be shorter.
        sums, squares: shape (groups, columns); written. Each sum runs in path order.
    """
    for column in range(values.shape[0]):
        for row in range(sums.shape[0]):
            total = 0.0
            total_of_squares = 0.0
            for i in range(row * group, min(values.shape[1], (row + 1) * group)):
                value = values[column, i]
                total += value
                total_of_squares += value * value
            sums[row, column] = total
            squares[row, column] = total_of_squares


def _exact_sums(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return the correctly rounded sum of each column; infinite and NaN columns stay so."""
    columns = np.concatenate(parts).T
    with np.errstate(invalid="ignore"):
        return np.array(
            [math.fsum(column) if np.isfinite(column).all() else column.sum() for column in columns]
        )


def _payoff_tuple(payoffs: European | Sequence[European]) -> tuple[European, ...]:
    """Return the payoffs as a tuple of one maturity."""
    payoffs = tuple(payoffs) if isinstance(payoffs, list | tuple) else (payoffs,)
    for payoff in payoffs:
        if not hasattr(payoff, "at_maturity"):
            raise InputError(f"payoff is {payoff!r}; accepted: a Call, a Put or a sequence of them")
    maturities = sorted({payoff.maturity for payoff in payoffs})
    if len(maturities) != 1:
        raise InputError(
            f"the payoffs' maturities are {maturities}; accepted: payoffs of one maturity: "
            "call once for each maturity"
        )
    return payoffs
