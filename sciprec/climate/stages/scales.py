"""The scales of a model's places: where they come from, and how they follow the numbers.

A place makes numbers of one size: an operation of a kernel, for each variable in kernels of the
state's updates, or a stage of the transforms for one field. Its scale 2^k moves the range of the
format to where they are. Profiles are short runs with the same significands and no range: residuals
are as large as the roundings of a run, which is why a run in binary64 would not do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sciprec.climate.stages.policies import CLIMATE_STAGES
from sciprec.instruments.assigning.scaling import KEPT, Scaling, within_reach
from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.rounding.recording import BINS, LEAST_EXPONENT

HEADROOM = 4
"""Powers of two between the largest number of a profile and the largest of the format."""
LEGENDRE, FOURIER, STATE, REST = "Legendre", "Fourier", "state update", "rest"
SCALED_STAGES = (
    *(stage.name for stage in CLIMATE_STAGES if not stage.name.startswith(LEGENDRE)), LEGENDRE, REST
)  # fmt: skip
"""Stages that scales may be given for; products and sums of a transform have one range."""
ScaledPlace = tuple[str, str]
"""Name of a kernel or of a stage of the transforms, and of a variable or "" for all."""


@dataclass
class SizeNotes:
    """The sizes of the numbers that places make without a range.

    Args:
        counting: whether numbers are counted, too.
        largest: place -> (sites,) largest sizes; 0 where there were none.
        spread: place -> (sites, bins), how many of each exponent, see `recording`.
    """

    counting: bool = False
    largest: dict[ScaledPlace, np.ndarray] = field(default_factory=dict)
    spread: dict[ScaledPlace, np.ndarray] = field(default_factory=dict)

    def note(self, place: ScaledPlace, largest: np.ndarray) -> None:
        """Take down sizes besides those before."""
        before = self.largest.get(place)
        self.largest[place] = largest if before is None else np.maximum(before, largest)

    def count(self, place: ScaledPlace, numbers: Sequence[np.ndarray]) -> None:
        """Take down how large numbers are, an array for each site, where they are counted."""
        if not self.counting:
            return
        rows = np.zeros((len(numbers), BINS), np.int64)
        for row, values in zip(rows, numbers, strict=True):
            usable = values[np.isfinite(values) & (values != 0.0)]
            bins = np.clip(np.frexp(usable)[1] - 1 - LEAST_EXPONENT, 0, BINS - 1)
            row[:] = np.bincount(bins, minlength=BINS)
        self.count_rows(place, rows)

    def count_rows(self, place: ScaledPlace, rows: np.ndarray) -> None:
        """Add numbers that have been counted (sites, bins)."""
        if self.counting:
            self.spread[place] = self.spread.get(place, 0) + rows


class Scales:
    """The scales of all places, and the events that changed them.

    Args:
        arithmetic: of the places.
        scaling: how they get their scales.

    Attributes:
        exponents: place -> (sites,), k of 2^k; empty until a profile was made.
        stages: place -> the stage of each site; `texts`: what it is in the source.
        notes: where numbers are noted, without any range; None: they have their ranges.
        version: changes with the scales.
        history: (step, change, sites): of how many sites k has changed by 1 or -1 after so many
            steps.
        good: steps since the last change.
    """

    def __init__(self, arithmetic: Arithmetic, scaling: Scaling) -> None:
        self.arithmetic, self.scaling = arithmetic, scaling
        self.exponents: dict[ScaledPlace, np.ndarray] = {}
        self.stages: dict[ScaledPlace, tuple[str, ...]] = {}
        self.texts: dict[ScaledPlace, tuple[str, ...]] = {}
        self.notes: SizeNotes | None = None
        self.version = self.good = 0
        self.history: list[tuple[int, int, int]] = []

    def register(self, place: ScaledPlace, stages: Sequence[str], texts: Sequence[str]) -> None:
        """Make a place known, with the stage and the source of each of its sites."""
        self.stages[place], self.texts[place] = tuple(stages), tuple(texts)

    def of(self, place: ScaledPlace) -> np.ndarray:
        """k of the scales of a place's sites; 0 where a profile has never come."""
        exponents = self.exponents.get(place)
        return np.zeros(len(self.stages[place]), np.int64) if exponents is None else exponents

    # ---- static --------------------------------------------------------------------------------

    def fit(self, notes: SizeNotes) -> None:
        """Scales that bring the largest number of each site to `HEADROOM` powers of two below the
        end of its range; of sites without numbers, that of the largest of their place. What is
        given of a variable goes before what is given of a stage.
        """
        fixed, times = dict(self.scaling.given), self.scaling.times
        for place, sizes in notes.largest.items():
            stages = self.stages[place]
            largest = np.where((sizes > 0.0) & np.isfinite(sizes), sizes, 0.0)
            largest[largest == 0.0] = largest.max(initial=0.0) or 1.0
            k = self.arithmetic.format.emax - HEADROOM - (np.frexp(largest)[1] - 1) + times
            by_hand = [
                fixed.get(place[1], fixed.get(stage, exponent))
                for stage, exponent in zip(stages, k.tolist(), strict=True)
            ]
            self.exponents[place] = within_reach(np.array(by_hand, np.int64), self.arithmetic)
        self.version += 1

    def clipped(self, notes: SizeNotes) -> dict[str, tuple[int, int, int]]:
        """Stage -> how many numbers that were noted are not zero, would be subnormal, and would be
        zero.
        """
        totals: dict[str, np.ndarray] = {}
        fmt, keeps = self.arithmetic.format, self.scaling.small == KEPT
        exponents = np.arange(BINS) + LEAST_EXPONENT
        for place, spread in notes.spread.items():
            for stage, k, counts in zip(
                self.stages[place], self.of(place).tolist(), spread, strict=True
            ):
                normal = exponents >= fmt.emin - k
                gone = exponents < fmt.emin - fmt.significand_bits - k  # below half the smallest
                row = counts.sum(), counts[~normal & ~gone].sum(), counts[gone].sum()
                totals[stage] = totals.get(stage, 0) + np.array(row) * (1, not keeps, not keeps)
        return {stage: tuple(map(int, row)) for stage, row in totals.items()}

    # ---- dynamic -------------------------------------------------------------------------------

    def beyond(self, notes: SizeNotes) -> dict[ScaledPlace, np.ndarray]:
        """Place -> which of its sites make numbers that have no room at their scales."""
        largest = self.arithmetic.format.max_finite
        return {
            place: np.ldexp(sizes, self.of(place)) > largest
            for place, sizes in notes.largest.items()
        }

    def change(
        self, step: int, by: int, chosen: Mapping[ScaledPlace, np.ndarray] | None = None
    ) -> bool:
        """Change k of some sites, or of all, by 1 or -1.

        Args:
            step: how many steps were made.
            by: 1, -1.
            chosen: place -> which sites; None for all.

        Returns:
            Whether any has changed: none goes beyond the smallest and the largest scale.
        """
        count = 0
        for place, before in self.exponents.items():
            moved = before + by if chosen is None else before + by * chosen.get(place, 0)
            moved = within_reach(moved, self.arithmetic)
            count += int((moved != before).sum())
            self.exponents[place] = moved
        self.version, self.good = self.version + 1, 0
        if count:
            self.history.append((step, by, count))
        return count > 0

    # ---- in files ------------------------------------------------------------------------------

    def state(self) -> dict[str, np.ndarray]:
        """Return the state from which another process goes on."""
        if not self.exponents:
            return {}
        return {
            "exponents": np.concatenate(list(self.exponents.values())),
            "good": np.array(self.good),
            "history": np.array(self.history, np.int64).reshape(-1, 3),
        }

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from the `state` of another with the same places."""
        ends = np.cumsum([k.size for k in self.exponents.values()])
        parts = np.split(state["exponents"], ends[:-1])
        self.exponents = dict(zip(self.exponents, parts, strict=True))
        self.good, self.version = int(state["good"]), self.version + 1
        self.history = [(int(a), int(b), int(c)) for a, b, c in state["history"]]

    def by_stage(self) -> dict[str, Counter]:
        """Stage -> k of its sites' scales -> how many have it."""
        counts: dict[str, Counter] = {}
        for place, exponents in self.exponents.items():
            for stage, k in zip(self.stages[place], exponents.tolist(), strict=True):
                counts.setdefault(stage, Counter())[k] += 1
        return counts

    def sites(self) -> Iterable[tuple[str, str, str, int]]:
        """(stage, source, variable, k) of every site."""
        for place, exponents in self.exponents.items():
            each = zip(self.stages[place], self.texts[place], exponents.tolist(), strict=True)
            yield from ((stage, text, place[1], k) for stage, text, k in each)
