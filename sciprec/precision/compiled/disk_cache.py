"""Compiled code on disk: one file for a function and the types of its arguments, named by a hash
of everything that it depends on and checked when it is read.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import pickle
import sys
from collections.abc import Callable
from pathlib import Path

import llvmlite
import numba
from numba.core import sigutils, types
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from sciprec.foundation.cache_files import cache_folder, discard, read, write
from sciprec.foundation.definitions import digest_of
from sciprec.foundation.interrupts import deferred_interrupts
from sciprec.foundation.turns import turn
from sciprec.precision.compiled.compilations import one_pass_at_a_time, undisturbed, wide_vectors

SUFFIXES = ".compiled", ".part"
ENGINE = "precision", "arrays", "instruments"
"""Rooms whose sources compiled code may depend on."""
_PACKAGE = Path(__file__).parents[2]
_CHECK_BYTES = 32
_SETTINGS = ("BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT")


@functools.cache
def sources_digest(*packages: str) -> str:
    """A hash of every source file below packages of sciprec, and of the versions that compiled
    code depends on.
    """
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__} {sys.version}".encode())
    for package in packages:
        for path in sorted((_PACKAGE / package).rglob("*.py")):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(_PACKAGE).as_posix()} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()


def compiler_settings() -> tuple:
    """The settings of Numba that change its code of a function."""
    return tuple(getattr(numba.config, name, None) for name in _SETTINGS)


def engine_digest() -> str:
    """A hash of the engine's sources."""
    return sources_digest(*ENGINE)


def of_engine(function) -> bool:
    """Whether a function is one of the engine's, and no user's or model's."""
    return (function.__module__ or "").startswith(tuple(f"sciprec.{room}." for room in ENGINE))


def outside_digest(function) -> str:
    """A hash of a function of the engine's tables that stands outside of the engine's sources, with
    the file that it is in, or with what it calls and reads where it is in a notebook; "" for the
    engine's own.
    """
    if of_engine(function):
        return ""
    code = function.__code__
    try:
        content = Path(code.co_filename).read_bytes()
    except OSError:
        content = digest_of(function).encode()
    return hashlib.sha256(code.co_code + content).hexdigest()


def kept(**options) -> Callable:
    """A decorator: numba.njit with these options, its code kept on disk. It may depend on its own
    package and on the engine.
    """
    options = {"nopython": True, "boundscheck": None, **options}
    return lambda function: keep(Kept(function, {}, options))


def keep(dispatcher):
    """Let the code of a jitted function, or of one that numba.vectorize made, be stored on disk;
    return the function.
    """
    vectorized = getattr(dispatcher, "_dispatcher", None)
    if vectorized is not None:
        vectorized.cache = _UfuncCache(vectorized.py_func)
        vectorized.compile = deferred_interrupts()(vectorized.compile)
    else:
        dispatcher._cache = DiskCache(dispatcher.py_func)
    return dispatcher


class Kept(CPUDispatcher):
    """A jitted function; code that is not on disk yet is compiled by one process at a time."""

    def compile(self, sig):
        """Compile for a signature, or load it, as Numba asks."""
        # the lock first: who waits for another process keeps no thread's turn
        with global_compiler_lock, contextlib.ExitStack() as changed:
            kinds = tuple(sigutils.normalize_signature(sig)[0])
            stored = isinstance(self._cache, DiskCache) and not any(map(_has_function, kinds))
            if stored and kinds not in self.overloads:
                changed.enter_context(turn(self._cache.file_of(sig, self.targetctx.codegen())))
            for block in deferred_interrupts, undisturbed, one_pass_at_a_time, wide_vectors:
                changed.enter_context(block())
            return super().compile(sig)


class DiskCache(_Cache):
    """Numba's interface to a cache of one function's compiled code.

    Args:
        function: the plain Python function.
    """

    suffix = SUFFIXES[0]

    def __init__(self, function):
        self.function = function
        module = function.__module__.split(".")
        self._label = f"{module[-1]}.{function.__name__}"
        self._packages = set(ENGINE)
        if module[0] == "sciprec" and len(module) > 2:
            self._packages.add(module[1])

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(cache_folder())

    def load_overload(self, sig, target_context) -> CompileResult | None:
        """The code for a signature; None where it is not there or not as it was written."""
        key = self._key(sig, target_context.codegen())
        path = self._file(key)
        content = read(path)
        if content is None:
            return None
        checksum, payload = content[:_CHECK_BYTES], content[_CHECK_BYTES:]
        if hashlib.sha256(payload).digest() != checksum:
            discard(path, "it is damaged")
            return None
        try:
            rtsys.initialize(target_context)  # compiled code needs no more of Numba: no registries
            stored_key, reduced = pickle.loads(payload)
            return self._rebuilt(target_context, reduced) if stored_key == key else None
        except Exception as error:
            discard(path, f"{type(error).__name__}: {error}")
            return None

    def save_overload(self, sig, data: CompileResult) -> None:
        """Keep the code for a signature, if another process can use it."""
        if any(not loop.can_cache for loop in data.lifted) or data.library.has_dynamic_globals:
            return
        if any(map(_has_function, sigutils.normalize_signature(sig)[0])):
            return
        key = self._key(sig, data.codegen)
        payload = dumps((key, self._reduced(data)))
        write(self._file(key), hashlib.sha256(payload).digest() + payload)

    def enable(self) -> None:
        """Do nothing: the cache is always enabled."""

    disable = flush = enable

    def _reduced(self, data: CompileResult) -> tuple:
        """Return the part of compiled code that is stored."""
        return data._reduce()

    def _rebuilt(self, target_context, reduced: tuple) -> CompileResult:
        """Return compiled code from its stored part."""
        return CompileResult._rebuild(target_context, *reduced)

    def _key(self, sig, codegen) -> tuple:
        """Return the facts that tell this code from other code, but for the sources."""
        return sig, codegen.magic_tuple(), compiler_settings(), self._identity()

    def _identity(self) -> str:
        """A hash of the function itself."""
        cells = [c.cell_contents for c in self.function.__closure__ or ()]
        closed = dumps(cells) if cells else b""
        return hashlib.sha256(self.function.__code__.co_code + closed).hexdigest()

    def file_of(self, sig, codegen) -> Path:
        """Return the file of the code for a signature, which need not exist yet."""
        return self._file(self._key(sig, codegen))

    def _file(self, key: tuple) -> Path:
        where = f"{self.function.__module__}.{self.function.__qualname__}"
        text = f"{sources_digest(*sorted(self._packages))} {where} {key}"
        digest = hashlib.sha256(text.encode()).hexdigest()[:24]
        return cache_folder() / f"{self._label}_{digest}{self.suffix}"


class _UfuncCache(DiskCache):
    """The code of a function that numba.vectorize made: Numba builds a loop around what was loaded,
    and needs its tables for that.
    """

    def load_overload(self, sig, target_context) -> CompileResult | None:
        """Load as for any function, once Numba's tables are complete."""
        target_context.refresh()
        return super().load_overload(sig, target_context)


def _has_function(kind: types.Type) -> bool:
    """Whether a type is one function's or one jitclass's: it means nothing to another process."""
    if isinstance(kind, types.BaseTuple):
        return any(map(_has_function, kind))
    return isinstance(kind, (types.Callable, types.ClassInstanceType))
