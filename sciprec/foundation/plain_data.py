"""Plain data: what JSON can hold of results."""

from __future__ import annotations

import math
from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return records and mappings as dictionaries, arrays as lists, paths as text, and None in
    place of numbers that are not finite.
    """
    if hasattr(value, "__dataclass_fields__"):
        value = {name: getattr(value, name) for name in value.__dataclass_fields__}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, PathLike):
        return str(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value
