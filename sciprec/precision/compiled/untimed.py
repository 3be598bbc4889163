"""Compilations that Numba does not time: it adds up how long each call of LLVM takes, for every one
of the compilations inside one another, which is a twentieth of what compiling takes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from llvmlite.binding import ffi
from numba.core import event

_KIND = "numba:llvm_lock"


@contextlib.contextmanager
def untimed() -> Iterator[None]:
    """Nobody is told of calls of LLVM, unless somebody listens; to be held with Numba's lock of
    compilers. A compilation's metadata then have no time of LLVM.
    """
    told = [] if event._registered.get(_KIND) else _numbas_own()
    for pair in told:
        ffi.unregister_lock_callback(*pair)
    try:
        yield
    finally:
        for pair in told:
            ffi.register_lock_callback(*pair)


def _numbas_own() -> list[tuple]:
    """What Numba has llvmlite call around each call; nothing where a version of these has none."""
    pairs = getattr(getattr(ffi.lib, "_lock", None), "_cblist", ())
    return [pair for pair in pairs if pair[0].__module__ == "numba.core.base"]
