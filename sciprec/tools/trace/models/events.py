"""Events of a model's tested numbers: where, when first, and which line caused them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sciprec.instruments.tracing import rows
from sciprec.tools.trace.examination import Event, calls_to
from sciprec.tools.trace.healing import CARRIED, LEAST_LOSS
from sciprec.tools.trace.models.census import CallPlace, Census, Lifting, Runner
from sciprec.tools.trace.models.notes import First, TwinNotes, in_words
from sciprec.tools.trace.models.runs import ErrorRun
from sciprec.tools.trace.models.steps import RunSteps
from sciprec.tools.trace.origins import groups_of, own_place

MOST_HEALED = 8
"""Lines that are healed, one by one, those that lose most bits first."""
LineRows = Mapping[Lifting, Sequence[int]]


class ModelEvents:
    """The events of a model's run.

    Args:
        program: what is traced.
        census: an ordinary run.
        notes: of a run with exact values.
        steps: its steps.
    """

    def __init__(self, program: Runner, census: Census, notes: TwinNotes, steps: RunSteps) -> None:
        self._program, self._census, self._notes, self._steps = program, census, notes, steps

    def events(self) -> tuple[Event, ...]:
        """Return the earliest event of every kind by line, and the earliest of all but branches
        with the line that caused it.
        """
        by_line: dict[tuple, list[tuple]] = {}
        for (kernel, row, word), first in self._notes.first.items():
            program = self._notes.program(kernel)
            at = own_place(program, program.layout.rows[row])
            key = word, at.function, at.file, at.line, at.source
            by_line.setdefault(key, []).append((first.number, first.clock, kernel, row, first))
        ordered = sorted(by_line.items(), key=lambda item: min(item[1], key=_when)[:2])
        events: list[Event] = [*self._notes.beyond.values()]
        kinds: set[int] = set()
        for (word, *_), happened in ordered:
            *_, kernel, row, first = min(happened, key=_when)
            count = sum(int(self._notes.tables[k].words[r, word]) for *_, k, r, _ in happened)
            is_first = word not in kinds
            kinds.add(word)
            events.append(self._event(kernel, row, word, first, count, is_first))
        order = list(dict.fromkeys(event.kind for event in events))
        return tuple(sorted(events, key=lambda event: order.index(event.kind)))

    def _event(
        self, kernel: Lifting, row: int, word: int, first: First, count: int, is_first: bool
    ) -> Event:
        kind = next(name for name, number in rows.EVENTS.items() if number == word)
        program = self._notes.program(kernel)
        at = own_place(program, program.layout.rows[row])
        place, alike = list(rows.EVENTS).index(kind), int(
            self._notes.tables[kernel].words[row, rows.ALIKE]
        )  # fmt: skip
        cause = ""
        if is_first and kind != "branch" and not alike >> place & 1:
            cause = self._cause(kernel, row, word, first)
        return Event(
            kind, at.function, at.file, at.line, at.source,
            calls_to(program, program.layout.rows[row]), first.index,
            self._steps.at(first.number, first.step), count, cause,
            exact=bool(alike >> rows.ENDLESS + place & 1), called_at=in_words(first.called_at),
        )  # fmt: skip

    def _cause(self, kernel: Lifting, row: int, word: int, first: First) -> str:
        """The line whose healing in the step of an event, or in the one before, makes it not
        happen: the one of several that loses most bits.
        """
        step = self._steps.at(first.number, first.step)
        for (function, line, source), rows_of in self._losing():
            healed = {
                k: [n for n in some if (k, n) != (kernel, row)] for k, some in rows_of.items()
            }
            for healed_step in dict.fromkeys((step, max(step - 1, 0))):
                run = _HealedNotes(self._census, self._steps, healed, healed_step, first.number)
                try:
                    ErrorRun(self._program, self._census, run)
                except Stopped:
                    pass
                count, clock = run.tables[kernel].words[row, word : word + 2].tolist()
                again = run.first.get((kernel, row, word))
                if not count or again is None or (again.number, clock) > (
                    first.number, first.clock
                ):  # fmt: skip
                    return f"line {line} of '{function}': {source}"
        return CARRIED

    def _losing(self) -> list[tuple[tuple, LineRows]]:
        """Lines that lose bits, the one that loses most first."""
        rows_of: dict[tuple, dict[Lifting, list[int]]] = {}
        for kernel in self._census.kernels:
            for group in groups_of(self._notes.program(kernel), "line"):
                if not group.argument and group.rows:
                    key = group.function, group.line, group.source
                    rows_of.setdefault(key, {}).setdefault(kernel, []).extend(group.rows)
        bits = {key: self._notes.bits_lost(numbers) for key, numbers in rows_of.items()}
        losing = sorted((k for k in rows_of if bits[k] >= LEAST_LOSS), key=lambda k: -bits[k])
        return [(key, rows_of[key]) for key in losing[:MOST_HEALED]]


class Stopped(BaseException):
    """A run has come to where nothing more is asked."""


class _HealedNotes(TwinNotes):
    """Notes of a run in which some rows are healed in one time step, until the end of a call.

    Args:
        census: which kernels there are.
        steps: of the run.
        healed: kernel -> rows.
        step: that step.
        last: number of that call.
    """

    def __init__(
        self, census: Census, steps: RunSteps, healed: LineRows, step: int, last: int
    ) -> None:
        super().__init__(census)
        self._steps, self._healed, self._step, self._last = steps, healed, step, last

    def begins(self, number: int) -> None:
        """Count a call, and stop the run behind its last one."""
        if number > self._last:
            raise Stopped
        super().begins(number)

    def before(self, kernel: Lifting, args: tuple, written: Sequence[bool], at: CallPlace) -> None:
        """Let rows be healed if it is time."""
        super().before(kernel, args, written, at)
        numbers, table = self._healed.get(kernel, []), self.tables[kernel]
        if not numbers:
            return
        first, inside = (int(x[self._number]) for x in (self._steps.first, self._steps.inside))
        treatment, only = 0, -1
        if inside and first <= self._step:
            treatment, only = rows.HEALED_IN_ONE_STEP, self._step - first + 1
        elif first == self._step and not inside:
            treatment = rows.HEALED
        table.words[list(numbers), rows.TREATMENT] = treatment
        table.header[rows.HEALED_STEP] = only


def _when(event: tuple) -> tuple[int, int]:
    return event[0], event[1]
