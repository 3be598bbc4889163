"""`bound`: a proven bound of a kernel's rounding error, of one call; and the places where a run
with intervals could not confirm a decision, or lost the bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sciprec.arrays.metrics import METRICS, error_by, worst_element
from sciprec.drawing.templating import write_listed
from sciprec.foundation.arguments import word
from sciprec.foundation.course import followed
from sciprec.foundation.listing import Listing, Shown, Summary, counted
from sciprec.instruments.assigning.origins import own_place
from sciprec.instruments.tracing import rows
from sciprec.instruments.tracing.table import Table
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.lifting.lifted import function_of
from sciprec.precision.rewriting.program import Program
from sciprec.tools.trace.attribution import Result, arithmetics_of, require_apart, require_traceable
from sciprec.tools.trace.needed_memory import require_memory_of_kernel
from sciprec.tools.trace.problem import Problem, bound_arguments

LANES = 2
SLACK = 1.0 + 2.0**-50
"""A factor for the rounding when a midpoint is added to a radius."""
BITS_OF_FP64 = 53
"""An arithmetic of so many bits errs as fp64 does, and cannot be judged by it."""


@dataclass(frozen=True, repr=False, eq=False)
class Bound(Shown):
    """A bound of the distance between the results of a call and exact arithmetic's.

    Attributes:
        kernel, backend: what was run.
        results: output -> its tested values, those of `lift`.
        bounds: output -> a bound of |tested - exact| for every element, infinite where there is
            none: everywhere, where a decision is open.
        largest: output -> the largest of them.
        metric: by which `relative` is.
        relative: output -> its bounds by the metric, tested values in the place of exact ones: the
            l2 norm of bounds over that of values, unless another one is asked for.
        undecided: places where the run decided (a comparison, min, max, int, floor, a remainder)
            and exact values may decide otherwise, by time.
        lost: places where an operation's result has no bound, though its operands have: overflow,
            a divisor or a root's operand that may be zero or negative, a function without a rule.
        verdict: what there is to know, in a sentence.
    """

    kernel: str
    backend: str
    results: Mapping[str, np.ndarray]
    bounds: Mapping[str, np.ndarray]
    largest: Mapping[str, float]
    metric: str
    relative: Mapping[str, float]
    undecided: tuple[BoundedLine, ...]
    lost: tuple[BoundedLine, ...]
    verdict: str

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data; arrays as nested lists."""
        arrays = {
            name: {key: value.tolist() for key, value in getattr(self, name).items()}
            for name in ("results", "bounds")
        }
        places = {name: [asdict(p) for p in getattr(self, name)] for name in ("undecided", "lost")}
        return {
            "kernel": self.kernel, "backend": self.backend, **arrays,
            "largest": dict(self.largest), "metric": self.metric, "relative": dict(self.relative),
            **places, "verdict": self.verdict,
        }  # fmt: skip

    def html(self, path: str | Path) -> Path:
        """Write a page: the bound of every result, and the lines that decide about it.

        Args:
            path: of the file.

        Returns:
            The path.

        Raises:
            InputError: it cannot be written, or what is there is no page of sciprec.
        """
        title = f"Bound of the error of '{self.kernel}' in {self.backend}"
        summary = self._summary()
        assert summary.listing is not None
        return write_listed(
            path, title, f"{self.verdict}.", {"Bounds": summary.listing}, summary.notes
        )

    def _summary(self) -> Summary:
        rows = [
            (name, f"{array.size:,}", f"{self.largest[name]:.3g}", f"{self.relative[name]:.2g}")
            for name, array in self.bounds.items()
        ]
        notes = [f"open decision in {p}" for p in self.undecided]
        notes += [f"no bound of what is made in {p}" for p in self.lost]
        by = "relative" if self.metric == "relative_l2" else self.metric
        heads = ("numbers", "largest bound", by)
        return Summary(self.verdict, Listing(("output",), heads, rows), tuple(notes))


def bound(
    kernel: Callable[..., Any],
    backend: str | Backend,
    args: Sequence[Any] | Mapping[str, Any],
    *,
    output: str | Iterable[str] | None = None,
    metric: str = "relative_l2",
) -> Bound:
    """Bound the rounding error of one call of a kernel, rigorously.

    Exact is real arithmetic from the given binary64 numbers and literals along the path of the
    tested run. Beside every number runs an interval of the exact value; where the run decides and
    the interval does not confirm it, there is no bound, and the line is named.

    Args:
        kernel: a Python function in Numba's subset, an `@njit` function, or what `lift` gave.
        backend: a floating-point arithmetic without random bits, by name, spec string or Backend,
            or an Assignment of several.
        args: a tuple of its arguments, or a mapping by parameter name. They are not written.
        output: which results are wanted: names of arguments that the kernel writes (`NAME_0`, ...
            of those in a tuple), or "return" (`return_0`, ... of several); left out, all.
        metric: by which `relative` is: "relative_l2", "relative_max" (the largest bound over the
            largest value), "max_relative" (number by number), "max_abs" or "rms".

    Returns:
        A Bound: for every element of the results a number that |tested - exact| does not exceed.

    Raises:
        InputError: an argument cannot be used, or the backend has no rounding error of this kind.
        LiftError: the kernel cannot be lifted, or decides by what an interval cannot follow.

    Precision:
        Tested values are those of `lift`, bit for bit. The error of `+ - *` and `fma` is known
        exactly, and what is not known of it is the rounding of errors, about 1e-14 of them an
        operation; `/` and `sqrt` likewise. Elementary functions are known to 2^-49 of their value.

    Source:
        Running error analysis: Wilkinson (1986); Higham (2002), section 3.3. Interval arithmetic:
        Moore (1966); by midpoint and radius in rounding to nearest: Rump (1999).

    Differs from the source:
        Local errors have their sign and value, not a bound of their size.
    """
    function = function_of(kernel, "bound")
    word("metric", metric, METRICS)
    arithmetic = resolve_backend(backend)
    require_traceable(arithmetic, "bound", function)
    arguments = bound_arguments(function, args)
    require_memory_of_kernel(function.__name__, arguments, LANES)
    require_apart(function.__name__, arguments, "bound")
    problem = Problem(function, arithmetic, arguments, output, LANES, verb="bound")
    table = problem.table("enclosure")
    program = problem.kernel("enclosure").program
    with followed(lambda: loop_passes(program, table)):
        outputs = problem.run("enclosure", table)
    undecided, lost = undecided_places(program, table), lost_places(program, table)
    bounds = {r.name: _bounds(r, bool(undecided)) for r in outputs}
    results = {r.name: r.tested for r in outputs}
    relative = {r.name: _by(metric, bounds[r.name], r.tested) for r in outputs}
    largest = {name: float(np.max(array, initial=0.0)) for name, array in bounds.items()}
    error = f"the error of '{function.__name__}' in {arithmetic.name}"
    if undecided:
        verdict = f"No bound of {error}: {_open(undecided)}"
    elif not any(r.written for r in outputs):
        does = f"does '{function.__name__}' store anything into {' or '.join(bounds)}"
        verdict = f"No error: neither in {arithmetic.name} nor in exact arithmetic {does}"
    elif not any(largest.values()):
        verdict = f"'{function.__name__}' makes no error in {arithmetic.name}"
    else:
        verdict = _verdict(error, results, bounds, metric, relative, lost, _instead(arithmetic))
    return Bound(
        function.__name__, arithmetic.name, results, bounds, largest, metric, relative, undecided,
        lost, verdict,
    )  # fmt: skip


def _bounds(result: Result, is_open: bool) -> np.ndarray:
    """|mid| + radius, rounded up; infinite where there is none."""
    middle, radius = abs(result.beside[..., 0]), abs(result.beside[..., 1])
    with np.errstate(all="ignore"):
        both = middle + radius
        both = np.where(both == 0.0, 0.0, both * SLACK + 2.0**-1074)
    is_known = np.isfinite(both) & np.isfinite(result.tested)
    return np.where(is_known, both, np.inf) if not is_open else np.full(both.shape, np.inf)


def _by(metric: str, bounds: np.ndarray, tested: np.ndarray) -> float:
    """Return the value of a metric for bounds; infinite where one is, or no value has a size."""
    scale, most = (float(np.max(abs(a), initial=0.0)) for a in (tested, bounds))
    if most == 0.0:
        return 0.0
    if not (most < np.inf and scale < np.inf):
        return np.inf
    if metric != "relative_l2":
        with np.errstate(all="ignore"):
            return error_by(metric, bounds, tested)
    if scale == 0.0:
        return np.inf
    ratio = np.linalg.norm(bounds / most) / np.linalg.norm(tested / scale)
    with np.errstate(all="ignore"):
        return float(ratio * (np.float64(most) / scale))


def _open(undecided: tuple[BoundedLine, ...]) -> str:
    """Name the open decisions, in words."""
    more = len(undecided) - 1
    also = f" (and in {counted(more, 'more line')})" if more else ""
    return f"exact values may decide otherwise in {undecided[0]}{also}"


def _instead(arithmetic: Backend) -> str:
    """Say what to do where a bound has become useless."""
    if arithmetics_of(arithmetic)[0].format.significand_bits < BITS_OF_FP64:
        return "watch how it drifts from fp64 with sciprec.monitor instead"
    return "estimate its error with sciprec.trace instead"


def _verdict(error: str, results, bounds, metric: str, relative, lost, instead: str) -> str:
    """Return a sentence on bounds without an open decision."""
    infinite = sum(int(np.isinf(array).sum()) for array in bounds.values())
    count = sum(array.size for array in bounds.values())
    where = f", first in {lost[0]}" if lost else ""
    if infinite == count:
        return f"No bound of {error}: no result has one{where}"
    most = max(float(a[np.isfinite(a)].max(initial=0.0)) for a in bounds.values())
    at_most = f"T{error[1:]} is at most {most:.3g}"
    if infinite:
        none = f"{infinite:,} of {counted(count, 'number')} have none"
        return f"{at_most} where it has a bound; {none}{where}"
    norms = {name: _by("relative_l2", bounds[name], tested) for name, tested in results.items()}
    worst = max(norms, key=lambda n: norms[n])
    if not np.any(results[worst]):
        return f"{at_most}; {worst} is 0"
    if norms[worst] > 1.0:
        return (
            f"The bound of {error} has become useless: that of {worst} is {norms[worst]:.3g} "
            f"times the result; {instead}"
        )
    if metric != "relative_l2":
        worst = max(relative, key=lambda n: relative[n])
        return f"{at_most}; {metric} of {worst}: {relative[worst]:.3g}"
    return f"{at_most}, {relative[worst]:.2g} of {worst}{_hidden(results, bounds, norms)}"


def _hidden(results, bounds, relative) -> str:
    """The element whose bound is as large as itself where the norm of its result hides that."""
    worst = [worst_element(n, t, -np.copysign(bounds[n], t)) for n, t in results.items()]
    far = [w for w, n in zip(worst, results, strict=True) if w and w.is_far(relative[n])]
    if not far:
        return ""
    first = max(far, key=lambda w: w.relative)
    by = abs(first.found - first.truth)
    return f"; {first.name} is {first.found:.6g}, and may be wrong by {by:.3g}"


@dataclass(frozen=True)
class BoundedLine:
    """A line of the kernel at which an event happened, such as a division by zero.

    Attributes:
        function, file, line, source: the line.
        calls: lines of the calls that lead there, the kernel's first.
        count: how often it happened.
    """

    function: str
    file: str
    line: int
    source: str
    calls: tuple[int, ...]
    count: int

    def __str__(self) -> str:
        called = "".join(f", called in line {n}" for n in reversed(self.calls))
        return f"line {self.line}{called}: {self.source}"


def undecided_places(program: Program, table: Table) -> tuple[BoundedLine, ...]:
    """Return the places where the run decided and the interval did not confirm it, by time."""
    return _places(program, table, rows.OTHERWISE)


def lost_places(program: Program, table: Table) -> tuple[BoundedLine, ...]:
    """Return the places where operands had a bound and the result has none, by time."""
    return _places(program, table, rows.NO_NUMBER)


def loop_passes(program: Program, table: Table) -> tuple[str, int, int] | None:
    """Return the loop that a run is in, how many of its passes are done, and how many there are;
    None outside of loops over ranges.
    """
    passes = table.passes()
    if passes is None:
        return None
    row, count, length = passes
    at = own_place(program, program.layout.rows[row])
    return f"passes of the loop in line {at.line}", count, length


def _places(program: Program, table: Table, word: int) -> tuple[BoundedLine, ...]:
    counts, clocks = table.words[:, word], table.words[:, word + 1]
    rows_of: dict[tuple, list[int]] = {}
    for number in sorted(np.flatnonzero(counts).tolist(), key=lambda n: clocks[n]):
        at = own_place(program, program.layout.rows[number])
        rows_of.setdefault((at.file, at.line), []).append(number)
    return tuple(
        _place(program, numbers[0], int(counts[numbers].sum())) for numbers in rows_of.values()
    )


def _place(program: Program, number: int, count: int) -> BoundedLine:
    row = program.layout.rows[number]
    at = own_place(program, row)
    calls = [program.origins[c] for c in row.calls if c in program.origins]
    lines = tuple(c.line for c in calls if not c.of_engine and c.line != at.line)
    return BoundedLine(at.function, at.file, at.line, at.source, lines, count)
