"""Progress of a verb on standard error: a line that a terminal writes anew, elsewhere one now and
then.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from rich.cells import cell_len, set_cell_size

from sciprec.cli.settings import Settings
from sciprec.foundation.course import listening
from sciprec.foundation.errors import printable
from sciprec.foundation.listing import counted

SECONDS_IN_SILENCE = 2.0
"""Seconds before anything is shown."""
SECONDS_BETWEEN_LINES = 10.0
"""Seconds between lines where there is no terminal."""
_SECONDS_BETWEEN_LOOKS = 0.2
_COMPILER = "numba.core.event"


class Waiting:
    """Show a verb's work, its progress and the time left, for a `with` statement.

    Whatever calls `sciprec.foundation.course.tell` on this thread meanwhile is heard. After two
    seconds a terminal has one line, cut to its width, which goes in the end; a file or a pipe gets
    a plain line then, and every ten seconds.

    Args:
        what: is done, until something tells more.
        quiet: whether nothing is shown.
    """

    def __init__(self, label: str, *, quiet: bool = False) -> None:
        self._quiet = quiet or Settings.quiet
        self._label, self._done, self._total, self._complete = label, 0, 0, ""
        self._begun = self._stage = self._shown_at = self._told_at = time.perf_counter()
        self._done_before = 0
        self._line_at: float | None = None
        self._drawn = False
        self._lock, self._end = threading.RLock(), threading.Event()
        self._compiler = _CompileListener()
        self._ticker = threading.Thread(target=self._tick, daemon=True)
        self._hearing = listening(self.tell)

    def __enter__(self):
        self._hearing.__enter__()
        if not self._quiet:
            self._ticker.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._hearing.__exit__(*error)
        self._end.set()
        if self._ticker.is_alive():
            self._ticker.join()
        self._compiler.leave()
        with self._lock:
            self._clear()

    def tell(self, label: str, count: int, total: int) -> None:
        """Work has come so far.

        Args:
            label: words for the things that are counted.
            count, total: how many are done, and of how many; 0 where nobody knows.
        """
        with self._lock:
            self._told_at = time.perf_counter()
            if label != self._label:
                self._stage, self._done_before = self._told_at, count
            self._label, self._done, self._total, self._complete = label, count, total, ""

    def show(self, words: str) -> None:
        """Work has come so far, in words that say how long it has taken themselves."""
        with self._lock:
            self._complete, self._shown_at = words, time.perf_counter()

    def note(self, words: str) -> None:
        """Print a line that stays: a fault, a warning, where something runs."""
        if not self._quiet:
            with self.aside():
                _write(f"{printable(words)}\n")

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Take the line away while something else is printed."""
        with self._lock:
            self._clear()
            yield

    def words(self, now: float, width: int | None = None) -> str:
        """The line to show at a time of `time.perf_counter`, cut to a width: of two parts the first
        one, where the rest has room.
        """
        label, far = (printable(" ".join(part.split())) for part in self._parts(now))
        colon = ":" if far[:1].isdigit() else ""
        if width is None or cell_len(label) + len(colon) + cell_len(far) < width:
            return f"{label}{colon} {far}".rstrip()
        if cell_len(far) > 2 * width // 3:
            return set_cell_size(f"{label}{colon} {far}", width).rstrip()
        return f"{set_cell_size(label, width - cell_len(far) - 2)}… {far}".rstrip()

    def _parts(self, now: float) -> tuple[str, str]:
        """Whatever is done; how far it is, and its times in brackets."""
        if self._complete:
            old = now - self._shown_at >= SECONDS_BETWEEN_LINES
            return self._complete, f"({now - self._begun:.0f} s by now)" if old else ""
        count = f"{self._done:,}" if self._done or self._total else ""
        count += f" of {self._total:,}" if self._total else ""
        notes = [f"{now - self._begun:.0f} s so far", self._remaining(now)]
        if self._compiler.busy:
            notes.insert(0, "compiling, the first time only")
        return self._label, f"{count} ({'; '.join(filter(None, notes))})".lstrip()

    def look(self) -> None:
        """Show what is due."""
        self._compiler.listen()
        now = time.perf_counter()
        if self._quiet or now - self._begun < SECONDS_IN_SILENCE:
            return
        with self._lock:
            if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
                _write(f"\r{self.words(now, max(_width() - 1, 1))}\x1b[K")
                self._drawn = True
            elif self._line_at is None or now - self._line_at >= SECONDS_BETWEEN_LINES:
                self._line_at = now
                _write(f"{self.words(now)}\n")

    def _remaining(self, now: float) -> str:
        """The time that the rest may take at the pace of this stage so far; "" where that is
        not known, or what is done next takes longer than all of the rest at that pace.
        """
        count = self._done - self._done_before
        if count <= 0 or self._total <= self._done or " left" in self._label:
            return ""
        from sciprec.results.comparison.wording import duration

        rest = (self._told_at - self._stage) * (self._total - self._done) / count
        rest -= now - self._told_at
        return f"about {duration(max(1.0, round(rest)))} left" if rest > 0.0 else ""

    def _tick(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # nobody reads it any more
            while not self._end.wait(_SECONDS_BETWEEN_LOOKS):
                self.look()

    def _clear(self) -> None:
        if self._drawn:
            self._drawn = False
            _write("\r\x1b[2K")


class Progress(Waiting):
    """The progress of a batch: the callbacks of `sciprec.run`.

    Args:
        quiet: whether nothing is shown.
        json: whether the result is printed as data, which tell what notes would.
    """

    def __init__(self, *, quiet: bool = False, json: bool = False) -> None:
        from sciprec.workbench.batch.course import BatchProgress

        super().__init__("preparing the runs", quiet=quiet)
        self._json = json
        self._course, self._runs, self._restored = BatchProgress(), 0, 0

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        if self._restored:
            self.note(f"{self._restored} of {counted(self._runs, 'run')} kept, computed before")

    def note(self, words: str) -> None:
        """Print a line that stays, unless all is printed as data."""
        if not self._json:
            super().note(words)

    def planned(self, runs: Sequence[Any]) -> None:
        """The plan is known."""
        self._course.planned(runs)
        self._runs, self._restored = len(runs), 0
        for words in dict.fromkeys(words for run in runs for words in _resets(run)):
            self.note(words)
        self.tell("runs", 0, len(runs))

    def cluster(self, words: str) -> None:
        """Print where the runs are computed, if not in this process."""
        self.note(words)

    def days(self, run: Any, days: float) -> None:
        """A run has come so far."""
        self.show(self._course.days(run, days))

    def compiling(self, run: Any) -> None:
        """The kernels of a run are being compiled."""
        self.show(self._course.compiling(run))

    def done(self, outcome: Any) -> None:
        """A run ended; what it fails with stays."""
        words = self._course.done(outcome)
        self._restored += outcome.kept
        self.show(words)
        if outcome.failure or outcome.alerts:
            self.note(words)


class _CompileListener:
    """Hears of Numba's compilations, once Numba is there; code from the disk is none."""

    def __init__(self) -> None:
        self._listener: Any = None
        self._at_work = 0

    @property
    def busy(self) -> bool:
        """Whether something is being compiled."""
        return self._at_work > 0

    def listen(self) -> None:
        """Begin to, where Numba has been imported."""
        event = sys.modules.get(_COMPILER)
        if self._listener is None and hasattr(event, "register"):
            compiler = self

            class Counting(event.Listener):
                def on_start(self, event: Any) -> None:
                    compiler._at_work += 1

                def on_end(self, event: Any) -> None:
                    compiler._at_work -= 1

            self._listener = Counting()
            event.register("numba:compile", self._listener)

    def leave(self) -> None:
        """Hear no more."""
        if self._listener is not None:
            sys.modules[_COMPILER].unregister("numba:compile", self._listener)
            self._listener = None


def _width() -> int:
    """The columns of the terminal."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _resets(run: Any) -> list[str]:
    """Sentences on the resets of a run's compensation."""
    from sciprec.arrays.sums.compensation import Compensation, reset_sentence

    choice = run.variant.compensation
    resolved = choice.resolved()
    shares = resolved.values() if isinstance(resolved, dict) else (resolved,)
    sentences = [reset_sentence(share) for share in shares if isinstance(share, Compensation)]
    return [f"compensation '{choice.name}': {words}" for words in sentences if words]
