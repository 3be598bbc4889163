"""The meaning of an assignment for a kernel: the arithmetic of every row of its program; and the
places of assignments that kernels have, of a run and of this process so far.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from weakref import WeakKeyDictionary

from sciprec.foundation.errors import InputError, meant
from sciprec.instruments.assigning.origins import own_place
from sciprec.instruments.assigning.places import CallLine, Place, is_in, joined, known_as, place_of
from sciprec.instruments.assigning.program import InRows, program_in_rows
from sciprec.instruments.assigning.rows import NEAREST
from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.syntax import Origin

if TYPE_CHECKING:
    from sciprec.precision.lifting.lifted import Lifted


@lru_cache(maxsize=64)
def program_of(kernel, everything: bool = False) -> Program:
    """The (shared) program of a kernel, whose rows are numbered; see `InRows`."""
    program = program_in_rows(kernel, InRows(NEAREST, everything=everything))
    program.text()
    return program


class _Assigning(Protocol):
    """An assignment, as places of a kernel are matched with it."""

    by: str

    @property
    def everything(self) -> bool: ...
    @property
    def places(self) -> Mapping[Hashable, Place]: ...

    def arithmetic(self, key: Hashable = ...) -> Arithmetic: ...
    def __getitem__(self, place: Hashable) -> str: ...


class Matching:
    """The places of an assignment in a kernel.

    Args:
        assignment: what gives formats.
        kernel: the plain Python function.
        program: whose rows get formats; left out, that of `program_of`.

    Attributes:
        arithmetics: of the program's rows, in their order.
        met: keys of the assignment whose places the kernel has.

    Raises:
        InputError: a line was edited, or two places of one row have different formats.
    """

    def __init__(
        self, assignment: _Assigning, kernel, program: Program | None = None
    ) -> None:
        self.assignment, self.kernel = assignment, kernel
        self.program = (
            program_of(kernel, assignment.everything) if program is None else program
        )
        rows = self.program.layout.rows
        self._origins = [own_place(self.program, row) for row in rows]
        self._files = {o.file for o in self._origins}
        self._file = kernel.__code__.co_filename
        self._places = {key: self._moved(self._resolved(p)) for key, p in assignment.places.items()}
        self._rows: dict[Hashable, int] = {}
        self.arithmetics: list[Arithmetic] = [assignment.arithmetic()] * len(rows)
        self._give()

    @property
    def met(self) -> list[Hashable]:
        """Keys of the assignment whose places the kernel has."""
        return list(self._rows)

    def _give(self) -> None:
        key_of_row: dict[int, Hashable] = {}
        by_line: dict[int, list[Hashable]] = {}
        for key, place in self._places.items():
            by_line.setdefault(place.line, []).append(key)
        for number, (row, origin) in enumerate(
            zip(self.program.layout.rows, self._origins, strict=True)
        ):
            for key in (*by_line.get(origin.line, ()), *by_line.get(0, ())):
                if not self._places[key].holds(self.program, row, origin):
                    continue
                earlier = key_of_row.setdefault(number, key)
                if self.assignment[earlier] != self.assignment[key]:
                    raise InputError(
                        f"{self._places[key]} is in '{self.assignment[key]}' and, as "
                        f"{earlier!r}, in '{self.assignment[earlier]}'; give it one format"
                    )
                self._rows.setdefault(key, number)
                self.arithmetics[number] = self.assignment.arithmetic(key)

    def _moved(self, place: Place) -> Place:
        """A place where its line is now, or those of its calls are."""
        if place.calls:
            function = place.text.rpartition(" > ")[2]
            return replace(place, text=joined([self._line_now(c) for c in place.calls], function))
        return replace(place, line=self._line_now(place)) if place.source else place

    def _line_now(self, place: Place | CallLine) -> int:
        """The number that a line has now, of its text and its function."""
        origins = self._of_function(place)
        if not origins:
            return place.line
        candidates = {o.line: o for o in origins if o.source == place.source}
        file = known_as(place.file)
        if not candidates:
            now = next((o.source for o in origins if o.line == place.line), "")
            reads = f"reads `{now}` now" if now else "has no operation now"
            raise InputError(
                f"line {place.line} of '{place.function}' ({file}) {reads}; the assignment "
                f"was made for `{place.source}`: make it again, or edit its file"
            )
        same = (place.twin or 1, place.twins or 1)
        fitting = [line for line, o in candidates.items() if (o.twin, o.twins) == same]
        if place.line in fitting:
            return place.line
        if len(fitting) == 1:
            return fitting[0]
        listed = ", ".join(map(str, sorted(candidates)))
        raise InputError(
            f"line {place.line} of '{place.function}' ({file}), `{place.source}`, was number "
            f"{same[0]} of {same[1]} that read so; lines {listed} do now, and which of them it is "
            "cannot be told: make the assignment again"
        )

    def _resolved(self, place: Place) -> Place:
        """A place in the one file of the kernel's that it is in: numbers alone are lines of the
        kernel's own file, and of a line whose source is known a file of that name is enough.
        """
        if not place.file:
            return replace(place, file=self._file) if place.by in ("line", "operation") else place
        files = {file for file in self._files if place.is_in(file)}
        if not files and place.source:
            name = Path(place.file).name
            files = {file for file in self._files if Path(file).name == name}
        if len(files) > 1 and place.by != "stage":
            listed = ", ".join(sorted(map(known_as, files)))
            raise InputError(
                f"{place} may be in several files of the kernel's, {listed}; give more of its path"
            )
        return replace(place, file=files.pop()) if len(files) == 1 else place

    def _of_function(self, place: Place | CallLine) -> list[Origin]:
        """The origins in a place's function: those of calls where the place is a call."""
        origins = self._calls if isinstance(place, CallLine) else self._origins
        return [o for o in origins if o.function == place.function and is_in(o.file, place.file)]

    @cached_property
    def _calls(self) -> list[Origin]:
        """The lines of calls."""
        sites = dict.fromkeys(site for row in self.program.layout.rows for site in row.calls)
        return [self.program.origins[site] for site in sites if site in self.program.origins]

    def noted(self, key: Hashable) -> Place:
        """A place with its file, function and source."""
        row = self._rows[key]
        place = place_of(self.program, self.program.layout.rows[row], self.assignment.by)
        if self.assignment.by == "operation":
            return replace(self._places[key], function=place.function, file=place.file,
                           source=place.source, twin=place.twin, twins=place.twins)  # fmt: skip
        if self.assignment.by == "variable" and not self._places[key].function:
            return replace(self._places[key], file=place.file)
        return place

    def require_met(self) -> None:
        """Make sure that the kernel has every place.

        Raises:
            InputError: one that it does not have, with the nearest.
        """
        for key, place in self._places.items():
            if key in self._rows:
                continue
            raise InputError(
                f"kernel '{self.kernel.__name__}' "
                f"({known_as(self._file)}) has no operation in {place}{self._elsewhere(place)}; "
                f"{self._nearest(key, place)}"
            )

    def _elsewhere(self, place: Place) -> str:
        """The file of a place, where the kernel has nothing in it."""
        has = not place.file or any(place.is_in(file) for file in self._files | {self._file})
        return "" if has else f" in a file '{place.file}'"

    @property
    def every(self) -> list[Place]:
        """All places of the kernel, of the assignment's kind."""
        by, rows = self.assignment.by, self.program.layout.rows
        return list(dict.fromkeys(place_of(self.program, row, by) for row in rows))

    def _nearest(self, key: Hashable, place: Place) -> str:
        if self.assignment.by == "line":
            if not self.every:
                return "it has no operation on floating-point numbers"
            return nearest_line(place, self.every)
        names = [str(p.key(known_as(self._file))) for p in self.every]
        listed = ", ".join([*names[:8], *(["..."] if names[8:] else [])])
        return f"it has {listed}{meant(str(key), names)}"


def nearest_line(place: Place, every: Sequence[Place]) -> str:
    """Words on the line that is nearest to one where there is no operation: of its function, or, if
    there is no such function, on that of the nearest name.
    """
    in_function = [p for p in every if p.function == place.function and place.is_in(p.file)]
    if place.function and not in_function:
        names = sorted({p.function for p in every})
        listed = ", ".join([*names[:8], *(["..."] if names[8:] else [])])
        return f"functions with one are {listed}{meant(place.function, names)}"
    near = in_function or [p for p in every if place.is_in(p.file)] or every
    nearest = min(near, key=lambda p: abs(p.line - place.line))
    return f"the nearest line with one is {nearest.line}"


class _Met(dict[str, set["Place"]]):
    """Digest of an assignment -> its places.

    Attributes:
        kernels: digest -> what the assignment means for the kernels that were compiled for it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.kernels: dict[str, list[Matching]] = {}


_ever = _Met()
_runs: list[_Met] = []
"""Of every run that goes on, in whatever thread its kernels are lifted."""
_current: ContextVar[_Met | None] = ContextVar("places met in this run", default=None)
_of_kernels: WeakKeyDictionary[Lifted, tuple[str, Matching]] = WeakKeyDictionary()


@contextmanager
def one_run() -> Iterator[None]:
    """Places that are met inside count, and none from before."""
    places = _Met()
    _runs.append(places)
    before = _current.set(places)
    try:
        yield
    finally:
        _current.reset(before)
        _runs[:] = [run for run in _runs if run is not places]


def note(digest: str, places: Iterable[Place]) -> None:
    """Note places of an assignment that a kernel has."""
    listed = list(places)
    for run in (_ever, *_runs):
        run.setdefault(digest, set()).update(listed)


def met_places(digest: str) -> set[Place]:
    """The places of an assignment that kernels of this run have, or, outside of one, ever had."""
    current = _current.get()
    return (_ever if current is None else current).get(digest, set())


def kernels_of(digest: str) -> list[Matching]:
    """Matchings of an assignment with kernels of the current run; none outside of a run."""
    current = _current.get()
    return [] if current is None else current.kernels.get(digest, [])


def note_kernel(kernel: Lifted, digest: str, matching: Matching) -> None:
    """Note what a kernel has that is compiled for an assignment, and may be kept."""
    _of_kernels[kernel] = digest, matching
    kept_kernel(kernel)


def kept_kernel(kernel: Lifted) -> Lifted:
    """A kernel that is kept from run to run: its places are noted as when it was compiled."""
    if kernel in _of_kernels:
        digest, matching = _of_kernels[kernel]
        note(digest, [matching.assignment.places[key] for key in matching.met])
        for run in _runs:
            run.kernels.setdefault(digest, []).append(matching)
    return kernel
