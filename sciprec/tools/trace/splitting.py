"""The error of results split into parts of groups, and measures of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from sciprec.arrays.metrics import deciding
from sciprec.instruments.tracing import rows
from sciprec.instruments.tracing.table import Table
from sciprec.tools.trace.attribution import Result, arithmetics_of
from sciprec.tools.trace.origins import OriginGroup
from sciprec.tools.trace.problem import Problem
from sciprec.tools.trace.verification import WiderRun

_NOTHING = 2.0**-44
"""Exact values so much smaller than tested ones, and errors than others, are lost digits alone."""
CANCELLED = 2.0**-24
"""Share of the sizes of its parts below which an error counts as none. Numbers of a narrow format
whose parts cancel are right but for what the given binary64 numbers themselves leave open, 2^-53
of the result beside parts of 2^-25 of it in binary32 and larger ones in narrower formats; shares
of such a rest would be 10^8 and more.
"""
BEYOND, NOTHING_LEFT = 10.0, 2.0**-10
"""Parts of a single element say nothing if they are larger than itself and so many times as large
as the error of all, and so little of them is left."""
_LAST_DIGITS = 2.0**-47
"""Share of the format's unit and of the result below which an error counts as none, too: parts are
known to 2^-53 of themselves, for each of some dozens of operations.
"""


class Errors:
    """The errors of a run's results as one vector: finite elements, each of several results over
    its norm; one that is zero in exact arithmetic, as what a compensation carries, as it is.

    Args:
        results: of the run.
        errors: tested - exact of each of them.
        among: elements that may be usable; left out, all.
        metric: what of them counts, of `metrics.METRICS`; of several results each is over its own
            scale then.

    Attributes:
        counted: of every result the usable elements that the metric is of.
        vector: of all counted elements.
        relative: name -> relative l2 error of that result.
        elements, left_out: how many there are, and how many of them are not usable.
    """

    def __init__(
        self, results: Sequence[Result], errors: Sequence[np.ndarray],
        among: Sequence[np.ndarray] | None = None, metric: str = "relative_l2",
    ):  # fmt: skip
        self.names, self.errors = [r.name for r in results], list(errors)
        self.usable = [
            np.isfinite(r.tested) & np.isfinite(e) for r, e in zip(results, errors, strict=True)
        ]
        if among is not None:
            self.usable = [u & a for u, a in zip(self.usable, among, strict=True)]
        triples = list(zip(results, errors, self.usable, strict=True))
        most = max((norm(e[u]) for _, e, u in triples), default=0.0)
        norms = [size_of_exact(r.tested[u], e[u], most) for r, e, u in triples]
        self.scales = [n if n > 0.0 and len(norms) > 1 else 1.0 for n in norms]
        self.relative = {
            r.name: norm(e[u]) / n if n else norm(e[u])
            for (r, e, u), n in zip(triples, norms, strict=True)
        }
        self.counted = self.usable
        if metric != "relative_l2":
            exact = [r.tested - e for r, e in zip(results, errors, strict=True)]
            every = list(zip(errors, exact, self.usable, strict=True))
            self.counted = [deciding(metric, *arrays) for arrays in every]
            every = list(zip(exact, self.usable, self.counted, strict=True))
            self.scales = [_scale(metric, *arrays) for arrays in every]
        self.elements = sum(u.size for u in self.usable)
        self.left_out = sum(int((~u).sum()) for u in self.usable)
        self.vector = self.joined(errors)

    def joined(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """Numbers beside all results as one vector."""
        triples = zip(arrays, self.counted, self.scales, strict=True)
        pieces = [a[u].ravel() / s for a, u, s in triples]
        return np.concatenate(pieces) if pieces else np.zeros(0)

    @property
    def size(self) -> float:
        """The l2 norm of all."""
        return norm(self.vector)

    def among(self, other: Errors) -> float:
        """The l2 norm of the elements that count and are usable in another run, over its norms."""
        triples = zip(self.errors, self.counted, other.usable, other.scales, strict=True)
        return math.sqrt(sum(norm(e[u & v] / s) ** 2 for e, u, v, s in triples))

    @property
    def largest(self) -> float:
        """The largest relative error of a result."""
        return max(self.relative.values(), default=0.0)


class Split:
    """The error of a run in parts.

    Args:
        problem: whose error it is.
        groups: those that are followed; several runs where they are more than the lanes.
        args: of the kernel; the problem's unless said.
        steps: how many steps the run has, where groups are steps of it.
        wide: rows and arguments whose rounding is left out.

    Attributes:
        results: of the run.
        whole: all of the error, of elements that are known and not singular.
        parts: for every group its part of each result.
        known: of each result, elements whose error is finite.
        singular: of each result, elements whose parts are infinite, or larger than themselves and
            much larger than the error of all, and cancel: they have gone through a function beside
            its singularity, and no share of them says anything.
        least: the smallest error that is known, of the size of a result.
    """

    def __init__(
        self, problem: Problem, groups: Sequence[OriginGroup], args: tuple | None = None,
        steps: int = 0, only: Sequence[int] | None = None, wide: Sequence[OriginGroup] = (),
    ):  # fmt: skip
        self.parts: list[list[np.ndarray]] = []
        self.results: list[Result] = []
        technique = "by step" if steps else "wider" if wide else "parts"
        every = max(problem.lanes - 1, 1)
        for first in range(0, max(len(groups), 1), every):
            some = groups[first : first + every]
            table, lanes = problem.table(technique), {}
            masks = np.zeros((max(steps, 1), problem.lanes))
            if steps:
                counted = slice(None) if only is None else list(only)
                table.numbers[counted, rows.FACTOR] = 1.0
            for group in wide:
                table.numbers[list(group.rows), rows.FACTOR] = 1.0
            for lane, group in enumerate(some, 1):
                table.masks[list(group.rows), lane] = 1.0
                if group.steps:
                    masks[slice(*group.steps), lane] = 1.0
                if group.argument:
                    lanes[group.argument] = lane
            table.of_steps(masks)
            unrounded = [group.argument for group in wide if group.argument]
            results = problem.run(technique, table, args, lanes, unrounded)
            self.results = self.results or results
            self.parts += [
                [r.beside[..., lane] for r in results] for lane in range(1, len(some) + 1)
            ]
        errors = [r.beside[..., 0] for r in self.results]
        pairs = list(zip(self.results, errors, strict=True))
        self.finite = [np.isfinite(r.tested) & np.isfinite(e) for r, e in pairs]
        self.singular = [
            self._is_singular(place, error, is_known)
            for place, (error, is_known) in enumerate(zip(errors, self.finite, strict=True))
        ]
        among = [k & ~s for k, s in zip(self.finite, self.singular, strict=True)]
        self.total = Errors(self.results, errors, among, problem.metric)
        self.least = arithmetics_of(problem.backend)[0].format.unit_roundoff * _LAST_DIGITS

    def _is_singular(self, place: int, error: np.ndarray, finite: np.ndarray) -> np.ndarray:
        """Whether errors of elements cannot be split: parts are infinite, or cancel and are larger
        than the element and the error of all others.
        """
        with np.errstate(all="ignore"):
            sizes = sum((abs(part[place]) for part in self.parts), np.zeros(error.shape))
            infinite = finite & ~np.isfinite(sizes)
            cancel = finite & (abs(error) <= NOTHING_LEFT * sizes)
            sizes = np.where(sizes > abs(self.results[place].tested - error), sizes, 0.0)
        singular = infinite | cancel & (sizes > BEYOND * norm(error[finite]))
        return singular if norm(error[finite & ~singular]) > 0.0 else infinite

    @property
    def cancels(self) -> bool:
        """Whether the parts of all results cancel, so that their error counts as none."""
        tested = self.total.joined([r.tested for r in self.results])
        parts = [self.part(n) for n in range(len(self.parts))]
        return counts_as_none(tested, self.total.vector, parts, self.least)

    def part(self, number: int) -> np.ndarray:
        """A group's part as one vector."""
        return self.total.joined(self.parts[number])

    def beside(self, other: Split, scaled: Split) -> WiderRun:
        """Return the errors that are usable in another run, too, each result over its norm in one
        of the two.
        """
        usable = [u & v & c for u, v, c in zip(
            self.total.usable, other.total.usable, scaled.total.counted, strict=True)]  # fmt: skip

        def joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
            triples = zip(arrays, usable, scaled.total.scales, strict=True)
            return np.concatenate([np.zeros(0), *(a[u].ravel() / s for a, u, s in triples)])

        error = joined(self.total.errors)
        exact = joined([r.tested for r in self.results]) - error
        return WiderRun(error, exact, [joined(part) for part in self.parts])

    def shares(self, number: int) -> dict[str, float]:
        """A group's share of the error of each result; none where the parts of that cancel."""
        w, nothing = self.total, self._cancelled
        rest = zip(w.names, self.parts[number], w.errors, w.counted, strict=True)
        return {name: 0.0 if nothing[name] else share(p[u], e[u]) for name, p, e, u in rest}

    @cached_property
    def _cancelled(self) -> dict[str, bool]:
        """Name of a result -> whether its error counts as none."""
        w = self.total
        return {
            r.name: counts_as_none(
                r.tested[u], e[u], [p[place][u] for p in self.parts], self.least
            )
            for place, (r, e, u) in enumerate(zip(self.results, w.errors, w.counted, strict=True))
        }


def counts_as_none(
    tested: np.ndarray, error: np.ndarray, parts: Iterable[np.ndarray], least: float
) -> bool:
    """Whether the parts of an error cancel, or nothing of it is known.

    Args:
        tested, error: (n,), of results.
        parts: of the error.
        least: the smallest error that is known, of the results.
    """
    sizes = sum(norm(part) for part in parts)
    return norm(error) <= max(CANCELLED * sizes, least * norm(tested))


def twin_errors(problem: Problem, table: Table, args: tuple | None = None) -> Errors:
    """The errors of a run that has the exact values beside it."""
    return errors_of(problem.run("twin", table, args), problem.metric)


def errors_of(results: Sequence[Result], metric: str) -> Errors:
    """The errors of results that have the exact values beside them."""
    with np.errstate(invalid="ignore"):
        errors = [(r.tested - r.beside[..., 0]) - r.beside[..., 1] for r in results]
    return Errors(results, errors, metric=metric)


def _scale(metric: str, exact: np.ndarray, usable: np.ndarray, counted: np.ndarray) -> float:
    """Return the scale that errors are divided by, of a metric other than "relative_l2"; in the
    units of the result 1.
    """
    if metric in ("max_abs", "rms") or not counted.any():
        return 1.0
    size = float(np.max(abs(exact[usable if metric == "relative_max" else counted])))
    return size if size > 0.0 else 1.0


def size_of_exact(tested: np.ndarray, error: np.ndarray, most: float = 0.0) -> float:
    """The l2 norm of exact values; 0.0 where these are zero but for what binary64 loses.

    Args:
        tested, error: (n,), of a result.
        most: the largest norm of the error of a result.
    """
    size, size_of_error = norm(tested - error), norm(error)
    lost = size_of_error <= _NOTHING * most and 2.0 * size_of_error >= size
    return 0.0 if lost or size <= _NOTHING * norm(tested) else size


def norm(x: np.ndarray) -> float:
    """The l2 norm."""
    return float(np.linalg.norm(x.ravel()))


def share(part: np.ndarray, error: np.ndarray) -> float:
    """<part, error> / <error, error>; 0 where there is no error."""
    square = float(error.ravel() @ error.ravel())
    return float(part.ravel() @ error.ravel()) / square if square else 0.0
