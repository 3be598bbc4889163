"""Backends whose operations have the formats of an assignment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from sciprec.foundation.errors import InputError, meant
from sciprec.instruments.assigning import met
from sciprec.instruments.assigning.matching import Matching, nearest_line
from sciprec.instruments.assigning.places import Place
from sciprec.precision.formats.backend import Backend, HandedBackend

if TYPE_CHECKING:
    from sciprec.instruments.assigning.assignment import Assignment


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
        every = [p for matching in met.kernels_of(self.assignment.digest) for p in matching.every]
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
    with met.one_run():
        yield
        if isinstance(backend, AssignedBackend):
            backend.require_all_met()
