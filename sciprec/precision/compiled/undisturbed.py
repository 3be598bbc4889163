"""Compilations without what slows them and serves nobody: Numba adds up how long each call of LLVM
takes, for every one of the compilations inside one another, a twentieth of what compiling takes;
the many objects that it makes let Python look for garbage all the time, a sixth; and with every
function that is called it asks all its registries for news, another twentieth. Of smaller things,
it looks through every function for `with` statements, which are rare, and gathers the flags of a
compilation one by one each time that it compares them; and llvmlite looks through all modules of a
process for the one at an address, a thirtieth where there are thousands.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
from collections import deque
from collections.abc import Callable, Iterator

from llvmlite.binding import ffi
from llvmlite.binding.executionengine import ExecutionEngine
from numba.core import event, interpreter, ir, targetconfig
from numba.core.registry import cpu_target

_KIND = "numba:llvm_lock"
_SELDOM = (50_000, 20, 50)
"""New objects after which garbage is looked for, and how often among older ones; Python's 700 new
ones come every few milliseconds.
"""


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Nobody is told of calls of LLVM, unless somebody listens, garbage is looked for rarely, and
    registries are read where they have grown; to be held with Numba's lock of compilers. A
    compilation's metadata then have no time of LLVM.
    """
    told = [] if event._registered.get(_KIND) else _numbas_own()
    usual = gc.get_threshold()
    if usual[0]:  # 0: never, which stays
        gc.set_threshold(*map(max, usual, _SELDOM))
    for pair in told:
        ffi.unregister_lock_callback(*pair)
    try:
        with contextlib.ExitStack() as changed:
            contexts = cpu_target.target_context, cpu_target.typing_context
            changed.enter_context(_asked_where_they_have_grown(*contexts))
            for owner, name, quicker in _QUICKER:
                changed.enter_context(_replaced(owner, name, quicker))
            yield
    finally:
        gc.set_threshold(*usual)
        for pair in told:
            ffi.register_lock_callback(*pair)


@contextlib.contextmanager
def _replaced(owner, name: str, quicker: Callable) -> Iterator[None]:
    """A function of Numba's or llvmlite's replaced by one that does the same; where it is another
    one already, or a version of these has none, nothing is.
    """
    usual = vars(owner).get(name)
    if getattr(usual, "__module__", "").partition(".")[0] not in ("numba", "llvmlite"):
        yield
        return
    setattr(owner, name, quicker(usual))
    try:
        yield
    finally:
        setattr(owner, name, usual)


def _without_exits(usual: Callable) -> Callable:
    """`peep_hole_delete_with_exit`: removes what stands where a `with` ends, by its name."""

    def peep_hole_delete_with_exit(func_ir):
        named = (
            s.target.name for block in func_ir.blocks.values() for s in block.body
            if isinstance(s, ir.Assign)
        )  # fmt: skip
        return usual(func_ir) if any("setup_with_exitfn" in n for n in named) else func_ir

    return peep_hole_delete_with_exit


def _gathered_at_once(usual: Callable) -> Callable:
    """`TargetConfig.values`: every flag, its default where it is not set."""
    defaults: dict[type, dict] = {}

    def values(self) -> dict:
        known = defaults.get(type(self))
        if known is None:
            known = defaults[type(self)] = {n: o.default for n, o in type(self).options.items()}
        return known | self._values

    return values


_newest: deque = deque(maxlen=4)
"""Modules, the last ones that were given to be made machine code."""


def _remembered(usual: Callable) -> Callable:
    """`ExecutionEngine.add_module`."""

    def add_module(self, module) -> None:
        usual(self, module)
        _newest.appendleft(module)

    return add_module


def _newest_first(usual: Callable) -> Callable:
    """`ExecutionEngine._find_module_ptr`: the module at an address."""

    def _find_module_ptr(self, module_ptr):
        for module in _newest:
            same = _address(module._ptr) == _address(module_ptr)
            if same and module in self._modules:
                return module
        return usual(self, module_ptr)

    return _find_module_ptr


def _address(pointer) -> int | None:
    return ctypes.cast(pointer, ctypes.c_void_p).value


_QUICKER: tuple[tuple, ...] = (
    (interpreter, "peep_hole_delete_with_exit", _without_exits),
    (targetconfig.TargetConfig, "values", _gathered_at_once),
    (ExecutionEngine, "add_module", _remembered),
    (ExecutionEngine, "_find_module_ptr", _newest_first),
)


def _numbas_own() -> list[tuple]:
    """What Numba has llvmlite call around each call; nothing where a version of these has none."""
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
    before = [vars(context).get("refresh") for context in contexts]
    for context in contexts:
        context.refresh = _refreshing(context.refresh, contexts)
    try:
        yield
    finally:
        for context, own in zip(contexts, before, strict=True):
            del context.refresh
            if own is not None:
                context.refresh = own


def _refreshing(usual: Callable[[], None], contexts: tuple) -> Callable[[], None]:
    """A `refresh` that does nothing where no registry has grown since its last call."""
    seen = registries = -1
    lists: list[list] = []

    def refresh() -> None:
        nonlocal seen, registries, lists
        if registries != sum(len(context._registries) for context in contexts):
            registries = sum(len(context._registries) for context in contexts)
            lists = _lists(contexts)
        if seen != sum(map(len, lists)):
            usual()
            seen = sum(map(len, lists))

    return refresh


def _lists(contexts: tuple) -> list[list]:
    """What all registries of contexts hold; they only grow."""
    return [
        entries
        for context in contexts
        for registry in context._registries
        for entries in vars(registry).values()
        if isinstance(entries, list)
    ]
