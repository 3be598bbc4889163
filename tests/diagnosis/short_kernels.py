"""Kernels of a few lines that are written as text, each in a file of its own."""

from __future__ import annotations

import inspect
import tempfile
from functools import cache
from pathlib import Path

from tests.random_kernels.trials import kernel_in

_FOLDER = tempfile.TemporaryDirectory(prefix="short_kernels_")
_HEAD = "import math\nimport numpy as np\n\n\ndef kernel({}):\n"


@cache
def kernel_of(lines: tuple[str, ...], parameters: str):
    """The function `kernel` of these lines: of a whole body, if that begins a loop or returns a
    number, else of a loop over the elements of x.
    """
    whole = any(line.startswith(("for ", "while ", "return ")) for line in lines)
    loop = [] if whole else ["for i in range(x.size):"]
    body = [*loop, *(line if whole else f"    {line}" for line in lines)]
    text = _HEAD.format(parameters) + "".join(f"    {line}\n" for line in body)
    return kernel_in(text, Path(_FOLDER.name))


def line_of(kernel, text: str) -> int:
    """The absolute number of a kernel's line."""
    lines, first = inspect.getsourcelines(kernel)
    return first + next(n for n, line in enumerate(lines) if text in line)
