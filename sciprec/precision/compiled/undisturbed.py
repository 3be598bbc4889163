"""Compilations without what slows them and serves nobody: Numba adds up how long each call of LLVM
takes, for every one of the compilations inside one another, a twentieth of what compiling takes;
the many objects that it makes let Python look for garbage all the time, a sixth; and with every
function that is called it asks all its registries for news, another twentieth. What it does at
length is done in less time, see `quicker`.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator

from llvmlite.binding import ffi
from numba.core import event
from numba.core.registry import cpu_target

from sciprec.precision.compiled.quicker import another, replaced, replacements

_KIND = "numba:llvm_lock"
_SELDOM = (50_000, 20, 50)
"""New objects after which garbage is looked for, and how often among older ones; Python's 700 new
ones come every few milliseconds.
"""


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Tell nobody of calls of LLVM, unless somebody listens, look for garbage rarely, and read
    registries where they have grown; to be held with Numba's lock of compilers. A compilation's
    metadata then have no time of LLVM.
    """
    callbacks = [] if event._registered.get(_KIND) else _numbas_own()
    usual = gc.get_threshold()
    if usual[0]:  # 0: never, which stays
        gc.set_threshold(*map(max, usual, _SELDOM))
    for pair in callbacks:
        ffi.unregister_lock_callback(*pair)
    try:
        with contextlib.ExitStack() as changed:
            contexts = cpu_target.target_context, cpu_target.typing_context
            changed.enter_context(_asked_where_they_have_grown(*contexts))
            for owner, name, quicker in replacements():
                changed.enter_context(replaced(owner, name, quicker))
            yield
    finally:
        gc.set_threshold(*usual)
        for pair in callbacks:
            ffi.register_lock_callback(*pair)


def _numbas_own() -> list[tuple]:
    """Return the functions that Numba has llvmlite call around each call; none where a version of
    these has none.
    """
    pairs = getattr(getattr(ffi.lib, "_lock", None), "_cblist", ())
    return [pair for pair in pairs if pair[0].__module__ == "numba.core.base"]


@contextlib.contextmanager
def _asked_where_they_have_grown(*contexts) -> Iterator[None]:
    """`refresh` of Numba's contexts does something where any of their registries has grown; inside
    one another, too.
    """
    if not all(hasattr(context, "_registries") for context in contexts):
        yield  # a version of Numba that keeps them elsewhere
        return
    with contextlib.ExitStack() as changed:
        for context in contexts:
            quicker = _refreshing(context.refresh, contexts)
            changed.enter_context(another(context, "refresh", quicker))
        yield


def _refreshing(usual: Callable[[], None], contexts: tuple) -> Callable[[], None]:
    """A `refresh` that does nothing where no registry has grown since its last call."""
    counted = registries = -1
    lists: list[list] = []

    def refresh() -> None:
        nonlocal counted, registries, lists
        if registries != sum(len(context._registries) for context in contexts):
            registries = sum(len(context._registries) for context in contexts)
            lists = _lists(contexts)
        if counted != sum(map(len, lists)):
            usual()
            counted = sum(map(len, lists))

    return refresh


def _lists(contexts: tuple) -> list[list]:
    """Return the lists that all registries of contexts hold; they only grow."""
    return [
        entries
        for context in contexts
        for registry in context._registries
        for entries in vars(registry).values()
        if isinstance(entries, list)
    ]
