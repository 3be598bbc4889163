"""`trace_program`: where the error of a whole model arises, kernel by kernel and line by line.

A model calls many kernels and does things between them. All its kernels share the parts of one
table; a run follows some groups of their operations, functions first, then the lines of those
functions in which much of the error arises.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from sciprec.foundation.arguments import choice, integer, refused
from sciprec.foundation.errors import InputError
from sciprec.foundation.later import MODEL_STAGES
from sciprec.foundation.listing import Listing, Shown, Summary, counted
from sciprec.instruments.assigning.assignment import every_place_met
from sciprec.instruments.assigning.stages import Stage
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.tools.trace.attribution import require_traceable
from sciprec.tools.trace.examination import Event, Step
from sciprec.tools.trace.findings import Findings
from sciprec.tools.trace.growth import ShareGrowth
from sciprec.tools.trace.lines import LANES, UNKNOWN, Line, LineGroup, grouped, large_parts
from sciprec.tools.trace.losses import LOSING, NumberFate
from sciprec.tools.trace.models.census import Census, is_of_package
from sciprec.tools.trace.models.course import TraceProgress
from sciprec.tools.trace.models.events import ModelEvents
from sciprec.tools.trace.models.groups import BETWEEN, STAGE, STEP, joined
from sciprec.tools.trace.models.inputs import MANY, ModelInputs
from sciprec.tools.trace.models.notes import TwinNotes
from sciprec.tools.trace.models.runs import ErrorRun
from sciprec.tools.trace.models.splitting import APART, Splitting
from sciprec.tools.trace.models.stages import (
    OrdinaryRuns,
    StagePart,
    advice,
    shares_alone,
    wider_than,
    with_runs,
)
from sciprec.tools.trace.models.steps import IN_WORDS
from sciprec.tools.trace.needed_memory import require_memory
from sciprec.tools.trace.origins import BY, OriginGroup
from sciprec.tools.trace.problem import chosen_names
from sciprec.tools.trace.proposals import ModelMend
from sciprec.tools.trace.splitting import norm, share
from sciprec.tools.trace.verification import (
    Verification,
    can_be_wider,
    require_narrower,
    verified,
)

BY_OF_MODELS = (STAGE, *BY)
_COUNTED = 100_000_000
"""Operations that are counted; of longer runs their beginning."""
_MOST_STAGES, _MOST_RUN = 6, 3
"""Most stages of a model listed below a trace by line, and most of them that are run wider there.
"""
HARMLESS = 0.01
"""Share of the error of a line below which it does not matter that its numbers become zero."""
MOST_BANDS = 4
"""Lines that a page follows step by step, beside all others together."""


@dataclass(frozen=True, repr=False)
class ModelTrace(Shown):
    """The places where the error of a model's results arises.

    Attributes:
        model, backend, by: what was traced, and how hot functions are split.
        lines: functions and, of hot ones, their lines; conversions of arguments; what is rounded
            between kernels. In the order of the source.
        outputs: name -> relative l2 error of that result.
        times: of the stored states of results that have a time axis; empty without one.
        growth: name of a line -> rms of its part at these times, results over their norms.
        until: the time whose state is traced; None without a time axis.
        shortened: whether later states were left out, since parts cancel there.
        sizes: sum of the sizes of all parts over the size of their sum; 0 where they cancel to
            below 2^-24 of that, and the error counts as none.
        elements: how many numbers the results have.
        left_out: how many of them are not finite.
        closure: |sum of parts - (tested - twin)| / |error|.
        events: NaN, infinities, saturation, underflow to zero, and branches that exact values would
            have decided otherwise, by line.
        unknown: lines with functions of yours in more than 30 bits whose own rounding is not seen.
            It counts as exact; a row "unknown" among the lines says so.
        steps, steps_are: how many time steps the run has, and how they are known, in words.
        passes: how often the model was run with its error in parts.
        calls: of kernels in a run.
        operations: of kernels in a run.
        groups: lines with a part of at least 2 % of the error, those that go together in one.
        inputs: over how many inputs these were found, the model's own and perturbed ones.
        inputs_until: of these runs, of what they leave until this time step; 0: of all of them.
        stages: parts of the model's stages, in the order of a step, and what is left of the error
            where one is kept wider; empty of a model without stages.
        verdict: what there is to know, in a sentence.
    """

    model: str
    backend: str
    by: str
    lines: tuple[Line, ...]
    outputs: Mapping[str, float]
    times: tuple[float, ...]
    growth: Mapping[str, tuple[float, ...]]
    until: float | None
    shortened: bool
    sizes: float
    elements: int
    left_out: int
    closure: float
    events: tuple[Event, ...]
    unknown: tuple[str, ...]
    steps: int
    steps_are: str
    passes: int
    calls: int
    operations: int
    groups: tuple[LineGroup, ...]
    inputs: int
    inputs_until: int
    stages: tuple[StagePart, ...]
    verdict: str
    _work: _TraceRuns = field(repr=False, compare=False)

    @property
    def ranked(self) -> list[Line]:
        """The lines, the largest part first."""
        return sorted(self.lines, key=lambda n: -abs(n.share))

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        result = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "_work"}
        listed = ("lines", "groups", "events", "stages")
        return result | {name: [asdict(item) for item in result[name]] for name in listed}

    def by_step(self) -> ShareGrowth | None:
        """Split the largest lines and all others by time: shares of the error by time step, or of
        several where they are many. Runs the model some ten times more. None where the error is
        split by step anyway, or counts as none.
        """
        return self._work.by_step()

    @property
    def can_be_wider(self) -> bool:
        """Whether binary64 is wider than the arithmetic, so that `verify` can be asked for."""
        return can_be_wider(self._work.split.backend)

    def verify(self, top: int = 3) -> Verification:
        """Run the model with the largest groups computed wider, in binary64: their results stay
        so in arrays, too, until another operation rounds.

        Args:
            top: how many groups, each by itself.

        Returns:
            What was predicted and measured to be left of the error, pooled over the inputs of the
            groups; where they differ by more than 15 %, what makes most of the difference.
        """
        integer("top", top, 1, 1000, "a whole number from 1")
        return self._work.verify(top)

    def mend(self) -> ModelMend:
        """Search what to do about the model's error: carried residuals, stages in a wider format,
        policies, another arithmetic; each is run, and held to the run in fp64.

        Returns:
            A ModelMend: its proposals have the error left, the operations more, and a patch of the
            scenario file.

        Raises:
            InputError: nothing is to blame, or what was traced is no scenario.
        """
        return self._work.mend(self)

    def functions(self) -> dict[tuple[str, str], tuple[int, frozenset[tuple[str, str]]]]:
        """(file, function) of lines -> operations that a run executes there, and the functions, by
        file and name, that do: the kernels of the engine where these are called.
        """
        return self._work.functions()

    def operations_more(self, program: Callable[[Backend], Results]) -> int:
        """The number of operations that a program adds in the arithmetic; it calls kernels in the
        same steps; of long runs by those of their beginning.
        """
        return self._work.operations_more(program)

    @property
    def ordinary_runs(self) -> OrdinaryRuns:
        """Ordinary runs of the model, at the stored time that counts."""
        return self._work.runs

    @property
    def tell(self) -> Callable[[str, int, int], None]:
        """Whoever is told how far the trace is."""
        return self._work.tell

    def _summary(self) -> Summary:
        if self.by == STAGE:
            return self._by_stage()
        rows = [
            (n.function, str(n.line if n.file else ""), self._text(n), n.percent, f"{n.rms:.2g}",
             str(n.group or "–"))
            for n in (self.lines if self.by == STEP else self.ranked)
            if n.share or n.rms or n.name == UNKNOWN
        ]
        listing = Listing(("function", "line", "source"), ("share", "rms of part", "group"), rows,
                          droppable=("rms of part", "group"))  # fmt: skip
        return Summary(self.verdict, listing, self._notes())

    def _by_stage(self) -> Summary:
        """The display of a split by stage, in the order of the shares."""
        rows = [
            (p.name, p.percent, p.wide or "–", p.left_in_words, f"{p.operations:,}")
            for p in sorted(self.stages, key=lambda p: -abs(p.share))
        ]
        heads = ("share", "kept in", "error left", "operations")
        listing = Listing(("stage",), heads, rows, droppable=("operations",))
        return Summary(self.verdict, listing, self._notes())

    def _notes(self) -> tuple[str, ...]:
        errors = ", ".join(f"{name} {error:.2g}" for name, error in self.outputs.items())
        notes = [f"relative l2 error: {errors}" + self._when]
        if self.stages and self.by not in (STAGE, STEP):
            ranked = sorted(self.stages, key=lambda p: -abs(p.share))[:_MOST_STAGES]
            words = (
                f"{p.name} {p.percent}"
                + f" (in {p.wide} {p.left_in_words} left)" * (p.left is not None)
                for p in ranked if p.share
            )  # fmt: skip
            notes.insert(0, f"by stage: {', '.join(words)}")
        if alone := shares_alone(self.stages, self._work.split.backend):
            notes.append(alone)
        if self.shortened:
            notes.append(
                f"later states are left out: parts are more than {APART:g} times as large as "
                "their sum there, beyond what can be told apart"
            )
        elif self.sizes > APART:
            advice = "they cancel, and no share says much by itself"
            if self.times:
                advice = "beyond what can be told apart; shorten the run"
            notes.append(f"parts are {self.sizes:.0f} times as large as their sum: {advice}")
        if self.left_out:
            some = counted(self.left_out, "number")
            notes.append(f"{some} of {self.elements:,} left out: not finite")
        notes += [self._said_of(k) for k in dict.fromkeys(e.kind for e in self.events)]
        if self.groups:
            notes.append(f"groups over {self.grouped_over}")
        if self.by == STEP:
            notes.append(f"{self.steps:,} steps: {self.steps_are}")
        notes.append(
            f"{self.passes} passes of {_rounded_count(self.operations)} operations in "
            f"{self.calls:,} calls of kernels; closure {self.closure:.1g}"
        )
        return tuple(notes)

    def _said_of(self, kind: str) -> str:
        """Say what the events of a kind mean; of those that do no harm, how many they are."""
        some = [event for event in self.events if event.kind == kind]
        harmful = [event for event in some if not self.is_harmless(event)]
        if harmful:
            return _sentence(kind, harmful)
        total = sum(event.count for event in some)
        return f"{kind}: {total:,} times, in lines without a part in the error"

    def is_harmless(self, event: Event) -> bool:
        """Whether numbers became zero in a line that has next to no part in the error."""
        if event.kind != "underflow to zero":
            return False
        at = [n for n in self.lines if (n.file, n.line) == (event.file, event.line)]
        around = at or [n for n in self.lines if n.function == event.function]
        return sum(abs(n.share) for n in around) < HARMLESS

    @property
    def grouped_over(self) -> str:
        """The inputs that groups were found over, in words."""
        inputs = counted(self.inputs, "input")
        if not self.inputs_until:
            return inputs
        return f"{inputs}, until step {self.inputs_until:,} of {self.steps:,}"

    def _text(self, line: Line) -> str:
        """Return the text of a row's line, else its name."""
        plain = self.by in ("line", "function", STEP)
        return line.source if plain or line.name.startswith("line ") else line.name

    @property
    def _when(self) -> str:
        return "" if self.until is None else f" at time {self.until:g}"


def _sentence(kind: str, some: Sequence[Event]) -> str:
    """Return in words how often something happened, where first, and where most often."""
    total, first = sum(event.count for event in some), some[0]
    words = "decided otherwise by exact values" if kind == "branch" else kind
    times = "once" if total == 1 else f"{total:,} times"
    text = f"{words}: {times}, first in {first.place}: {first.source}"
    most = max(some, key=lambda event: event.count)
    if most is not first:
        text += f"; most in line {most.line} of '{most.function}': {most.source}"
    return f"{text}; the cause is {first.cause}" if first.cause else text


def called(line: Line | OriginGroup) -> str:
    """A line, or another part of a model's error, with its function."""
    if not line.function:
        return line.name
    if line.source == BETWEEN:
        return "the model's own float32 arrays"
    part = {"arguments": "arguments", "roundings": "arrays between kernels"}.get(
        line.name, line.source if line.source.startswith("argument ") else line.name
    )
    return f"{part} in '{line.function}'"


@dataclass(frozen=True)
class Results:
    """The results of a program: numbers by name.

    Args:
        values: name -> array; of `timed` ones the first axis is time.
        timed: names of those.
        times: of the stored states.
    """

    values: Mapping[str, np.ndarray]
    timed: tuple[str, ...] = ()
    times: tuple[float, ...] = ()


def trace_program(
    program: Callable[[Backend], Results],
    backend: str | Backend,
    *,
    model: str,
    output: str | Iterable[str] | None = None,
    by: str = "line",
    lanes: int = LANES,
    samples: int | None = None,
    on_estimate: Callable[[str], None] | None = None,
    stages: Sequence[Stage] = (),
    tell: Callable[[str, int, int], None] = lambda label, count, total: None,
    remedy: Callable[[ModelTrace], ModelMend] | None = None,
) -> ModelTrace:
    """Split the error of a model's results by where it arose.

    Args:
        program: runs the model in a backend, from its initial state on, and gives its results; all
            kernels are lifted to that very backend.
        backend: a floating-point arithmetic without random bits.
        model: its name.
        output: names of the results that count; left out, all.
        by: what hot functions are split by: "line", "operation", "variable"; "function": by none;
            "step": by consecutive calls of kernels, a twelfth of the run each; "stage": everything
            by the stages.
        lanes: numbers beside each value: lanes - 2 groups are followed in one run; 4, 8, 16 or 32.
        samples: inputs over which parts of lines are correlated, the model's own and perturbed
            ones, each a run or a few; left out, 16, of which the beginning alone is run where all
            together would take more than 3 10^9 operations. With 1 and results of fewer than 1000
            numbers every line is a group by itself.
        on_estimate: called with a sentence, after the second run, of how long a trace will take
            that is no matter of seconds.
        stages: of the model; each that has a part in the error is kept wider in a run.
        tell: told what is done, how many of its runs are made, and how many there will be, about.
        remedy: makes a trace's proposals; None where what is traced cannot be changed.

    Raises:
        InputError: an argument cannot be used; rounded numbers decide what the model does between
            kernels; no arithmetic of this kind.
        LiftError: a kernel cannot be traced.
    """
    arithmetic = resolve_backend(backend)
    require_traceable(arithmetic)
    choice("by", by, BY_OF_MODELS)
    if by == STAGE and not stages:
        raise InputError(
            f"by is 'stage', and the model of '{model}' has no stages; split by 'function', or "
            f"trace a scenario of kind {' or '.join(MODEL_STAGES)}"
        )
    if integer("lanes", lanes, 4, 32, "4, 8, 16 or 32") not in (4, 8, 16, 32):
        raise refused("lanes", lanes, "4, 8, 16 or 32")
    if samples is not None:
        integer("samples", samples, 1, 10_000, "a whole number from 1")
    with every_place_met(arithmetic):
        census = Census(program, arithmetic)
    require_memory(model, census.arrays.most, lanes, census.arrays.numbers)
    outputs = chosen_names(tuple(census.results.values), output)

    course = TraceProgress(model, census.calls, samples, on_estimate, tell)
    split = Splitting(program, arithmetic, outputs, lanes, census, course, stages)
    course.split = split
    split.split(by)
    return _TraceRuns(split, model, by, samples, tell, remedy).trace()


class _TraceRuns:
    """The runs of one trace, and the trace made of them.

    Args:
        split: those of the model's own input.
        model: its name.
        by: what hot functions are split by.
        samples: inputs to pool over; None for as many as are needed.
        tell, remedy: see `trace_program`.
    """

    def __init__(
        self, split: Splitting, model: str, by: str, samples: int | None,
        tell: Callable[[str, int, int], None], remedy: Callable[[ModelTrace], ModelMend] | None,
    ) -> None:  # fmt: skip
        self.split, self.model, self.by = split, model, by
        self.tell, self._remedy = tell, remedy
        results, outputs = split.results, split.outputs
        timed = any(n in results.timed for n in outputs)
        self.times = tuple(results.times) if timed else ()
        self.chosen = split.last_usable(len(self.times))
        self.error = split.at(split.errors, self.chosen)
        keys = [key for key, _ in split.all_groups()]
        self.parts = [split.at(split.parts[key], self.chosen) for key in keys]
        self.inputs = ModelInputs(split, self.chosen)
        enough = self.error.size >= MANY
        self.cancels = split.cancels(self.chosen)
        self.events = ModelEvents(split.program, split.census, split.notes, split.steps).events()
        grows = [] if by == STEP or self.cancels else [None, *self.parts[1:]]
        chosen = large_parts(grows, self.error)
        gram = self.inputs.products(chosen, samples)
        self.lines, self.groups = grouped(
            self._lines(), chosen, gram, enough or self.inputs.inputs > 1, self.inputs.evidence
        )

    def _lines(self) -> list[Line]:
        """Return all lines with their shares, without their groups."""
        split, lines = self.split, []
        for part, (key, joint) in zip(self.parts, split.all_groups(), strict=True):
            group = joint.group
            lines.append(Line(
                group.function, group.file, group.line, group.source, group.name,
                share=0.0 if self.cancels else share(part, self.error), rms=_rms(part),
                runs=joint.count_of_steps or split.notes.runs(joint.rows),
                bits_lost=split.notes.bits_lost(joint.rows),
                shares={n: split.share_of(key, self.chosen, n) for n in split.outputs},
            ))  # fmt: skip
        return lines

    @cached_property
    def runs(self) -> OrdinaryRuns:
        """Ordinary runs of the model, held to fp64."""
        split = self.split
        timed = [n for n in split.outputs if n in split.results.timed]
        return OrdinaryRuns(
            split.program, split.outputs, timed, self.chosen, split.results.values
        )

    def stages(self) -> tuple[StagePart, ...]:
        """Split the error by the model's stages; run those that matter wider, one by one."""
        split = self.split
        if not split.stages or self.by == STEP or self.cancels or not norm(self.error):
            return ()
        parts = [
            StagePart(joint.group.name, share(split.at(of, self.chosen), self.error),
                      split.notes.executed(joint.rows))
            for key, of in split.parts_of_stages().items() if key in split.by_stage
            for joint in (split.by_stage[key],)
        ]  # fmt: skip
        order = {key[1]: n for n, key in enumerate(split.by_stage)}
        parts.sort(key=lambda part: order[part.name])
        if not wider_than(split.backend):
            return tuple(parts)
        most = len(parts) if self.by == STAGE else _MOST_RUN
        return with_runs(parts, self.runs, split.stages, split.backend, most, self.tell)

    def functions(self) -> dict[tuple[str, str], tuple[int, frozenset[tuple[str, str]]]]:
        """See `ModelTrace.functions`."""
        result: dict[tuple[str, str], tuple[int, frozenset[tuple[str, str]]]] = {}
        for _, joint in self.split.all_groups():
            where = joint.group.file, joint.group.function
            codes = [k.kernel.__code__ for k in joint.rows if not is_of_package(where[0])]
            engine = {(c.co_filename, c.co_name) for c in codes if is_of_package(c.co_filename)}
            handled = engine or ({where} if joint.rows else set())
            count, places = result.get(where, (0, frozenset()))
            result[where] = count + self.split.notes.executed(joint.rows), places | handled
        return result

    def operations_more(self, program: Callable[[Backend], Results]) -> int:
        """See `ModelTrace.operations_more`."""
        split = self.split
        every, calls = split.notes.operations(), split.census.calls
        first = min(calls, max(calls * _COUNTED // max(every, 1), 1))
        census = Census(program, split.backend)
        if first == calls:
            return _operations(program, census, None) - every
        more = _operations(program, census, first) - _operations(split.program, split.census, first)
        return round(more * calls / first)

    def mend(self, trace: ModelTrace) -> ModelMend:
        """See `ModelTrace.mend`."""
        if self._remedy is None:
            raise InputError(
                f"'{self.model}' was traced as a program, of which nothing can be changed; mend "
                "takes what trace_scenario gives for a scenario"
            )
        return self._remedy(trace)

    def _growth(self) -> dict[str, tuple[float, ...]]:
        """Name of a line -> the size of its part at all stored times."""
        split, growth = self.split, {}
        for line, (key, _) in zip(self.lines, split.all_groups(), strict=True):
            over_time = (split.at(split.parts[key], n) for n in range(len(self.times)))
            growth[f"{line.function}: {line.name}"] = tuple(map(_rms, over_time))
        return growth

    def by_step(self) -> ShareGrowth | None:
        """Return the growth of the error, by line; None where it is split by step anyway."""
        split, error = self.split, self.error
        if self.by == STEP or self.cancels or split.steps.count < 2 or not norm(error):
            return None
        groups = split.all_groups()[1:]
        order = sorted(range(len(groups)), key=lambda n: -norm(self.parts[n + 1]))
        bands = {called(self.lines[n + 1]): groups[n][1] for n in order[:MOST_BANDS]}
        if rest := [groups[n][1] for n in order[MOST_BANDS:]]:
            bands["all others"] = joined(rest, rest[0].group)
        shares, before = {}, {}
        steps: tuple[Step, ...] = ()
        split.begins("runs that show when the error arose", *(2 * (split.lanes - 2) for _ in bands))
        for name, joint in bands.items():
            by_step = split.step_by_step(joint)
            parts = {key: split.at(part, self.chosen) for key, (_, part) in by_step.items()}
            by = {key: share(part, error) for key, part in parts.items()}
            shares[name] = np.array([by[key] for key in by if key[0] == STEP])
            before[name] = sum(by[key] for key in by if key[0] != STEP)
            spans = (j.steps for key, (j, _) in by_step.items() if key[0] == STEP and j.steps)
            steps = tuple(Step(first, end - 1, None) for first, end in spans)
        return ShareGrowth(steps, shares, before, "time step")

    def _until(self) -> int:
        """The last time step of runs with perturbed inputs; 0 where they make all steps."""
        steps, beginning = self.split.steps, self.inputs.beginning
        if beginning is None:
            return 0
        last, ticks = beginning[1] - 1, int(steps.ticks[beginning[1] - 1])
        return steps.at(last, ticks)

    def trace(self) -> ModelTrace:
        """Return the trace that the runs give."""
        split, times, chosen, error = self.split, self.times, self.chosen, self.error
        results, outputs, backend = split.results, split.outputs, split.backend
        sum_of_parts, size = split.at(split.twin_errors, chosen), norm(error)
        total, sizes = sum(self.parts, np.zeros_like(error)), sum(map(norm, self.parts))
        shapes = {n: np.shape(results.values[n])[n in results.timed :] for n in outputs}
        elements = sum(map(math.prod, shapes.values()))
        left_out, relative = elements - error.size, {
            n: norm(split.at(split.errors, chosen, (n,))) for n in outputs
        }  # fmt: skip
        counts = size and not self.cancels
        lines, groups, unknown = tuple(self.lines), tuple(self.groups), split.notes.unseen()
        if unknown:
            source = f"own rounding of functions in {', '.join(unknown)}"
            nothing = dict.fromkeys(outputs, 0.0)
            lines += (Line(self.model, "", 0, source, UNKNOWN, 0.0, 0.0, nothing),)
        ranges = tuple(e for e in self.events if e.kind != "branch")
        findings = Findings(
            self.model, backend, self.by, NumberFate(elements, lost=left_out, relative=relative),
            lines, groups, ranges, next((e for e in ranges if e.kind in LOSING), None),
            called=called, few=0.0, cancels=self.cancels,
        )  # fmt: skip
        stages = self.stages()
        first = advice(stages, self.model, backend.name, max(relative.values(), default=0.0))
        sentence = findings.sentence()
        if first:
            sentence = first if self.by == STAGE else f"{first} {sentence}"
        return ModelTrace(
            model=self.model, backend=backend.name, by=self.by, lines=lines, outputs=relative,
            times=times, growth=self._growth(), until=times[chosen] if times else None,
            shortened=bool(times) and chosen % len(times) != len(times) - 1,
            sizes=sizes / size if counts else 0.0, elements=elements, left_out=left_out,
            closure=norm(total - sum_of_parts) / size if counts else 0.0, events=self.events,
            unknown=unknown, steps=split.steps.count, steps_are=IN_WORDS[split.steps.kind],
            passes=split.passes, calls=split.census.calls,
            operations=split.notes.operations(),
            groups=groups, inputs=self.inputs.inputs,
            inputs_until=self._until(), stages=stages,
            verdict=sentence, _work=self,
        )  # fmt: skip

    def verify(self, top: int) -> Verification:
        """See `ModelTrace.verify`."""
        require_narrower(self.split.backend)
        self.inputs.run_whole(self.groups[:top])
        checks = verified(self.inputs, self.groups[:top], called)
        inputs = self.inputs.pooled
        return Verification(self.model, self.split.backend.name, checks, inputs)


def _operations(program: Callable[[Backend], Results], census: Census, calls: int | None) -> int:
    """Count the operations of a run, or of its first calls of kernels."""
    notes: Any = TwinNotes(census)
    beginning = None if calls is None else (calls - 1, calls)
    ErrorRun(program, census, notes, beginning=beginning)
    return notes.operations()


def _rms(x: np.ndarray) -> float:
    return norm(x) / max(x.size, 1) ** 0.5


def _rounded_count(count: int) -> str:
    """A number of two digits, in words where it is large."""
    for size, word_ in ((10**9, " billion"), (10**6, " million")):
        if count >= size:
            return f"{count / size:.2g}{word_}"
    return f"{count:,}"
