"""JSON objects in files: their keys, and the values that each may have."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sciprec.foundation.arguments import shown


@dataclass(frozen=True)
class Field:
    """The values that a key of a stored object accepts.

    Args:
        fits: whether a value is such as is written there.
        needed: whether the key may not be missing.
    """

    fits: Callable[[Any], bool]
    needed: bool = False


class DamagedError(ValueError):
    """A file that does not hold the content written there; its message says how."""


def read_object(path: Path, fields: Mapping[str, Field]) -> dict[str, Any]:
    """The JSON object that a file holds, checked key by key; unknown keys are let through.

    Raises:
        OSError: the file cannot be read.
        DamagedError: it holds no JSON object, or one of other keys or values.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise DamagedError("it holds no JSON") from None
    if wrong := what_is_wrong(content, fields):
        raise DamagedError(wrong)
    return content


def what_is_wrong(content: Any, fields: Mapping[str, Field]) -> str:
    """Say in words which key or value of an object is wrong; empty where all are right."""
    if not isinstance(content, dict):
        return "it holds no table"
    for key, field in fields.items():
        if key not in content and field.needed:
            return f"it has no '{key}'"
        if key in content and not field.fits(content[key]):
            return f"its '{key}' is {shown(content[key])}"
    return ""


def is_flag(value: Any) -> bool:
    """Whether a value is true or false."""
    return isinstance(value, bool)


def is_text(value: Any) -> bool:
    """Whether a value is text without halves of characters, which JSON can hold and no terminal
    shows.
    """
    return isinstance(value, str) and not any("\ud800" <= c <= "\udfff" for c in value)


def is_texts(value: Any) -> bool:
    """Whether a value is a list of texts."""
    return isinstance(value, list) and all(map(is_text, value))


def is_number(value: Any) -> bool:
    """Whether a value is a finite number that binary64 holds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max  # of NaN it is false


def is_number_or_none(value: Any) -> bool:
    """Whether a value is such a number, or null."""
    return value is None or is_number(value)


def is_count(value: Any) -> bool:
    """Whether a value is a whole number from 0 to 2^31 - 1."""
    return type(value) is int and 0 <= value < 2**31


def is_file_name(value: Any) -> bool:
    """Whether a value is the name of a file, which leads into no other folder."""
    return is_text(value) and value.isprintable() and Path(value).name == value
