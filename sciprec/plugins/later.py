"""Rows that are imported when they are asked for: by them a lower room uses what upper ones have,
and names none of them.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any


class Later(Mapping[str, Any]):
    """Rows by name, of which only their places are known before they are asked for."""

    def __init__(self) -> None:
        self._places: dict[str, tuple[str, str]] = {}

    def add(self, name: str, module: str, attribute: str) -> None:
        """A row, which a module will have under this attribute."""
        self._places[name] = (module, attribute)

    def __getitem__(self, name: str) -> Any:
        module, attribute = self._places[name]
        return getattr(importlib.import_module(module), attribute)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


MODEL_STAGES = Later()
"""Model -> its stages, for policies of mixed precision. `sciprec/__init__.py` fills it, which every
process imports before any other module of sciprec.
"""
