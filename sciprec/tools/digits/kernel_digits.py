"""`digits`: how many decimal digits of a kernel's results are right, and which data decide."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sciprec.foundation import targets
from sciprec.foundation.arguments import path as checked_path
from sciprec.foundation.course import tell
from sciprec.foundation.listing import Listing, Shown, Summary, counted
from sciprec.foundation.plain_data import plain
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.lifting.lifted import function_of
from sciprec.results.comparison.own_error import NO_DIGIT
from sciprec.tools.digits.truth import (
    LITERALS,
    ExactResults,
    healed_truth,
    most_digits,
    movable,
    truth_of,
)
from sciprec.tools.trace.attribution import require_apart, require_traceable
from sciprec.tools.trace.examination import Event, Examination
from sciprec.tools.trace.needed_memory import require_memory_of_kernel
from sciprec.tools.trace.problem import Problem, bound_arguments, stored_in

LANES = 4
_DRAWS = 2
_LEAVES = 1.0
"""Data that leave fewer digits than the arithmetic by so much are said in the verdict."""


@dataclass(frozen=True, repr=False, eq=False)
class Digits(Shown):
    """The digits of a kernel's results that are right, and those that its data leave.

    Attributes:
        kernel, backend: what was run.
        results: name of a result -> its values, those of `lift`.
        digits: name -> decimal digits of each number that are right, between 0 and `most`; NaN
            where they are not known.
        exact: name -> the exact values, rounded to binary64; NaN where they are not known.
        condition: name -> argument, or "literals" -> digits of each number that are left whatever
            the arithmetic, where that argument is wrong by half a unit of the format in each of its
            numbers; NaN where they are not known.
        most: digits of the format.
        decisions: lines where exact values decide otherwise than the run, by time. Exact results
            are then those of the path that exact values take.
        unsure: how many decisions exact values leave open; no digits are known then.
        verdict: what there is to know, in a sentence.
    """

    kernel: str
    backend: str
    results: Mapping[str, np.ndarray]
    digits: Mapping[str, np.ndarray]
    exact: Mapping[str, np.ndarray]
    condition: Mapping[str, Mapping[str, np.ndarray]]
    most: float
    decisions: tuple[Event, ...]
    unsure: int
    verdict: str

    @property
    def fewest(self) -> dict[str, float]:
        """Name of a result -> the fewest digits that are known of one of its numbers."""
        return {name: _fewest(array) for name, array in self.digits.items()}

    @property
    def deciding(self) -> dict[str, tuple[str, float]]:
        """Name of a result -> the argument, or "literals", that leaves the fewest digits, and how
        many; ("", most) where none leaves fewer than the format has.
        """
        return {name: _deciding(by, self.most) for name, by in self.condition.items()}

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data; arrays as nested lists, None where nothing is known."""
        return plain({
            "kernel": self.kernel, "backend": self.backend, "most": self.most,
            "results": self.results, "digits": self.digits, "exact": self.exact,
            "condition": self.condition, "decisions": self.decisions, "unsure": self.unsure,
            "verdict": self.verdict,
        })  # fmt: skip

    def html(self, path: str | Path) -> Path:
        """Write a page: the digits of every result, and those that data leave; without scripts.

        Args:
            path: of the file.

        Returns:
            The path.

        Raises:
            InputError: it cannot be written, or what is there is no page of sciprec.
        """
        from sciprec.tools.digits.page import Panel, digits_page

        free = targets.require_free(checked_path("the page", path), targets.PAGE)
        panels = {name: Panel(a, self._allowed(name)) for name, a in self.digits.items()}
        page = digits_page(
            f"Digits of '{self.kernel}' in {self.backend}", f"{self.verdict}.", HEADS, self.rows(),
            [f"{note[0].upper()}{note[1:]}" for note in self.notes()], panels, self.backend,
            self.most,
        )  # fmt: skip
        return targets.write(free, page, targets.PAGE)

    def _allowed(self, name: str) -> np.ndarray | None:
        """The fewest digits that any data leave of each number of a result."""
        by = [a for a in self.condition.get(name, {}).values() if np.isfinite(a).any()]
        with np.errstate(invalid="ignore"):
            return np.fmin.reduce(by) if by else None

    def rows(self) -> list[tuple[str, ...]]:
        """A row of words for each result, see `HEADS`."""
        table: list[tuple[str, ...]] = []
        for name, array in self.digits.items():
            data, allowed = self.deciding.get(name, ("", self.most))
            unknown = int(np.isnan(array).sum())
            middle = float(np.nanmedian(array)) if unknown < array.size else math.nan
            table.append((
                name, f"{array.size:,}", _words(self.fewest[name]), _words(middle),
                f"{unknown:,}" if unknown else "–",
                _words(allowed) if data else "–" if not self.condition else "all", data or "–",
            ))  # fmt: skip
        return table

    def notes(self) -> tuple[str, ...]:
        """Sentences on decisions."""
        return tuple(f"exact values decide otherwise in {e.place}, "
                     f"{counted(e.count, 'time')}: {e.source}" for e in self.decisions)  # fmt: skip

    def _summary(self) -> Summary:
        listing = Listing(HEADS[:1], HEADS[1:6], self.rows(), HEADS[6:], ("median", "numbers"))
        return Summary(self.verdict, listing, self.notes())


HEADS = ("result", "numbers", "fewest digits", "median", "not known", "data leave", "decided by")


def digits(
    kernel: Callable[..., Any],
    args: Sequence[Any] | Mapping[str, Any],
    *,
    backend: str | Backend = "fp64",
    output: str | Iterable[str] | None = None,
    condition: bool = True,
) -> Digits:
    """Count the decimal digits of each number of a kernel's results that are right.

    Exact is real arithmetic from the given binary64 numbers and literals. It is followed by pairs
    of binary64 numbers, 106 bits, beside which runs what they lose themselves; where that is too
    much, digits are "not known". Where exact values decide otherwise than the run, they are
    followed along their own path.

    Args:
        kernel: a Python function in Numba's subset, an `@njit` function, or what `lift` gave.
        args: a tuple of its arguments, or a mapping by parameter name. They are not written.
        backend: a floating-point arithmetic without random bits, by name, spec string or Backend.
        output: which results are wanted: names of arguments that the kernel writes (`NAME_0`, ...
            of those in a tuple), or "return" (`return_0`, ... of several); left out, all.
        condition: whether to ask, too, how many digits are left where an argument, or the literals
            of the source, are wrong by half a unit each. That is four more runs for each of them.

    Returns:
        Digits: its `digits` map names of results to arrays of their shapes.

    Raises:
        InputError: an argument cannot be used, or the arithmetic is not followed.
        LiftError: the kernel cannot be lifted.

    Precision:
        Digits are never more than there are, but for exact values that their own error estimate
        misses: it is a second run's difference, no proof. Elementary functions are known to 2^-93
        or better.

    Source:
        Pairs: Dekker (1971). Digits as CADNA tells them: Jezequel and Chesneaux (2008), there by
        random rounding.

    Example:
        >>> import math
        >>> import sciprec
        >>> def versine(x):
        ...     return 1.0 - math.cos(x)
        >>> result = sciprec.digits(versine, (1e-6,))
        >>> print(round(float(result.digits["return"]), 1))
        4.1
    """
    function = function_of(kernel, "digits")
    arithmetic = resolve_backend(backend)
    require_traceable(arithmetic, "digits", function)
    arguments = bound_arguments(function, args)
    require_memory_of_kernel(function.__name__, arguments, LANES)
    require_apart(function.__name__, arguments, "digits")
    problem = Problem(function, arithmetic, arguments, output, LANES, verb="digits")
    results, truth = truth_of(problem)
    most, values = most_digits(problem), {r.name: r.tested for r in results}
    right = {name: truth.digits(name, tested, most) for name, tested in values.items()}
    exact = {
        name: np.where(np.isnan(right[name]), np.nan, truth.high[name] + truth.low[name])
        for name in values
    }
    any_finite = any(np.isfinite(array).any() for array in right.values())
    allowed = _condition(problem, truth, list(values), most) if condition and any_finite else {}
    branches = _decisions(problem) if truth.otherwise else ()
    verdict = _verdict(function.__name__, arithmetic.name, right, allowed, most, truth)
    return Digits(
        function.__name__, arithmetic.name, values, right, exact, allowed, most, branches,
        truth.unsure, verdict,
    )  # fmt: skip


def _condition(
    problem: Problem, truth: ExactResults, names: Sequence[str], most: float
) -> dict[str, dict[str, np.ndarray]]:
    """Digits that data leave which are wrong by half a unit: the fewest of some draws of signs, and
    of these turned round.
    """
    unit = stored_in(problem.backend).format.unit_roundoff
    allowed: dict[str, dict[str, np.ndarray]] = {name: {} for name in names}
    base = truth if not truth.otherwise else healed_truth(problem, {})
    movable_inputs = movable(problem)
    moves = [(draw, share) for draw in range(_DRAWS) for share in (unit, -unit)]
    for number, data in enumerate(movable_inputs):
        healed = []
        for count, (draw, share) in enumerate(moves, number * len(moves)):
            tell("runs with moved data", count, len(movable_inputs) * len(moves))
            healed.append(healed_truth(problem, {data: share}, draw=draw))
        for name in names:
            some = [base.moved(name, other, most) for other in healed]
            allowed[name][data] = np.minimum.reduce(some)
    return allowed


def _decisions(problem: Problem) -> tuple[Event, ...]:
    """The lines where exact values decide otherwise."""
    events = Examination(problem).events()
    return tuple(event for event in events if event.kind == "branch")


def _deciding(by: Mapping[str, np.ndarray], most: float) -> tuple[str, float]:
    """The data that leave the fewest digits."""
    fewest = {data: _fewest(array) for data, array in by.items()}
    digits_by_data = {data: n for data, n in fewest.items() if not math.isnan(n)}
    if not digits_by_data:
        return "", most
    data = min(digits_by_data, key=lambda d: digits_by_data[d])
    return (data, digits_by_data[data]) if digits_by_data[data] < most else ("", most)


def _verdict(
    kernel: str, backend: str, right: Mapping[str, np.ndarray],
    allowed: Mapping[str, Mapping[str, np.ndarray]], most: float, truth: ExactResults,
) -> str:  # fmt: skip
    """Say how many digits the worst number has, and what data leave."""
    count = sum(array.size for array in right.values())
    unknown = sum(int(np.isnan(array).sum()) for array in right.values())
    sentence = f"The digits of '{kernel}' in {backend} are not known: exact values"
    if truth.unseen:
        names = ", ".join(truth.unseen)
        return f"{sentence} of {names} are not, a function of your own"
    if truth.unsure:
        where = counted(truth.unsure, "decision")
        return f"{sentence} leave {where} open"
    if unknown == count:
        return (
            f"{sentence} need more than 106 bits, or are beyond binary64's range; look at a "
            "shorter run"
        )
    fewest = {name: _fewest(array) for name, array in right.items()}
    worst = min((n for n in fewest if not math.isnan(fewest[n])), key=lambda n: fewest[n])
    at = _place(worst, right[worst])
    number = fewest[worst]
    if number >= most - 1e-9:
        sentence = f"All digits of '{kernel}' in {backend} are right"
    elif number < NO_DIGIT:
        sentence = f"'{kernel}' in {backend} has no right digit in {at}"
    else:
        sentence = f"'{kernel}' in {backend} has {number:.1f} right digits in {at}, the fewest"
    if unknown:
        sentence += f"; of {unknown:,} of {counted(count, 'number')} they are not known"
    data, leaves = _deciding(allowed.get(worst, {}), most)
    if data and leaves < number + _LEAVES:
        who = "the literals" if data == LITERALS else f"'{data}'"
        rest = "none" if leaves < NO_DIGIT else f"{leaves:.1f}"
        sentence += f". Half a unit of {who} leaves {rest} in {worst}, whatever the arithmetic"
    return sentence


def _place(name: str, array: np.ndarray) -> str:
    """A result's number with the fewest digits."""
    if array.ndim == 0 or array.size == 1:
        return name
    where = np.unravel_index(int(np.nanargmin(array)), array.shape)
    return f"{name}[{', '.join(str(int(n)) for n in where)}]"


def _fewest(array: np.ndarray) -> float:
    finite = array[np.isfinite(array)]
    return float(finite.min()) if finite.size else math.nan


def _words(number: float) -> str:
    return "not known" if math.isnan(number) else f"{number:.1f}"
