"""`trace_program`: where the error of a whole model arises, kernel by kernel and line by line.

A model calls many kernels and does things between them. All its kernels share the parts of one
table; a run follows some groups of their operations, functions first, then the lines of those
functions in which much of the error arises.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sciprec.checks.arguments import refused, whole, word
from sciprec.diagnosis.attribution import require_traceable
from sciprec.diagnosis.examination import Event
from sciprec.diagnosis.lines import LANES, Line
from sciprec.diagnosis.model_groups import BETWEEN
from sciprec.diagnosis.model_runs import Census
from sciprec.diagnosis.model_splitting import APART, Splitting
from sciprec.diagnosis.origins import BY
from sciprec.diagnosis.problem import chosen_names
from sciprec.diagnosis.splitting import norm, share
from sciprec.display.listing import Listing, Shown, Summary, counted
from sciprec.errors import InputError
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.tracing.operations import SEEN_BITS


@dataclass(frozen=True, repr=False)
class ModelTrace(Shown):
    """Where the error of a model's results arises.

    Attributes:
        model, backend, by: what was traced, and how hot functions are split.
        lines: functions and, of hot ones, their lines; conversions of arguments; what is rounded
            between kernels. In the order of the source.
        outputs: name -> relative l2 error of that result.
        times: of the stored states of results that have a time axis; empty without one.
        growth: name of a line -> rms of its part at these times, results over their norms.
        until: the time whose state is traced; None without a time axis.
        shortened: whether later states were left out, since parts cancel there.
        sizes: sum of the sizes of all parts over the size of their sum.
        elements: how many numbers the results have.
        left_out: how many of them are not finite.
        closure: |sum of parts - (tested - twin)| / |error|.
        events: NaN, infinities, saturation, underflow to zero, and branches that exact values would
            have decided otherwise, by line.
        passes: how often the model was run with its error in parts.
        calls: of kernels in a run.
        operations: of kernels in a run.
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
    passes: int
    calls: int
    operations: int

    @property
    def ranked(self) -> list[Line]:
        """The lines, the largest part first."""
        return sorted(self.lines, key=lambda n: -abs(n.share))

    @property
    def verdict(self) -> str:
        """What there is to know, in a sentence."""
        if self.elements == self.left_out:
            return "No result is finite: there is no error to split."
        if not any(self.outputs.values()):
            return f"'{self.model}' makes no error in {self.backend}: all shares are 0."
        first = self.ranked[0]
        return (
            f"{first.share:.0%} of the error of '{self.model}' in {self.backend} is rounding of "
            f"{_called(first)}."
        )

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return asdict(self) | {"verdict": self.verdict}

    def _summary(self) -> Summary:
        rows = [
            (n.function, str(n.line or ""), n.source, n.percent, f"{n.rms:.2g}")
            for n in self.ranked
            if n.share or n.rms
        ]
        errors = ", ".join(f"{name} {error:.2g}" for name, error in self.outputs.items())
        notes = [f"relative l2 error: {errors}" + self._when]
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
        notes += [_said(kind, self.events) for kind in dict.fromkeys(e.kind for e in self.events)]
        notes.append(
            f"{self.passes} passes of {_rounded_count(self.operations)} operations in "
            f"{self.calls:,} calls of kernels; closure {self.closure:.1g}"
        )
        listing = Listing(("function", "line", "source"), ("share", "rms of part"), rows)
        return Summary(self.verdict, listing, tuple(notes))

    @property
    def _when(self) -> str:
        return "" if self.until is None else f" at time {self.until:g}"


def _said(kind: str, events: Sequence[Event]) -> str:
    """How often something happened, and where most often."""
    some = [event for event in events if event.kind == kind]
    total, first = sum(event.count for event in some), some[0]
    what = "decided otherwise by exact values" if kind == "branch" else kind
    times = "once" if total == 1 else f"{total:,} times"
    return f"{what}: {times}, most in line {first.line} of '{first.function}': {first.source}"


def _called(line: Line) -> str:
    if line.name.startswith("line "):
        return f"line {line.line} in '{line.function}': {line.source}"
    if line.name.startswith("calls "):
        return f"{line.name} of kernels"
    if line.source == BETWEEN:
        return "the model's own float32 arrays"
    what = {"arguments": "its arguments", "roundings": "arrays between kernels"}.get(
        line.name, line.name
    )
    return f"{what} in '{line.function}'"


@dataclass(frozen=True)
class Results:
    """What a program gives: numbers by name.

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
) -> ModelTrace:
    """Split the error of a model's results by where it arose.

    Args:
        program: runs the model in a backend, from its initial state on, and gives its results; all
            kernels are lifted to that very backend.
        backend: a floating-point arithmetic without random bits, of at most 30 bits.
        model: its name.
        output: names of the results that count; left out, all.
        by: what hot functions are split by: "line", "operation", "variable"; "function": by none;
            "step": by consecutive calls of kernels, a twelfth of the run each.
        lanes: numbers beside each value: lanes - 2 groups are followed in one run; 4, 8, 16 or 32.

    Raises:
        InputError: an argument cannot be used; rounded numbers decide what the model does between
            kernels; no arithmetic of this kind.
        LiftError: a kernel cannot be traced.
    """
    arithmetic = resolve_backend(backend)
    require_traceable(arithmetic)
    _require_few_bits(arithmetic)
    word("by", by, [b for b in BY if b != "call"])
    if whole("lanes", lanes, 4, 32, "4, 8, 16 or 32") not in (4, 8, 16, 32):
        raise refused("lanes", lanes, "4, 8, 16 or 32")
    census = Census(program, arithmetic)
    wanted = chosen_names(tuple(census.results.values), output)
    split = Splitting(program, arithmetic, wanted, lanes, census)
    split.split(by)
    return _made(split, model, by)


def _require_few_bits(backend: Backend) -> None:
    if backend.compute.format.significand_bits > SEEN_BITS:
        raise InputError(
            f"backend '{backend.name}' has {backend.compute.format.significand_bits} bits; the "
            f"trace of a model takes at most {SEEN_BITS}, since what is between its kernels is "
            "computed in binary64: take a narrower one, or trace a kernel by itself"
        )


def _made(split: Splitting, model: str, by: str) -> ModelTrace:
    """What the runs say."""
    results, outputs = split.results, split.outputs
    times = tuple(results.times) if any(n in results.timed for n in outputs) else ()
    chosen = split.last_usable(len(times))
    error, known = split.at(split.errors, chosen), split.at(split.known, chosen)
    size, total, sizes, lines, growth = norm(error), np.zeros_like(error), 0.0, [], {}
    for key, joint in split.all_groups():
        group, part = joint.group, split.at(split.parts[key], chosen)
        total, sizes = total + part, sizes + norm(part)
        whole = key[0] == "function"
        line = Line(
            group.function, group.file, group.line, "all lines" if whole else group.source,
            group.name, share=share(part, error), rms=_rms(part), runs=split.notes.runs(joint.rows),
            bits_lost=split.notes.bits_lost(joint.rows),
            shares={n: split.share_of(key, chosen, n) for n in outputs},
        )  # fmt: skip
        lines.append(line)
        over_time = (split.at(split.parts[key], n) for n in range(len(times)))
        growth[f"{line.function}: {line.name}"] = tuple(map(_rms, over_time))
    shapes = {n: np.shape(results.values[n])[n in results.timed :] for n in outputs}
    elements = sum(map(math.prod, shapes.values()))
    return ModelTrace(
        model=model, backend=split.backend.name, by=by, lines=tuple(lines),
        outputs={n: norm(split.at(split.errors, chosen, (n,))) for n in outputs}, times=times,
        growth=growth, until=times[chosen] if times else None,
        shortened=bool(times) and chosen % len(times) != len(times) - 1,
        sizes=sizes / size if size else 0.0, elements=elements, left_out=elements - error.size,
        closure=norm(total - known) / size if size else 0.0, events=split.notes.events(),
        passes=split.passes, calls=split.census.calls,
        operations=split.notes.operations(),
    )  # fmt: skip


def _rms(x: np.ndarray) -> float:
    return norm(x) / max(x.size, 1) ** 0.5


def _rounded_count(count: int) -> str:
    """A number of two digits, in words where it is large."""
    for size, word_ in ((10**9, " billion"), (10**6, " million")):
        if count >= size:
            return f"{count / size:.2g}{word_}"
    return f"{count:,}"
