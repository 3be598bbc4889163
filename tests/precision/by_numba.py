"""Kernels compiled by Numba itself, to compare with; kept on disk, as lifted ones are."""

import functools
import hashlib
import inspect
import sys
from pathlib import Path

from sciprec.precision.compiled.disk_cache import DiskCache, Kept


class OfTests(DiskCache):
    """Code of a function of the tests, which depends on their files, too."""

    def __init__(self, function, facts: str):
        super().__init__(function)
        self._facts = facts

    def _identity(self) -> str:
        cells = "" if self._facts else super()._identity()
        return f"{_digest(self.function)} {cells} {self._facts}"


def by_numba(kernel, facts: str = "", **options):
    """numba.njit(kernel), with NumPy's division by zero.

    Args:
        kernel: a function of the tests, jitted or not; of sciprec it calls the engine's alone.
        facts: where it has a closure of functions, their names.
        options: those of numba.njit.
    """
    function = getattr(kernel, "py_func", kernel)
    if facts:  # code of two closures, one of another process, would have one name
        function.__qualname__ = f"{function.__qualname__}.{facts}"
    compiled = Kept(function, {}, {"nopython": True, "error_model": "numpy"} | options)
    compiled._cache = OfTests(function, facts)
    return compiled


def _digest(function) -> str:
    """A hash of a function's code, of its file, and of the tests' files that it can name."""
    named = [sys.modules.get(getattr(v, "__module__", "")) or v for v in _globals(function)]
    of_tests = [m for m in named if inspect.ismodule(m) and m.__name__.startswith("tests.")]
    files = {function.__code__.co_filename, *(m.__file__ for m in of_tests)}
    return hashlib.sha256(
        b" ".join([function.__code__.co_code, *(_content(file) for file in sorted(files))])
    ).hexdigest()


def _globals(function) -> list:
    return [v for n, v in function.__globals__.items() if n in function.__code__.co_names]


@functools.cache
def _content(file: str) -> bytes:
    return Path(file).read_bytes()
