"""Compilations without what slows them and serves nobody: Numba adds up how long each call of LLVM
takes, for every one of the compilations inside one another, a twentieth of what compiling takes;
and the many objects that it makes let Python look for garbage all the time, a sixth.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

from llvmlite.binding import ffi
from numba.core import event

_KIND = "numba:llvm_lock"
_SELDOM = (50_000, 20, 50)
"""New objects after which garbage is looked for, and how often among older ones; Python's 700 new
ones come every few milliseconds.
"""


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Nobody is told of calls of LLVM, unless somebody listens, and garbage is looked for rarely;
    to be held with Numba's lock of compilers. A compilation's metadata then have no time of LLVM.
    """
    told = [] if event._registered.get(_KIND) else _numbas_own()
    usual = gc.get_threshold()
    if usual[0]:  # 0: never, which stays
        gc.set_threshold(*map(max, usual, _SELDOM))
    for pair in told:
        ffi.unregister_lock_callback(*pair)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        for pair in told:
            ffi.register_lock_callback(*pair)


def _numbas_own() -> list[tuple]:
    """What Numba has llvmlite call around each call; nothing where a version of these has none."""
    pairs = getattr(getattr(ffi.lib, "_lock", None), "_cblist", ())
    return [pair for pair in pairs if pair[0].__module__ == "numba.core.base"]
