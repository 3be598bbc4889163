"""Long accumulation: x <- x + dx, ten million times, in any arithmetic, against the exact sum.

The description of the MLU370 motivates compensation with the update of a parameter by increments
of size 1e-7 to 1e-5. Where an increment is below half a unit in the last place of x (a whole unit
where results are truncated) x stays as it is: it stagnates. Above, every rounding drifts. In
binary64 every sum is exact, by the choice of the increments.

Source: published description of the MLU370 (size of the increments).
Differs from the source: increments are drawn uniformly from that interval, for many members.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sciprec.accumulation.increments import increments
from sciprec.accumulation.kernels import add_block, add_block_with_carry, add_block_with_shares
from sciprec.accumulation.ranges import ranges
from sciprec.arrays.quantization import quantize
from sciprec.arrays.sums.compensation import Compensation, resolve_compensation
from sciprec.foundation.errors import InputError
from sciprec.foundation.time_steps import step_begins, steps_end
from sciprec.foundation.timing import Sections, Timing
from sciprec.instruments.observing.carried_sums import Totals
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.lifting.fixed_lifting import fixed_point_summary
from sciprec.precision.lifting.lifting import lift
from sciprec.tools.monitor.history import History
from sciprec.tools.monitor.lost import LostUpdates, alerts_of_sums, bits_of, size_of
from sciprec.tools.monitor.observed import Observed
from sciprec.tools.monitor.plan import WatchPlan, require_known
from sciprec.tools.monitor.summaries import FormatEnds

VARIABLE = "parameter"
NOT_IN_FIXED_POINT = "lost updates: units of fixed point are those of known ranges, and may change"
BLOCK_UPDATES = 4096  # rows of a block of increments
MOST_UPDATES, MOST_MEMBERS, MOST_OUTPUTS = 10**9, 10**5, 10**4


@dataclass(frozen=True)
class Accumulation:
    """The sums of all members at the output times, rounded and exact.

    Args:
        update: how many updates were made, (nt,); the first is 0.
        values: float64 (nt, members), in the arithmetic.
        exact: float64 (nt, members), the exact sums.
        unit_roundoff: u = 2^-p of the storage format, whatever the rounding.
        fixed: whether u is against the largest number instead of each number.
        timing: processor time of the updates, without compilation and the drawing of increments.
        fixed_point: saturations, changes of units and places short of bits, as plain data (see
            `fixed_point_summary`); None in floats. Where units come from known ranges instead of
            a profile, places_short_of_bits is None: nobody has looked.
        observed: what a monitor has seen, or None.
    """

    update: np.ndarray
    values: np.ndarray
    exact: np.ndarray
    unit_roundoff: float
    fixed: bool
    timing: Timing
    fixed_point: dict | None = None
    observed: Observed | None = None

    @property
    def error_in_u(self) -> np.ndarray:
        """(values - exact) / (u |exact|), (nt, members); the largest |exact| in fixed point."""
        size = np.abs(self.exact)
        size = np.max(size) if self.fixed else np.where(size > 0.0, size, 1.0)
        return (self.values - self.exact) / (self.unit_roundoff * size)


def check_request(updates, members, smallest, largest, start, outputs, seed=0):
    """The stream of increments, after checking the numbers of a request.

    Raises:
        InputError: one sentence for the first number that cannot be used.
    """
    limits = {
        "updates": (updates, MOST_UPDATES),
        "members": (members, MOST_MEMBERS),
        "outputs": (outputs, min(MOST_OUTPUTS, max(updates, 1))),
    }
    for name, (value, most) in limits.items():
        if not 1 <= value <= most:
            raise InputError(f"{name} is {value}; accepted: a whole number from 1 to {most}")
    if not 0.0 < smallest <= largest or not 0.0 <= start < np.inf or not largest < np.inf:
        raise InputError(
            f"increments from {smallest:g} to {largest:g}, starting at {start:g}; accepted: "
            "0 < smallest <= largest, and a start >= 0"
        )
    return increments(smallest, largest, start, updates, seed)


def accumulate(
    updates: int = 10**7,
    members: int = 64,
    *,
    smallest: float = 1e-7,
    largest: float = 1e-5,
    start: float = 1.0,
    outputs: int = 50,
    seed: int = 0,
    backend: str | Backend = "fp64",
    compensation: str | Compensation | None = None,
    monitor: WatchPlan | None = None,
) -> Accumulation:
    """Sum random increments one by one in some arithmetic, and exactly beside it.

    x[n+1] = fl(x[n] + dx[n]), or the compensation protocol's update

    Args:
        updates: number of increments for each member.
        members: number of independent sums.
        smallest, largest: bounds of the increments.
        start: first value of all sums.
        outputs: number of times at which sums are kept, equally spaced; the start comes besides.
        seed: of the increments; the same ones in every arithmetic.
        backend: name, spec string or Backend.
        compensation: None, a name, or a Compensation.
        monitor: what is watched of "parameter", the sums, every so many updates or at the end of
            the block of updates after: no call changes for it.

    Returns:
        An Accumulation.

    Raises:
        InputError: a number out of range, an unknown arithmetic or compensation.

    Precision:
        An increment is drawn exactly and rounded once, on loading. Where that truncates, all are
        too small: their sum lacks 0.75 u of itself on average, u = 2^-p.
    """
    stream = check_request(updates, members, smallest, largest, start, outputs, seed)
    backend = resolve_backend(backend)
    backend.require_taken_by("a long accumulation")
    times = np.array([round(updates * k / outputs) for k in range(outputs + 1)])
    if monitor is not None:
        require_known(monitor, (VARIABLE,), "a long accumulation")
        monitor = monitor.within(updates)
    looks = monitor is not None and "lost" in dict(monitor.rules) and not backend.fixed
    summing = Summing(backend, one_compensation(compensation), stream, members, looks)
    history = None
    if monitor is not None and monitor.level > 0:
        limits = FormatEnds.of(backend.storage)
        history = History(monitor.watch, limits, monitor.level, sketches=True)
    values, exact = (np.empty((times.size, members)) for _ in range(2))
    for row, update in enumerate(times):
        if monitor is None or history is None:
            summing.advance_to(int(update))
        else:
            summing.advance_watched(int(update), monitor, history)
        values[row], exact[row] = summing.state, summing.sums * stream.unit
    storage = backend.storage
    u = storage.format.unit_roundoff
    done = summing.fixed_point()
    watched = None
    if monitor is not None and history is not None:
        watched = observed_of(monitor, history, summing.lost())
    return Accumulation(times, values, exact, u, storage.fixed, summing.clock.timing, done, watched)


def observed_of(plan: WatchPlan, history: History, sums: tuple[LostUpdates, ...] = ()) -> Observed:
    """The observations so far, with what updates lost."""
    rules = dict(plan.rules)
    alerts = history.alerts(rules, lambda name, at: f"member {at}")
    told = "" if sums or "lost" not in rules else NOT_IN_FIXED_POINT
    alerts += alerts_of_sums(sums, rules)
    return Observed(plan, history, alerts, sums=sums, not_looked_at=told)


class Summing:
    """The state of a run: the sums in the arithmetic, the exact ones, and the clock.

    Args:
        looks: whether what updates lose is looked at.
    """

    def __init__(self, backend, compensation, stream, members, looks=False) -> None:
        self.backend, self.looks, self._looked = backend, looks, np.zeros(6)
        self.stream, self.clock, self.done = stream, Sections(), 0
        self.sums = np.full(members, stream.start, np.int64)
        start = np.full(members, stream.start * stream.unit)
        self.state = quantize(start, backend).astype(backend.carrier)
        self._start = self.state.astype(float)
        self._residual = np.zeros(members, backend.carrier)
        self._block = np.empty((BLOCK_UPDATES, members))
        self._compensation = compensation
        kernel = _kernel(compensation)
        self._ranges = ranges(kernel, backend, stream)
        self.add = lift(kernel, backend, seed=stream.seed, ranges=self._ranges)
        self._run(self._block[:0])  # compiles

    def advance_watched(self, update: int, plan: WatchPlan, history: History) -> None:
        """Advance to an update; look at the sums where a block ends after a multiple of `every`."""
        while self.done < update:
            before = self.done
            self.advance_to(min(before + BLOCK_UPDATES, update))
            if self.done // plan.every > before // plan.every:
                history.note(self.done, [self.state], [self.sums * self.stream.unit])
                if plan.told is not None:
                    plan.told(lambda: observed_of(plan, history, self.lost()))

    def advance_to(self, update: int) -> None:
        """Make updates up to this number."""
        while self.done < update:
            block = self._block[: update - self.done]
            self.stream.fill(self.done, self.sums, block)
            if self.looks:
                self._look(block[0])
            step_begins(self.done + 1, inside=True)
            with self.clock.timed(block.shape[0]):
                self._run(block)
            self.done += block.shape[0]
        steps_end()

    def fixed_point(self) -> dict | None:
        """The summary of fixed point so far; None in floats."""
        done = fixed_point_summary([self.add])
        if done is None or self._ranges is None:
            return done
        return done | {"places_short_of_bits": None}

    def _look(self, increment) -> None:
        """Look at an addition for what it changes: the first one of a block."""
        x, d = self.state.astype(float), np.asarray(quantize(increment, self.backend), float)
        new = np.asarray(quantize(x + d, self.backend), float)
        same, bits = new == x, np.log2(np.maximum(np.abs(x), d) / d)
        squares = ((x + d - new) ** 2).sum()
        self._looked += (d.sum(), d[same].sum(), squares, same.sum(), bits.sum(), d.size)

    def lost(self) -> tuple[LostUpdates, ...]:
        """The loss of the updates: residues telescope, and the sum of all increments is exact;
        updates that change nothing are counted in each block's first addition. Empty if unwatched.
        """
        if not self.looks:
            return ()
        members, exact = self.sums.size, self.sums * self.stream.unit
        d = exact - self.stream.start * self.stream.unit
        owed = self._residual.astype(float)
        r = self._start + d - self.state.astype(float) - owed
        sizes, zeroed, squares, same, bits, looked = self._looked.tolist()
        additions = self.done * members
        scale = additions / looked
        totals = Totals(
            float(np.abs(r).sum()), float(d.sum()), float(np.abs(self.state.astype(float)).sum()),
            float(d.sum()), float(d.sum()) * zeroed / sizes, scale * squares, float((r**2).sum()),
            additions, additions, round(scale * same), bits / looked, members,
        )  # fmt: skip
        about = self.backend.name, bits_of(self.backend), totals, size_of(totals)
        carries = self._compensation is not None
        return (LostUpdates(VARIABLE, "", "", *about, carries, is_true=True),)

    def _run(self, block) -> None:
        """Add a block of increments."""
        compensation = self._compensation
        if compensation is None:
            self.add(self.state, block)
            return
        args = (self._residual, self.done, compensation.reset_every or 0)
        shares = () if compensation.is_carry else (compensation.alpha, compensation.beta)
        self.add(self.state, block, *args, *shares)


def _kernel(compensation):
    """The kernel of a compensation."""
    if compensation is None:
        return add_block
    return add_block_with_carry if compensation.is_carry else add_block_with_shares


def one_compensation(given):
    """The compensation of the only variable.

    Raises:
        InputError: an unknown compensation, or one of another variable.
    """
    resolved = resolve_compensation(given)
    if not isinstance(resolved, dict):
        return resolved
    if unknown := sorted(resolved.keys() - {VARIABLE}):
        raise InputError(
            f"compensation of '{unknown[0]}': a long accumulation has one variable, '{VARIABLE}'"
        )
    return resolved.get(VARIABLE)
