"""A generated module as plain Python: where a kernel rounds, without compiling it.

Every decision where to round is text in the generated module, and what is compiled comes in by a
dozen imported names. With Python functions for these (`python_operations`) the text runs as it is.
This tests *where*; how the compiled operations round is tested one by one, compiled
(`test_operations`, `test_elementary`). Compiled code alone shows modes of the processor, fused
loops, vector code, the cache on disk, threads at work and Numba's typing: a variable that begins as
an integer and becomes a float is a float to Numba from the start, and an integer here until then.
"""

from __future__ import annotations

import ast
import inspect
import types
from dataclasses import dataclass, replace

import numpy as np
from numba.typed import List

from sciprec.precision.formats.backend import Arithmetic, Backend, resolve_backend
from sciprec.precision.lifting.compiling import run_text
from sciprec.precision.operations.by_type import sum_block, zeros_for
from sciprec.precision.rewriting.build import Build, Numbers
from sciprec.precision.rewriting.imported import imported
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.syntax import plain_function
from sciprec.precision.rounding.variant import CAREFUL
from tests.oracles import exact, random_bits
from tests.oracles.fixed_operations import FixedOperations
from tests.oracles.python_operations import PythonOperations, WithoutKeys, is_array


class Uncompiled:
    """A kernel in the arithmetic of a backend of floats, run by Python; call it like the kernel.

    Args:
        kernel: a plain Python function, or a jitted one.
        backend, seed, path, trust_inputs: as of `lift`.
        may_share: whether its text can be one for several arithmetics.

    Attributes:
        kernel, backend, signature, sites, seed: as of a lifted kernel.
        text: of the generated module.
        operations: what its operations are.
    """

    def __init__(
        self, kernel, backend="fp64", *, seed: int = 0, path: str = "auto",
        trust_inputs: bool = False, may_share: bool = True,
    ) -> None:  # fmt: skip
        self.kernel, self.backend = plain_function(kernel), resolve_backend(backend)
        self.seed, self._path, self._calls = seed, path, 0
        build = Build(path, trust_inputs, may_share=may_share)
        program = Program(self.kernel, self.backend, build)
        self.sites, self.signature, self.text = program.sites, program.signature, program.text()
        self.operations = PythonOperations(self.backend)
        self._module = run_module(program, self.operations)
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
        return Uncompiled(kernel, self.backend, path=self._path, may_share=False).inner

    @property
    def inner(self):
        """The kernel's function of the generated module."""
        return getattr(self._module, self._own)

    def require_draws_of_their_own(self) -> None:
        """Raise where more operations than chance explains drew, so far, what others drew."""
        repeated = sum(n - 1 for n in self.operations.drawn.values() if n)
        assert repeated < 4, f"{repeated} operations draw what others drew"


def run_random(lifted, args):
    """What the last call of a compiled kernel of a backend with random bits should have given for
    these arguments, which are written.

    Raises:
        AssertionError: more operations than chance explains draw what others drew.
    """
    build = lifted._program.build
    made = Uncompiled(
        lifted.kernel, lifted.backend, path=build.path, trust_inputs=build.trust_inputs
    )
    key = random_bits.entry(lifted.seed, lifted._calls - 1, getattr(lifted, "number", -1))
    with np.errstate(all="ignore"):
        result = made._module.sp_entry(key, *args)
    made.require_draws_of_their_own()
    return result


def run_fixed(kernel, units, args: tuple):
    """Run a kernel in fixed point, in given units; arrays and objects are written.

    Args:
        kernel: the plain Python function.
        units: with `backend`, `sites`, `rows` and `exponents`.
        args: numbers, arrays, objects (`fields.Fields`), tuples of these.

    Returns:
        (result, places): what the kernel returns, and the places in the order of the rows, with
        what they counted.
    """
    program = Program(kernel, units.backend, Build(variant=CAREFUL))
    operations = FixedOperations(units)
    with np.errstate(all="ignore"):
        result = run_module(program, operations).sp_entry(0, *args)
    return result.value, operations.places


@dataclass(frozen=True)
class _Unrounded(Numbers):
    """Numbers whose constant arrays are not rounded ahead, to a unit that all elements share."""

    def array(self, program, value: np.ndarray) -> np.ndarray:
        return value


def without_keys(kernel, backend, path: str = "auto", trust_inputs: bool = False):
    """The text of a backend with random bits or with rows, run in floats.

    Returns:
        (floats, call): a backend that rounds as the numbers of the text are that have been rounded
        already, and the kernel.
    """
    if not backend.fixed:
        floats = Backend("without random bits", *map(_without_bits, backend.roles))
    elif backend.compute.fixed:  # whose numbers are kept in binary64
        bits = backend.compute.format.bits - 1
        floats = resolve_backend(f"float:p={bits},emin=-300,emax=300")
    else:  # products alone are integers
        floats = Backend("without integers", backend.storage, *[backend.compute] * 3)
    build = Build(path, trust_inputs)
    if backend.fixed:
        build = replace(build, variant=CAREFUL, numbers=_Unrounded())
    program = Program(plain_function(kernel), backend, build)
    entry = run_module(program, WithoutKeys(floats, backend.fixed)).sp_entry

    def call(*args):
        with np.errstate(all="ignore"):
            result = entry(0, *args)
        return result.value if backend.fixed else result

    return floats, call


def _without_bits(role: Arithmetic) -> Arithmetic:
    rounding = "rn" if role.rounding in exact.AT_RANDOM else role.rounding
    return replace(role, rounding=rounding, random_bits=None)


def uses_of_rows(program: Program):
    """The operations of a generated module with rows: (function, name, number of the row) of each
    call in the text, in order.
    """
    for function in ast.parse(program.text()).body:
        for node in ast.walk(function) if isinstance(function, ast.FunctionDef) else ():
            if isinstance(node, ast.Call) and len(node.args) > 1:
                key, row = node.args[:2]
                if getattr(key, "id", "") == "sp_key" and isinstance(row, ast.Constant):
                    yield function.name, node.func.id, row.value


def run_module(program: Program, operations: PythonOperations) -> types.ModuleType:
    """The generated module of a program, with these operations."""
    module = types.ModuleType(f"uncompiled_{program.kernel.__name__}")
    module.__file__ = None
    run_text(program.text(), module, names_of(operations))
    return module


def names_of(operations: PythonOperations) -> dict:
    """The objects in place of the names that a generated module imports of compiled code."""

    def plain(*given, **options):
        is_function = given and inspect.isfunction(given[0])
        return given[0] if is_function else lambda function: function

    return {
        "njit": plain, "sp_linked": plain, "sp_inlined": plain, "sp_prange": range,
        "operations": lambda *_: operations, "shared_operations": lambda: operations,
        "shared_row_operations": lambda: operations,
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


class _Listed(list):
    """A list in place of Numba's."""

    @classmethod
    def empty_list(cls, kind, *allocated):
        """An empty list of elements of any kind."""
        return cls()


def _imported(*place):
    """The objects that a generated module names by their place; lists of Numba's are Python's."""
    found = imported(*place)
    return _Listed if found is List else found
