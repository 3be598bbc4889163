"""The calls of a kernel in a process of their own: `python -m` this module, REQUEST ANSWER.

A file says what is called and how, another one gets what each call has left. A kernel in its own
form needs nothing of the engine here, so that the process begins quickly.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pickle
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.foundation.loading import loaded_file
from sciprec.regression.repetition.circumstances import CallSettings
from sciprec.regression.repetition.listings import LISTED, list_by_name
from sciprec.tools.calls.outputs import left_by_call

KINDS = "fiubc"
"""Kinds of numbers that a kernel may return, as NumPy's letters."""


@dataclass(frozen=True)
class Asked:
    """The task of a process: a kernel, its arguments, and its calls.

    Args:
        file, function: of the kernel.
        what: such a file is called in messages.
        others: Python files that the arguments come from.
        plugins: Python files that register things.
        arguments: the arguments by parameter, pickled.
        backend: the arithmetic that the kernel is lifted into; None: as it is.
        others_first: whether these files are imported before the kernel's.
        filling: byte that arrays of `np.empty` are filled with.
        strict: whether `fastmath` is left out.
        calls: how it is called, one after another.
    """

    file: str
    function: str
    what: str
    others: tuple[str, ...]
    plugins: tuple[str, ...]
    arguments: bytes
    backend: str | None
    others_first: bool
    filling: int
    strict: bool
    calls: tuple[CallSettings, ...]


Answer = dict[str, np.ndarray] | str
"""The results of a call, or the exception that it ends with."""


def answers(task: Asked) -> list[Answer]:
    """Make the calls of a task; return their answers."""
    if LISTED in os.environ:
        list_by_name(os.environ[LISTED])
    if task.strict:
        _leave_out_fastmath()
    from_files = [*task.others, task.file] if task.others_first else [task.file, *task.others]
    for file in task.plugins:
        loaded_file(file, "plugin")
    for file in from_files:
        loaded_file(file, task.what, registers=False)
    module = loaded_file(task.file, task.what, registers=False)
    function = getattr(module, task.function)
    lifted = None if task.backend is None else _lifted(function, task.backend)
    if lifted is None:
        _keep_compiled(function)
        if "numba" not in sys.modules:  # which knows `np.empty` itself by its identity
            _fill(vars(module), task.filling)
    calls = [(_on_threads(lifted, task, how) if lifted else function) for how in task.calls]
    each = zip(calls, task.calls, strict=True)
    return [_answer(call, task.arguments, how) for call, how in each]


def _lifted(function: Any, backend: str) -> Any:
    from sciprec.precision.lifting.lifting import lift

    return lift(function, backend)


def _on_threads(lifted: Any, task: Asked, how: CallSettings) -> Callable[..., Any]:
    """Call the first stream of a lifted kernel, while further threads call others of their own."""

    def other(kernel: Any, number: int) -> None:
        _set_numba(how)
        values = pickle.loads(task.arguments) | dict(how.arguments)
        with contextlib.suppress(Exception):  # which the first stream's call meets, too
            kernel.stream(number)(*values.values())

    def call(*args: Any) -> Any:
        kernel = pickle.loads(pickle.dumps(lifted))  # units of fixed point follow the calls before
        with ThreadPoolExecutor(how.threads) as pool:
            for number in range(1, how.threads):
                pool.submit(other, kernel, number)
            return kernel.stream(0)(*args)

    return call


def _keep_compiled(function: Any) -> None:
    """Let Numba keep the machine code for the other processes, where it can."""
    if hasattr(function, "enable_caching"):
        with contextlib.suppress(Exception):
            function.enable_caching()


def _leave_out_fastmath() -> None:
    """Make `numba.jit`, and what calls it, compile without `fastmath` from now on."""
    import numba
    from numba.core import decorators

    usual = numba.jit

    def jit(*args: Any, **options: Any) -> Any:
        return usual(*args, **{n: v for n, v in options.items() if n != "fastmath"})

    numba.jit = decorators.jit = jit


def _fill(names: dict[str, Any], byte: int) -> None:
    """Fill all arrays that `np.empty` makes from now on; NumPy keeps small pieces of memory that
    were freed, which the platform's allocator does not see again.
    """
    for name in ("empty", "empty_like"):
        usual = getattr(np, name)

        def filled(
            *args: Any, usual: Callable[..., np.ndarray] = usual, **options: Any
        ) -> np.ndarray:
            array = usual(*args, **options)
            if array.size and not array.dtype.hasobject:
                ctypes.memset(array.ctypes.data, byte, array.nbytes)
            return array

        for space in (vars(np), names):
            if space.get(name) is usual:
                space[name] = filled


def _answer(function: Callable[..., Any], arguments: bytes, how: CallSettings) -> Answer:
    """Make one call; return its answer."""
    values = pickle.loads(arguments) | dict(how.arguments)
    if "numba" in sys.modules:
        _set_numba(how)
    try:
        with np.errstate(all="ignore"):
            returned = function(*values.values())
        results, _ = left_by_call(values, returned, KINDS)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return {name: np.array(array) for name, array in results.items()}


def _set_numba(how: CallSettings) -> None:
    import numba

    numba.set_num_threads(min(how.threads, numba.config.NUMBA_NUM_THREADS))
    numba.set_parallel_chunksize(how.chunk)


def main(request: str, answer: str) -> None:
    """Do the task in a file, and write its answers into another one."""
    warnings.simplefilter("ignore")
    result: list[Answer] | str
    try:
        result = answers(pickle.loads(Path(request).read_bytes()))
    except InputError as error:
        result = str(error)
    Path(answer).write_bytes(pickle.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
