"""`trace`: which line of a kernel makes its rounding error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from sciprec.arrays.metrics import METRICS, TITLES
from sciprec.foundation import targets
from sciprec.foundation.arguments import choice, integer, refused, word
from sciprec.foundation.arguments import path as checked_path
from sciprec.foundation.errors import InputError
from sciprec.foundation.later import REMEDIES
from sciprec.foundation.listing import Listing, Summary, counted
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.lifting.lifted import function_of
from sciprec.precision.rewriting.syntax import Source
from sciprec.tools.monitor.alerts import RULES
from sciprec.tools.monitor.kernel_sums import lost_sums
from sciprec.tools.monitor.lost import alerts_of_sums
from sciprec.tools.trace.attribution import require_apart, require_traceable
from sciprec.tools.trace.examination import Event, Examination, told
from sciprec.tools.trace.findings import Findings, TraceData, called
from sciprec.tools.trace.growth import ShareGrowth, group_of_step, growth
from sciprec.tools.trace.healing import Healed, becomes_large, with_causes
from sciprec.tools.trace.lines import LANES, UNKNOWN, Line, grouped, large_parts
from sciprec.tools.trace.losses import ResultLosses, loaded, turned
from sciprec.tools.trace.needed_memory import require_memory_of_kernel
from sciprec.tools.trace.origins import BY, OriginGroup, groups_of, is_unseen
from sciprec.tools.trace.perturbed_inputs import PerturbedInputs
from sciprec.tools.trace.problem import Problem, bound_arguments
from sciprec.tools.trace.proposals import Mend
from sciprec.tools.trace.splitting import Split, norm, share
from sciprec.tools.trace.verification import (
    Verification,
    WiderLines,
    can_be_wider,
    require_narrower,
    verified,
)

SAMPLES = 16
"""Perturbed inputs over which parts of lines are correlated; four times as many where results are
so few numbers that some would be correlated by chance."""
_HEAVY, _MANY = 0.25, 16
"""A line's share of the error, and how often it is run, from which on its carried sums are looked
at."""
_BLAMED, _MANY_BITS = 0.01, 3.0
"""Share of the error, or bits lost, of lines that `mend` begins with."""


@dataclass(frozen=True, repr=False)
class Trace(TraceData):
    """The places where the error of a kernel's results arises, and where it becomes large.

    Attributes: those of `sciprec.tools.trace.findings.TraceData`.
    """

    _work: _KernelTrace = field(repr=False, compare=False)

    def every_line(self) -> list[Line]:
        """All lines that can round, the arguments before them, in the order of the source: those
        that were not executed with a share of zero. They are the same for all arguments.
        """
        return self._work.every_line()

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        result = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "_work"}
        listed = ("lines", "groups", "events", "branches")
        lists = {name: [asdict(item) for item in result[name]] for name in listed}
        return result | lists | {"outcome": asdict(self.outcome)}

    def verify(self, top: int = 3, *, truth: str = "dd") -> Verification:
        """Run the kernel with the largest groups computed wider, in binary64.

        Args:
            top: how many groups, each by itself.
            truth: what errors are against: "dd" (or "auto"), exact values by pairs of binary64; a
                trace knows no other.

        Returns:
            What was predicted and measured to be left of the error, pooled over the perturbed
            inputs; where they differ by more than 15 %, what makes most of the difference.
        """
        integer("top", top, 1, 1000, "a whole number from 1")
        choice("truth", truth, ("dd", "auto"))
        return self._work.verify(top)

    def mend(self, *, most: int = 60) -> Mend:
        """Search what to do about the lines to blame, and prove it by runs.

        Rules of a catalogue are applied to the source, the line to blame first. Each candidate is
        run on the inputs given and in other regimes made of them (signs turned, sizes nearer to 1,
        large and small exchanged), in the arithmetic of the trace and in fp64, and held to exact
        values. Nothing is offered that is another function, makes a mean error larger by half a
        bit anywhere, or changes the outcome of a decision.

        Args:
            most: candidates that are run.

        Returns:
            A Mend: its proposals have a patch, the mended kernel, the error left and a source.

        Raises:
            InputError: `most` is no number from 1.
            LiftError: the kernel's source cannot be read.

        Precision:
            Exact values are pairs of binary64 numbers that know their own error; numbers of which
            they do not know enough are left out of all comparisons.

        Source:
            Rewriting by rules, judged by sampled error: Panchekha et al. (2015), there on
            expressions.

        Example:
            >>> import math
            >>> import numpy as np
            >>> import sciprec
            >>> def growth(rate, out):
            ...     for i in range(out.size):
            ...         out[i] = math.exp(rate[i]) - 1.0
            >>> t = sciprec.trace(growth, "fp32", (np.linspace(1e-5, 1e-4, 20), np.zeros(20)))
            >>> t.mend().proposals[0].title
            'expm1'
        """
        integer("most", most, 1, 10_000, "a whole number from 1")
        underflows = any(e.kind == "underflow to zero" for e in self.events)
        return REMEDIES["kernel"](self._work.problem, self._work.blamed, most, underflows)

    def html(self, path: str | Path, *, verify: int = 3, mend: Mend | None = None) -> Path:
        """Write a page: the source with heat by line, groups, and when the error arose; it brings
        no script. The kernel is run some 24 times more for the last.

        Args:
            path: of the file.
            verify: how many groups are computed wider; 0 for none. In binary64 none can be.
            mend: what `mend` gave, to be shown on the page; None for nothing.

        Returns:
            The path.

        Raises:
            InputError: it cannot be written, or what is there is no page of sciprec.
        """
        from sciprec.tools.trace.page import trace_page

        integer("verify", verify, 0, 1000, "a whole number, 0 for none")
        free = targets.require_free(checked_path("the page", path), targets.PAGE)
        some = self.groups or self.outcome.lost
        verified = self.verify(verify) if verify and some and self._work.can_be_wider else None
        text = trace_page(self, self._work.sources(), self._work.growth(), verified, mend)
        return targets.write(free, text, targets.PAGE)

    def _summary(self) -> Summary:
        left = ("line", "source") if self.by == "line" else ("line", self.by)
        rows = [
            (
                str(n.line),
                n.source if self.by == "line" else n.name,
                n.percent,
                f"{n.rms:.2g}",
                f"{n.bits_lost:.1f}",
                f"{n.runs:,}",
                str(n.group or "–"),
            )
            for n in (self.lines if self.by == "step" else self.ranked)
            if n.share or n.rms or n.name == UNKNOWN
        ]
        notes = [
            f"{TITLES[self.metric]}: "
            + ", ".join(self.outcome.followed.in_words(*item) for item in self.outputs.items())
        ]
        notes += self.outcome.notes()
        if self.outcome.worst is not None:
            notes.append(f"worst number: {self.outcome.worst}")
        notes += told(self.events)
        notes += [f"exact values decide otherwise: {event}" for event in self.branches]
        heads = ("share", "rms of part", "bits lost", "runs", "group")
        listing = Listing(left, heads, rows, droppable=("rms of part", "runs", "group"))
        return Summary(self.verdict, listing, tuple(notes))


def trace(
    kernel: Callable[..., Any],
    backend: str | Backend,
    args: Sequence[Any] | Mapping[str, Any],
    *,
    output: str | Iterable[str] | None = None,
    metric: str = "relative_l2",
    by: str = "line",
    lanes: int = LANES,
    samples: int = SAMPLES,
) -> Trace:
    """Split the error of a kernel's results by where it arose.

    Every number carries its error, tested - exact, in parts: an operation passes the parts of its
    operands on and adds its own rounding to the part of its line. Exact is real arithmetic from the
    given numbers and literals along the path that the tested run took. Slopes are secants, so that
    the parts of a result add up to its error whatever its size.

    Args:
        kernel: a Python function in Numba's subset, an `@njit` function, or what `lift` gave.
        backend: a floating-point arithmetic without random bits, by name, spec string or Backend.
        args: a tuple of its arguments, or a mapping by parameter name. They are not written.
        output: which results count: names of arguments that the kernel writes (`NAME_0`, ... of
            those in a tuple), or "return" (`return_0`, ... of several); left out, all. Of several
            each is divided by its norm first.
        metric: by which the results err and what is split: "relative_l2", the norm of all their
            numbers, or "rms", the same in the units of the result; "max_relative", "relative_max"
            or "max_abs", the error of the one number of each that is worst by itself, beside the
            largest, or in the units of the result.
        by: what the error is split by: "line", "operation", "variable", "function", "call" or
            "step": the pass of the kernel's outermost loop.
        lanes: numbers beside each value: lanes - 1 groups are followed in one run; 4, 8, 16 or 32.
        samples: perturbed inputs over which parts of lines are correlated, each a run or a few;
            four times as many where the results are fewer numbers. 1 for none: every line is a
            group by itself.

    Returns:
        A Trace: lines with their share (signed, the sum is 1), groups of lines, events, a verdict.

    Raises:
        InputError: an argument cannot be used, or the backend has no rounding error of this kind.
        LiftError: the kernel cannot be lifted.

    Precision:
        Tested values are those of `lift`, bit for bit. An operation's own rounding is exact to
        about 1e-16 of it, of an elementary function to 2^-49 of its value, in formats of more than
        30 bits to 2^-80; one that was added to the operations counts as exact there. A number's
        rounding when it becomes an argument is booked on the argument, that of a literal on the
        line that uses it, that of a narrower array on the line that stores; those of np.sum, @, dot
        and the like on the line that calls them.
    """
    function = function_of(kernel, "trace")
    arithmetic = resolve_backend(backend)
    require_traceable(arithmetic, kernel=function)
    choice("by", by, BY)
    word("metric", metric, METRICS)
    if integer("lanes", lanes, 4, 32, "4, 8, 16 or 32") not in (4, 8, 16, 32):
        raise refused("lanes", lanes, "4, 8, 16 or 32")
    integer("samples", samples, 1, 10_000, "a whole number from 1")
    bound = bound_arguments(function, args)
    require_memory_of_kernel(function.__name__, bound, lanes)
    require_apart(function.__name__, bound)
    problem = Problem(function, arithmetic, bound, output, lanes, metric)
    return _KernelTrace(problem, by, samples).trace()


class _KernelTrace:
    """The runs of one trace, and the trace made of them.

    Args:
        problem: what is traced.
        by: what its error is split by.
        samples: perturbed inputs.
    """

    def __init__(self, problem: Problem, by: str, samples: int):
        self.problem, self.by = problem, by
        self.exam = Examination(problem)
        program = problem.kernel("parts").program
        every = self._steps() if by == "step" else groups_of(program, by)
        self.groups = [g for g in every if self.exam.ran(g) or g.steps]
        idle = [g for g in every if g not in self.groups]
        self.unknown = self._unknown()
        rounding = [g for g in self.groups if self.exam.rounds(g) or g.steps]
        self.rounding = rounding
        steps = self.exam.count_of_steps() if by == "step" else 0
        self.split = Split(problem, rounding, steps=steps)
        places = [self.groups.index(g) for g in rounding]
        self.parts = {place: self.split.part(n) for n, place in enumerate(places)}
        self.losses = ResultLosses(problem, self.exam, self.split)
        self.splits = not (self.split.cancels or self.losses.outcome.followed.lost)
        errors, ungrouped = self.split.total, self._lines()
        self.inputs = PerturbedInputs(problem, self.groups + idle, errors)
        chosen: list[int] = []
        if by != "step" and self.splits:
            few = errors.vector.size < samples
            samples = 4 * samples if few else samples
            chosen = large_parts([self.parts.get(n) for n in range(len(ungrouped))], errors.vector)
        gram = self.inputs.products(chosen, samples)
        correlated = len(self.inputs.used) > 1
        self.lines, self.line_groups = grouped(ungrouped, chosen, gram, correlated)
        self.blamed: list[Line] = []

    def _steps(self) -> list[OriginGroup]:
        """Arguments, then steps of the run."""
        program = self.problem.kernel("by step").program
        by_name = dict(zip(program.signature.parameters, self.problem.args, strict=True))
        arguments = [
            g for g in groups_of(program, "line")
            if g.argument and isinstance(by_name[g.argument], (np.ndarray, tuple))
        ]  # fmt: skip
        steps = self.exam.steps()
        if len(steps) == 1:
            raise InputError(
                f"kernel '{self.problem.function.__name__}' has no loop of its own; trace by "
                "'line', 'operation', 'variable', 'function' or 'call'"
            )
        return arguments_without_rows(arguments) + [
            group_of_step(step, steps, self.problem.function) for step in steps
        ]

    def trace(self) -> Trace:
        """Return the trace that the runs give."""
        whole_error, error = self.split.total, self.split.total.vector
        sum_of_parts = self.split.total.joined(self.exam.errors.errors)
        size, lines, groups = whole_error.size, tuple(self.lines), tuple(self.line_groups)
        events = self.exam.events()
        ranges = loaded(self.problem, self.exam.results)
        ranges += [e for e in events if e.kind != "branch"]
        outcome, healed = self.losses.outcome, None
        self.lost_by = lost_by = self.losses.caused_by(ranges) if outcome.left_out else None
        branches = [e for e in events if e.kind == "branch" and not outcome.followed.lost]
        turn = turned(self.problem, self.exam, outcome, branches) if branches else None
        if self.by in ("line", "operation"):
            place = None if lost_by is None else ranges.index(lost_by)
            ranges = with_causes(self.problem, self.groups, self.exam, ranges, lost_by)
            lost_by = None if place is None else ranges[place]
            if self.splits:
                healed = becomes_large(self.problem, self.groups, self.exam)
        self.blamed = self._blamed(lost_by, healed)
        total = sum(self.parts.values(), 0.0 * error)
        name, backend = self.problem.function.__name__, self.problem.backend
        findings = Findings(
            name, backend, self.by, outcome, lines, groups, tuple(ranges), lost_by, turn, healed,
            cancels=self.split.cancels,
        )  # fmt: skip
        return Trace(
            kernel=name,
            backend=backend.name,
            by=self.by,
            lines=lines,
            groups=groups,
            events=tuple(ranges),
            branches=tuple(branches),
            metric=self.problem.metric,
            outputs=outcome.relative,
            elements=outcome.elements,
            left_out=outcome.left_out,
            outcome=outcome,
            closure=norm(total - sum_of_parts) / size if self.splits else 0.0,
            inputs=len(self.inputs.used),
            passes=self.problem.passes,
            unknown=self.unknown,
            verdict=f"{findings.sentence()}{self._lost_updates(lines)}",
            _work=self,
        )

    def _lost_updates(self, lines: tuple[Line, ...]) -> str:
        """The sentence on a carried sum that loses half of what is added to it, where a line of
        such a sum makes much of the error; "" where none does.
        """
        if self.by == "step":
            return ""
        heavy = {line.line for line in lines if abs(line.share) >= _HEAVY and line.runs >= _MANY}
        backend, args = self.problem.backend, self.problem.args
        if not heavy:
            return ""
        sums = lost_sums(self.problem.function, backend, args, lambda item: item.line in heavy)
        alerts = alerts_of_sums(sums, {"lost": RULES["lost"].usual or 1.0})
        if not alerts:
            return ""
        return f" Line {alerts[0].variable.removeprefix('line:')} loses updates: {alerts[0].words}."

    def _blamed(self, lost_by: Event | None, healed: Healed | None) -> list[Line]:
        """Lines in the order in which they are to blame: those of the verdict, then by share and by
        bits lost.
        """
        named = [(e.file, e.line) for e in (lost_by,) if e is not None]
        named += [(healed.group.file, healed.group.line)] if healed is not None else []
        lines = [n for n in self.lines if n.name.startswith("line ")]
        first = [n for place in named for n in lines if (n.file, n.line) == place]
        rest = [n for n in lines if n not in first
                and (abs(n.share) > _BLAMED or n.bits_lost > _MANY_BITS)]  # fmt: skip
        return first + sorted(rest, key=lambda n: (-abs(n.share), -n.bits_lost))

    def _lines(self) -> list[Line]:
        """Return all lines with their shares, without their groups."""
        places = {id(g): n for n, g in enumerate(self.rounding)}
        error, lines = self.split.total.vector, []
        for place, group in enumerate(self.groups):
            number, part = places.get(id(group)), self.parts.get(place, 0.0 * error)
            shares = dict.fromkeys(self.split.total.names, 0.0)
            if number is not None and self.splits:
                shares = self.split.shares(number)
            lines.append(
                Line(
                    group.function,
                    group.file,
                    group.line,
                    group.source,
                    group.name,
                    share=share(part, error) if self.splits else 0.0,
                    rms=norm(part) / max(part.size, 1) ** 0.5,
                    shares=shares,
                    bits_lost=self.exam.bits_lost(group),
                    runs=group.steps[1] - group.steps[0] if group.steps else self.exam.runs(group),
                )
            )
        if self.unknown:
            at = self.problem.function.__code__
            source = f"own rounding of functions in {', '.join(self.unknown)}"
            lines.append(Line(
                at.co_name, at.co_filename, at.co_firstlineno, source, UNKNOWN, share=0.0, rms=0.0,
                shares=dict.fromkeys(self.split.total.names, 0.0),
            ))  # fmt: skip
        return lines

    def every_line(self) -> list[Line]:
        """A line for each group, of those that were not executed one of zeros."""
        ran = {(n.file, n.line, n.name): n for n in self.lines}

        def unexecuted(g: OriginGroup) -> Line:
            nothing = dict.fromkeys(self.split.total.names, 0.0)
            return Line(g.function, g.file, g.line, g.source, g.name, 0.0, 0.0, nothing)

        return [
            ran.get((g.file, g.line, g.name)) or unexecuted(g)
            for g in groups_of(self.problem.kernel("parts").program, self.by)
        ]

    @property
    def can_be_wider(self) -> bool:
        """Whether binary64 is wider than the arithmetic."""
        return can_be_wider(self.problem.backend)

    def growth(self) -> ShareGrowth | None:
        """Return the growth of the error by step, by line."""
        if self.by == "step" or not self.splits:
            return None
        sizes = [norm(part) for part in self.parts.values()]
        return growth(self.problem, self.rounding, sizes, self.exam)

    def sources(self) -> list[Source]:
        """The functions that lines are of, by line."""
        if self.by != "line":
            return []
        places = {(g.file, g.line) for g in self.groups if not g.argument}
        return [
            source for source in self.problem.kernel("parts").program.functions()
            if any(f == source.file and source.has(n) for f, n in places)
        ]  # fmt: skip

    def verify(self, top: int) -> Verification:
        """See `Trace.verify`."""
        backend, name = self.problem.backend, self.problem.function.__name__
        require_narrower(backend)
        checks = self._of_lost() + verified(self.inputs, self.line_groups[:top], called)
        return Verification(name, backend.name, checks, max(len(self.inputs.used), 1))

    def _of_lost(self) -> tuple[WiderLines, ...]:
        """Return the fate of lost numbers where the argument of the event is not rounded."""
        event, lost = self.lost_by, self.losses.outcome.lost
        if event is None or not event.of or not lost:
            return ()
        groups = groups_of(self.problem.kernel("parts").program, "line")
        group = next(g for g in groups if g.argument == event.argument)
        fraction = self.losses.left_with(group)
        numbers = counted(self.losses.outcome.elements, "number")
        why = f"{lost * fraction:,.0f} instead of {lost:,} of {numbers} are not finite then"
        return (WiderLines(0, (called(group),), math.nan, fraction, why=why),)

    def _unknown(self) -> tuple[str, ...]:
        """Name the lines of functions whose own rounding is not seen."""
        program, bits = self.problem.kernel("parts").program, self.exam.most_bits
        return tuple(group.name for group in self.groups if is_unseen(program, group, bits))


def arguments_without_rows(groups: Sequence[OriginGroup]) -> list[OriginGroup]:
    """Array arguments alone: numbers become arguments in the run, before its first step."""
    return [
        OriginGroup(g.function, g.file, g.line, g.source, g.name, (), g.argument) for g in groups
    ]
