"""Assignments: a format for every operation, line, variable, function or chain of calls; and the
backends whose operations have these formats.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from sciprec.foundation.arguments import by_of, choice, refused
from sciprec.foundation.errors import InputError, meant
from sciprec.foundation.listing import Listing, Shown, Summary, counted
from sciprec.instruments.assigning import files
from sciprec.instruments.assigning.matching import (
    Matching,
    kernels_of,
    met_places,
    nearest_line,
    note,
    note_kernel,
    one_run,
)
from sciprec.instruments.assigning.places import (
    Place,
    known_as,
    read_place,
    renamed,
    require_different,
)
from sciprec.instruments.assigning.rows import require_assignable
from sciprec.instruments.assigning.scaling import ScaledBackend
from sciprec.instruments.assigning.specialised import specialised_program
from sciprec.instruments.assigning.stages import places_of_stages
from sciprec.precision.formats.backend import (
    Arithmetic,
    Backend,
    HandedBackend,
    copied,
    resolve_backend,
)
from sciprec.precision.lifting.compiling import module_of
from sciprec.precision.lifting.lifted import Lifted
from sciprec.precision.lifting.lifting import lift
from sciprec.precision.rewriting.syntax import plain_function


class Assignment(Mapping[Hashable, str], Shown):
    """A choice of formats for the operations of a computation.

    An operation in format F takes its operands rounded to F, literals and integers too, and rounds
    its result to F. Loads, stores, copies, signs, min, max and comparisons round nothing: only an
    array of a narrower dtype rounds what is stored in it. With rounds="everything" what a line
    loads, stores, compares, casts or chooses from by min and max has the line's format, too, and
    arguments have that of the kernel's first line: one format everywhere is then that
    of `lift`. Sums and products of arrays have the
    format of the line that calls them.

    It is given wherever a backend is: `sciprec.lift(kernel, assignment)`. As a mapping it gives the
    names of formats by place.

    Args:
        formats: place -> format, the name of a floating-point backend of one format or a spec
            string. Places are, by kind: a line's number (in the kernel's file, or "file.py:12"),
            "12: a * b" for an operation, "f.x" or "x" for a variable, "f" for a function, "line 9 >
            line 22 > g" for a chain of calls, "Fourier" for a stage of the models that have it.
        by: kind of places: "line", "operation", "variable", "function", "call" or "stage".
        default: the format of all that is left out.
        kernel: whose places these are: its file and the source of its lines are noted, so that a
            line which has moved is found again, and an edited one is refused.
        name: a label for tables and files, of up to 100 printable characters.
        rounds: "operations", or "everything".
        unit: the older name of `by`.

    Attributes:
        by, default, name, rounds: as given.
        places: key -> Place.

    Raises:
        InputError: a place or a format cannot be used.
    """

    def __init__(
        self, formats: Mapping[Any, Any], *, by: str = "line",
        default: str | Backend = "fp64", kernel: Callable[..., Any] | None = None,
        name: str = "by hand", rounds: str = files.ROUNDS[0], unit: str | None = None,
    ) -> None:  # fmt: skip
        by = by_of(by, unit)
        self.rounds = choice("rounds", rounds, files.ROUNDS)
        if not isinstance(formats, Mapping):
            raise refused("an assignment", formats, "a mapping from places to formats")
        if isinstance(by, str) and by == "stage":
            self._make_of_stages(formats, _named(default), kernel, name)
            return
        formats = {int(k) if isinstance(k, np.integer) else k: f for k, f in formats.items()}
        places = {key: read_place(by, key) for key in formats}
        files.require_label(name)
        require_different(places)
        self._make(by, places, {k: _named(f) for k, f in formats.items()}, _named(default), name)
        if kernel is not None:
            self._note(kernel)

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Take what is pickled, by earlier versions, too."""
        self.__dict__.update(renamed(state, "unit", "by"))

    def _make_of_stages(
        self, formats: Mapping[Any, Any], default: str, kernel: Any, name: str
    ) -> None:
        for stage in formats:
            if not isinstance(stage, str):
                raise refused("a stage of an assignment", stage, "its name")
        if kernel is not None:
            raise InputError(
                "an assignment by stages is given a kernel; stages are those of sciprec's own "
                "models: leave it out"
            )
        files.require_label(name)
        by_place = places_of_stages({stage: _named(f) for stage, f in formats.items()})
        places = {place.key(): place for place in by_place}
        self._make("stage", places, {p.key(): f for p, f in by_place.items()}, default, name)

    def _make(
        self, by: str, places: Mapping[Hashable, Place], formats: Mapping[Hashable, str],
        default: str, name: str,
    ) -> None:  # fmt: skip
        self.by, self.places, self.default, self.name = by, dict(places), default, name
        self._formats = dict(formats)
        self._known = {f: arithmetic_of(f) for f in {default, *self._formats.values()}}

    @classmethod
    def of_places(
        cls, by: str, formats: Mapping[Place, str], default: str, file: str, name: str,
        rounds: str = files.ROUNDS[0],
    ) -> Assignment:  # fmt: skip
        """An assignment to places as they are.

        Args:
            file: whose lines are called by their number.
        """
        assignment = cls.__new__(cls)
        assignment.rounds = rounds
        places = {place.key(file): place for place in formats}
        assignment._make(by, places, {p.key(file): f for p, f in formats.items()}, default, name)
        return assignment

    def _note(self, kernel: Callable[..., Any]) -> None:
        """Take over file, function and source of the places in a kernel."""
        function = plain_function(kernel)
        if function is None:
            raise refused("the kernel of an assignment", kernel, "a Python or an @njit function")
        matching = Matching(self, function)
        matching.require_met()
        self.places = {key: matching.noted(key) for key in self.places}
        require_different(self.places)

    # ---- as a mapping --------------------------------------------------------------------------

    def __getitem__(self, key: Hashable) -> str:
        return self._formats[key]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._formats)

    def __len__(self) -> int:
        return len(self._formats)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Assignment) or self.is_policy != other.is_policy:
            return False
        return self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def unit(self) -> str:
        """The older name of `by`, with a warning."""
        return by_of("", self.by)

    def arithmetic(self, key: Hashable = None) -> Arithmetic:
        """The arithmetic of a place, or that of all that is left out."""
        return self._known[self.default if key is None else self._formats[key]]

    @property
    def everything(self) -> bool:
        """Whether loads, arguments and comparisons have formats, too."""
        return self.rounds != files.ROUNDS[0]

    @property
    def arithmetics(self) -> tuple[Arithmetic, ...]:
        """Every arithmetic that it names, the default first."""
        assigned = [self._known[f] for f in self._formats.values()]
        return tuple(dict.fromkeys([self._known[self.default], *assigned]))

    # ---- as plain data -------------------------------------------------------------------------

    def as_dict(self) -> dict[str, Any]:
        """Return plain data: the content of a file."""
        rows = [
            {"format": self._formats[key], **_row_of(place)} for key, place in self.places.items()
        ]
        more = {"rounds": self.rounds} if self.everything else {}
        return {
            "schema": 1, "name": self.name, "by": self.by, "default": self.default, **more,
            "format": rows,
        }  # fmt: skip

    @cached_property
    def digest(self) -> str:
        """Twelve hexadecimal digits that depend on everything but the name."""
        return files.digest_of(self.as_dict())

    def named(self, name: str) -> Assignment:
        """Copy the assignment under another name."""
        files.require_label(name)
        assignment = copy.copy(self)
        assignment.name = name
        return assignment

    def save(self, path: str | Path) -> Path:
        """Write it as TOML; `sciprec.Assignment.load` and "assignment:PATH" read it.

        Raises:
            InputError: it is for no known kernel, or the file cannot be written.
        """
        if any(p.has_numbers_alone for p in self.places.values()):
            raise InputError(
                "the assignment does not know whose lines it names; make it for a kernel, as in "
                "sciprec.Assignment(formats, kernel=kernel), so that the file can find them again"
            )
        return files.write(path, self.as_dict())

    @classmethod
    def load(cls, path: str | Path) -> Assignment:
        """An assignment from a file.

        Raises:
            InputError: it cannot be read, with what is wrong in it.
        """
        read = files.read(path)
        try:
            return cls._of(read)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    @classmethod
    def _of(cls, read: files.Read) -> Assignment:
        return cls.of_places(
            read.by, read.formats, read.default, read.file, read.name, read.rounds
        )

    @classmethod
    def called(cls, name: str) -> Assignment:
        """The assignment "assignment:PATH" of a file, or "assignment:NAME@DIGEST" that was given
        as a backend before.

        Raises:
            InputError: there is none.
        """
        path = name.partition(":")[2]
        label, at, digest = path.rpartition("@")
        if not at or Path(path).exists():
            return cls.load(path)
        content = files.stored_content(digest)
        if content is None:
            raise InputError(
                f"the arithmetic '{name}' is not known here; give the file of the assignment, as "
                "in 'assignment:mix.toml'"
            )
        return cls._of(replace(content, name=label))

    # ---- as a backend --------------------------------------------------------------------------

    def as_backend(self) -> AssignedBackend:
        """The backend whose kernels compute so."""
        files.keep(self.digest, self.as_dict())
        fp64 = resolve_backend("fp64")
        places = {(key if p.by != "stage" else p.variable): self._formats[key]
                  for key, p in self.places.items()}  # fmt: skip
        counts = Counter(places.values())
        parts = [f"{counted(n, self.by)} in {fmt}" for fmt, n in counts.most_common()]
        about = ", ".join([*parts, f"{'all else' if parts else 'everything'} in {self.default}"])
        about += "; loads, arguments and comparisons too" if self.everything else ""
        label = f"assignment:{self.name.replace(' ', '-')}@{self.digest}"
        name = self.name if self.is_policy else label
        return AssignedBackend(
            name, fp64.storage, fp64.compute, fp64.accumulate, fp64.matmul, about=about, maker=self
        )

    @property
    def carrier(self) -> np.dtype:
        """The dtype of a model's arrays."""
        return np.dtype(np.float64)

    @property
    def widest(self) -> Arithmetic:
        """The arithmetic with the most significand bits, the default before others."""
        return max(self.arithmetics, key=lambda arithmetic: arithmetic.format.significand_bits)

    @property
    def is_policy(self) -> bool:
        """Whether it is a policy, which says of a model's own numbers, too, in which format they
        are; else operations alone round.
        """
        return self.name.startswith("policy:")

    def of_stage(self, stage: str) -> Arithmetic | None:
        """The arithmetic that a policy gives to numbers which a model gives to kernels: those of a
        stage; None of what is no policy.
        """
        if not self.is_policy:
            return None
        keys = [key for key, place in self.places.items() if place.variable == stage]
        self.note_met(keys)
        return self.arithmetic(keys[0] if keys else None)

    def lifted(
        self, kernel: Callable[..., Any], backend: Backend, trust_inputs: bool
    ) -> Lifted:
        """A kernel compiled for this assignment; see `sciprec.lift`."""
        matching = Matching(self, kernel)
        program = specialised_program(kernel, matching.arithmetics, self.everything)
        module, again = module_of(program), partial(lift, backend=backend)
        result = Lifted(kernel, backend, program, module, 0, again)
        note_kernel(result, self.digest, matching)
        return result

    def rounding(self, backend: Backend) -> Callable[[np.ndarray, np.ndarray], None]:
        """A function (values, out): arrays are stored as they are."""
        return copied

    def note_met(self, keys: Iterable[Hashable]) -> None:
        """Note places that a kernel has."""
        note(self.digest, [self.places[key] for key in keys])

    @property
    def unmet(self) -> list[Place]:
        """Places that no kernel of this run has; outside of one, none of this process."""
        present = met_places(self.digest)
        return [place for place in self.places.values() if place not in present]

    def _summary(self) -> Summary:
        rows = [(str(key), fmt, self.places[key].source) for key, fmt in self._formats.items()]
        rows.append(("all else", self.default, ""))
        listing = Listing((self.by, "format", "source"), (), rows)
        of = ", loads, arguments and comparisons too" if self.everything else ""
        return Summary(f"Assignment of {counted(len(self), self.by)}{of}", listing)


def arithmetic_of(name: str) -> Arithmetic:
    """The arithmetic that an operation may be given by this name.

    Raises:
        InputError: there is none, with what is accepted.
    """
    backend = resolve_backend(name)
    backend.require_taken_by("an assignment of formats")
    by_place = isinstance(backend, (AssignedBackend, ScaledBackend))
    if by_place or len(set(backend.roles)) > 1 or backend.noise is not None or backend.fixed:
        raise InputError(
            f"format '{name}' is no single floating-point arithmetic; an assignment takes formats "
            "such as 'fp32', 'bf16' or 'float:p=12'"
        )
    require_assignable(backend.compute, name)
    return backend.compute


def _named(backend: Any) -> str:
    name = backend if isinstance(backend, str) else resolve_backend(backend).name
    arithmetic_of(name)
    return name


def _row_of(place: Place) -> dict[str, Any]:
    """The settings of a place, as plain data."""
    nothing = asdict(Place(place.by))
    data = {k: v for k, v in asdict(place).items() if v != nothing[k]}
    if place.calls:
        data["calls"] = [{k: v for k, v in call.items() if v != 0} for call in data["calls"]]
    return data


def file_of(kernel) -> str:
    """The file of a kernel as assignments know it."""
    return known_as(kernel.__code__.co_filename)


def backend_called(name: str) -> AssignedBackend:
    """The backend of `Assignment.called`."""
    return Assignment.called(name).as_backend()


class AssignedBackend(HandedBackend):
    """A backend whose operations have the formats of an assignment; it is equal to others of the
    same one.
    """

    @property
    def assignment(self) -> Assignment:
        """The assignment that makes its kernels."""
        return cast("Assignment", self.maker)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AssignedBackend) and self.maker == other.maker

    def __hash__(self) -> int:
        return hash(self.maker)

    def require_met(self, kernel: Callable[..., Any]) -> None:
        """Make sure that a kernel has every place of the assignment.

        Raises:
            InputError: one that it does not have, with the nearest.
        """
        if self.assignment.by == "stage":
            raise InputError(
                f"'{self.name}' is by the stages of sciprec's own models, and is given to the "
                f"kernel '{kernel.__name__}'; give it an assignment: formats by line or function"
            )
        Matching(self.assignment, kernel).require_met()

    def require_all_met(self) -> None:
        """Make sure that every place is in a kernel of this run.

        Raises:
            InputError: one is not.
        """
        unmet = self.assignment.unmet
        if self.assignment.by == "stage":  # of several models
            if unmet and len(unmet) == len(self.assignment):
                raise InputError(
                    f"'{self.name}' gives formats to stages, of which the model has none; give an "
                    "assignment: formats by line or function"
                )
            return
        if unmet:
            raise InputError(
                f"'{self.name}' gives a format to {unmet[0]}, which no kernel of the model has"
                f"{f'; nor {len(unmet) - 1} more places' if unmet[1:] else ''}: leave it out, or "
                f"name the place as the model has it{self._near(unmet[0])}"
            )

    def _near(self, place: Place) -> str:
        """The nearest place that the model has, after a sentence on one that it has not."""
        every = [p for matching in kernels_of(self.assignment.digest) for p in matching.every]
        if not every:
            return ""
        if self.assignment.by == "line":
            return f"; {nearest_line(place, every)}"
        names = dict.fromkeys(str(p.key(place.file or p.file)) for p in every)
        return meant(str(place.key(place.file)), names)


@contextmanager
def every_place_met(backend: Backend) -> Iterator[None]:
    """A run of a model in a backend: kernels that are lifted inside have every place to which it
    gives a format.

    Raises:
        InputError: after the run, one that none has.
    """
    with one_run():
        yield
        if isinstance(backend, AssignedBackend):
            backend.require_all_met()
