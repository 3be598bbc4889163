"""Lost updates: what carried sums were to add, over a whole run, and what rounding lost of it.

Of a sum x <- x + d, with r the part of d that was not stored, and its elements or state:
lost = |sum r| / |sum d|, zeroed = the share of |d| whose addition changed nothing,
net = |sum d| / sum |d|, size = |sum d| / |x|, and t = |sum r| / sqrt(sum r^2), which tells a loss
that goes one way from a random one.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sciprec.foundation.listing import counted
from sciprec.instruments.observing.carried_sums import Totals
from sciprec.precision.compiled.disk_cache import kept
from sciprec.precision.formats.backend import Backend
from sciprec.precision.formats.float_format import Format
from sciprec.tools.monitor.alerts import OVER_ALL, Alert

LEAST_SIZE, LEAST_TRUE_SIZE = 3e-5, 1e-6
"""Sums whose d add up to less of x tell nothing: the rounding of a state at rest is as large; less
where the d of a run in fp64 are known."""
ONE_WAY, ZEROED, NET = 4.0, 0.4, 0.1
"""A loss counts where its t is that large, and either so much changed nothing or d goes one way."""
LISTED, LISTED_T = 0.01, 30.0
"""A loss that is no alarm is listed where it is that large, and goes one way beyond doubt."""
_EACH, _FIRST, _LOGGED = 11, 64, 16
"""Beyond so many updates of a state one of each so many is looked at for what changed nothing; of
its elements one of each so many for the bits between it and what is added."""


@dataclass(frozen=True)
class LostUpdates:
    """The loss of a carried sum over a run.

    Args:
        name: of what is carried.
        where: line of a kernel, in words; "" of a state.
        text: of the statement.
        backend: name of the arithmetic.
        bits: of its significand; None where it has no one.
        totals: of the sum.
        size: |sum d| / |x|; of a kernel that ran in fp64, too, at most that of the sum there.
        carries: whether the residual of each update is carried already.
        is_true: whether the size is that of a run in fp64.
    """

    name: str
    where: str
    text: str
    backend: str
    bits: int | None
    totals: Totals
    size: float
    carries: bool = False
    is_true: bool = False

    @property
    def lost(self) -> float:
        """|sum r| / |sum d|; NaN where the sum of d is nearly nothing beside them."""
        totals = self.totals
        if not totals.asked:
            return math.nan
        lost = totals.lost / totals.asked
        return math.nan if lost >= 0.5 and not self._goes_one_way else lost

    @property
    def zeroed(self) -> float:
        """The share of |d| whose addition changed nothing."""
        return self.totals.zeroed / self.totals.sizes if self.totals.sizes else 0.0

    @property
    def net(self) -> float:
        """|sum d| / sum |d|."""
        return self.totals.asked / self.totals.sizes if self.totals.sizes else 0.0

    @property
    def t(self) -> float:
        """|sum r| / sqrt(sum r^2)."""
        squares = self.totals.squares
        return math.sqrt(self.totals.net_squares / squares) if squares else 0.0

    @property
    def _goes_one_way(self) -> bool:
        return self.t >= ONE_WAY and (self.net >= NET or self.zeroed >= ZEROED)

    def alarms(self, limit: float) -> bool:
        """Whether that share of the sum of d is lost, one way, and not too small to count."""
        return self.lost >= limit and self._goes_one_way and self._counts

    @property
    def is_listed(self) -> bool:
        """Whether a loss is told that is no alarm."""
        return self.lost >= LISTED and self.t >= LISTED_T and self._counts

    @property
    def is_suspect(self) -> bool:
        """Whether a run in fp64 decides whether the loss is told."""
        return self.size >= LEAST_TRUE_SIZE and self.lost >= LISTED and self._goes_one_way

    @property
    def _counts(self) -> bool:
        return self.size >= (LEAST_TRUE_SIZE if self.is_true else LEAST_SIZE)

    @property
    def sentence(self) -> str:
        """Say what was lost, with numbers and a remedy."""
        totals = self.totals
        increments = f"increments of {self.name}"
        bits = f"2^-{totals.bits:.1f} of it"
        if totals.unchanged == totals.nonzero > 0:
            text = f"all {totals.nonzero:,} {increments} are below half a unit ({bits})"
        else:
            below = _percent(totals.unchanged / max(totals.nonzero, 1))
            text = (
                f"{_percent(self.lost)} of what {totals.nonzero:,} {increments} add up to is lost; "
                f"{below} of them are below half a unit ({bits} on average)"
            )
        if self.bits is None:
            remedy = "" if self.carries else "a carry, or "
            return f"{text}: {remedy}more bits than {self.backend} has keep them"
        if self.carries:
            return f"{text}: {self.backend} with a carry keeps {2 * self.bits} bits"
        return f"{text}: {self.backend} keeps {self.bits} bits; a carry gives {2 * self.bits}"

    @property
    def note(self) -> str:
        """A loss that is no alarm, in words."""
        at = f"{self.where}: " if self.where else ""
        return (
            f"{at}rounding takes {self.name} off by {_percent(self.lost)} of what "
            f"{counted(self.totals.additions, 'increment')} add up to, always the same way "
            f"(t = {self.t:,.0f})"
        )

    def as_dict(self) -> dict[str, Any]:
        """The numbers as plain data."""
        about = {k: v for k, v in asdict(self).items() if k != "totals"}
        numbers = {k: getattr(self, k) for k in ("lost", "zeroed", "net", "t", "size")}
        numbers = {k: v if math.isfinite(v) else None for k, v in numbers.items()}
        return about | numbers | {
            "additions": self.totals.additions, "unchanged": self.totals.unchanged,
            "listed": self.is_listed, "note": self.note,
        }  # fmt: skip


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %" if share >= 0.1 else f"{100.0 * share:.2g} %"


def bits_of(backend: Backend) -> int | None:
    """Bits of the significand of an arithmetic's storage; None in fixed point."""
    fmt = backend.storage.format
    return fmt.significand_bits if isinstance(fmt, Format) else None


def size_of(totals: Totals) -> float:
    """|sum d| / |x|."""
    return totals.asked / totals.size if totals.size else math.inf if totals.asked else 0.0


def alerts_of_sums(sums: Iterable[LostUpdates], rules: Mapping[str, float]) -> tuple[Alert, ...]:
    """An alert for each sum that has lost the share of rule `lost`, the largest loss first."""
    if "lost" not in rules:
        return ()
    alarming = sorted((s for s in sums if s.alarms(rules["lost"])), key=lambda s: -s.totals.asked)
    return tuple(
        Alert("lost", s.where or s.name, OVER_ALL, -1, "", s.sentence) for s in alarming
    )


class Updates:
    """Updates of the states of a model, x <- x + d, looked at one by one.

    Args:
        backend: the arithmetic of the run.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._sums: dict[Hashable, _StateSums] = {}

    def before(self, key: Hashable, state: np.ndarray) -> None:
        """An update of a state, flat, begins."""
        if key not in self._sums:
            self._sums[key] = _StateSums(state)
        np.copyto(self._sums[key].held, state)

    def after(
        self, key: Hashable, state: np.ndarray, increment: np.ndarray,
        owed: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        """The update has added an increment of that shape; a carry may owe the state a residual."""
        self._sums[key].note(state, increment, owed)

    def lost(self, names: Mapping[Hashable, str]) -> tuple[LostUpdates, ...]:
        """The losses of the states so far.

        Args:
            names: of states by their keys.
        """
        about = self.backend.name, bits_of(self.backend)
        sums = []
        for key, carried in self._sums.items():
            totals, carries = carried.totals, carried.owed is not None
            name = names.get(key, str(key))
            sums.append(LostUpdates(name, "", "", *about, totals, size_of(totals), carries))
        return tuple(sums)


class _StateSums:
    """The sums of a state between updates."""

    def __init__(self, state: np.ndarray) -> None:
        self.sums, self.held, self.last = Sums(state.size), np.zeros(state.size), state
        self.owed: np.ndarray | None = None

    def note(
        self, state: np.ndarray, increment: np.ndarray, owed: np.ndarray | None
    ) -> None:
        """Take down an update that has left this state."""
        self.last, self.owed = state, owed
        self.sums.note(self.held, state, increment, weight_of(self.sums.count + 1))

    @property
    def totals(self) -> Totals:
        """The totals so far."""
        return self.sums.totals(np.asarray(self.last, float), self.owed)


def weight_of(number: int) -> int:
    """The number of updates, or steps, that one stands for where its changes are looked
    at; 0 where it is not looked at.
    """
    return 1 if number <= _FIRST else _EACH * (number % _EACH == 0)


class Sums:
    """Sums over updates of a state, element by element.

    Args:
        size: how many elements there are.
        groups: the group of each, from 0 on; what is not told by element is by group.
        first: the place of the first one, where these are some of a state's.

    Attributes:
        r, d: (size,), sums of what was not stored and of what was to be added.
        rows: (groups, 7), sums over the updates that were looked at, with their weights.
        count, weights: updates, and the sum of the weights of those that were looked at.
    """

    def __init__(self, size: int, groups: np.ndarray | None = None, first: int = 0) -> None:
        self.first = first
        self.groups = np.zeros(size, np.int64) if groups is None else groups
        self.r, self.d = np.zeros(size), np.zeros(size)
        self.rows = np.zeros((1 + self.groups.max(initial=0), 7))
        self.count = self.weights = 0

    def note(
        self, before: np.ndarray, state: np.ndarray, increment: np.ndarray, weight: int
    ) -> None:
        """Take down an update.

        Args:
            before, state: before and after it.
            increment: what it was to add.
            weight: see `weight_of`.
        """
        self.count += 1
        _add_residues(before, state, increment, self.r, self.d)
        self.weights += weight
        if weight:
            _add_totals(before, state, increment, self.groups, self.first, weight, self.rows)

    def part(self, elements: slice, groups: slice) -> Sums:
        """Sums of neighbouring elements, in the arrays of these."""
        result = Sums(0, self.groups[elements] - groups.start, elements.start)
        result.r, result.d, result.rows = self.r[elements], self.d[elements], self.rows[groups]
        return result

    def totals(
        self, last: np.ndarray, owed: np.ndarray | None, elements: Any = slice(None),
        groups: Any = slice(None),
    ) -> Totals:  # fmt: skip
        """The totals so far; those of increments from the updates that were looked at.

        Args:
            last: the state at the end.
            owed: what a carry owes it, or None.
            elements, groups: of which.
        """
        lost, x = self.r if owed is None else self.r - owed, last
        lost, x, of = lost[elements], np.abs(x[elements]), self.d[elements]
        usable = np.isfinite(lost) & np.isfinite(x) & np.isfinite(of)
        r, d, x = np.abs(lost[usable]), np.abs(of[usable]), x[usable]
        scale = self.count / max(self.weights, 1)
        row = self.rows[groups].sum(axis=0).tolist()
        sizes, zeroed, squares, nonzero, unchanged, logs, logged = row
        return Totals(
            float(r.sum()), float(d.sum()), float(x.sum()), scale * sizes, scale * zeroed,
            scale * squares, float((r**2).sum()), self.count * lost.size,
            round(scale * nonzero), round(scale * unchanged), logs / max(logged, 1.0), lost.size,
        )  # fmt: skip


@kept(nogil=True, error_model="numpy")
def _add_residues(before, state, increment, r, d):
    """Add what each element was to add, and what of it was not stored, by TwoSum."""
    for i in range(before.size):
        x, a = before[i], increment[i]
        total = x + a
        part = total - x
        r[i] += (total - state[i]) + ((x - (total - part)) + (a - part))
        d[i] += a


@kept(nogil=True, error_model="numpy")
def _add_totals(before, state, increment, groups, first, weight, rows):
    """Add what an update was to add, and what of it changed nothing, by group."""
    for i in range(before.size):
        x, a, new = before[i], increment[i], np.float64(state[i])
        total = x + a
        if a == 0.0 or not (math.isfinite(total) and math.isfinite(new)):
            continue
        part = total - x
        r = (total - new) + ((x - (total - part)) + (a - part))
        row = rows[groups[i]]
        row[0] += weight * abs(a)
        row[2] += weight * r * r
        row[3] += weight
        if x != 0.0 and (first + i) % _LOGGED == 0:
            row[5] += math.log2(abs(x)) - math.log2(abs(a))
            row[6] += 1
        if new == x:
            row[1] += weight * abs(a)
            row[4] += weight
