"""Seals: a digest that stored content carries, by which damage and edits by hand are found."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

SEAL = "sealed"
"""Key of a JSON object that holds its seal."""


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON object with its seal, in place of one that it may have.

    Example:
        `json.dumps(sealed({"runs": []}))`
    """
    return {**content, SEAL: _seal(content)}


def is_sealed(content: Any) -> bool:
    """Whether what was read from JSON is an object whose seal fits all that it holds."""
    return isinstance(content, dict) and content.get(SEAL) == _seal(content)


def _seal(content: Mapping[str, Any]) -> str:
    """SHA-256 of all but the seal, whatever the order of the keys."""
    plain = {key: value for key, value in content.items() if key != SEAL}
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
