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
class Lost:
    """What a carried sum lost over a run.

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
    def _counts(self) -> bool:
        return self.size >= (LEAST_TRUE_SIZE if self.is_true else LEAST_SIZE)

    @property
    def sentence(self) -> str:
        """What was lost, with numbers and a remedy."""
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
            return f"{text}: a carry keeps them in {self.backend}"
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


def alerts_of_sums(sums: Iterable[Lost], rules: Mapping[str, float]) -> tuple[Alert, ...]:
    """An alert for each sum that has lost the share of rule `lost`, the largest loss first."""
    if "lost" not in rules:
        return ()
    found = sorted((s for s in sums if s.alarms(rules["lost"])), key=lambda s: -s.totals.asked)
    return tuple(
        Alert("lost", s.where or s.name, OVER_ALL, -1, "", s.sentence) for s in found
    )


class Updates:
    """Updates of the states of a model, x <- x + d, looked at one by one.

    Args:
        backend: the arithmetic of the run.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._sums: dict[Hashable, _State] = {}

    def before(self, key: Hashable, state: np.ndarray) -> None:
        """An update of a state, flat, begins."""
        if key not in self._sums:
            self._sums[key] = _State(state)
        self._sums[key].keep(state)

    def after(
        self, key: Hashable, state: np.ndarray, increment: np.ndarray,
        owed: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        """The update has added an increment of that shape; a carry may owe the state a residual."""
        self._sums[key].note(state, increment, owed)

    def lost(self, names: Mapping[Hashable, str]) -> tuple[Lost, ...]:
        """What the states lost so far.

        Args:
            names: of states by their keys.
        """
        about = self.backend.name, bits_of(self.backend)
        found = []
        for key, one in self._sums.items():
            totals, carries = one.totals, one.owed is not None
            name = names.get(key, str(key))
            found.append(Lost(name, "", "", *about, totals, size_of(totals), carries))
        return tuple(found)


class _State:
    """The sums of a state, element by element."""

    def __init__(self, state: np.ndarray) -> None:
        self.held, self.r, self.d = (np.zeros(state.size) for _ in range(3))
        self.last, self.count, self.looked, self.row = state, 0, 0, np.zeros(7)
        self.owed: np.ndarray | None = None

    def keep(self, state: np.ndarray) -> None:
        """Keep the state as it is before an update."""
        np.copyto(self.held, state)

    def note(
        self, state: np.ndarray, increment: np.ndarray, owed: np.ndarray | None
    ) -> None:
        """Take down an update that has left this state."""
        self.last, self.owed = state, owed
        self.count += 1
        _add_residues(self.held, state, increment, self.r, self.d)
        if self.count <= _FIRST or self.count % _EACH == 0:
            self.looked += 1
            _add_totals(self.held, state, increment, self.row)

    @property
    def totals(self) -> Totals:
        """The totals so far; those of increments from the updates that were looked at."""
        lost = self.r if self.owed is None else self.r - self.owed
        usable = np.isfinite(lost) & np.isfinite(self.last)
        r, d = np.abs(lost[usable]), np.abs(self.d[usable])
        x, scale = np.abs(np.asarray(self.last[usable], float)), self.count / self.looked
        sizes, zeroed, squares, nonzero, unchanged, logs, logged = self.row.tolist()
        return Totals(
            float(r.sum()), float(d.sum()), float(x.sum()), scale * sizes, scale * zeroed,
            scale * squares, float((r**2).sum()), self.count * self.r.size,
            round(scale * nonzero), round(scale * unchanged), logs / max(logged, 1.0), r.size,
        )  # fmt: skip


@kept(nogil=True, error_model="numpy")
def _add_residues(held, state, increment, r, d):
    """Add what each element was to add, and what of it was not stored, by TwoSum."""
    for i in range(held.size):
        x, a = held[i], increment[i]
        whole = x + a
        part = whole - x
        r[i] += (whole - state[i]) + ((x - (whole - part)) + (a - part))
        d[i] += a


@kept(nogil=True, error_model="numpy")
def _add_totals(held, state, increment, row):
    """Add what an update was to add, and what of it changed nothing."""
    sizes = zeroed = squares = logs = 0.0
    nonzero = unchanged = logged = 0
    for i in range(held.size):
        x, a, new = held[i], increment[i], np.float64(state[i])
        whole = x + a
        if a == 0.0 or not (math.isfinite(whole) and math.isfinite(new)):
            continue
        part = whole - x
        r = (whole - new) + ((x - (whole - part)) + (a - part))
        sizes += abs(a)
        squares += r * r
        nonzero += 1
        if x != 0.0 and i % _LOGGED == 0:
            logs += math.log2(abs(x)) - math.log2(abs(a))
            logged += 1
        if new == x:
            zeroed += abs(a)
            unchanged += 1
    row[0] += sizes
    row[1] += zeroed
    row[2] += squares
    row[3] += nonzero
    row[4] += unchanged
    row[5] += logs
    row[6] += logged
