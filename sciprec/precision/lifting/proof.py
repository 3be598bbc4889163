"""Trust that is proven: a kernel that does not round what it loads from its arguments, where a pass
over them has found that every element is its own rounding.

Numbers have the same bits: an argument's array holds the numbers of the format when the kernel is
entered, and every store of a lifted kernel rounds, so that it holds such numbers as long as it
runs. That is known of arrays, and tuples of them, that the kernel reads by the name of a parameter;
whatever else it reads (arrays and lists of its own, what is behind an attribute, what a function
that it calls is given) is rounded as ever. The pass compares bits, so that -0, subnormals that are
flushed and NaN of other payloads are told apart. Left to the kernel that rounds are arguments that
are no arrays, numbers or tuples of these (objects, records, lists), arrays with gaps, arrays that
share memory unless element lies upon element of the same type, and arrays of float32 beside formats
of more bits, whose largest number a store may round to the one above it. The sign of a NaN that a
processor makes is not the one that rounding a load gives it: kernels that look at signs of NaN
(`SIGNS`) are left alone, others may keep it in a NaN.

It is compiled when it pays: after the kernel has run for longer than that takes, where loads are
many beside other operations, and the pass takes a small part of a call. Nothing is compiled twice
for a kernel that runs for a second.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from sciprec.precision.formats.backend import Backend
from sciprec.precision.lifting.compiling import module_of
from sciprec.precision.operations.operation import NOTHING, OPERATIONS
from sciprec.precision.rewriting.build import Build
from sciprec.precision.rewriting.copies import arrays_of
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.syntax import Site

FIRST_SECONDS = 1.0
SECONDS_A_SITE = 0.05
"""How long a kernel has to run before it is worth compiling again, and more for each operation of
its source: about twice what that takes.
"""
_BINARY32 = 24
LEAST_LOADS = 0.25
"""Loads for each operation of the source, below which the rounding of loads is no great part."""
OF_A_FUNCTION = 20
"""Operations that an elementary function counts for."""
LARGEST_SHARE = 0.1
"""Of a call's time, for the pass over its arguments: what is saved is a fifth to a half of it."""
SIGNS = ("copysign", "signbit")
"""Functions by which a NaN's sign gets into a number."""


def trusting(kernel, backend: Backend, path: str) -> Program | None:
    """Make a program for arguments that are known to be in the storage format; None where it would
    not give the numbers of the kernel that rounds what it loads: who calls the whole kernel may
    hand it anything.
    """
    program = Program(kernel, backend, Build(path, loads="proven"))
    signs = {prefix + f for prefix in ("", "sp_") for f in SIGNS}
    return None if program.words() & (signs | {program.callee(kernel)}) else program


def changed_bits(x):
    """The bits that rounding changes in any element of a 1-D array."""
    bits = 0
    for i in range(x.size):
        bits |= x[i]
    return bits


@lru_cache(maxsize=64)
def _comparison(backend: Backend, path: str) -> Callable:
    program = Program(changed_bits, backend, Build(path, loads="compared", may_share=False))
    return module_of(program).sp_entry


def in_format(value: Any, backend: Backend, path: str = "auto") -> bool:
    """Whether every element of an argument (arrays, tuples of them) is known to be a number of the
    backend's storage format, its own rounding, bit for bit, and to stay one.
    """
    if isinstance(value, tuple):
        return all(in_format(item, backend, path) for item in value)
    if not isinstance(value, np.ndarray):
        return value is None or isinstance(value, (int, float, complex, str, np.number, np.bool_))
    if value.dtype.kind in "iub":
        return True
    if value.dtype.kind not in "fc" or not value.flags.forc or not value.dtype.isnative:
        return False
    real = np.dtype(value.real.dtype)
    bits = backend.storage.format.significand_bits
    if real.itemsize != 8 and (real.itemsize != 4 or bits > _BINARY32):
        return False
    return not value.size or _comparison(backend, path)(value.ravel(order="K").view(real)) == 0


def _apart(value: Any) -> bool:
    """Whether arrays in an argument, or tuples of them, share no memory but element by element."""
    return all(
        first.dtype == second.dtype
        and (first.ctypes.data - second.ctypes.data) % first.itemsize == 0
        for first, second in itertools.combinations(arrays_of(value), 2)
        if np.may_share_memory(first, second)
    )


def loads_matter(sites: Sequence[Site]) -> bool:
    """Whether the rounding of loads is a great part of what the source rounds."""
    loads = sum(site.operation == "enter" for site in sites)
    rows = [OPERATIONS.get(s.operation, NOTHING) for s in sites if s.operation != "enter"]
    work = sum(OF_A_FUNCTION if row.evaluate else 1 for row in rows)
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
        proven = _apart(args) and in_format(args, *self._lifted[1:])
        if proven and self._trusting is None and self._pays(args):
            program = trusting(*self._lifted)
            if program is not None:
                self._trusting = module_of(program).sp_entry
            else:
                self._due = math.inf
        if proven and self._trusting is not None:
            return self._trusting
        self._due = max(self._due, 2.0 * self._spent)
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
        count, start = len(chosen.overloads), time.perf_counter()
        result = enter(chosen, args)
        if count == len(chosen.overloads):  # else it was compiled
            self._last = time.perf_counter() - start
            self._spent += self._last
        return result
