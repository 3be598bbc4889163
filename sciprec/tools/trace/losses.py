"""Results whose error cannot be split: those that are not finite, and those that were made of an
infinity; events of numbers that are loaded; and the event, or the decision, that such results come
from.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from sciprec.arrays.metrics import OF_ONE, Worst, error_by, of_elements, worst_element
from sciprec.arrays.quantization import quantize
from sciprec.foundation.alike import tuple_like
from sciprec.instruments.tracing import rows
from sciprec.instruments.tracing.operations import COMPARISONS
from sciprec.precision.formats.backend import Backend
from sciprec.tools.trace.attribution import Result, arithmetics_of, floats, stored_in
from sciprec.tools.trace.examination import Event, Examination
from sciprec.tools.trace.following import Followed, doubt_of, followed
from sciprec.tools.trace.origins import OriginGroup
from sciprec.tools.trace.problem import Problem
from sciprec.tools.trace.splitting import Errors, Split

LOSING = ("NaN", "infinity")
"""Kinds of events that results do not come back from."""
AS_MUCH = 2.0
"""How many times as far as rounding a decision takes results that are said to be its."""
LONGER = 4
"""How many times as long a run may take in which exact values decide."""
FEW = 8.0
"""Roundings up to which a number that was made of an infinity, as one over it, counts as right."""
MOST_ASKED = 12
"""Events that are taken back, one by one, in the order in which they happened."""


@dataclass(frozen=True)
class NumberFate:
    """The fate of the numbers of the results.

    Attributes:
        elements: how many there are.
        lost: how many are not finite, and exact arithmetic's are.
        nans: how many of these are NaN.
        endless: how many are not finite in exact arithmetic.
        passed: how many are finite, and were made of numbers that were not.
        singular: how many have parts that cancel, as beside a singularity, so that none is said.
        relative: name -> error of that result by the metric, of numbers that are finite in both; of
            one that is zero in exact arithmetic the l2 norm of its error, where the metric is a
            relative one of that, and NaN where exact values are lost.
        size: the largest relative l2 error of a result, or by a metric of one number its relative
            error; what is compared with roundings.
        worst: the number that the norm hides, if there is one.
        unwritten: the results, if the run has stored nothing into any of them; else "".
        followed: what is known of exact values.
    """

    elements: int
    lost: int = 0
    endless: int = 0
    passed: int = 0
    singular: int = 0
    nans: int = 0
    relative: dict[str, float] = field(default_factory=dict)
    size: float = 0.0
    worst: Worst | None = None
    unwritten: str = ""
    followed: Followed = field(default_factory=Followed)

    @property
    def left_out(self) -> int:
        """The number of elements that the shares leave out."""
        return self.lost + self.endless + self.passed + self.singular

    @property
    def largest(self) -> float:
        """The largest relative error of a result."""
        return max(self.relative.values(), default=0.0)

    def notes(self) -> list[str]:
        """Return sentences on the numbers that the shares leave out, and why."""
        counts = {
            "not finite, and exact ones are": self.lost,
            "not finite in exact arithmetic either": self.endless,
            "left out of shares: what they are made of was not finite": self.passed,
            "left out of shares: their parts cancel, as beside a singularity": self.singular,
        }
        return [f"{n:,} of {self.elements:,} numbers {why}" for why, n in counts.items() if n]


class ResultLosses:
    """The results of a run with exact values beside those of a split.

    Args:
        problem: which run.
        seen: the run with exact values.
        split: the error in parts.
    """

    def __init__(self, problem: Problem, exact_run: Examination, split: Split) -> None:
        self.problem, self.exam, self.split = problem, exact_run, split

    @cached_property
    def _exact(self) -> list[np.ndarray]:
        """Whether exact values are finite."""
        return [np.isfinite(r.beside[..., 0]) for r in self.exam.results]

    def left_with(self, group: OriginGroup) -> float:
        """Return the share of the lost numbers that is still lost where a group is computed in
        binary64.
        """
        after = Split(self.problem, [], wide=[group]).results
        pairs = zip(self.exam.results, after, self._exact, strict=True)
        lost = [(~np.isfinite(a.tested))[e & ~np.isfinite(b.tested)] for b, a, e in pairs]
        joined = np.concatenate([array.ravel() for array in lost])
        return float(joined.mean())

    @cached_property
    def wrong(self) -> list[np.ndarray]:
        """Return the elements that are not finite, though exact ones are; without such elements
        those that are wrong and were made of numbers that are not finite.
        """
        results, arithmetics = self.exam.results, arithmetics_of(self.problem.backend)
        wide = FEW * arithmetics[0].format.unit_roundoff
        lost = [e & ~np.isfinite(r.tested) for r, e in zip(results, self._exact, strict=True)]
        if any(mask.any() for mask in lost):
            return lost
        errors = (of_elements(e, r.beside[..., 0]) for r, e in zip(
            results, self.exam.errors.errors, strict=True))  # fmt: skip
        triples = zip(self._exact, self.split.finite, errors, strict=True)
        return [exact & ~is_known & (error > wide) for exact, is_known, error in triples]

    @cached_property
    def outcome(self) -> NumberFate:
        """The outcome of all numbers."""
        tested = [np.isfinite(r.tested) for r in self.exam.results]
        triples = list(zip(tested, self._exact, self.split.finite, strict=True))
        split = self.split
        twins = zip(split.total.errors, self.exam.errors.errors, split.finite, strict=True)
        errors = [np.where(is_known, error, twin) for error, twin, is_known in twins]
        every, exam = Errors(self.split.results, errors), self.exam
        followed_to = followed(exam.results, every, self.split, exam.program, exam.most_bits)
        l2 = followed_to.errors
        by, size = l2, max((e for e in l2.values() if e == e), default=0.0)
        if self.problem.metric != "relative_l2":
            by = self._by_metric(every) | {name: l2[name] for name in followed_to.lost}
        names = [r.name for r in exam.results]
        if self.problem.metric in OF_ONE:
            relative = "relative_max" if self.problem.metric == "max_abs" else self.problem.metric
            size = max(self._by_metric(every, relative).values(), default=0.0)
        return NumberFate(
            every.elements,
            lost=sum(int((e & ~t).sum()) for t, e, _ in triples),
            nans=sum(int((e & np.isnan(r.tested)).sum()) for e, r in zip(
                self._exact, self.exam.results, strict=True)),
            endless=sum(int((~e).sum()) for _, e, _ in triples),
            passed=sum(int((t & e & ~k).sum()) for t, e, k in triples),
            singular=sum(int((s & e).sum()) for s, e in zip(
                self.split.singular, self._exact, strict=True)),
            relative=by,
            size=size,
            unwritten=" or ".join(names) if not any(r.written for r in self.exam.results) else "",
            worst=None
            if followed_to.lost or self.problem.metric in OF_ONE
            else self._hidden(errors, l2, followed_to.absolute),
            followed=followed_to,
        )  # fmt: skip

    def _by_metric(self, every: Errors, metric: str = "") -> dict[str, float]:
        """Name -> error of a result by a metric, the problem's unless it is said."""
        metric = metric or self.problem.metric
        triples = zip(self.exam.results, every.errors, every.usable, strict=True)
        return {
            r.name: error_by(metric, e[u], r.beside[..., 0][u]) if u.any() else 0.0
            for r, e, u in triples
        }

    def _hidden(
        self, errors: Sequence[np.ndarray], relative: dict[str, float], absolute: Sequence[str]
    ) -> Worst | None:
        """The worst element of all results that is far from the norm of its own; none that is
        surely zero in exact arithmetic, and none of a result that may be zero as a whole.
        """
        far = []
        for result, error in zip(self.exam.results, errors, strict=True):
            exact, doubt = result.beside[..., 0], doubt_of(result)
            size = np.copysign(abs(exact) + doubt, exact)
            worst = worst_element(result.name, result.tested, error, size)
            norm = relative[result.name]
            if worst is None or result.name in absolute or not worst.is_far(norm):
                continue
            unsure = (2.0 * doubt >= abs(exact)) & (size == worst.truth)
            far.append(replace(worst, at_most=bool(unsure.any())))
        return max(far, key=lambda worst: worst.relative, default=None)

    def caused_by(self, events: Sequence[Event]) -> Event | None:
        """Return the first event that results were lost by: without it, one of them is another
        number. Events that exact arithmetic does not have are asked first, and the first of them is
        returned where none alone is enough; the first event that exact arithmetic has, too, where
        it has all that results have.
        """
        losing = [e for e in events if e.kind in LOSING]
        if not any(w.any() for w in self.wrong):
            return next((e for e in losing if e.exact), None)
        candidates = [e for e in losing if not e.exact] or losing
        if len(candidates) > 1:
            for event in candidates[:MOST_ASKED]:
                if self._changes(self.without(event)):
                    return event
        return candidates[0] if candidates else None

    def without(self, event: Event) -> list[Result]:
        """The results of a run in which an event is taken back."""
        table = self.problem.table("twin")
        if event.of:
            args = held_arguments(self.problem, event.argument)
            return self.problem.run("twin", table, args)
        table.words[self.exam.rows_of(event), rows.TREATMENT] = rows.HELD
        return self.problem.run("twin", table)

    def _changes(self, results: Sequence[Result]) -> bool:
        """Whether a number that was wrong is another one, and a finite one if there is one."""
        for before, after, wrong in zip(self.exam.results, results, self.wrong, strict=True):
            old, new = before.tested[wrong], after.tested[wrong]
            if (np.isfinite(new) & ~(old == new)).any():
                return True
        return False


# ---- decisions ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Turn:
    """A decision that takes results further from exact ones than rounding does.

    Attributes:
        event: the line that decides otherwise than exact values.
        apart: how far results are from exact ones that decide by themselves, by the metric.
        left: how far if that line decides as these do.
        unwritten: a result into which nothing was stored, or "".
        far: how far results are from exact ones, in words.
    """

    event: Event
    apart: float
    left: float
    unwritten: str = ""
    far: str = ""


def turned(
    problem: Problem, exact_run: Examination, outcome: NumberFate, branches: Sequence[Event]
) -> Turn | None:
    """The line whose decisions take results furthest, if they matter more than rounding does: runs
    in which comparisons decide as exact values do.

    Args:
        problem, exact_run: the run as it is.
        outcome: what rounding on its path makes of it.
        branches: lines that decide otherwise, by time.
    """
    compares = [
        n for n, row in enumerate(exact_run.program.layout.rows)
        if exact_run.program.sites[row.site].operation in COMPARISONS
    ]  # fmt: skip
    rows_of = {event: sorted({*exact_run.rows_of(event)} & {*compares}) for event in branches}
    rows_of = {event: numbers for event, numbers in rows_of.items() if numbers}
    exact = _deciding(problem, exact_run, compares) if rows_of else None
    if exact is None:
        return None
    truth = {r.name: r.beside[..., 0] for r in exact}
    apart = _apart(problem, exact_run.results, truth)
    unit = arithmetics_of(problem.backend)[0].format.unit_roundoff
    if not apart > max(AS_MUCH * outcome.largest, FEW * unit):
        return None
    distances = {}
    for event in list(rows_of)[:MOST_ASKED]:
        run = _deciding(problem, exact_run, rows_of[event])
        distances[event] = math.inf if run is None else _apart(problem, run, truth)
    event = min(distances, key=lambda each: distances[each])
    nothing = next((r.name for r in exact_run.results if not r.written), "")
    far = f"{apart:.2g} from exact ones"
    if math.isinf(apart):
        far = next(filter(None, (_far(r, truth) for r in exact_run.results)), "far from exact ones")
    return Turn(event, apart, distances[event], nothing, far)


def _far(result: Result, truth: dict[str, np.ndarray]) -> str:
    """Say in which way a result is far from exact ones where no share of their size says it; ""
    where it is not.
    """
    exact = truth.get(result.name)
    if exact is None or exact.shape != result.tested.shape:
        return "of another shape than exact ones"
    exact_is_finite, is_finite = np.isfinite(exact), np.isfinite(result.tested)
    if (exact_is_finite & ~is_finite).any():
        return "not finite where exact ones are"
    if (is_finite & ~exact_is_finite).any():
        return "finite where exact ones are not"
    largest = np.abs(result.tested - exact)[exact_is_finite].max(initial=0.0)
    return f"up to {largest:.3g} from exact ones, which are zero" if largest else ""


def _deciding(
    problem: Problem, exam: Examination, compares: Sequence[int]
) -> list[Result] | None:
    """The results of a run in which some rows decide as exact values do; None where it takes much
    longer.
    """
    table = problem.table("twin")
    table.words[list(compares), rows.TREATMENT] = rows.HEALED
    stop = LONGER * (int(exam.table.header[rows.CLOCK]) + 1000)
    table.header[rows.STOP] = stop
    results = problem.run("twin", table)
    return results if table.header[rows.CLOCK] < stop else None


def _apart(problem: Problem, results: Sequence[Result], truth: dict[str, np.ndarray]) -> float:
    """Return the largest distance of results from exact ones by the metric; infinite where one of
    two numbers alone is finite, or their shapes differ.
    """
    largest = 0.0
    for result in results:
        exact = truth.get(result.name)
        if exact is None or exact.shape != result.tested.shape:
            return math.inf
        is_finite = np.isfinite(exact)
        if not np.array_equal(is_finite, np.isfinite(result.tested)):
            return math.inf
        if is_finite.any():
            error = result.tested[is_finite] - exact[is_finite]
            largest = max(largest, error_by(problem.metric, error, exact[is_finite]))
    return largest


# ---- arguments ---------------------------------------------------------------------------------


def loaded(problem: Problem, results: Sequence[Result]) -> list[Event]:
    """Return the events of rounding array elements to the format that kernels are given them in: of
    every array and kind of event the first one; none of arrays that nothing depends on.

    Args:
        problem: whose arguments they are.
        results: of a run with exact values.
    """
    events = [
        event
        for parameter, name, array in _arrays(problem)
        for event in _of_array(problem, parameter, name, array)
    ]
    sizes = 1.0, stored_in(problem.backend).format.max_finite  # one alone may be NaN as well
    matters = {
        name: any(_matters(problem, name, results, size) for size in sizes)
        for name in {e.argument for e in events}
    }
    return [event for event in events if matters[event.argument]]


def held_arguments(problem: Problem, argument: str, size: float = 1.0) -> tuple:
    """The arguments, in one of which elements that leave the range of the format have a size and
    their sign.
    """
    names = problem.kernel("twin").names
    return tuple(
        _moved(a, problem, size) if n == argument else a
        for n, a in zip(names, problem.args, strict=True)
    )  # fmt: skip


def _arrays(problem: Problem) -> Iterator[tuple[str, str, np.ndarray]]:
    """Parameter, name and elements of all arrays of floats; those of a tuple have numbers."""
    for parameter, argument in zip(problem.kernel("twin").names, problem.args, strict=True):
        several = argument if isinstance(argument, tuple) else (argument,)
        for n, item in enumerate(several):
            name = f"{parameter}_{n}" if isinstance(argument, tuple) else parameter
            yield from ((parameter, name, array) for array in floats(item))


def kinds_of(array: np.ndarray, backend: Backend) -> dict[str, np.ndarray]:
    """Kind of event -> the elements that it happens to when they are rounded to the storage."""
    exact = np.asarray(array, np.float64)
    end = stored_in(backend).format.max_finite
    with np.errstate(all="ignore"):
        rounded = np.asarray(quantize(exact, backend), np.float64)
    is_finite = np.isfinite(exact)
    return {
        "NaN": is_finite & np.isnan(rounded),
        "infinity": is_finite & np.isinf(rounded),
        "saturation": is_finite & np.isfinite(rounded) & (abs(exact) > end) & (abs(rounded) == end),
        "underflow to zero": (rounded == 0.0) & (exact != 0.0),
    }


def _of_array(
    problem: Problem, parameter: str, name: str, array: np.ndarray
) -> list[Event]:
    code, events = problem.function.__code__, []
    for kind, where in kinds_of(array, problem.backend).items():
        if where.any():
            events.append(Event(
                kind, problem.function.__name__, code.co_filename, code.co_firstlineno,
                element(name, array, where), (),
                "", 0, int(where.sum()), argument=parameter, of=array.size,
            ))  # fmt: skip
    return events


def element(name: str, array: np.ndarray, where: np.ndarray) -> str:
    """Describe in words the first of some elements of an argument."""
    at = np.unravel_index(int(np.argmax(where)), array.shape)
    index = f"[{', '.join(map(str, at))}]" if at else ""
    return f"argument {name}{index} = {float(array[at]):,.6g}"


def _moved(argument: Any, problem: Problem, size: float) -> Any:
    if isinstance(argument, tuple):
        return tuple_like(argument, (_moved(item, problem, size) for item in argument))
    if not floats(argument):
        return argument
    leaves = np.logical_or.reduce(list(kinds_of(argument, problem.backend).values()))
    return np.where(leaves, np.copysign(size, argument), argument).astype(argument.dtype)


def _matters(
    problem: Problem, argument: str, results: Sequence[Result], size: float
) -> bool:
    """Whether results depend on elements of an argument that are out of the format's range."""
    moved = held_arguments(problem, argument, size)
    after = problem.run("twin", problem.table("twin"), moved)
    arrays = {name: a for parameter, name, a in _arrays(problem) if parameter == argument}
    pairs = {name: (a, _moved(a, problem, size)) for name, a in arrays.items()}
    for old, new in zip(results, after, strict=True):
        unchanged = (old.tested == new.tested) | (np.isnan(old.tested) & np.isnan(new.tested))
        if old.name in pairs:  # what was not written is as it was given
            before, instead = pairs[old.name]
            unchanged |= (old.tested == before) & (new.tested == instead)
        if not unchanged.all():
            return True
    return False
