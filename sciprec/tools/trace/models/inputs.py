"""Runs of a model over perturbed inputs: parts of its lines pooled, and lines computed wider."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sciprec.tools.trace.lines import LineGroup, products
from sciprec.tools.trace.models.splitting import PartsOfRun, Splitting
from sciprec.tools.trace.splitting import norm
from sciprec.tools.trace.verification import Changes, WiderRun, changes_of, pooled

SAMPLES = 16
"""Inputs over which parts are correlated, the model's own among them."""
MANY = 1000
"""Numbers of results that are enough where one input is asked for."""
MOST_OPERATIONS = 3 * 10**9
"""In all runs of perturbed inputs, some minute: of longer ones the beginning is repeated."""
MOST_WIDER = 10**9
"""In runs of one group computed wider: of longer runs fewer inputs are taken."""
_FEW = 4
"""Inputs over which it is looked for why a prediction fails, if these show it."""


class ModelInputs:
    """A model as it is, and with perturbed inputs: arrays that it is given, or rounds at first.

    Args:
        split: the model as it is.
        time: number of the stored state that counts.

    Attributes:
        used: (number of an input, the errors of its run) that were pooled over.
        inputs: over how many inputs parts were correlated.
        beginning: the part of the run that was repeated for that, see `ErrorRun`; None: all of it.
        evidence: scalar products of parts of what that leaves.
    """

    def __init__(self, split: Splitting, time: int) -> None:
        self._split, self._time = split, time
        self.keys = [key for key, _ in split.all_groups()]
        self.used: list[tuple[int, PartsOfRun]] = []
        self.inputs, self.beginning = 0, None
        self.evidence: np.ndarray | None = None

    def _at(self, values, of: PartsOfRun, beside: PartsOfRun | None = None) -> np.ndarray:
        return self._split.at(values, self._time, (), of, beside)

    def products(self, chosen: Sequence[int], samples: int | None) -> np.ndarray:
        """Scalar products of the error and the parts of some groups, pooled over inputs.

        Args:
            chosen: places of the groups.
            samples: how many inputs are run, the model's own and perturbed ones; None: `SAMPLES`,
                or of a long run the model's own, and of all of them its beginning.
        """
        keys, gram = [self.keys[n] for n in chosen], np.zeros((len(chosen) + 1,) * 2)
        if not keys:
            return gram
        most = SAMPLES if samples is None else samples
        if samples is None:
            runs = (SAMPLES - 1) * -(-len(keys) // (self._split.lanes - 2))
            share = MOST_OPERATIONS / max(runs * self._split.notes.operations(), 1)
            if share < 1.0:
                self.beginning = self._split.steps.beginning(share)
                most = SAMPLES if self.beginning is None else 1
        for sample in range(most):
            run = self._parts(keys, sample, None) if sample else self._split.unperturbed()
            gram += self._gram(run, keys)
            self.used.append((sample, run))
        self.inputs = most
        if self.beginning is not None:
            self.inputs = SAMPLES
            some = (self._parts(keys, n, self.beginning) for n in range(SAMPLES))
            self.evidence = sum((self._gram(run, keys) for run in some), np.zeros_like(gram))
        return gram

    def _parts(
        self, keys: Sequence[tuple], sample: int, beginning: tuple[int, int] | None
    ) -> PartsOfRun:
        order = [*keys, *(k for k in self._split.groups if k not in keys)]
        return self._split.run(order, keys, sample, beginning=beginning)

    def _gram(self, run: PartsOfRun, keys: Sequence[tuple]) -> np.ndarray:
        return products(self._at(run.errors, run), [self._at(run.parts[k], run) for k in keys])

    @property
    def pooled(self) -> int:
        """The number of inputs on which lines are computed wider."""
        return min(self._most_wider, len(self.used))

    @property
    def _most_wider(self) -> int:
        return max(MOST_WIDER // max(self._split.notes.operations(), 1), 1)

    def run_whole(self, groups: Sequence[LineGroup]) -> None:
        """Make whole runs of inputs of which the beginning alone was run, with the parts of groups
        that are to be computed wider.
        """
        if self.beginning is None:
            return
        keys = list(dict.fromkeys(self.keys[n] for group in groups for n in group.members))
        del self.used[1:]
        samples = range(1, min(self._most_wider, SAMPLES))
        self._split.begins("whole runs of perturbed inputs", *(len(keys) for _ in samples))
        for sample in samples:
            self.used.append((sample, self._parts(keys, sample, None)))

    def left(self, members: Sequence[int]) -> float:
        """Return the share of the errors that is left when some groups are computed in binary64."""
        wide, sizes = [self.keys[n] for n in members], []
        self._split.begins("runs with lines computed wider", *(0 for _ in range(self.pooled)))
        for sample, before in self.used[: self.pooled]:
            after = self._split.run(list(self._split.groups), (), sample, wide)
            sizes.append((
                norm(self._at(before.errors, before, after)),
                norm(self._at(after.errors, before, after)),
            ))  # fmt: skip
        return pooled(sizes)

    def predicted(self, group: LineGroup) -> float:
        """Return the predicted share of the error without a group's parts, over as many inputs."""
        sizes = []
        for _, run in self.used[: self.pooled]:
            error = self._at(run.errors, run)
            parts = (self._at(run.parts[self.keys[n]], run) for n in group.members)
            sizes.append((norm(error), norm(error - sum(parts, np.zeros_like(error)))))
        return pooled(sizes)

    def changes(self, members: Sequence[int], upward: bool) -> Changes:
        """Return the changes of all other lines when some are computed wider; over few inputs where
        these show a difference as all of them do.
        """
        wide = [self.keys[n] for n in members]
        rest = [(k, joint) for k, joint in self._split.all_groups() if k not in wide]
        rest += [(k, joint) for k, joint in self._split.silent.items() if k not in wide]
        runs: list[tuple[WiderRun, WiderRun]] = []
        used = self.used[: self.pooled]
        both = [len(rest) for sample, _ in used for _ in range(2 if sample else 1)]
        self._split.begins("runs that show what a prediction missed", *both)
        for sample, _ in used:
            runs.append(self._both(sample, [k for k, _ in rest], wide))
            changes = changes_of([joint.group for _, joint in rest], runs)
            if len(runs) >= _FEW and (changes.adds > 0.0) is upward:
                break
        return changes

    def _both(self, sample: int, keys: Sequence[tuple], wide: Sequence[tuple]):
        """Split the error of an ordinary run by groups, and of a run with some groups wider."""
        split, of = self._split, self.keys[1:]
        followed = [k for k in keys if k in of]
        usual = split.unperturbed() if not sample else split.run(of, followed, sample)
        order = [k for k in keys if k != self.keys[0]]
        wider = split.run(order, order, sample, wide)
        both = []
        for run in (usual, wider):
            error = self._at(run.errors, usual, wider)
            exact = self._at(run.tested, usual, wider) - error
            nothing = np.zeros_like(error)
            parts = [
                self._at(run.parts[k], usual, wider) if k in run.parts else nothing for k in keys
            ]
            both.append(WiderRun(error, exact, parts))
        return tuple(both)
