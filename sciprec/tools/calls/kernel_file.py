"""Kernels and functions of Python files, named as on the command line: `FILE.py:FUNCTION`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sciprec.foundation.errors import InputError, meant
from sciprec.foundation.loading import beside, loaded_file
from sciprec.foundation.shipped import example, is_example
from sciprec.precision.rewriting.syntax import plain_function

_ENDINGS = ("csv", "ipynb", "json", "nc", "npy", "npz", "toml", "txt", "yaml", "zarr")
"""Behind the last full stop of files that are no kernels."""
WHAT = "kernel file"
"""The name of such a file in messages."""


def names_function(text: str) -> bool:
    """Whether a text names a function of a Python file."""
    file, _, function = text.rpartition(":")
    return (file.endswith(".py") or is_example(file)) and bool(function)


def is_kernel(text: str) -> bool:
    """Whether a text names a kernel, where it might name a scenario, too.

    Raises:
        InputError: it names a Python file without a function, or leaves out the file's ending.
    """
    if names_function(text):
        return True
    if text.endswith(".py"):
        names = _own_functions(loaded_file(text, WHAT, registers=False))
        raise InputError(
            f"'{text}' is a Python file without a function; name one of it, as in "
            f"{text}:{next(iter(names), 'function')}; its functions: {', '.join(names) or 'none'}"
        )
    refuse_slip(text, "a kernel is FILE.py:FUNCTION")
    return False


def refuse_slip(text: str, accepted: str) -> None:
    """Refuse a text that was meant to name a function of a Python file that is there.

    Args:
        accepted: how such a name is written.

    Raises:
        InputError: it is one, with what was meant.
    """
    slip = re.fullmatch(r"(.+?)(\.\w+)?(?:::?|[./#])(\w+)", text)
    if not slip or slip[3] in _ENDINGS or Path(text).exists():
        return
    if Path(f"{slip[1]}.py").is_file():
        raise InputError(
            f"'{text}' names no Python file; {accepted}; did you mean '{slip[1]}.py:{slip[3]}'?"
        )


def kernel_named(text: str) -> Callable[..., Any]:
    """The kernel that `FILE.py:FUNCTION` names.

    Raises:
        InputError: it names none, or the file cannot be imported.
    """
    if not names_function(text):
        raise InputError(
            f"the kernel is '{text}'; accepted: a Python file and a function of it, as in "
            "mykernel.py:function"
        )
    member = _member(text)
    if plain_function(member) is None:
        raise InputError(
            f"'{text}' is a {type(member).__name__}; give a Python function or an @njit function"
        )
    return member


def made_by(text: str) -> Any:
    """Call the function that `FILE.py:FUNCTION` names, and return what it gives.

    Raises:
        InputError: it names none, or the call fails.
    """
    function = _member(text)
    file, _, name = text.rpartition(":")
    if not callable(function):
        kind = type(function).__name__
        raise InputError(f"'{text}' is a {kind}; name a function without arguments")
    try:
        with beside(example(file, ".py")):
            return function()
    except Exception as error:
        raise InputError(
            f"the function '{name}' of '{file}', which makes inputs, failed with "
            f"{type(error).__name__}: {error}; it is called without arguments: correct it"
        ) from None


def _own_functions(module: Any) -> list[str]:
    """Names of the public functions that a file defines itself, without those that it imports."""
    functions = {name: plain_function(value) for name, value in vars(module).items()}
    return [
        name for name, function in functions.items()
        if not name.startswith("_") and function is not None
        and function.__module__ == module.__name__
    ]  # fmt: skip


def _member(text: str) -> Any:
    """Return the object that a file defines under a name."""
    file, _, name = text.rpartition(":")
    module = loaded_file(file, WHAT, registers=False)
    if not hasattr(module, name):
        functions = _own_functions(module)
        raise InputError(
            f"'{file}' defines no '{name}'; its functions: {', '.join(functions) or 'none'}"
            f"{meant(name, functions)}"
        )
    return getattr(module, name)
