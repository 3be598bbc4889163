"""A generated module as plain Python: where a kernel rounds, without compiling it.

Every decision where to round is text in the generated module, and what is compiled comes in by a
dozen imported names. With Python functions for these (`python_operations`) the text runs as it is.
This tests *where*; how the compiled operations round is tested one by one, compiled
(`test_operations`, `test_elementary`). Compiled code alone shows modes of the processor, fused
loops, vector code, the cache on disk, threads at work and Numba's typing: a variable that begins as
an integer and becomes a float is a float to Numba from the start, and an integer here until then.
"""

from __future__ import annotations

import inspect
import types

import numpy as np
from numba.typed import List

from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.lifting.compiling import run_text
from sciprec.precision.operations.by_type import sum_block, zeros_for
from sciprec.precision.rewriting.imported import imported
from sciprec.precision.rewriting.program import Program, Unshared
from sciprec.precision.rewriting.syntax import plain_function
from tests.oracles import random_bits
from tests.oracles.python_operations import PythonOperations, is_array


class Uncompiled:
    """A kernel in the arithmetic of a backend of floats, run by Python; call it like the kernel.

    Args:
        kernel: a plain Python function, or a jitted one.
        backend, seed, path, trust_inputs: as of `lift`.
        program_of: makes the program.

    Attributes:
        kernel, backend, signature, sites, seed: as of a lifted kernel.
        text: of the generated module.
        operations: what its operations are.
    """

    def __init__(
        self, kernel, backend="fp64", *, seed: int = 0, path: str = "auto",
        trust_inputs: bool = False, program_of=Program,
    ) -> None:  # fmt: skip
        self.kernel, self.backend = plain_function(kernel), resolve_backend(backend)
        self.seed, self._path, self._trust, self._calls = seed, path, trust_inputs, 0
        program = program_of(self.kernel, self.backend, path, trust_inputs)
        self.sites, self.signature, self.text = program.sites, program.signature, program.text()
        self.operations = PythonOperations(self.backend)
        self._module = types.ModuleType(f"uncompiled_{self.kernel.__name__}")
        self._module.__file__ = None
        run_text(self.text, self._module, names_of(self.operations))
        self._own = program.callee(self.kernel)

    def __call__(self, *args, **kwargs):
        """Run the kernel; of a backend with random bits, the next call."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = [self._function(x) if callable(x) else x for x in bound.args]
        if self.backend.random:
            given = [random_bits.entry(self.seed, self._calls), *given]
            self._calls += 1
        with np.errstate(all="ignore"):
            return self._module.sp_entry(*given)

    def _function(self, function):
        """A function given as an argument, in the same arithmetic."""
        if isinstance(function, type):
            return function
        kernel = getattr(function, "kernel", function)
        return Uncompiled(kernel, self.backend, path=self._path, program_of=Unshared).inner

    @property
    def inner(self):
        """The kernel's function of the generated module."""
        return getattr(self._module, self._own)


def names_of(operations: PythonOperations) -> dict:
    """What stands for the names that a generated module imports of compiled code."""

    def plain(*given, **options):
        is_function = given and inspect.isfunction(given[0])
        return given[0] if is_function else lambda function: function

    return {
        "njit": plain, "sp_linked": plain, "sp_inlined": plain, "sp_prange": range,
        "operations": lambda *_: operations, "shared_operations": lambda: operations,
        "sp_at": lambda key, number: random_bits.at(key, int(number) | 1),
        "sp_descend": random_bits.descend,
        "sp_sum_block": sum_block, "sp_zeros_for": zeros_for, "sp_swapped": np.swapaxes,
        "sp_start_of_sum": lambda s: np.zeros_like(s) if is_array(s) else 0,
        "sp_start_of_product": lambda s: np.ones_like(s) if is_array(s) else 1,
        "sp_results": _results, "sp_meet": lambda counters, parties: None, "sp_imported": _imported,
    }  # fmt: skip


def _results(count: int, first):
    if not is_array(first):
        return [first] * count
    made = np.empty((count, *first.shape), first.dtype)
    made[0] = first
    return made


def _imported(*place):
    """What a generated module names by its place; lists of Numba's are Python's."""
    found = imported(*place)
    return list if found is List else found
