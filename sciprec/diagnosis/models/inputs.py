"""Runs of a model over perturbed inputs: parts of its lines pooled, and lines computed wider."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sciprec.diagnosis.families import products
from sciprec.diagnosis.models.splitting import PartsOfRun, Splitting
from sciprec.diagnosis.splitting import norm
from sciprec.diagnosis.verification import Changes, WiderRun, changes_of, pooled

SAMPLES = 16
"""Perturbed inputs over which parts are correlated where results are fewer than `MANY`."""
MANY = 1000
"""Numbers of results that are enough by themselves."""
_FEW = 4
"""Inputs over which it is looked for why a prediction fails, if these show it."""


class ModelInputs:
    """A model as it is, and with perturbed inputs: arrays that it is given, or rounds at first.

    Args:
        split: the model as it is.
        time: number of the stored state that counts.

    Attributes:
        used: (number of an input, the errors of its run) that were pooled over.
    """

    def __init__(self, split: Splitting, time: int) -> None:
        self._split, self._time = split, time
        self.keys = [key for key, _ in split.all_groups()]
        self.used: list[tuple[int, PartsOfRun]] = []

    def _at(self, values, of: PartsOfRun, beside: PartsOfRun | None = None) -> np.ndarray:
        return self._split.at(values, self._time, (), of, beside)

    def products(self, chosen: Sequence[int], samples: int) -> np.ndarray:
        """Scalar products of the error and the parts of some groups, pooled over inputs.

        Args:
            chosen: places of the groups.
            samples: how many inputs are run, the model's own and perturbed ones.
        """
        gram = np.zeros((len(chosen) + 1, len(chosen) + 1))
        keys, split = [self.keys[n] for n in chosen], self._split
        order = [*keys, *(k for k in split.groups if k not in keys)]
        for sample in range(samples if keys else 0):
            run = split.run(order, keys, sample) if sample else split.own()
            parts = [self._at(run.parts[k], run) for k in keys]
            gram += products(self._at(run.errors, run), parts)
            self.used.append((sample, run))
        return gram

    def left(self, members: Sequence[int]) -> float:
        """What is left of the errors when some groups are computed in binary64."""
        wide, sizes = [self.keys[n] for n in members], []
        for sample, before in self.used:
            after = self._split.run(list(self._split.groups), (), sample, wide)
            sizes.append((
                norm(self._at(before.errors, before, after)),
                norm(self._at(after.errors, before, after)),
            ))  # fmt: skip
        return pooled(sizes)

    def changes(self, members: Sequence[int], upward: bool) -> Changes:
        """What becomes of all other lines when some are computed wider; over few inputs where
        these show a difference as all of them do.
        """
        wide = [self.keys[n] for n in members]
        rest = [(k, joint) for k, joint in self._split.all_groups() if k not in wide]
        rest += [(k, joint) for k, joint in self._split.silent.items() if k not in wide]
        runs: list[tuple[WiderRun, WiderRun]] = []
        for sample, _ in self.used:
            runs.append(self._both(sample, [k for k, _ in rest], wide))
            found = changes_of([joint.group for _, joint in rest], runs)
            if len(runs) >= _FEW and (found.adds > 0.0) is upward:
                break
        return found

    def _both(self, sample: int, keys: Sequence[tuple], wide: Sequence[tuple]):
        """The parts of some groups in an ordinary run, and in one with others computed wider."""
        split, of = self._split, self.keys[1:]
        known = [k for k in keys if k in of]
        usual = split.own() if not sample else split.run(of, known, sample)
        order = [k for k in keys if k != self.keys[0]]
        wider = split.run(order, order, sample, wide)
        made = []
        for run in (usual, wider):
            error = self._at(run.errors, usual, wider)
            exact = self._at(run.tested, usual, wider) - error
            nothing = np.zeros_like(error)
            parts = [
                self._at(run.parts[k], usual, wider) if k in run.parts else nothing for k in keys
            ]
            made.append(WiderRun(error, exact, parts))
        return tuple(made)
