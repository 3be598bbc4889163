"""Trust that is proven: a kernel that does not round what it loads, where a pass over the arguments
has found that every element is its own rounding.

The results have the same bits: a load then gives the same number, rounded or not, and what a kernel
stores is in the format already. The pass compares bits, so that -0, subnormals that are flushed and
NaN of other payloads are told apart; arrays with gaps, and kernels that put integers among
floating-point numbers (`symbols.MIXING`), are left to the kernel that rounds.

It is compiled when it pays: after the kernel has run for longer than that takes, where loads are
many beside other operations, and the pass takes a small part of a call. Nothing is compiled twice
for a kernel that runs for a second.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from sciprec.precision.formats.backend import Backend
from sciprec.precision.lifting.compiling import module_of
from sciprec.precision.operations.operation import OPERATIONS
from sciprec.precision.rewriting import symbols
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.rewrite import Rewriter
from sciprec.precision.rewriting.syntax import Site

FIRST_SECONDS = 1.0
SECONDS_A_SITE = 0.05
"""How long a kernel has to run before it is worth compiling again, and more for each operation of
its source: about twice what that takes.
"""
LEAST_LOADS = 0.25
"""Loads for each operation of the source, below which the rounding of loads is no great part."""
OF_A_FUNCTION = 20
"""Operations that an elementary function counts for."""
LARGEST_SHARE = 0.1
"""Of a call's time, for the pass over its arguments: what is saved is a fifth to a half of it."""


class TrustingProgram(Program):
    """A program for arguments that are known to be in the storage format; what the kernel gives
    back is rounded into new arrays as if they were not.
    """

    def __init__(self, kernel, backend: Backend, path: str):
        super().__init__(kernel, backend, path, True)
        self.rounds_results = True

    @property
    def sound(self) -> bool:
        """Whether no array of the kernel's own may hold numbers that were not rounded."""
        used = {
            node.attr
            for tree, _ in self._definitions
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
        }
        return not used & {function.__name__ for function in symbols.MIXING}


class _Comparing(Rewriter):
    """Elements become the bits that their rounding changes."""

    def loaded(self, node, read, array):
        """How an element differs from itself rounded."""
        return self.op("changed", node, read)


class _Comparison(Program):
    rewriter, may_share = _Comparing, False


def changed_bits(x):
    """The bits that rounding changes in any element of a 1-D array."""
    found = 0
    for i in range(x.size):
        found |= x[i]
    return found


@lru_cache(maxsize=64)
def _comparison(backend: Backend, path: str) -> Callable:
    return module_of(_Comparison(changed_bits, backend, path, False)).sp_entry


def in_format(value: Any, backend: Backend, path: str = "auto") -> bool:
    """Whether every element of an argument (arrays, tuples of them) is known to be a number of the
    backend's storage format: its own rounding, bit for bit.
    """
    if isinstance(value, tuple):
        return all(in_format(item, backend, path) for item in value)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc" or not value.size:
        return True
    real = np.dtype(value.real.dtype)
    if not value.flags.forc or not value.dtype.isnative or real.itemsize not in (4, 8):
        return False
    return _comparison(backend, path)(value.ravel(order="K").view(real)) == 0


def loads_matter(sites: Sequence[Site]) -> bool:
    """Whether the rounding of loads is a great part of what the source rounds."""
    loads = sum(site.operation == "enter" for site in sites)
    rows = [OPERATIONS.get(site.operation) for site in sites if site.operation != "enter"]
    work = sum(OF_A_FUNCTION if row is not None and row.evaluate else 1 for row in rows)
    return loads >= LEAST_LOADS * work


class Proof:
    """Decides for each call of a lifted kernel whether it may trust its arguments.

    Args:
        rounding: the entry of the kernel that rounds what it loads.
        kernel, backend, path: what was lifted, and how.
        sites: how many operations its source has.
    """

    def __init__(self, rounding, kernel, backend: Backend, path: str, sites: int):
        self._rounding, self._lifted = rounding, (kernel, backend, path)
        self._trusting = None
        self._last, self._spent = 0.0, 0.0
        self._due = FIRST_SECONDS + SECONDS_A_SITE * sites

    def entry(self, args: tuple):
        """The entry for this call: the one that rounds, until it is due to look for another."""
        if self._spent < self._due:
            return self._rounding
        proven = in_format(args, *self._lifted[1:])
        if proven and self._trusting is None and self._pays(args):
            program = TrustingProgram(*self._lifted)
            self._trusting = module_of(program).sp_entry if program.sound else self._rounding
        if proven and self._trusting is not None:
            return self._trusting
        self._due = 2.0 * self._spent
        return self._rounding

    def _pays(self, args: tuple) -> bool:
        """Whether a pass over the arguments is short beside a call."""
        start = time.perf_counter()
        in_format(args, *self._lifted[1:])
        return time.perf_counter() - start < LARGEST_SHARE * self._last

    def run(self, enter: Callable, args: tuple) -> Any:
        """The result of a call, by enter(entry, args)."""
        chosen = self.entry(args)
        if chosen is not self._rounding:
            return enter(chosen, args)
        known, start = len(chosen.overloads), time.perf_counter()
        result = enter(chosen, args)
        if known == len(chosen.overloads):  # else it was compiled
            self._last = time.perf_counter() - start
            self._spent += self._last
        return result
