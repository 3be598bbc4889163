"""`tune`: the cheapest format for every line of a kernel, within a tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sciprec.checks.arguments import refused, word
from sciprec.diagnosis.problem import bound_arguments
from sciprec.display.listing import Listing, Shown, Summary, counted
from sciprec.errors import InputError
from sciprec.machine.cost import relative_seconds
from sciprec.precision.assigning.assignment import Assignment
from sciprec.precision.assigning.places import UNITS
from sciprec.precision.lifting.lifted import Lifted
from sciprec.precision.rewriting.syntax import LiftError, plain_function
from sciprec.tuning.formats import formats_of
from sciprec.tuning.metrics import Metric, metric_of
from sciprec.tuning.problem import Choice, TuningProblem
from sciprec.tuning.search import cheapest

if TYPE_CHECKING:
    from sciprec.report.trace_page import Source

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
class Tuned(Shown):
    """Formats that a search has found.

    Attributes:
        kernel, metric, tolerance, unit: what was tuned.
        formats: that were chosen from.
        assignment: place -> name of a format as given; what is left out has the widest.
        error: of the results with these formats, on the inputs of the search.
        check_error: the largest on the inputs that it has not seen; None where there were none.
        limit: what the search kept to: the tolerance, over the margin where there is a check.
        cost: storage bits of all executed operations (+ - * / sqrt, fma and functions) over those
            of the widest format everywhere; with formats "bits", bits of significands.
        modelled: time of these operations at an A100's published rates over that of fp64
            everywhere; None where it has no rate for a format.
        runs: how many choices were run.
        pareto: choices that were run and that no other beats in both cost and error, the cheapest
            first, and the uniform ones besides.
        good: whether the tolerance is met, on the inputs of the check too.
        verdict: what there is to know, in a sentence.
    """

    kernel: str
    metric: str
    tolerance: float
    unit: str
    formats: tuple[str, ...]
    assignment: Assignment
    error: float
    check_error: float | None
    limit: float
    cost: float
    modelled: float | None
    runs: int
    pareto: tuple[Tried, ...]
    good: bool
    verdict: str
    _problem: TuningProblem = field(repr=False, compare=False)
    _choice: Choice = field(repr=False, compare=False)

    def apply(self) -> Lifted:
        """The kernel lifted to the formats that were found.

        Raises:
            InputError: they fail the check.
        """
        from sciprec.precision.lifting.lifting import lift

        self._require_good("applied")
        return lift(self._problem.kernel, self.assignment)

    def save(self, path: str | Path) -> Path:
        """Write the assignment as TOML, for "assignment:PATH" wherever a backend is named.

        Raises:
            InputError: it fails the check, or cannot be written.
        """
        self._require_good("saved")
        return self.assignment.save(path)

    def _require_good(self, done: str) -> None:
        if not self.good:
            raise InputError(
                f"{self.verdict} So it is not {done}; give a larger margin or tolerance"
            )

    def html(self, path: str | Path) -> Path:
        """Write a page: the source with a format for every line, error against cost, and what one
        wider format would buy, which takes a run for every place.

        Raises:
            InputError: it cannot be written.
        """
        from sciprec.report.stored.batch import write_text
        from sciprec.report.tune_page import tune_page

        return write_text(Path(path), tune_page(self, self.sources(), self.next_steps()))

    def next_steps(self) -> list[dict[str, Any]]:
        """For every place in a narrower format, what the next wider one costs and gives."""
        problem, formats = self._problem, self._problem.formats
        found = []
        for number, own in enumerate(self._choice):
            wider = [n for n in formats.ascending if formats.bits[n] > formats.bits[own]]
            if wider:
                tried = (*self._choice[:number], wider[0], *self._choice[number + 1 :])
                found.append((number, wider[0], tried))
        errors = problem.errors([tried for *_, tried in found])
        return [
            {"place": str(problem.groups[g].place.key(problem.groups[g].place.file)),
             "source": problem.groups[g].place.source, "format": formats.names[n],
             "error": error, "cost": problem.cost(tried)}
            for (g, n, tried), error in zip(found, errors, strict=True)
        ]  # fmt: skip

    def lines_of(self, file: str) -> list[tuple[int, str, int]]:
        """Lines of a file with their format, and how wide that is among all, from 0 to 4."""
        problem, found = self._problem, []
        order = sorted(set(problem.formats.bits))
        for group, number in zip(problem.groups, self._choice, strict=True):
            if group.place.unit == "line" and group.place.is_in(file):
                rank = order.index(problem.formats.bits[number])
                found.append((group.place.line, problem.formats.names[number],
                              round(4 * rank / max(len(order) - 1, 1))))  # fmt: skip
        return found

    def sources(self) -> list[Source]:
        """The functions whose operations have formats."""
        from sciprec.report.trace_page import Source

        wanted = {(g.place.function, g.place.file) for g in self._problem.groups}
        found = []
        for code, text in self._problem.program.sources.items():
            named = any(code.co_name == f and code.co_filename.endswith(path) for f, path in wanted)
            if named:
                lines = tuple(text.splitlines())
                found.append(Source(code.co_name, code.co_filename, code.co_firstlineno, lines))
        return found

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        left = ("_problem", "_choice", "assignment", "pareto")
        kept = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in left}
        return kept | {
            "assignment": self.assignment.as_dict(), "pareto": [asdict(t) for t in self.pareto]
        }  # fmt: skip

    def _summary(self) -> Summary:
        problem, rows = self._problem, []
        for group, number in zip(problem.groups, self._choice, strict=True):
            place = group.place
            rows.append((
                str(place.key(place.file)), problem.formats.names[number], f"{group.runs:,}",
                place.source or place.text,
            ))  # fmt: skip
        uniform = [t for t in self.pareto if t.label in self.formats]
        notes = [f"{t.label} everywhere: cost {t.cost:.3f}, error {t.error:.2g}" for t in uniform]
        listing = Listing((self.unit, "format"), ("runs",), rows, ("source",), ("runs",))
        return Summary(self.verdict, listing, tuple(notes[:5]))


def tune(
    kernel: Callable[..., Any],
    args: Sequence[Any] | Mapping[str, Any],
    *,
    tolerance: float,
    output: str | Iterable[str] | None = None,
    metric: str | Metric = "relative_l2",
    formats: str | Sequence[str] = ("fp64", "fp32", "bf16"),
    unit: str = "line",
    check: Sequence[Any] | Mapping[str, Any] | None = None,
    margin: float = 1.5,
) -> Tuned:
    """Find the cheapest format for every line of a kernel.

    The kernel is compiled once for all choices of formats (and once more to count operations); a
    search then runs it with some tens to hundreds of them. It goes on where it was interrupted.

    Args:
        kernel: a Python function in Numba's subset, an `@njit` function, or what `lift` gave.
        args: a tuple of its arguments, or a mapping by parameter name. They are not written.
        tolerance: the largest error of the results, against binary64.
        output: which results count, as for `trace`; left out, all.
        metric: "relative_l2", "max" (largest difference over largest size), "rms" (root mean square
            of the difference, in the result's units), or a function (found, truth) -> error of the
            finite values of one result; of several results the largest error counts.
        formats: names of formats in any order, or "bits" for significands of 2 to 25 bits.
        unit: what gets a format of its own: "line", "operation", "variable", "function" or "call".
        check: arguments that the search does not see: it keeps to tolerance / margin on its own
            inputs, and the result is checked on these.
        margin: see `check`; without that it is not used.

    Returns:
        A Tuned: the assignment, its error and cost. What fails its check is not `good`, and is
        neither applied nor saved.

    Raises:
        InputError: the widest format misses the tolerance, or an argument cannot be used.
        LiftError: the kernel cannot be lifted.

    Source:
        Sensitivities and ranking after Precimonious (Rubio-Gonzalez et al. 2013); the closed form
        for bits minimises sum c_i p_i under sum s_i 2^-p_i <= tolerance.
    """
    function = kernel.kernel if isinstance(kernel, Lifted) else plain_function(kernel)
    if function is None:
        raise LiftError(
            f"the kernel is a {type(kernel).__name__}; tune takes a Python function or an @njit "
            "function: define the kernel with `def`"
        )
    for name, value, least in (("tolerance", tolerance, 0.0), ("margin", margin, 1.0)):
        number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or value < least or value == 0.0:
            words = "a number above zero" if least == 0.0 else "a number from 1"
            raise refused(name, value, words)
    word("unit", unit, UNITS)
    problem = TuningProblem(
        function, bound_arguments(function, args), output=output, metric=metric_of(metric),
        formats=formats_of(formats), unit=unit,
    )  # fmt: skip
    checked = None if check is None else bound_arguments(function, check)
    limit = float(tolerance) / (float(margin) if check is not None else 1.0)
    choice = cheapest(problem, limit)
    return _tuned(problem, choice, float(tolerance), limit, checked)


def _tuned(
    problem: TuningProblem, choice: Choice, tolerance: float, limit: float, check: tuple | None
) -> Tuned:
    error = problem.error(choice) if problem.groups else 0.0
    checked = None if check is None else problem.error(choice, check)
    good = error <= tolerance and (checked is None or checked <= tolerance)
    cost = problem.cost(choice) if problem.groups else 1.0
    seconds = None if problem.formats.by_bits else relative_seconds(problem.formats.names, MACHINE)
    assignment = problem.assignment(choice)
    return Tuned(
        kernel=problem.kernel.__name__, metric=problem.metric_name, tolerance=tolerance,
        unit=problem.unit, formats=problem.formats.names, assignment=assignment, error=error,
        check_error=checked, limit=limit, cost=cost,
        modelled=None if seconds is None else problem.modelled(choice, seconds),
        runs=problem.runs, pareto=_pareto(problem, choice), good=good,
        verdict=_verdict(problem, assignment, error, checked, tolerance, cost),
        _problem=problem, _choice=choice,
    )  # fmt: skip


def _verdict(
    problem: TuningProblem, assignment: Assignment, error: float, checked: float | None,
    tolerance: float, cost: float,
) -> str:  # fmt: skip
    """What was found, in a sentence."""
    name, widest = problem.kernel.__name__, problem.formats.names[problem.formats.widest]
    narrow, every = len(assignment), counted(len(problem.groups), problem.unit)
    said = (
        f"'{name}': {narrow} of {every} can be narrower than {widest}: {cost:.0%} of its bits, "
        f"error {error:.2g} where {tolerance:.2g} is allowed"
    )
    if checked is None:
        return f"{said}; not checked on other inputs."
    met = "holds" if checked <= tolerance else "FAILS"
    return f"{said}; {met} on other inputs, with {checked:.2g}."


def _pareto(problem: TuningProblem, choice: Choice) -> tuple[Tried, ...]:
    """Uniform choices, and those that no other beats."""
    if not problem.groups:
        return ()
    known = [(problem.cost(c), e, c) for c, e in problem.tried.items()]
    found: list[Tried] = []
    least = math.inf
    for cost, error, tried in sorted(known):
        uniform = len(set(tried)) == 1
        if error < least or uniform or tried == choice:
            label = problem.formats.names[tried[0]] if uniform else (
                "tuned" if tried == choice else "tried"
            )  # fmt: skip
            found.append(Tried(cost, error, label))
        least = min(least, error)
    return tuple(found)
