"""Whether the kernels of a run are compiled already, and who hears when they are being compiled.

A run that has ended leaves an empty file in the folder of the compiled kernels, named by a digest
of what decides which kernels it calls. Where it is missing, forecasts count the compiling.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import cache

from numba.core import event

from sciprec.batch.plan import Run
from sciprec.kinds import kind_of
from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.lifting.compiling import cache_folder
from sciprec.provenance.definitions import code_digest

FOLDER = "compiled-runs"
_here = threading.local()


def is_compiled(run: Run) -> bool:
    """Whether a run with the same kernels has ended on this machine."""
    return (cache_folder() / FOLDER / kernels_of(run)).exists()


def remember(run: Run) -> None:
    """Note that the kernels of a run are compiled, where the folder can be written."""
    with contextlib.suppress(OSError):
        folder = cache_folder() / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        (folder / kernels_of(run)).touch()


def kernels_of(run: Run) -> str:
    """What decides which kernels a run calls, as 24 hexadecimal digits."""
    kind = kind_of(run.scenario)
    table = kind.kernels(run.scenario.table, run.variant)
    parts = (kind.name, table, _written(run.backend), run.variant.choices(), code_digest())
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]


@cache
def _written(backend: str) -> str:
    return json.dumps(asdict(resolve_backend(backend)), sort_keys=True, default=repr)


@contextlib.contextmanager
def told_of_compiling(tell: Callable[[], None] | None) -> Iterator[None]:
    """Call a function when something is compiled on this thread inside the block, once.

    Args:
        tell: the function; None: nobody is told.
    """
    _listen()
    _here.tell = tell
    try:
        yield
    finally:
        _here.tell = None


class _Listener(event.Listener):
    def on_start(self, event) -> None:
        tell, _here.tell = getattr(_here, "tell", None), None
        if tell is not None:
            tell()

    def on_end(self, event) -> None:
        pass


@cache
def _listen() -> None:
    """Hear of every compilation of this process; what is loaded from the disk is none."""
    event.register("numba:compile", _Listener())
