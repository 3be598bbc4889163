"""Changes to compilations by Numba and LLVM, for as long as something is compiled.

Nothing slows them that serves nobody: Numba adds up how long each call of LLVM takes, for every one
of the compilations inside one another, a twentieth of what compiling takes; the many objects that
it makes let Python look for garbage all the time, a sixth; and with every function that is called
it asks all its registries for news, another twentieth. What it does at length is done in less time,
see `quicker`.

They end: LLVM may make a loop do several of its passes at once, and asks of each operation whether
it is the same in all of them. It asks that of its operands, and of theirs, along every way
(`isUniformAcrossVFsAndUFs` of LLVM 20 to 22): a rounding uses its number more than once, so that
the time doubles with every rounding of what stays the same in a loop, as in
`y[i, k] = math.exp(u[i])`, and twenty of them do not end. One pass at a time, as vectors, is as
fast.

Vectors are as wide as the processor does at full speed: on Intel's processors LLVM takes vectors of
256 bits where there are such of 512, because the first ones that had them ran slower as they did.
Later ones do not: with the wider ones most arithmetics take 10 to 40 % less time, models 10 to 20.

Stores that Numba takes for dead stay, for good, from the import of this module on. Where a kernel
has an inner function or a list comprehension, Numba removes stores into arrays that nobody reads
afterwards. It knows few of the ways by which a name becomes another one for an argument's memory:
rows of `for row in a`, elements of tuples and what functions give are new arrays to it, and so is
`a` behind `a += 1.0` where that is a call, as in lifted kernels. What was written there was lost
without a word.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator

import llvmlite.binding as llvm
from llvmlite.binding import ffi
from numba.core import config, event, ir
from numba.core.codegen import CPUCodeLibrary
from numba.core.ir_utils import remove_dead_extensions
from numba.core.registry import cpu_target

from sciprec.precision.compiled.quicker import another, replaced, replacements

_KIND = "numba:llvm_lock"
_SELDOM = (50_000, 20, 50)
"""New objects after which garbage is looked for, and how often among older ones; Python's 700 new
ones come every few milliseconds.
"""
AT_FULL_SPEED = frozenset({"sapphirerapids", "emeraldrapids", "graniterapids", "diamondrapids"})
"""LLVM's names of processors."""
_WIDE = '"prefer-vector-width"="512"'


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


@contextlib.contextmanager
def one_pass_at_a_time() -> Iterator[None]:
    """Interleave no loop of what is compiled inside; to be held with Numba's lock of compilers."""
    codegen = cpu_target.target_context.codegen()
    if not hasattr(codegen, "_pass_builder") or not hasattr(codegen, "_tm"):
        yield  # a version of Numba that builds its passes elsewhere
        return

    def builder(opt=None, loop_vectorize=None, slp_vectorize=None):
        """Numba's own but for the loops."""
        options = llvm.create_pipeline_tuning_options()
        options.speed_level = config.OPT if opt is None else opt
        options.loop_vectorization = (
            config.LOOP_VECTORIZE if loop_vectorize is None else loop_vectorize
        )
        options.slp_vectorization = config.SLP_VECTORIZE if slp_vectorize is None else slp_vectorize
        options.loop_interleaving = False
        return llvm.create_pass_builder(codegen._tm, options)

    with another(codegen, "_pass_builder", builder):
        yield


@contextlib.contextmanager
def wide_vectors() -> Iterator[None]:
    """Let code compiled inside take the widest vectors where they are at full speed; to be held
    with Numba's lock of compilers.
    """
    codegen = cpu_target.target_context.codegen()
    usual = CPUCodeLibrary.add_ir_module
    is_numbas = usual.__module__ == "numba.core.codegen"  # not so inside one another
    if not is_numbas or codegen._get_host_cpu_name() not in AT_FULL_SPEED:
        yield
        return

    def add_ir_module(self, ir_module) -> None:
        for function in ir_module.functions:
            if not function.is_declaration:
                set.add(function.attributes, _WIDE)  # llvmlite's own `add` knows words alone
        usual(self, ir_module)

    with another(CPUCodeLibrary, "add_ir_module", add_ir_module):
        yield


def _unchanged(store, lives, lives_and_aliases, *args):
    """The store, into an array that counts as read afterwards."""
    lives_and_aliases.add(store.target.name)
    return store


remove_dead_extensions[ir.SetItem] = _unchanged
