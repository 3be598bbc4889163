"""Attributes of stored files, checked: files come from elsewhere, too."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from sciprec.foundation.errors import InputError


def json_attribute(attributes: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The table that an attribute of sciprec's holds; empty without the attribute.

    Raises:
        InputError: the attribute holds something else.
    """
    text = attributes.get(name, "{}")
    try:
        content = json.loads(text)
    except (TypeError, ValueError):
        content = None
    if not isinstance(content, dict):
        raise InputError(
            f"the attribute {name} holds {str(text)!r:.60}, and not the table that `sciprec run` "
            "writes there; take files as it wrote them, or remove the attribute"
        )
    return content


def stated_tolerances(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tolerances of the scenario that a file holds, those that are whole."""
    stated = json_attribute(attributes, "sciprec_scenario").get("tolerance", [])
    needed = {"variable", "metric", "at_most"}
    tables = stated if isinstance(stated, list) else []
    return [table for table in tables if isinstance(table, dict) and needed <= table.keys()]


def steps_attribute(attributes: Mapping[str, Any]) -> int:
    """The number of steps of a run; 1 where the file does not say so."""
    try:
        steps = float(attributes.get("steps", 1))
    except (TypeError, ValueError):
        return 1
    return int(steps) if math.isfinite(steps) and steps >= 1 else 1
