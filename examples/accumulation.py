"""Ten million small updates of a parameter, the smallest model in which rounding wins.

    sciprec run long_accumulation

The description of the MLU370 motivates compensation with x <- x + dx, dx from 1e-7 to 1e-5. Where
dx is below half a unit in the last place of x (a whole one where results are truncated) x stays as
it is, for ever: it stagnates. Above, every rounding drifts. Here dx is a random multiple of a power
of two, drawn uniformly for many sums side by side, such that every sum is exact in binary64:

    dx = unit * (smallest + floor(word * span / 2^32)),  word random in [0, 2^32)

Every arithmetic gets the same dx and rounds each once, on loading; where that truncates, their sum
lacks 0.75 u of itself on average, u = 2^-p. How much of what is added gets lost says

    sciprec monitor examples:accumulation.py:add_block --inputs examples:accumulation.py:start \
        --watch state -b bf16
"""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import xarray as xr
from pydantic import Field

import sciprec
from sciprec.arrays.sums.compensation import add_with_carry, add_with_shares
from sciprec.precision import resolve_backend
from sciprec.precision.streams import MASK32, philox4x32, seed_words

EXACT_BITS, SPAN_BITS = 53, 31  # words of 32 bits times spans of 31 fit 63
LEAST_UNITS = 2**10  # the smallest increment in units: finer than a thousandth
STREAM = 0x53756D73  # keeps these words apart from those of other models with the same seed
BLOCK = 4096  # updates that are drawn at a time
SMALLEST = Field(gt=0, le=1e12, description="the least increment", examples=[1e-7])
LARGEST = Field(gt=0, le=1e12, description="the largest increment", examples=[1e-5])


@dataclass(frozen=True)
class Sums:
    """How many increments of which size are added to how many sums."""

    updates: Annotated[int, Field(ge=1, le=10**9, description="updates per sum", examples=[10**7])]
    members: Annotated[int, Field(ge=1, le=10**5, description="how many sums", examples=[64])]
    smallest: Annotated[float, SMALLEST]
    largest: Annotated[float, LARGEST]
    start: Annotated[float, Field(ge=0, le=1e12, description="where sums begin")] = 1.0
    outputs: Annotated[int, Field(ge=1, le=10_000, description="stored states")] = 50
    seed: Annotated[int, Field(ge=0, lt=2**63, description="draws the increments")] = 0

    def __post_init__(self):
        for name, most in (("smallest", "largest"), ("outputs", "updates")):
            value, limit = getattr(self, name), getattr(self, most)
            if value > limit:
                raise ValueError(f"{name} is {value}; accepted: at most {most}, which is {limit}")
        if self.units[0] < LEAST_UNITS:
            raise ValueError(
                f"increments from {self.smallest:g} to {self.largest:g} that sum up to "
                f"{self.total:g} have no exact sum in binary64: the smallest must be at least "
                f"{LEAST_UNITS * self.unit:g}; give fewer updates or increments that are closer "
                "together"
            )

    @property
    def total(self):
        """An upper bound of every sum."""
        return self.start + self.updates * self.largest

    @property
    def unit(self):
        """The finest power of two that keeps all sums exact in binary64."""
        of_total = math.frexp(self.total)[1] - EXACT_BITS + 1
        return math.ldexp(1.0, max(of_total, math.frexp(self.largest)[1] - SPAN_BITS))

    @property
    def units(self):
        """The smallest increment and the largest, in units."""
        return round(self.smallest / self.unit), round(self.largest / self.unit)


def draw(first, key_0, key_1, smallest, span, unit, words, sums, out):
    """Increments from number `first` on into `out` (updates, members), and onto the exact `sums`.

    Updates 4 c to 4 c + 3 of a member take the four words of encryption c.
    """
    for counter in range(first // 4, (first + out.shape[0] + 3) // 4):
        for i in range(out.shape[1]):
            w = philox4x32(counter & MASK32, counter >> 32, i, STREAM, key_0, key_1)
            words[0, i], words[1, i], words[2, i], words[3, i] = w[0], w[1], w[2], w[3]
        row = 4 * counter - first
        for k in range(max(0, -row), min(4, out.shape[0] - row)):
            for i in range(out.shape[1]):
                units = smallest + ((words[k, i] * span) >> 32)
                sums[i] += units
                out[row + k, i] = units * unit


def add_block(state, block):
    """state <- state + block[n] for every row n in order."""
    for n in range(block.shape[0]):
        for i in range(state.shape[0]):
            state[i] = state[i] + block[n, i]


def add_block_with_carry(state, block, residual, done, every):
    """Add a block and the whole residual (alpha = 1, beta = 0); forget it after each `every`."""
    for n in range(block.shape[0]):
        for i in range(state.shape[0]):
            add_with_carry(state, residual, i, block[n, i])
        if every > 0 and (done + n + 1) % every == 0:
            for i in range(state.shape[0]):
                residual[i] = 0.0


def add_block_with_shares(state, block, residual, done, every, alpha, beta):
    """Add a block with shares: alpha of the kept residual, beta of the present loss."""
    for n in range(block.shape[0]):
        for i in range(state.shape[0]):
            add_with_shares(state, residual, i, block[n, i], alpha, beta)
        if every > 0 and (done + n + 1) % every == 0:
            for i in range(state.shape[0]):
                residual[i] = 0.0


def start(updates=100_000):
    """State and increments of a sum, for verbs that take a kernel."""
    block = np.random.default_rng(0).uniform(1e-7, 1e-5, (updates, 1))
    return {"state": np.ones(1), "block": block}


def ranges(kernel, fmt, given):
    """The largest sizes, which give fixed point its units; text of an operation -> size.

    Sums end near their last value, and a residual is below one unit of the sum: a profiling run in
    binary64 would not tell, because sums are exact there and residuals zero.
    """
    largest = given.units[1] * given.unit
    spread = 10.0 * (given.largest - given.smallest) * math.sqrt(given.updates / 12.0)
    mean = given.start + given.updates * (given.smallest + given.largest) / 2.0
    total = min(given.total, mean + spread)
    if kernel is add_block:
        return {"block": largest, "*": total}
    residual = math.ldexp(1.0, math.frexp(total)[1] + 1 - fmt.bits + fmt.headroom)
    sizes = {
        "block": largest, "*": total, "residual": residual, "total - larger": largest + residual,
        "smaller - (total - larger)": residual,
    }  # fmt: skip
    if kernel is add_block_with_carry:
        lost = "lost_in_sum(x, whole, state[i]) + lost_in_sum(step, kept, whole)"
        return sizes | {"step + kept": largest + residual, lost: residual}
    shares = ("alpha * kept", "beta * lost_in_sum(x, step, x + step)", "kept - carry")
    sums = (
        "alpha * kept + beta * lost_in_sum(x, step, x + step)",
        "(kept - carry) + lost_in_sum(step, carry, whole)",
        "lost_in_sum(x, whole, state[i]) + left", "residual",
    )  # fmt: skip
    sizes |= dict.fromkeys(shares, 2 * residual) | dict.fromkeys(sums, 4 * residual)
    return sizes | {"alpha": 2.0, "beta": 2.0, "step + carry": largest + 4 * residual}


def kernel_of(compensation):
    """The kernel of a compensation, and its coefficients."""
    if compensation is None:
        return add_block, ()
    if compensation.is_carry:
        return add_block_with_carry, ()
    return add_block_with_shares, (compensation.alpha, compensation.beta)


@sciprec.model(
    "accumulation",
    variables=("parameter", "largest_error_in_u", "mean_error_in_u"),
    carried=lambda given: {"parameter": (given.members, 1)},
)
def accumulation(given: Sums, arithmetic):
    """All sums, and their errors against the exact ones."""
    storage = resolve_backend(arithmetic.backend).storage
    compensation = arithmetic.compensation_of("parameter")
    kernel, shares = kernel_of(compensation)
    sizes = ranges(kernel, storage.format, given) if storage.fixed else None
    add = arithmetic.lift(kernel, seed=given.seed, ranges=sizes)
    drawing = sciprec.lift(draw, "fp64")
    smallest, largest = given.units
    stream = *seed_words(given.seed), smallest, largest - smallest + 1, given.unit
    begin = arithmetic.perturb(np.full(given.members, given.start))
    sums = np.rint(begin / given.unit).astype(np.int64)
    state, words = arithmetic.quantize(sums * given.unit), np.zeros((4, given.members), np.int64)
    residual, rows, done = np.zeros(given.members), np.empty((BLOCK, given.members)), 0
    update = np.array([round(given.updates * k / given.outputs) for k in range(given.outputs + 1)])
    values, exact = (np.empty((update.size, given.members)) for _ in range(2))
    for row, end in enumerate(update.tolist()):
        while done < end:
            block = rows[: end - done]
            drawing(done, *stream, words, sums, block)
            if compensation is None:
                add(state, block)
            else:
                add(state, block, residual, done, compensation.reset_every or 0, *shares)
            done += block.shape[0]
            arithmetic.watch(parameter=state)
        values[row], exact[row] = state, sums * given.unit
    size = np.max(exact) if storage.fixed else np.where(exact > 0.0, exact, 1.0)
    error = (values - exact) / (storage.format.unit_roundoff * size)
    told = "in unit roundoffs u = 2^-p of the format"
    return xr.Dataset(
        {
            "parameter": (("update", "member"), values, {
                "units": "1", "long_name": "sum of the start and all increments so far"}),
            "largest_error_in_u": (("update",), np.max(np.abs(error), axis=1), {
                "units": "1", "long_name": f"largest relative error of all sums, {told}"}),
            "mean_error_in_u": (("update",), np.mean(error, axis=1), {
                "units": "1", "long_name": f"mean relative error with its sign, {told}"}),
        },
        coords={
            "update": ("update", update.astype(float), {"long_name": "number of updates made"}),
            "member": ("member", np.arange(given.members), {"long_name": "number of the sum"}),
        },
        attrs={
            "primary": "parameter", "in_format": "parameter", "pictures": "lines",
            "unit_roundoff": storage.format.unit_roundoff,
        },
    )  # fmt: skip
