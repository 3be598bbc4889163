"""The result of a search for formats."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from sciprec.arrays.metrics import MetricFunction, metric_of
from sciprec.cost.peak_rates import relative_seconds
from sciprec.foundation.arguments import Range, by_of
from sciprec.foundation.arguments import path as checked_path
from sciprec.foundation.errors import InputError
from sciprec.foundation.listing import Listing, Shown, Summary, counted
from sciprec.instruments.assigning.assignment import Assignment
from sciprec.precision.rewriting.syntax import Source
from sciprec.tools.tune.problem import Choice, TuningProblem
from sciprec.tools.tune.search import cheapest

MACHINE = "a100"
"""Whose published rates the modelled time is of: it has binary64."""


@dataclass(frozen=True)
class Tried:
    """A choice of formats that was run.

    Attributes:
        cost, error: of it.
        label: a format that is used everywhere, or what it is.
    """

    cost: float
    error: float
    label: str


@dataclass(frozen=True, repr=False)
class TuneResult(Shown):
    """Formats that a search has found.

    Attributes:
        name, metric, tolerance, by: what was tuned.
        formats: that were chosen from.
        assignment: place -> name of a format as given; what is left out has the widest.
        error: of the results with these formats, as `lift` runs them, on the inputs of the search.
        check_error: the largest on the inputs that it has not seen; None where there were none.
        limit: what the search kept to: the tolerance, over the margin where there is a check.
        cost: storage bits of all executed operations (+ - * / sqrt, fma and functions) over those
            of the widest format everywhere; with formats "bits", bits of significands.
        modelled: time of these operations at an A100's published rates over that of fp64
            everywhere; None where it has no rate for a format.
        operations: format -> its share of all executed operations.
        runs: how many choices were run.
        pareto: choices that were run and that no other beats in both cost and error, the cheapest
            first, and besides, under their names, formats to which everything was lifted: of
            formats "bits" the one that this takes.
        good: whether the tolerance is met, on the inputs of the check too.
        verdict: what there is to know, in a sentence or two.
        rounds: what has formats: "operations", or "everything", loads, arguments and comparisons
            too.
    """

    name: str
    metric: str
    tolerance: float
    by: str
    formats: tuple[str, ...]
    assignment: Assignment
    error: float
    check_error: float | None
    limit: float
    cost: float
    modelled: float | None
    operations: Mapping[str, float]
    runs: int
    pareto: tuple[Tried, ...]
    good: bool
    verdict: str
    rounds: str
    _problem: TuningProblem = field(repr=False, compare=False)
    _choice: Choice = field(repr=False, compare=False)

    @property
    def unit(self) -> str:
        """The older name of `by`, with a warning."""
        return by_of("", self.by)

    def save(self, path: str | Path) -> Path:
        """Write the assignment as TOML, for "assignment:PATH" wherever a backend is named; it is
        called as the file.

        Raises:
            InputError: it fails the check, or cannot be written.
        """
        self._require_good("saved")
        stem = Path(checked_path("the file of an assignment", path)).stem
        return self.assignment.named(stem).save(path)

    def _require_good(self, action: str) -> None:
        if not self.good:
            raise InputError(
                f"{self.verdict} So it is not {action}; give a larger margin or tolerance"
            )

    def next_steps(self) -> list[dict[str, Any]]:
        """Return cost and gain of the next wider format, for every place in a narrower one."""
        problem, formats = self._problem, self._problem.formats
        steps = []
        for number, current in enumerate(self._choice):
            wider = [n for n in formats.ascending if formats.bits[n] > formats.bits[current]]
            if wider:
                candidate = (*self._choice[:number], wider[0], *self._choice[number + 1 :])
                steps.append((number, wider[0], candidate))
        errors = problem.errors([each for *_, each in steps])
        return [
            {"place": problem.groups[g].name,
             "source": problem.groups[g].place.source, "format": formats.names[n],
             "error": error, "cost": problem.cost(each)}
            for (g, n, each), error in zip(steps, errors, strict=True)
        ]  # fmt: skip

    def wide_places(self) -> list[dict[str, Any]]:
        """The places in wider formats than the narrowest that was found, the widest first."""
        problem, bits = self._problem, self._problem.formats.bits
        least = min((bits[n] for n in self._choice), default=0)
        places = [
            {"function": g.place.function, "place": g.name, "source": g.place.source,
             "format": problem.formats.names[n], "bits": bits[n], "runs": g.runs}
            for g, n in zip(problem.groups, self._choice, strict=True) if bits[n] > least
        ]  # fmt: skip
        return sorted(places, key=lambda place: -place["bits"])

    def lines_of(self, file: str) -> list[tuple[int, str, int]]:
        """Lines of a file with their format, and how wide that is among all, from 0 to 4."""
        problem, lines = self._problem, []
        order = sorted(set(problem.formats.bits))
        for group, number in zip(problem.groups, self._choice, strict=True):
            if group.place.by == "line" and group.place.is_in(file):
                rank = order.index(problem.formats.bits[number])
                lines.append((group.place.line, problem.formats.names[number],
                              round(4 * rank / max(len(order) - 1, 1))))  # fmt: skip
        return lines

    def sources(self) -> list[Source]:
        """The functions whose operations have formats."""
        places = {(g.place.function, g.place.file) for g in self._problem.groups}
        every = dict.fromkeys(s for p in self._problem.programs for s in p.functions())
        return [
            source for source in every
            if any(source.function == f and source.file.endswith(path) for f, path in places)
        ]  # fmt: skip

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        omitted = ("_problem", "_choice", "assignment", "pareto")
        result = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in omitted}
        return result | {
            "assignment": self.assignment.as_dict(), "pareto": [asdict(t) for t in self.pareto]
        }  # fmt: skip

    def _summary(self) -> Summary:
        problem, rows = self._problem, []
        several = problem.sort == "model" and self.by != "stage"
        listed = list(zip(problem.groups, self._choice, strict=True))
        if several:  # many: what stays wide first
            listed.sort(key=lambda row: -problem.formats.bits[row[1]])
        for group, number in listed:
            place = group.place
            rows.append((
                *([place.function] if several else []), group.name, problem.formats.names[number],
                f"{group.runs:,}", place.source or place.text,
            ))  # fmt: skip
        uniform = [t for t in self.pareto if t.label in self.formats]
        notes = [f"executed operations: {self.operations_said}; {self.rounds_said}"]
        notes += [problem.doubt] * bool(problem.doubt)
        notes += [
            f"lifted whole to {t.label}: cost {t.cost:.3f}, error {t.error:.2g}"
            for t in uniform[:5]
        ]
        left = ("function", self.by) if several else (self.by,)
        listing = Listing((*left, "format"), ("runs",), rows, ("source",), ("runs",))
        return Summary(self.verdict, listing, tuple(notes))

    @property
    def rounds_said(self) -> str:
        """The treatment of loads, stores, arguments and comparisons, in words."""
        return _SAID[self.rounds]

    @property
    def operations_said(self) -> str:
        """The formats of executed operations, as words."""
        return ", ".join(f"{share:.1%} in {name}" for name, share in self.operations.items())


_SAID = {
    "operations": "loads, arguments and comparisons as they are",
    "everything": "loads, stores, arguments and compared numbers among them",
}

F = TypeVar("F", bound=TuneResult)


_TOLERANCE = Range("a number above zero", above=0)
_MARGIN = Range("a number from 1", least=1)


def checked_tolerance(tolerance: Any, margin: Any, metric: str | MetricFunction) -> float:
    """Check a tolerance and return it as a number; for a relative metric it may be in per cent.

    Raises:
        InputError: it is none, or the margin is none.
    """
    _MARGIN.number("margin", margin)
    if isinstance(tolerance, str):
        from sciprec.results.comparison.pointwise.error_metrics import limit_of

        tolerance = limit_of("tolerance", tolerance, metric_of(metric)[0])
    return _TOLERANCE.number("tolerance", tolerance)


def tuned(kind: type[F], problem: TuningProblem, tolerance: float, margin: float, check: Any) -> F:
    """Search, check, and return the result.

    Args:
        kind: of what is found.
        problem: what is tuned.
        tolerance, margin: see `tune`.
        check: inputs that the search does not see, or None.

    Raises:
        InputError: the widest format misses the tolerance.
    """
    tolerance = float(tolerance)
    limit = tolerance / (float(margin) if check is not None else 1.0)
    if check is not None:
        problem.truth(check)
    choice = cheapest(problem, limit)
    error, hidden = problem.judged(choice)
    checked = None
    if check is not None:
        checked, other = problem.judged(choice, check)
        hidden = hidden or other and f"{other} on the inputs of the check"
    good = error <= tolerance and (checked is None or checked <= tolerance)
    cost = problem.cost(choice)
    seconds = None if problem.formats.by_bits else relative_seconds(problem.formats.names, MACHINE)
    assignment = problem.assignment(choice)
    return kind(
        name=problem.name, metric=problem.metric_name, tolerance=tolerance,
        by=problem.by, formats=problem.formats.names, assignment=assignment, error=error,
        check_error=checked, limit=limit, cost=cost,
        modelled=None if seconds is None else problem.modelled(choice, seconds),
        operations=problem.shares(choice),
        runs=problem.runs, pareto=_pareto(problem, choice, limit), good=good,
        verdict=_verdict(problem, choice, error, checked, tolerance, cost)
        + _hidden(hidden if good else "") + _compared(problem, choice, tolerance, check),
        rounds=problem.rounds,
        _problem=problem, _choice=choice,
    )  # fmt: skip


def _verdict(
    problem: TuningProblem, choice: Choice, error: float, checked: float | None,
    tolerance: float, cost: float,
) -> str:  # fmt: skip
    """Return the verdict of the search, a sentence."""
    widest = problem.formats.names[problem.formats.widest]
    narrow = sum(n != problem.formats.widest for n in choice)
    every = counted(len(problem.groups), problem.by)
    text = (
        f"'{problem.name}': {narrow} of {every} can be narrower than {widest}: {cost:.0%} of its "
        f"bits, error {error:.2g} where {tolerance:.2g} is allowed"
    )
    if checked is None:
        return f"{text}; not checked on other inputs."
    if checked <= tolerance:
        return f"{text}; holds on other inputs, with {checked:.2g}."
    beyond = f"{checked / tolerance:.3g} times the tolerance"
    return f"{text}; FAILS on other inputs, with {checked:.2g}, {beyond}."


def _hidden(element: str) -> str:
    """A sentence on a wrong element of a good answer."""
    return f" But {element}, which this error hides." if element else ""


def _compared(problem: TuningProblem, choice: Choice, tolerance: float, check: Any) -> str:
    """A sentence on formats that pass for operations, and miss where loads, arguments and
    comparisons have them, too.
    """
    missed = []
    for number in dict.fromkeys(choice):
        uniform = (number,) * len(choice)
        alone = choice == uniform or not problem.formats.by_bits and (
            problem.error(uniform) <= tolerance
        )  # fmt: skip
        error = problem.error_in(number) if alone else 0.0
        if alone and check is not None:
            error = max(error, problem.error_in(number, check))
        if error > tolerance:
            missed.append(f"'{problem.formats.names[number]}' ({error:.2g})")
    if not missed:
        return ""
    return (
        f" Lifted whole to {' or '.join(missed)} it misses: loads, arguments and comparisons then "
        "have the format, too; rounds='everything' searches with these."
    )


def _pareto(problem: TuningProblem, choice: Choice, limit: float) -> tuple[Tried, ...]:
    """Return the choices that no other beats, and the errors of everything lifted to one format."""
    if not problem.groups:
        return ()
    by_cost = sorted((problem.cost(c), e, c) for c, e in problem.tried.items() if len(set(c)) > 1)
    front: list[Tried] = []
    least = math.inf
    for cost, error, candidate in by_cost:
        if error < least or candidate == choice:
            front.append(Tried(cost, error, "tuned" if candidate == choice else "tried"))
        least = min(least, error)
    uniform = [
        Tried(problem.cost((n,) * len(choice)), problem.error_in(n), problem.formats.names[n])
        for n in _lifted_formats(problem, choice, limit)
    ]
    return tuple(sorted([*front, *uniform], key=lambda item: (item.cost, item.error)))


def _lifted_formats(problem: TuningProblem, choice: Choice, limit: float) -> list[int]:
    """The formats to which everything is lifted: all, but of many that differ in bits alone the
    cheapest that passes, and that of a choice which has one.
    """
    formats = problem.formats
    if not formats.by_bits:
        return list(range(len(formats.names)))
    uniform = {c[0]: e for c, e in problem.tried.items() if len(set(c)) == 1}
    passing = [n for n in formats.ascending if uniform.get(n, math.inf) <= limit][:1]
    return sorted({*passing, *(choice[:1] if len(set(choice)) == 1 else ())})
