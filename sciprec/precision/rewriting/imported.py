"""Objects of other modules that a generated module names as they are: classes of exceptions, named
tuples, Numba's lists.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any


def place_of_object(value) -> tuple[str, str] | None:
    """(module, dotted name) by which any process finds an object again; None where there is none:
    it was made inside a function, or its name stands for another one now.
    """
    module = getattr(value, "__module__", None)
    dotted = getattr(value, "__qualname__", getattr(value, "__name__", None))
    if not (isinstance(module, str) and isinstance(dotted, str)) or "<" in dotted:
        return None
    current: Any = sys.modules.get(module)
    for part in dotted.split("."):
        current = getattr(current, part, None)
    return (module, dotted) if current is value else None


def imported(module: str, dotted: str, *facts: str) -> Any:
    """The object of that name; `facts` tell it from what was there when code was kept on disk."""
    result: ModuleType | Any = importlib.import_module(module)
    for part in dotted.split("."):
        result = getattr(result, part)
    return result
