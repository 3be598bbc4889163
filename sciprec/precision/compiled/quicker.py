"""Shorter ways, with the same result, of what Numba and llvmlite do at length while something is
compiled.

- Numba looks through every function for `with` statements, which are rare; gathers the flags of a
  compilation one by one each time that it compares them; and finds the variables of an instruction
  by asking of each of its texts and places whether it is one.
- llvmlite looks through all modules of a process for the one at an address.
- What is only lowered has no place for Python's objects where it reads none; implementations of
  functions that Numba makes of Python code are only lowered; passes over single functions are run
  where their code goes into several others: where it goes into one, they are run on that.

All of it is left out, with a warning, where Numba or llvmlite is of a version that it was not made
for: then compiling takes longer, and every bit is the same.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from functools import cache

import llvmlite
import numba
from llvmlite.binding.executionengine import ExecutionEngine
from numba import jit
from numba.core import interpreter, ir, targetconfig
from numba.core.codegen import CPUCodeLibrary
from numba.core.lowering import BaseLower
from numba.core.typing.templates import _OverloadFunctionTemplate

from sciprec.precision.compiled.lowering import Lowered, helper

MADE_FOR = {numba: ((0, 63), (0, 68)), llvmlite: ((0, 46), (0, 50))}
"""The first and the last version in which the functions replaced here were seen to be the same."""


@contextlib.contextmanager
def another(owner, name: str, value) -> Iterator[None]:
    """An attribute of Numba's or llvmlite's with another value."""
    was_set, usual = name in vars(owner), vars(owner).get(name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        delattr(owner, name)
        if was_set:
            setattr(owner, name, usual)


@contextlib.contextmanager
def replaced(owner, name: str, quicker: Callable) -> Iterator[None]:
    """A function of Numba's or llvmlite's replaced by one that does the same; where it is another
    one already nothing is.
    """
    usual = vars(owner).get(name)
    if getattr(usual, "__module__", "").partition(".")[0] not in ("numba", "llvmlite"):
        yield
        return
    with another(owner, name, quicker(usual)):
        yield


def _without_exits(usual: Callable) -> Callable:
    """`peep_hole_delete_with_exit`: removes instructions at the end of a `with`, by its name."""

    def peep_hole_delete_with_exit(func_ir):
        names = (
            s.target.name for block in func_ir.blocks.values() for s in block.body
            if isinstance(s, ir.Assign)
        )  # fmt: skip
        return usual(func_ir) if any("setup_with_exitfn" in n for n in names) else func_ir

    return peep_hole_delete_with_exit


def _gathered_at_once(usual: Callable) -> Callable:
    """`TargetConfig.values`: every flag, its default where it is not set."""
    defaults: dict[type, dict] = {}

    def values(self) -> dict:
        options = defaults.get(type(self))
        if options is None:
            options = defaults[type(self)] = {n: o.default for n, o in type(self).options.items()}
        return options | self._values

    return values


def _found_by_type(usual: Callable) -> Callable:
    """`Inst._rec_list_vars`: the variables in what an instruction consists of, mostly texts, places
    and numbers that have none.
    """
    without: set[type] = set()

    def _rec_list_vars(self, value) -> list:
        kind = type(value)
        if kind in without:
            return []
        if kind is dict:
            value, kind = list(value.values()), list
        if kind is list or kind is tuple:
            variables = []
            for item in value:
                if type(item) is ir.Var:
                    variables.append(item)
                elif type(item) not in without:
                    variables += _rec_list_vars(self, item)
            return variables
        if not isinstance(value, (ir.Var, ir.Inst, list, tuple, dict)):
            without.add(kind)
        return usual(self, value)

    return _rec_list_vars


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
            is_same = _address(module._ptr) == _address(module_ptr)
            if is_same and module in self._modules:
                return module
        return usual(self, module_ptr)

    return _find_module_ptr


def _address(pointer) -> int | None:
    return ctypes.cast(pointer, ctypes.c_void_p).value


def _where_it_is_read(usual: Callable) -> Callable:
    """`BaseLower.emit_environment_object`: the place of a function's environment, made anyway where
    Python's objects are read from it.
    """

    def emit_environment_object(self) -> None:
        if not isinstance(self.library, Lowered):
            usual(self)

    return emit_environment_object


def _where_kept(usual: Callable) -> Callable:
    """`CPUCodeLibrary._optimize_functions`: passes over every function by itself, which those over
    all that is linked repeat; of use where code is linked into that of several, and there is any.
    """

    def _optimize_functions(self, module) -> None:
        module.data_layout = self._codegen._data_layout
        if isinstance(self, Lowered):
            passes, builder = self._codegen._function_pass_manager()
            for function in module.functions:
                if not function.is_declaration:
                    passes.run(function, builder)

    return _optimize_functions


def _only_lowered(usual: Callable) -> Callable:
    """`_OverloadFunctionTemplate._get_jit_decorator`: the decorator of a function that implements
    another one.
    """
    of_jit = {"cache", "forceobj", "locals", "pipeline_class"}

    def decorator(**options):
        return jit(**options) if of_jit & options.keys() else helper(**options)

    def _get_jit_decorator(self):
        chosen = usual(self)
        return decorator if chosen is jit else chosen

    return _get_jit_decorator


REPLACEMENTS: tuple[tuple, ...] = (
    (BaseLower, "emit_environment_object", _where_it_is_read),
    (CPUCodeLibrary, "_optimize_functions", _where_kept),
    (_OverloadFunctionTemplate, "_get_jit_decorator", _only_lowered),
    (interpreter, "peep_hole_delete_with_exit", _without_exits),
    (targetconfig.TargetConfig, "values", _gathered_at_once),
    (ir.Inst, "_rec_list_vars", _found_by_type),
    (ExecutionEngine, "add_module", _remembered),
    (ExecutionEngine, "_find_module_ptr", _newest_first),
)


@cache
def replacements() -> tuple[tuple, ...]:
    """The functions that are replaced here; none, and one warning in a process, where the versions
    of Numba and llvmlite are others than those that this was made for.
    """
    unfit = [package for package, ends in MADE_FOR.items() if not _is_between(package, *ends)]
    if not unfit:
        return REPLACEMENTS
    installed = " and ".join(f"{package.__name__} {package.__version__}" for package in unfit)
    versions = " and ".join(
        f"{package.__name__} {_dotted(first)} to {_dotted(last)}"
        for package, (first, last) in MADE_FOR.items()
    )
    warnings.warn(
        f"installed: {installed}; sciprec's short ways through the compiler were made for "
        f"{versions}, and "
        "are left out: compiling takes longer, and results are the same. Install one of these "
        "versions where the time counts",
        RuntimeWarning, stacklevel=2,
    )  # fmt: skip
    return ()


def _is_between(package, first: tuple[int, int], last: tuple[int, int]) -> bool:
    """Whether the first two numbers of a package's version are in a range, ends included."""
    version = tuple(int(number) for number in re.findall(r"\d+", package.__version__)[:2])
    return first <= version <= last


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
