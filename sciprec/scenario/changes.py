"""Changes of keys of scenario files: `--set climate.days=3`."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Mapping
from typing import Any

from sciprec.foundation.arguments import refused
from sciprec.foundation.errors import InputError


def change(text: str) -> tuple[str, Any]:
    """The key and the value of a text such as "climate.days=3".

    Values are written as in TOML; what is no TOML, such as a bare word, is a text.

    Raises:
        InputError: there is no key or no value.
    """
    key, equals, value = (part.strip() for part in text.partition("="))
    if not (key and equals and value):
        raise InputError(
            f"--set is given '{text}'; it takes a key and a value, as in climate.days=3"
        )
    try:
        content = tomllib.loads(f"value = {value}")
    except ValueError:
        return key, value
    return key, content["value"] if len(content) == 1 else value


def changes_of(values: Mapping[str, Any] | None, name: str = "changes") -> Mapping[str, Any]:
    """Values by dotted key; None are none.

    Raises:
        InputError: it is something else.
    """
    if values is None:
        return {}
    if not isinstance(values, Mapping) or not all(isinstance(key, str) for key in values):
        raise refused(name, values, 'values by dotted key, such as {"climate.days": 3}')
    return values


def changed(content: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a scenario file with some values in place of its own.

    Args:
        content: of the file; stays as it is.
        changes: dotted keys and their values; an element of an array goes by its number, as in
            "tolerance.0.at_most". Tables that are not there are made.

    Raises:
        InputError: a key leads through something that is no table, or to an element that is not
            there.
    """
    result = copy.deepcopy(dict(content))
    for key, value in changes_of(changes).items():
        *above, last = key.split(".")
        table: Any = result
        for number, part in enumerate(above):
            if isinstance(table, dict):
                table.setdefault(part, {})
            table = table[_place(table, part, key, above[:number])]
        table[_place(table, last, key, above)] = value
    return result


def _place(table: Any, part: str, key: str, above: list[str]) -> str | int:
    """The index or key to which the part of a key leads in a table or an array."""
    if isinstance(table, dict):
        return part
    where = f"the key '{key}' is set, but '{'.'.join(above)}' is"
    if not isinstance(table, list):
        raise InputError(f"{where} no table; set a key of a table, such as climate.days")
    if not (part.isdecimal() and int(part) < len(table)):
        raise InputError(
            f"{where} an array of {len(table)}; give the number of an element, from 0, or set "
            "the whole array"
        )
    return int(part)
