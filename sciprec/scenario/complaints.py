"""Sentences for pydantic's errors: the key, the given value, accepted ones, an example.

Every key of a section declares in its `description` what it accepts and in its `examples` how it
is written; a complaint is made of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from sciprec.foundation.arguments import shown
from sciprec.foundation.errors import InputError, meant


def _section_at(model: type[BaseModel], location: tuple) -> tuple[type[BaseModel], Any]:
    """The section that holds a key, and the key's own declaration (None for a whole table)."""
    field = None
    for name in location:
        if isinstance(name, int) or name not in model.model_fields:
            continue
        field = model.model_fields[name]
        nested = _nested_section(field.annotation)
        if nested is not None:
            model = nested
    return model, field


def _nested_section(annotation: Any) -> type[BaseModel] | None:
    """The section class inside an annotation such as HestonModel or tuple[Tolerance, ...]."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_nested_section, get_args(annotation))), None)


def _tables_with(model: type[BaseModel], name: str, above: str = "") -> list[str]:
    """Dotted keys of a name in the tables of a scenario, the outermost first."""
    tables = {
        key: nested for key, field in model.model_fields.items()
        if (nested := _nested_section(field.annotation)) is not None
        and get_origin(field.annotation) is not tuple
    }  # fmt: skip
    paths = [f"{above}{key}.{name}" for key, table in tables.items() if name in table.model_fields]
    for key, table in tables.items():
        paths += _tables_with(table, name, f"{above}{key}.")
    return paths


def complaints(model: type[BaseModel], errors: Sequence[dict[str, Any]]) -> list[str]:
    """One sentence for each mistake: keys that stand outside of a table whose heading is missing
    are one.
    """
    sentences, remaining = [], list(errors)
    for error in errors:
        parent, field = _section_at(model, tuple(error["loc"]))
        if error["type"] != "missing" or field is None or _nested_section(field.annotation) is None:
            continue
        lost = [
            each for each in remaining
            if each["type"] == "extra_forbidden" and each["loc"][-1] in parent.model_fields
        ]  # fmt: skip
        if lost:
            remaining = [each for each in remaining if each is not error and each not in lost]
            keys, heading = ", ".join(str(e["loc"][-1]) for e in lost), ".".join(error["loc"])
            sentences.append(f"the heading [{heading}] is missing; write it above {keys}")
    return sentences + [complaint(model, error) for error in remaining]


def complaint(model: type[BaseModel], error: dict[str, Any]) -> str:
    """One sentence for one entry of a ValidationError: given, accepted, what to write."""
    location = tuple(error["loc"])
    short = error["type"] == "missing" and isinstance(location[-1], int)  # an array, not a key
    location = location[:-1] if short else location
    key = ".".join(str(part) for part in location)
    _, field = _section_at(model, location)
    if error["type"] == "extra_forbidden":
        parent, _ = _section_at(model, location[:-1])
        names = list(parent.model_fields)
        elsewhere = _tables_with(model, str(location[-1]))
        hint = f"; did you mean {elsewhere[0]!r}?" if elsewhere else meant(location[-1], names)
        return f"unknown key '{key}'; known: {', '.join(names)}{hint}"
    if field is None:
        return str(error["ctx"]["error"]) if "ctx" in error else error["msg"]
    example = f"; write for example `{field.examples[0]}`"
    if error["type"] == "missing" and not short:
        return f"the key '{key}' is missing; accepted: {field.description}{example}"
    reason = error.get("ctx", {}).get("error")
    table = isinstance(error["input"], dict) and _nested_section(field.annotation) is not None
    if reason and table:  # said by a whole table about several keys, or of one among several
        return f"key '{key}': {reason}" if isinstance(location[-1], int) else str(reason)
    if isinstance(reason, InputError):
        return f"key '{key}': {reason}"
    why = f" ({reason})" if reason else ""
    value = list(error["input"]) if isinstance(error["input"], tuple) else error["input"]
    value_text = f"{shown(value)} ({_type_in_words(error['input'])})"
    return f"key '{key}' was given {value_text}{why}; accepted: {field.description}{example}"


def _type_in_words(value: Any) -> str:
    """A TOML type in words."""
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "a string",
             tuple: "an array", list: "an array", dict: "a table"}  # fmt: skip
    return names.get(type(value), type(value).__name__)
