"""`check_memory`: elements that are read before they are written, accesses beyond arrays, and
integers that do not fit.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from sciprec.foundation.course import tell
from sciprec.foundation.errors import InputError, printable
from sciprec.foundation.listing import Listing, Shown, Summary, counted, wrapped
from sciprec.instruments.observing import watch
from sciprec.instruments.observing.watching import STOPPED, WatchedPlace, WatchPlaces, lift_watched
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.lifting.fixed_lifting import FixedLifted
from sciprec.precision.lifting.lifted import Lifted, function_of
from sciprec.precision.rewriting.copies import copied
from sciprec.precision.rewriting.syntax import LiftError

UNINITIALISED, OUT_OF_BOUNDS, OVERFLOW = "uninitialised", "out of bounds", "integer overflow"
_FILLINGS = {
    watch.NAN: "NaN (integers: 0)",
    watch.LARGEST: "a huge number",
    watch.SMALLEST: "a huge negative number",
    watch.ZERO: "0",
}
_MOST_STEPS, _MOST_ELEMENTS = 1 << 32, 1 << 40
_MOST_TOLD = 9
"""Findings that are told at a prompt, in two lines each."""
_lock = threading.Lock()


@dataclass(frozen=True)
class MemoryFinding:
    """A fault, at a line.

    Attributes:
        kind: "uninitialised": an array was made there, and read before it was written; "out of
            bounds"; or "integer overflow".
        function, file, line, text: the place in the source.
        message: what was seen.
        read_line, read_text: where an element that was never written was read first; 0 and "" where
            that is not known (integers, whole arrays).
    """

    kind: str
    function: str
    file: str
    line: int
    text: str
    message: str
    read_line: int = 0
    read_text: str = ""

    def __str__(self) -> str:
        read = f"; read in line {self.read_line}: {self.read_text}" if self.read_line else ""
        return (
            f"{self.function} ({self.file}, line {self.line}): {self.text}\n"
            f"    {self.kind}: {self.message}{read}"
        )


@dataclass(frozen=True, repr=False)
class MemoryReport(Shown):
    """The findings of `check_memory`.

    Attributes:
        kernel, backend: names of what was checked.
        findings: in the order of the source.
        arrays: how many places that make arrays without a value were reached.
        runs: how often the kernel was run.
        ended: the exception that the kernel ends with on these arguments, or "".
    """

    kernel: str
    backend: str
    findings: tuple[MemoryFinding, ...]
    arrays: int
    runs: int
    ended: str = ""

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return asdict(self)

    def __repr__(self) -> str:
        listed = [f"  {finding}" for finding in self.findings[:_MOST_TOLD]]
        more = len(self.findings) - len(listed)
        rest = [f"  … and {counted(more, 'more finding')}"] if more else []
        lines = "\n".join([self.title, *listed, *rest]).split("\n")
        return "\n".join(wrapped(printable(line)) for line in lines)

    @property
    def listing(self) -> Listing:
        """A line for each finding."""
        rows = [
            (f"{f.function} ({f.file}, line {f.line})", f.text, f.kind, f.message,
             f"line {f.read_line}: {f.read_text}" if f.read_line else "–")
            for f in self.findings
        ]  # fmt: skip
        heads = ("place", "source", "kind", "what was seen", "first read")
        return Listing(heads, (), rows)

    def _summary(self) -> Summary:
        return Summary(self.title, self.listing)

    @property
    def title(self) -> str:
        """A line with the numbers of findings and of runs."""
        count = "no findings" if self.clean else counted(len(self.findings), "finding")
        return (
            f"memory of kernel '{self.kernel}' in {self.backend}: {count} ({self.runs} runs, "
            f"{self.arrays} place{'s' * (self.arrays != 1)} with arrays made empty)"
            f"{'; it ends with ' * bool(self.ended)}{self.ended}"
        )


def check_memory(
    kernel: Callable, backend: str | Backend, args: tuple | Mapping[str, object]
) -> MemoryReport:
    """Run a kernel on copies of its arguments, and name the lines that use memory wrongly, or whose
    integers do not fit.

    Arrays made by np.empty and np.empty_like are filled: those of one place in the source with
    zeros, with NaN, with a huge number and with a huge negative one in turn (integers: zero and
    their extremes), all others with ones. Where the results, what is written into the arguments,
    the elements accessed or an exception depend on it, the place is found. Every index is checked
    in all runs; one beyond an array is brought inside, and the run goes on. In fixed point the
    units are those of the first run. Loops that a filling keeps from ending are ended. Found, too,
    are sums, differences, products and powers of integers that wrap, and values stored into arrays
    of int8 to int64 that do not fit. Unsigned integers wrap by definition, and casts on purpose.

    Args:
        kernel: as for `sciprec.lift`.
        backend: as for `sciprec.lift`.
        args: a tuple of arguments, or a mapping from the names of the parameters.

    Returns:
        The findings; nothing is raised for them.

    Raises:
        LiftError: the kernel cannot be lifted, or cannot run on these arguments.
        InputError: an unknown backend, or arguments that are neither a tuple nor a mapping.
    """
    resolved = resolve_backend(backend)
    resolved.require_taken_by("check_memory")
    if not isinstance(args, (tuple, Mapping)):
        raise InputError(
            f"args is a {type(args).__name__}; accepted: a tuple of the kernel's arguments, or a "
            "mapping from the names of its parameters: write (x,) for one argument"
        )
    function = function_of(kernel, "check_memory")
    places = WatchPlaces()
    check = _CheckRuns(lift_watched(function, resolved, places), places, args)
    with _lock:
        issues = check.findings()
    n_arrays = len(check.reached)
    return MemoryReport(function.__name__, resolved.name, issues, n_arrays, check.runs, check.ended)


@dataclass(frozen=True)
class _RunOutcome:
    """The outcome of a run: its numbers by name, how it ended, and the findings."""

    values: dict[str, list[np.ndarray]]
    ended: str
    notes: watch.Seen


@dataclass
class _CheckRuns:
    """The runs of one check."""

    lifted: Lifted
    places: WatchPlaces
    args: tuple | Mapping
    runs: int = 0
    reached: list[int] = field(default_factory=list)
    ended: str = ""

    def findings(self) -> tuple[MemoryFinding, ...]:
        """All that is found, by place: in a run as it is, and in some with new arrays filled."""
        most = _MOST_STEPS, _MOST_ELEMENTS
        truth = self._run(None, watch.ALONE, most)
        if isinstance(self.lifted, FixedLifted) and self.lifted.has_units:
            self.lifted.freeze()
            truth = self._run(None, watch.ALONE, most)
        most = (
            min(_MOST_STEPS, 10 * truth.notes.steps + 1_000_000),
            2 * truth.notes.longest + 1_000_000,
        )
        self.reached, self.ended = sorted(truth.notes.reached), truth.ended
        result = [self._overrun(overrun) for overrun in truth.notes.overruns]
        result += [self._overflow(overflow) for overflow in truth.notes.overflows]
        result += filter(None, (self._uninitialised(n, truth, most) for n in self.reached))
        return tuple(sorted(result, key=lambda f: (f.file, f.line, f.kind)))

    def _overrun(self, overrun: watch.Overrun) -> MemoryFinding:
        at = self.places.numbered[overrun.place]
        message = f"index {overrun.index} of axis {overrun.axis}, which has {overrun.size} elements"
        return _finding(OUT_OF_BOUNDS, at, message)

    def _overflow(self, overflow: watch.Overflow) -> MemoryFinding:
        at, ends = self.places.numbered[overflow.place], np.iinfo(overflow.kind)
        message = (
            f"{at.part}{' = ' * bool(at.part)}{overflow.value} does not fit into {overflow.kind}, "
            f"{ends.min:,} to {ends.max:,}; {overflow.wrapped}"
        )
        return _finding(OVERFLOW, at, message)

    def _uninitialised(
        self, number: int, truth: _RunOutcome, most: tuple[int, int]
    ) -> MemoryFinding | None:
        read = None
        for filling, words in _FILLINGS.items():
            outcome = self._run(number, filling, most)
            if outcome.notes.read >= 0:
                read = self.places.numbered[outcome.notes.read]
            depends = _difference(truth, outcome)
            if depends:
                message = f"read before it was written; filled with {words}, {depends}"
                return _finding(UNINITIALISED, self.places.numbered[number], message, read)
        return None

    def _run(self, place: int | None, filling: int, most: tuple[int, int]) -> _RunOutcome:
        if self.reached:
            runs = 1 + len(_FILLINGS) * len(self.reached)
            tell("runs with new arrays filled", self.runs, max(runs, self.runs + 1))
        self.runs += 1
        arguments = (self.args, {}) if isinstance(self.args, tuple) else ((), self.args)
        args = copied(self.lifted.bound(*arguments))
        names = list(self.lifted.signature.parameters)
        if self.lifted.backend.random:
            self.lifted.rewind()
        ended, result = "", None
        with watch.watching(place, filling, *most) as accesses:
            try:
                result = self.lifted(*args)
            except LiftError:
                raise
            except Exception as error:
                ended = f"{type(error).__name__}: {error}"
        values = {f"'{n}'": _arrays(a) for n, a in zip(names, args, strict=True)}
        return _RunOutcome({"the result": _arrays(result), **values}, ended, accesses())


def _difference(truth: _RunOutcome, other: _RunOutcome) -> str:
    """Say how an outcome differs from the true one; "" where it does not."""
    if truth.ended != other.ended:
        stopped = STOPPED in other.ended
        return "it does not end" if stopped else f"it ends with {other.ended or 'no exception'}"
    for name, arrays in truth.values.items():
        for expected, actual in zip(arrays, other.values[name], strict=False):
            if expected.shape != actual.shape or expected.dtype != actual.dtype:
                return f"{name} has another shape or type"
            changed = np.flatnonzero(_words(expected) != _words(actual))
            if changed.size:
                if not expected.shape:
                    return f"{name} changes"
                index = [int(i) for i in np.unravel_index(changed[0], expected.shape)]
                count = f"{changed.size} of {expected.size} elements"
                return f"{name} changes in {count}, first {index}"
        if len(arrays) != len(other.values[name]):
            return f"{name} has another length"
    return "other elements are accessed" if truth.notes.overruns != other.notes.overruns else ""


def _arrays(value) -> list[np.ndarray]:
    """The arrays and numbers of an argument or a result, in order."""
    if isinstance(value, (tuple, list)):
        return [array for item in value for array in _arrays(item)]
    if isinstance(value, (np.ndarray, np.generic, int, float, complex)):
        return [np.asarray(value)]
    return []


def _words(array: np.ndarray) -> np.ndarray:
    """The bytes of every element, to be compared as a whole."""
    return np.ascontiguousarray(array).reshape(-1).view(f"V{array.itemsize}")


def _finding(
    kind: str, at: WatchedPlace, message: str, read: WatchedPlace | None = None
) -> MemoryFinding:
    where = (read.line, read.text) if read else (0, "")
    return MemoryFinding(kind, at.function, at.file, at.line, at.text, message, *where)
