"""Imports at the first use: public names, and rows by which a lower room uses what upper ones have,
and names none of them.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from sciprec.foundation.interrupts import deferred_interrupts
from sciprec.foundation.moved import renamed

_FOR_CHECKERS = re.compile(r"^    from (sciprec[\w.]*) import (\w+) as \2$", re.M)


def imported(module: str) -> ModuleType:
    """A module of sciprec, imported whatever an interrupted import has left: a module without the
    package around it, which would import the package in the middle of itself.
    """
    if module in sys.modules:
        return importlib.import_module(module)
    with deferred_interrupts():
        for name in sorted(n for n in list(sys.modules) if n.startswith("sciprec.")):
            if name.rpartition(".")[0] not in sys.modules:
                del sys.modules[name]
        return importlib.import_module(module)


def names_of(
    package: str, **older: str
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """`__all__`, `__getattr__` and `__dir__` of a package whose source names, for type checkers
    alone, what it gives: each is imported when it is asked for, and so are the packages in it.

    Args:
        package: its name.
        older: names that it gave before, each with that of today; they give a warning, once.
    """
    source = inspect.getsource(sys.modules[package])
    modules = {name: module for module, name in _FOR_CHECKERS.findall(source) if module != package}

    def attribute(name: str) -> Any:
        if name in modules:
            return getattr(imported(modules[name]), name)
        if name in older:
            result = renamed(f"{package}.{name}", f"{package}.{older[name]}")
            vars(sys.modules[package])[name] = result
            return result
        if not name.startswith("_"):
            with contextlib.suppress(ModuleNotFoundError):
                return imported(f"{package}.{name}")
        raise AttributeError(f"module '{package}' has no attribute '{name}'")

    return list(modules), attribute, lambda: sorted(modules)


class Later(Mapping[str, Any]):
    """Rows by name, of which only their places are known before they are asked for."""

    def __init__(self) -> None:
        self._places: dict[str, tuple[str, str]] = {}

    def add(self, name: str, module: str, attribute: str) -> None:
        """A row, which a module will have under this attribute."""
        self._places[name] = (module, attribute)

    def __getitem__(self, name: str) -> Any:
        module, attribute = self._places[name]
        return getattr(imported(module), attribute)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


MODEL_STAGES = Later()
"""Model -> its stages, for policies of mixed precision. `sciprec/__init__.py` fills these tables,
which every process imports before any other module of sciprec.
"""
KERNEL_TRUTHS = Later()
"""Name of a truth -> function that says how well it is known, of a kernel and its arguments."""
BACKEND_MAKERS = Later()
"""Kind of backend names, the word before a colon -> function that makes a backend of such a name.
"""
NAMED_BACKENDS = Later()
"""Name of a backend whose kernels an upper room makes -> function that gives it."""
REMEDIES = Later()
"""Kind of a traced model -> function that searches remedies for its lines."""
