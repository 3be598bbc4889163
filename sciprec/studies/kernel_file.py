"""Kernels and functions of Python files, named as on the command line: `FILE.py:FUNCTION`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sciprec.errors import InputError, meant
from sciprec.plugins.loading import beside, loaded_file
from sciprec.precision.rewriting.syntax import plain_function

WHAT = "kernel file"
"""What such a file is called in messages."""


def names_function(text: str) -> bool:
    """Whether a text names a function of a Python file."""
    file, _, function = text.rpartition(":")
    return file.endswith(".py") and bool(function)


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
    found = _member(text)
    if plain_function(found) is None:
        raise InputError(
            f"'{text}' is a {type(found).__name__}; give a Python function or an @njit function"
        )
    return found


def made_by(text: str) -> Any:
    """What the function that `FILE.py:FUNCTION` names returns when it is called.

    Raises:
        InputError: it names none, or the call fails.
    """
    function = _member(text)
    file, _, name = text.rpartition(":")
    if not callable(function):
        kind = type(function).__name__
        raise InputError(f"'{text}' is a {kind}; name a function without arguments")
    try:
        with beside(Path(file)):
            return function()
    except Exception as error:
        raise InputError(
            f"the function '{name}' of '{file}', which makes inputs, failed with "
            f"{type(error).__name__}: {error}; it is called without arguments: correct it"
        ) from None


def _is_defined_in(module: Any, value: Any) -> bool:
    """Whether a function is a file's own, not one that it imports."""
    function = plain_function(value)
    return function is not None and function.__module__ == module.__name__


def _member(text: str) -> Any:
    """What a file defines under a name."""
    file, _, name = text.rpartition(":")
    module = loaded_file(file, WHAT, registers=False)
    if not hasattr(module, name):
        known = [
            n for n, value in vars(module).items()
            if not n.startswith("_") and _is_defined_in(module, value)
        ]
        raise InputError(
            f"'{file}' defines no '{name}'; its functions: {', '.join(known) or 'none'}"
            f"{meant(name, known)}"
        )
    return getattr(module, name)
