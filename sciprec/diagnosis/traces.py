"""`trace`: which line of a kernel makes its rounding error."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from sciprec.checks.arguments import names, refused, whole, word
from sciprec.diagnosis.attribution import (
    TWIN_LANES,
    Result,
    TracedKernel,
    require_apart,
    require_traceable,
)
from sciprec.diagnosis.origins import BY, Group, groups_of
from sciprec.display.listing import Listing, Shown, Summary, counted
from sciprec.errors import InputError
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.lifting.lifted import Lifted
from sciprec.precision.operations.operation import OPERATIONS
from sciprec.precision.rewriting.syntax import LiftError, plain_function
from sciprec.precision.tracing.operations import SEEN_BITS

LANES = 8
"""Numbers beside each value: the whole error, and the parts of seven groups at once."""


@dataclass(frozen=True)
class Line:
    """A line of the source, or whatever else the error is split by.

    Attributes:
        function, file, line: where its first operation begins (absolute line number).
        source: the text of the line; of an argument's conversion "argument x".
        name: "line 12", or what it is called by operation, variable, function or call.
        share: of the error of all outputs, signed: <its part, error> / <error, error>.
        rms: of its part over the outputs, in their unit; of several outputs each over its norm.
        shares: share of the error of each output, by its name.
    """

    function: str
    file: str
    line: int
    source: str
    name: str
    share: float
    rms: float
    shares: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class Trace(Shown):
    """Where the error of a kernel's results arises.

    Attributes:
        kernel, backend, by: what was traced, and how it is split.
        lines: all lines that may round, in the order of the source.
        outputs: name -> relative l2 error of that output.
        elements: how many numbers the outputs have.
        left_out: how many of them are not finite in the tested or the exact run.
        closure: |sum of parts - (tested - twin)| / |error|, the twin computed apart from the parts.
        passes: how often the kernel was run.
        unknown: lines with elementary functions in more than 30 bits, whose own rounding is not
            seen.
    """

    kernel: str
    backend: str
    by: str
    lines: tuple[Line, ...]
    outputs: Mapping[str, float]
    elements: int
    left_out: int
    closure: float
    passes: int
    unknown: tuple[str, ...] = ()

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
            return f"'{self.kernel}' makes no error in {self.backend}: all shares are 0."
        first = self.ranked[0]
        return (
            f"{first.share:.0%} of the error of '{self.kernel}' in {self.backend} is rounding of "
            f"{_called(first, self.by)}."
        )

    def _summary(self) -> Summary:
        left = ("line", "source") if self.by == "line" else ("line", self.by)
        rows = [
            (
                str(n.line),
                n.source if self.by == "line" else n.name,
                f"{n.share:+.1%}",
                f"{n.rms:.2g}",
            )
            for n in self.ranked
            if n.share or n.rms
        ]
        notes = [
            "relative l2 error: "
            + ", ".join(f"{name} {error:.2g}" for name, error in self.outputs.items())
        ]
        if self.left_out:
            some = counted(self.left_out, "number")
            notes.append(f"{some} of {self.elements:,} left out: not finite")
        if self.unknown:
            where = ", ".join(self.unknown)
            notes.append(f"own rounding of elementary functions is not seen: {where}")
        listing = Listing(left, ("share", "rms of part"), rows)
        return Summary(self.verdict, listing, tuple(notes))


def _called(line: Line, by: str) -> str:
    if line.source.startswith("argument ") and line.source == line.name:
        return line.source
    return f"line {line.line}: {line.source}" if by == "line" else line.name


def trace(
    kernel: Callable[..., Any],
    backend: str | Backend,
    args: Sequence[Any] | Mapping[str, Any],
    *,
    output: str | Iterable[str] | None = None,
    by: str = "line",
    lanes: int = LANES,
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
        by: what the error is split by: "line", "operation", "variable", "function" or "call".
        lanes: numbers beside each value: lanes - 1 groups are followed in one run; 4, 8, 16 or 32.

    Returns:
        A Trace: lines with their share (signed, the sum is 1) and the rms of their part.

    Raises:
        InputError: an argument cannot be used, or the backend has no rounding error of this kind.
        LiftError: the kernel cannot be lifted.

    Precision:
        Tested values are those of `lift`, bit for bit. An operation's own rounding is exact to
        about 1e-16 of it, of an elementary function to 2^-49 of its value; in formats of more than
        30 bits that is not seen. A number's rounding when it becomes an argument is booked on the
        argument, that of a literal on the line that uses it, that of a narrower array on the line
        that stores; those of np.sum, @, dot and the like on the line that calls them.
    """
    function = kernel.kernel if isinstance(kernel, Lifted) else plain_function(kernel)
    if function is None:
        raise LiftError(
            f"the kernel is a {type(kernel).__name__}; trace takes a Python function or an @njit "
            "function: define the kernel with `def`"
        )
    arithmetic = resolve_backend(backend)
    require_traceable(arithmetic)
    word("by", by, BY)
    if whole("lanes", lanes, 4, 32, "4, 8, 16 or 32") not in (4, 8, 16, 32):
        raise refused("lanes", lanes, "4, 8, 16 or 32")
    given = _bound(function, args)
    require_apart(function.__name__, given)
    parts = _traced(function, arithmetic, "parts", lanes)
    twin = _traced(function, arithmetic, "twin", TWIN_LANES)
    groups = groups_of(parts.program, by)
    split = _Split(parts, twin, given, groups, output)
    return split.trace(by)


@lru_cache(maxsize=32)
def _traced(function, backend: Backend, technique: str, lanes: int) -> TracedKernel:
    return TracedKernel(function, backend, technique, lanes)


def _bound(function, args) -> tuple:
    """The arguments in the order of the parameters."""
    signature = inspect.signature(function, follow_wrapped=False)
    if not isinstance(args, (Mapping, tuple, list)):
        raise refused("args", args, "a tuple of the kernel's arguments, or a mapping by name")
    try:
        if isinstance(args, Mapping):
            found = signature.bind(**args)
        else:
            found = signature.bind(*args)
    except TypeError as error:
        raise InputError(
            f"kernel '{function.__name__}' called wrongly: {error}; it takes "
            f"{function.__name__}{signature}"
        ) from None
    found.apply_defaults()
    return tuple(np.asarray(a) if isinstance(a, list) else a for a in found.arguments.values())


class _Split:
    """The runs of one trace, and what they gave.

    Args:
        parts, twin: the compiled kernel with its error in parts, and with its exact twin.
        args: of the kernel.
        groups: what the error is split by.
        output: names of the results that count, or None.
    """

    def __init__(self, parts, twin, args, groups: list[Group], output):
        self.kernel, self.groups, self.passes = parts, groups, 0
        self.parts: list[list[np.ndarray]] = []
        step = parts.lanes - 1
        for first in range(0, len(groups), step):
            table, of_arguments = parts.table(), {}
            some = groups[first : first + step]
            for lane, group in enumerate(some, 1):
                table.masks[list(group.rows), lane] = 1.0
                if group.argument:
                    of_arguments[group.argument] = lane
            results = _chosen(parts.run(args, table, of_arguments), output)
            self.passes += 1
            if not first:
                self.results = results
            self.parts += [
                [r.beside[..., lane] for r in results] for lane in range(1, len(some) + 1)
            ]
        exact = _chosen(twin.run(args, twin.table()), output)
        with np.errstate(invalid="ignore"):
            self.differences = [
                (r.tested - t.beside[..., 0]) - t.beside[..., 1]
                for r, t in zip(self.results, exact, strict=True)
            ]

    def trace(self, by: str) -> Trace:
        """What the runs say."""
        errors = [r.beside[..., 0] for r in self.results]
        usable = [
            np.isfinite(r.tested) & np.isfinite(e)
            for r, e in zip(self.results, errors, strict=True)
        ]
        norms = [
            _norm(r.tested[u] - e[u])
            for r, e, u in zip(self.results, errors, usable, strict=True)
        ]  # fmt: skip
        scales = [n if n > 0.0 and len(norms) > 1 else 1.0 for n in norms]
        error = _joined(errors, usable, scales)
        total = float(error @ error)
        lines, whole_error = [], np.zeros_like(error)
        for group, parts in zip(self.groups, self.parts, strict=True):
            part = _joined(parts, usable, scales)
            whole_error += part
            shares = {
                r.name: _share(p[u], e[u])
                for r, p, e, u in zip(self.results, parts, errors, usable, strict=True)
            }
            lines.append(
                Line(
                    group.function,
                    group.file,
                    group.line,
                    group.source,
                    group.name,
                    share=_share(part, error) if total else 0.0,
                    rms=_norm(part) / max(part.size, 1) ** 0.5,
                    shares=shares,
                )  # fmt: skip
            )
        known = _joined(self.differences, usable, scales)
        size = _norm(error)
        return Trace(
            kernel=self.kernel.program.kernel.__name__,
            backend=self.kernel.backend.name,
            by=by,
            lines=tuple(lines),
            outputs={
                r.name: _norm(e[u]) / n if n else _norm(e[u])
                for r, e, u, n in zip(self.results, errors, usable, norms, strict=True)
            },
            elements=sum(u.size for u in usable),
            left_out=sum(int((~u).sum()) for u in usable),
            closure=_norm(whole_error - known) / size if size else 0.0,
            passes=self.passes,
            unknown=self._unknown(),
        )

    def _unknown(self) -> tuple[str, ...]:
        """Where elementary functions are whose own rounding is not seen."""
        kernel, program = self.kernel, self.kernel.program
        if kernel.backend.compute.format.significand_bits <= SEEN_BITS:
            return ()
        return tuple(
            group.name
            for group in self.groups
            if any(_is_elementary(program.sites[program.layout.rows[n].site]) for n in group.rows)
        )


def _is_elementary(site) -> bool:
    return site.operation in OPERATIONS and OPERATIONS[site.operation].evaluate is not None


def _norm(x: np.ndarray) -> float:
    """The l2 norm."""
    return float(np.linalg.norm(x.ravel()))


def _share(part: np.ndarray, error: np.ndarray) -> float:
    """<part, error> / <error, error>; 0 where there is no error."""
    square = float(error.ravel() @ error.ravel())
    return float(part.ravel() @ error.ravel()) / square if square else 0.0


def _joined(arrays, usable, scales) -> np.ndarray:
    """All usable elements of several outputs, each output over its scale."""
    pieces = [a[u].ravel() / s for a, u, s in zip(arrays, usable, scales, strict=True)]
    return np.concatenate(pieces) if pieces else np.zeros(0)


def _chosen(results: list[Result], output) -> list[Result]:
    """The results that count."""
    known = [r.name for r in results]
    if not known:
        raise InputError(
            "the kernel returns no floating-point number and writes none into an argument; trace "
            "takes a kernel that does"
        )
    if output is None:
        return results
    wanted = [output] if isinstance(output, str) else list(names("output", output))
    for one in wanted:
        if one not in known:
            raise refused("output", one, f"one of {', '.join(known)}")
    return [r for r in results if r.name in wanted]
