"""Warnings of results that depend on threads: a lifted kernel is called by several at once."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

_HERE = str(Path(__file__).parent)


def warn_of_order(kernel: str, backend: str, reason: str) -> None:
    """Warn in the caller's line that results depend on the order of calls.

    Args:
        kernel, backend: their names.
        reason: why, and what to do.
    """
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    text = f"kernel '{kernel}' in '{backend}' is called from several threads, {reason}"
    warnings.warn(text, RuntimeWarning, stacklevel=level + 1)
