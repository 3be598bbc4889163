"""Plain data in an attribute of a file, as JSON: the attribute's name and its form, once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import xarray as xr


@dataclass(frozen=True)
class JsonAttribute:
    """An attribute that a facet writes into files of runs, and reads from them.

    Args:
        name: of the attribute.
        sort_keys: whether its keys are written in alphabetical order.
    """

    name: str
    sort_keys: bool = True

    def written(self, content: Any) -> dict[str, str]:
        """The attribute with its content; no attribute for None."""
        return {} if content is None else {self.name: json.dumps(content, sort_keys=self.sort_keys)}

    def read(self, file: xr.Dataset | Mapping[str, Any] | None) -> Any:
        """The content in a file or its attributes; None where there is none, or no file."""
        attributes = getattr(file, "attrs", file) or {}
        return json.loads(attributes.get(self.name, "null"))
