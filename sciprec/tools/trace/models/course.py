"""The course of a trace's runs: how far they are, and how long the rest will take."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from sciprec.tools.trace.models.groups import STAGE
from sciprec.tools.trace.models.inputs import MOST_OPERATIONS, SAMPLES
from sciprec.tools.trace.models.splitting import Splitting

_RUNS, _MOST_LARGE, _LONG = 3, 12, 60.0
"""How many times the functions are followed, with what is in hot ones; how many groups are usually
large; seconds from which a trace is long."""
_COMPILED, _OFTEN = 0.02, 0.2
"""Share of a run's calls after which its kernels are compiled; seconds between two reports."""


class TraceProgress:
    """Tells how far the runs of a trace are.

    Args:
        model: its name.
        calls: of kernels in a run.
        samples: inputs to pool over; None for as many as are needed.
        on_estimate: called once, with a sentence on the time.
        tell: told how far the runs are.
    """

    split: Splitting

    def __init__(
        self, model: str, calls: int, samples: int | None,
        on_estimate: Callable[[str], None] | None, tell: Callable[[str, int, int], None],
    ) -> None:  # fmt: skip
        self._model, self._calls, self._samples = model, calls, samples
        self._on_estimate, self._tell = on_estimate, tell
        self._number, self._seconds, self._last_told = 0, 0.0, 0.0
        self._label, self._runs_made, self._runs = "runs with the error in parts", 0, 0
        self._since: tuple[int, float] | None = None

    def begins(self, label: str, count: int, runs: int) -> None:
        """Begin to count further runs, after the trace itself.

        Args:
            label: its runs, in words.
            count: runs so far.
            runs: that it takes, about.
        """
        self._label, self._runs_made, self._runs = label, count, runs

    def comes_to(self, number: int, seconds: float) -> None:
        """A run with parts begins.

        Args:
            number: of the run.
            seconds: of the second one; 0 where that has not been made.
        """
        if seconds and self._on_estimate is not None:
            sentence = estimate(self._model, self.split, self._samples, seconds)
            if sentence:
                self._on_estimate(sentence)
            self._on_estimate = None
        self._number, self._seconds, self._since = number, seconds, None
        self._parts(seconds * (self._expected - number + 1))

    def within(self, calls: int) -> None:
        """A run has come so far.

        Args:
            calls: of kernels that it has made.
        """
        now = perf_counter()
        if self._since is None or calls < self._since[0]:
            self._since = (calls, now) if calls > _COMPILED * self._calls else None
        elif now - self._last_told > _OFTEN and calls > self._since[0]:
            self._last_told, (first, then) = now, self._since
            of_call = (now - then) / (calls - first)
            seconds = of_call * (self._calls - calls)
            if self._number:
                runs = self._expected - self._number
                self._parts(seconds + (self._seconds or of_call * self._calls) * runs)
            else:
                self._tell(f"about {_in_words(seconds)} left for exact values; calls of kernels",
                           calls, self._calls)  # fmt: skip

    @property
    def _expected(self) -> int:
        runs = self._runs or runs_of(self.split, self._samples)
        return max(self._runs_made + runs, self._number)

    def _parts(self, seconds: float) -> None:
        """Tell about the runs with parts, which will take so many seconds; 0: not known yet."""
        words = f"about {_in_words(seconds)} left for " if seconds else ""
        self._tell(f"{words}{self._label}", self._number - 1 - self._runs_made,
                   self._expected - self._runs_made)  # fmt: skip


def runs_of(split: Splitting, samples: int | None) -> int:
    """Roughly how many runs with parts a trace makes.

    Args:
        split: its runs so far.
        samples: inputs to pool over; None for as many as are needed.
    """
    every = split.lanes - 2
    rounds = 1 if all(key[0] == STAGE for key in split.groups) else _RUNS
    runs = rounds * -(-len(split.groups) // every)
    more = ((samples or SAMPLES) - 1) * -(-min(len(split.groups), _MOST_LARGE) // every)
    if samples is None:
        more = min(more, -(-MOST_OPERATIONS // max(split.notes.operations(), 1)))
    return runs + more


def _in_words(seconds: float) -> str:
    """A time to wait, in minutes or seconds."""
    return f"{seconds / 60.0:.0f} minutes" if seconds > 2 * _LONG else f"{seconds:.0f} seconds"


def estimate(model: str, split: Splitting, samples: int | None, seconds: float) -> str:
    """Return a sentence on the time that a trace will take; "" of a matter of seconds.

    Args:
        model: its name.
        split: its runs so far, two.
        samples: inputs to pool over; None for as many as are needed.
        seconds: of one run.
    """
    runs = runs_of(split, samples)
    total = seconds * runs
    if total < _LONG:
        return ""
    return (
        f"a run of '{model}' with its error in parts takes {seconds:.2g} s, and some {runs} "
        f"are made: about {_in_words(total)}"
    )
