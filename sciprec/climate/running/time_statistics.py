"""Means, sums and extremes over the time between stored states, outside the emulated arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np

from sciprec.foundation.time_methods import over_time

Evaluated = Callable[[str], np.ndarray]
"""The variable of a name in one state."""
_SUM, _CARRIED = "sum", "carried"
_EXTREMES: dict[str, np.ufunc] = {"maximum": np.maximum, "minimum": np.minimum}
_COUNT = "count"


class TimeStatistics:
    """Statistics of the states after every so many steps since the last stored one.

    Sums are made in binary64, in the order of time, and the rounding error of each addition is
    summed beside them (Neumaier's compensated summation, with the exact error of Knuth's TwoSum),
    whatever the arithmetic of the run is.

    Args:
        names: of variables, of which those like time_mean_u are statistics.
        every: steps from one state that is looked at to the next.
        step_seconds: of the run.

    Attributes:
        names: of the statistics.
        count: states that were looked at since the last stored one.
    """

    def __init__(self, names: Iterable[str], every: int, step_seconds: float) -> None:
        self._methods = {name: over_time(name) for name in names if over_time(name)[0]}
        self.names = tuple(self._methods)
        self.every, self._seconds = every, every * step_seconds
        self.begin()

    def begin(self) -> None:
        """Begin an interval."""
        self.count = 0
        self._arrays: dict[tuple[str, str], np.ndarray] = {}

    def pieces(self, before: int, count: int) -> Iterator[tuple[int, bool]]:
        """Cut steps where states are looked at: numbers of steps, and whether the state behind
        them is one.

        Args:
            before: steps since the run began.
            count: steps to cut.
        """
        end = before + count
        while before < end:
            after = min(end, before + self.every - before % self.every)
            yield after - before, after % self.every == 0
            before = after

    def take(self, evaluated: Evaluated) -> None:
        """Look at a state."""
        kinds = {
            (method if method in _EXTREMES else _SUM, variable)
            for method, variable in self._methods.values()
        }
        values = {variable: evaluated(variable) for variable in {name for _, name in kinds}}
        for key in kinds:
            kind, variable = key
            new = values[variable]
            if self.count == 0:
                self._arrays[key] = np.array(new, float)
                if kind == _SUM:
                    self._arrays[_CARRIED, variable] = np.zeros(np.shape(new))
            elif kind == _SUM:
                _add(self._arrays[key], self._arrays[_CARRIED, variable], new)
            else:
                _EXTREMES[kind](self._arrays[key], new, out=self._arrays[key])
        self.count += 1

    def values(self, evaluated: Evaluated) -> dict[str, np.ndarray]:
        """The statistics so far; where no state was looked at, as at the beginning of a run, the
        interval has no length: means and extremes are of the state itself, and sums are zero.

        Args:
            evaluated: of the state that is stored.
        """
        result = {}
        for name, (method, variable) in self._methods.items():
            if self.count == 0:
                new = evaluated(variable)
                result[name] = np.zeros(np.shape(new)) if method == "sum" else new
            elif method in _EXTREMES:
                result[name] = self._arrays[method, variable]
            else:
                total = self._arrays[_SUM, variable] + self._arrays[_CARRIED, variable]
                result[name] = total / self.count if method == "mean" else total * self._seconds
        return result

    def arrays(self) -> dict[str, np.ndarray]:
        """All of it as arrays, for a checkpoint."""
        own_arrays = {f"{kind} {variable}": x for (kind, variable), x in self._arrays.items()}
        return {_COUNT: np.array(self.count), **own_arrays}

    def restore(
        self, arrays: Mapping[str, np.ndarray], shapes: Mapping[str, tuple[int, ...]]
    ) -> None:
        """Go on from such arrays.

        Args:
            arrays: as `arrays` gave them.
            shapes: of the statistics in stored states.

        Raises:
            ValueError: they are not those of these statistics.
        """
        self.count = int(arrays.get(_COUNT, np.array(-1)))
        needed = {}
        for name, (method, variable) in self._methods.items():
            for kind in (method,) if method in _EXTREMES else (_SUM, _CARRIED):
                needed[kind, variable] = shapes.get(name)
        named = {tuple(name.split(" ")): x for name, x in arrays.items() if name != _COUNT}
        fits = named.keys() == (needed.keys() if self.count else set())
        if self.count < 0 or not fits or any(
            x.shape != needed[key] or x.dtype != np.float64 for key, x in named.items()
        ):  # fmt: skip
            raise ValueError("its means and extremes are not those of this run")
        self._arrays = {(kind, name): np.array(x) for (kind, name), x in named.items()}


def _add(total: np.ndarray, carried: np.ndarray, new: np.ndarray) -> None:
    """total += new, and carried += its rounding error, in place."""
    after = total + new
    part = after - total
    carried += (total - (after - part)) + (new - part)
    total[...] = after
