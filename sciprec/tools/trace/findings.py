"""The verdict of a trace: a sentence that names what its reader would act on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sciprec.foundation.listing import Shown, counted
from sciprec.precision.formats.backend import Backend
from sciprec.tools.trace.attribution import arithmetics_of
from sciprec.tools.trace.examination import Event
from sciprec.tools.trace.healing import Healed
from sciprec.tools.trace.lines import Line, LineGroup
from sciprec.tools.trace.losses import NumberFate, Turn
from sciprec.tools.trace.origins import OriginGroup

FEW_ROUNDINGS = 8.0
"""In units of the format's roundoff: no line is at fault in an error below that, but for one that
loses bits, makes more than half of the error itself, and takes it away when it is healed."""
FEWEST_ROUNDINGS = 2.0
"""Below that not even such a line."""
CANCELLED_ROUNDINGS = 2.0**-10
"""An error of so few roundings is the rest of parts that cancel; a larger one has other causes."""
MOST_CANCELLED = 10.0
"""Sum of the sizes of shares beyond which a split says nothing."""
_NAMED, _MOST = 0.1, 0.5
_MUCH = 3.0
_MOST_NAMED = 3


def called(line: Line | OriginGroup) -> str:
    """A line of a kernel by its number; a conversion by the argument."""
    return line.source if line.source.startswith("argument ") else line.name


@dataclass(frozen=True)
class Findings:
    """The facts about an error from which its sentences are made.

    Attributes:
        traced, backend, by: what was traced.
        outcome: what became of the numbers of the results.
        lines, groups: its parts.
        events: what happened in the run, by time.
        lost_by: the event that results were lost by.
        turn: the decision that takes results further than rounding does.
        healed: where the error becomes large, if it does in one line.
        called: what a line is called.
        few: units of the format's roundoff below which no line is at fault.
        cancels: whether the parts cancel, so that the error counts as none.
    """

    traced: str
    backend: Backend
    by: str
    outcome: NumberFate
    lines: tuple[Line, ...]
    groups: tuple[LineGroup, ...]
    events: tuple[Event, ...] = ()
    lost_by: Event | None = None
    turn: Turn | None = None
    healed: Healed | None = None
    called: Callable[[Line | OriginGroup], str] = called
    few: float = FEW_ROUNDINGS
    cancels: bool = False

    def sentence(self) -> str:
        """The verdict."""
        return f"{self._verdict()}{self._hidden()}"

    @property
    def largest(self) -> float:
        """Error of the result that has the largest one."""
        return self.outcome.largest

    def _hidden(self) -> str:
        """The number that the norm hides."""
        worst = self.outcome.worst
        return "" if worst is None else f" Its norm hides that {worst}."

    def _verdict(self) -> str:
        """The verdict on all results together."""
        outcome, event = self.outcome, self.lost_by
        some = self.largest > 0.0 and outcome.endless < outcome.elements
        if event is not None and not (event.exact and some and not outcome.lost):
            return self._lost(event)
        if self.turn is not None:
            return self._turned(self.turn)
        if some and outcome.endless and not outcome.lost:
            rest = f"{outcome.endless:,} of {counted(outcome.elements, 'number')}"
            return f"{self._of_finite()} Exact arithmetic gives no finite number in {rest}."
        return self._of_finite()

    def _of_finite(self) -> str:
        """The verdict where no result is lost by an event."""
        outcome = self.outcome
        if outcome.lost:
            return (
                f"{outcome.lost:,} of {counted(outcome.elements, 'number')} of '{self.traced}' in "
                f"{self.backend.name} are not finite, and exact ones are."
            )
        if outcome.endless == outcome.elements:
            return (
                f"Exact arithmetic gives no finite number for '{self.traced}': there is no error "
                "to split."
            )
        if outcome.followed.lost:
            return outcome.followed.sentence(self.traced, self.backend.name)
        return ("" if self.cancels else outcome.followed.before) + self._of_error()

    def _of_error(self) -> str:
        """The verdict on an error that is known."""
        outcome = self.outcome
        if outcome.unwritten and not self.largest:
            return (
                f"No error: neither in {self.backend.name} nor in exact arithmetic does "
                f"'{self.traced}' store anything into {outcome.unwritten}."
            )
        if not self.largest:
            rest = f"{outcome.elements - outcome.endless:,} of {outcome.elements:,} numbers"
            where = f" where exact arithmetic is finite, in {rest}" if outcome.endless else ""
            nothing = f"'{self.traced}' makes no error in {self.backend.name}{where}"
            return f"{nothing}: all shares are 0."
        roundings = outcome.size / arithmetics_of(self.backend)[0].format.unit_roundoff
        if self.cancels and roundings > CANCELLED_ROUNDINGS:
            return (
                f"No line can be named: the error of '{self.traced}' in {self.backend.name} is "
                f"{self.largest:.2g}, and its parts are infinite or cancel, as beside a "
                "singularity of a function."
            )
        if self.cancels:
            return (
                f"The errors of '{self.traced}' in {self.backend.name} cancel: {self.largest:.2g} "
                "is left of them, which counts as none, and all shares are 0."
            )
        ends = [e for e in self.events if e.kind in ("saturation", "underflow to zero")]
        ending = next((e for e in ends if self._share_of(e) > _MOST), None)
        if ending is not None and roundings >= self.few:
            return self._ended(ending)
        if roundings < self.few and not self._is_one_line(roundings):
            return (
                f"No line stands out: the error of '{self.traced}' in {self.backend.name} is "
                f"{self.largest:.2g}, {max(roundings, 0.1):.1f} roundings of the {self._format}."
            )
        sizes = sum(abs(n.share) for n in self.lines)
        if self.by == "step":
            return self._by_step()
        if self.healed is not None:
            return self._large(self.healed)
        if sizes > MOST_CANCELLED:
            return (
                f"The parts of '{self.traced}' in {self.backend.name} are {sizes:.0f} times its "
                "error and cancel: no line makes it; look at a shorter run, or at groups."
            )
        return self._shares()

    @property
    def _format(self) -> str:
        """The formats of the roundings, in words."""
        return "narrowest format" if len(arithmetics_of(self.backend)) > 1 else "format"

    def _share_of(self, at: Event | OriginGroup) -> float:
        """The share of the line of an event or a group."""
        lines = [n for n in self.lines if (n.file, n.line) == (at.file, at.line)]
        named = f"argument {at.argument}" if at.argument else ""
        if named:
            return sum(n.share for n in lines if n.source == named)
        return sum(n.share for n in lines if not n.source.startswith("argument "))

    def _is_one_line(self, roundings: float) -> bool:
        """Whether a small error is that of one line, which cancels what it has rounded itself."""
        healed = self.healed
        if healed is None or self.by not in ("line", "operation") or roundings < FEWEST_ROUNDINGS:
            return False
        return healed.bits_lost > _MUCH and self._share_of(healed.group) > _MOST

    def _ended(self, event: Event) -> str:
        """Say where numbers are held at an end of the format, and that this makes the error."""
        number_format = arithmetics_of(self.backend)[0].format
        does, end = "saturates", f"the format ends at {number_format.max_finite:.3g}"
        if event.kind != "saturation":
            least = number_format.min_positive
            does, end = "underflows to zero", f"the format begins at {least:.3g}"
        share = f"{self._share_of(event):.0%} of the error is of that"
        if event.argument:
            return (
                f"'{self.traced}' in {self.backend.name} {does} in {event.source}{event.elements}; "
                f"{end}, and {share} argument."
            )
        at = f" at {event.index}" if event.index else ""
        return (
            f"'{self.traced}' in {self.backend.name} {does} first in line {event.line}{at}: "
            f"{event.source}; {end}, and {share} line."
        )

    def _turned(self, turn: Turn) -> str:
        """Name the line that decides otherwise, and what that does."""
        event = turn.event
        at = f" at {event.index}" if event.index else ""
        stored = "gives results that are"
        if turn.unwritten:
            stored = f"stores nothing into {turn.unwritten}, and its results are"
        return (
            f"Exact values decide otherwise in line {event.line}{at}: {event.source.rstrip(':')}. "
            f"'{self.traced}' in {self.backend.name} {stored} {turn.far}; rounding on its own path "
            f"makes {self.largest:.2g}."
        )

    def _lost(self, event: Event) -> str:
        """Say where numbers were lost, and why."""
        number = "NaN" if event.kind == "NaN" else "an infinity"
        largest = arithmetics_of(self.backend)[0].format.max_finite
        if event.argument:
            return (
                f"'{self.traced}' in {self.backend.name} gives {number} first in {event.source}"
                f"{event.elements}: the format ends at {largest:,.6g}."
            )
        at = f" at {event.index}" if event.index else ""
        verdict = (
            f"'{self.traced}' in {self.backend.name} gives {number} first in line {event.line}"
            f"{at}: {event.source}"
        )
        if event.kind == "infinity" and self.outcome.nans:
            numbers = counted(self.outcome.elements, "number")
            verdict = f"{verdict}, which makes NaN of {self.outcome.nans:,} of {numbers}"
        if self.by not in ("line", "operation"):
            return f"{verdict}."
        if not event.cause:
            end = "" if event.exact else f" (the format ends at {largest:.3g})"
            return f"{verdict}; exact operands give it, too{end}."
        if event.cause == f"line {event.line}: {event.source}":
            return f"{verdict}; not so with exact values in that line."
        return f"{verdict}; the cause is {event.cause}."

    def _large(self, healed: Healed) -> str:
        """Say where the error becomes large."""
        at = healed.group
        verdict = (
            f"The error of '{self.traced}' in {self.backend.name}, {self.largest:.2g}, "
            f"becomes large in line {at.line}, which loses {healed.bits_lost:.1f} bits: {at.source}"
            f". With exact values there {healed.left:.0%} of it is left"
        )
        rounded = sorted(self.lines, key=lambda n: -abs(n.share))[:_MOST_NAMED]
        named = [f"{self.called(n)} ({n.share:.0%})" for n in rounded if abs(n.share) > _NAMED]
        return f"{verdict}; it is rounded in {_listed(named)}." if named else f"{verdict}."

    def _by_step(self) -> str:
        """Say by which step half of the error had arisen."""
        total = 0.0
        for line in self.lines:
            total += line.share
            if total >= 0.5:
                break
        if not line.name.startswith(("step", "pass")):
            return self._shares()
        return (
            f"Half of the error of '{self.traced}' in {self.backend.name}, "
            f"{self.largest:.2g}, had arisen by {line.name}."
        )

    def _shares(self) -> str:
        """Say on which lines the error is rounded."""
        of = f"of the error of '{self.traced}' in {self.backend.name}"
        first = max(self.lines, key=lambda n: abs(n.share))
        family = next((g for g in self.groups if g.number == first.group), None)
        if family is not None and len(family.lines) > 1:
            named = sorted(family.lines, key=lambda n: -abs(n.share))
            if len(named) > _MOST_NAMED + 1:
                named = named[:_MOST_NAMED]
            shares = [f"{self.called(n)} ({n.share:+.0%})" for n in named]
            if more := len(family.lines) - len(named):
                shares.append(f"{more} others")
            return (
                f"{sum(n.share for n in family.lines):.0%} {of} is rounding of lines whose parts "
                f"go together, none to be changed alone: {_listed(shares)}."
            )
        place = self.called(first)
        lost = f", where {first.bits_lost:.1f} bits are lost" if first.bits_lost > _MUCH else ""
        named = self.by == "line" and first.name.startswith("line ")
        text = f": {first.source}" if named else ""
        if abs(first.share) > 1.0 + _NAMED:
            return (
                f"{abs(first.share):.1f} times the error of '{self.traced}' in {self.backend.name} "
                f"is rounding of {place}{lost}, and others take a part of it away{text}."
            )
        return f"{first.share:.0%} {of} is rounding of {place}{lost}{text}."


def _listed(items: list[str]) -> str:
    """a, b and c."""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


@dataclass(frozen=True, repr=False)
class TraceData(Shown):
    """The measured parts of a kernel's error, as its page takes them.

    Attributes:
        kernel, backend, by: what was traced, and how it is split.
        lines: all lines that were executed and may round, in the order of the source.
        groups: lines with a part of at least 2 % of the error, those that go together in one.
        events: NaN, infinities, saturation and underflow to zero of the run by line, and of
            elements of arrays that were given, by time; the first of every kind with its cause.
        branches: lines where exact values would have decided otherwise.
        metric: by which results err.
        outputs: name -> error of that output, of its numbers that are finite in the tested and the
            exact run; by the relative l2 error that of one that is zero in exact arithmetic is the
            l2 norm. NaN where exact values are lost, since they need more than 106 bits: all shares
            are 0 then.
        elements: how many numbers the outputs have.
        left_out: how many of them shares say nothing of.
        outcome: how many of these are lost, and why.
        closure: |sum of parts - (tested - twin)| / |error|, the twin computed apart from the parts;
            0 where the parts cancel, so that the error counts as none, or exact values are lost.
        inputs: over how many inputs groups were found; 0 where there are none.
        passes: how often the kernel was run.
        unknown: lines with functions of yours in more than 30 bits whose own rounding is not seen.
            It counts as exact; a row "unknown" among the lines says so.
        verdict: what there is to know, in a sentence.
    """

    kernel: str
    backend: str
    by: str
    lines: tuple[Line, ...]
    groups: tuple[LineGroup, ...]
    events: tuple[Event, ...]
    branches: tuple[Event, ...]
    metric: str
    outputs: Mapping[str, float]
    elements: int
    left_out: int
    outcome: NumberFate
    closure: float
    inputs: int
    passes: int
    unknown: tuple[str, ...]
    verdict: str

    @property
    def ranked(self) -> list[Line]:
        """The lines, the largest part first."""
        return sorted(self.lines, key=lambda n: -abs(n.share))
