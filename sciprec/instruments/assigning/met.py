"""Places of assignments that kernels have: those of a run, and of this process so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from sciprec.instruments.assigning.matching import Matching
    from sciprec.instruments.assigning.places import Place
    from sciprec.precision.lifting.lifted import Lifted



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
