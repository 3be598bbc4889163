"""The keys of a scenario as a list, read from the JSON schema of its kind."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sciprec.foundation.listing import Listing

_TYPES = {"integer": "whole number", "number": "number", "string": "string",
          "boolean": "true or false", "array": "array", "object": "table"}  # fmt: skip
_ENDS = {"minimum": "≥ {:g}", "exclusiveMinimum": "> {:g}", "maximum": "≤ {:g}",
         "exclusiveMaximum": "< {:g}"}  # fmt: skip
_HEADS = ("key", "type", "unit", "limits", "default", "example", "accepted")
_MOST_NAMED = 12
"""Known words that a list names."""


@dataclass(frozen=True)
class ScenarioKey:
    """A key of a scenario file.

    Args:
        path: "climate.days"; "tolerance[].metric" in each table of an array.
        type: in words, such as "whole number" or "array of strings".
        accepted: in words.
        required: whether its table has to have it.
        unit: that it is counted in; empty where there is none.
        limits: in signs, such as "> 0, ≤ 100".
        choices: the known words; empty where others are accepted, too.
        default: what stands where it is left out; None where that is no value.
        example: what it may be; None of tables, whose keys have examples of their own.
        opens: whether it is a table with keys of its own, or an array of such.
        about: what that table is.
    """

    path: str
    type: str
    accepted: str
    required: bool
    unit: str = ""
    limits: str = ""
    choices: tuple[str, ...] = ()
    default: Any = None
    example: Any = None
    opens: bool = False
    about: str = ""

    @property
    def name(self) -> str:
        """The key's own name, without those of the tables around it."""
        return self.path.rpartition(".")[2]

    @property
    def words(self) -> str:
        """Words for the values that the key accepts, a few known words included."""
        accepted = self.accepted or ", ".join(filter(None, (self.type, self.limits)))
        has_names = len(self.choices) > _MOST_NAMED or all(
            name in accepted for name in self.choices
        )
        return accepted if has_names else f"{accepted}: {', '.join(self.choices)}"


def keys(schema: Mapping[str, Any]) -> list[ScenarioKey]:
    """All keys of the files of a JSON schema of one kind, tables before what they hold."""
    return list(_keys(schema, "", schema.get("$defs", {})))


def _keys(table: Mapping[str, Any], place: str, defs: Mapping[str, Any]) -> Iterator[ScenarioKey]:
    """The keys of a table and of the tables in it."""
    required = {*table.get("required", ()), *_usual_way(table)}
    for name, field in table.get("properties", {}).items():
        schema = _resolved(field, defs)
        inner, mark = schema, ""
        if schema.get("type") == "array":
            inner, mark = _table_among(_resolved(schema.get("items", {}), defs), defs), "[]"
        below = "properties" in inner
        path = f"{place}{name}"
        yield ScenarioKey(
            path,
            _type(schema, defs),
            schema.get("description", ""),
            name in required,
            schema.get("unit", ""),
            _limits(schema),
            tuple(_choices(schema)),
            schema.get("default"),
            next(iter(schema.get("examples", ())), None if below else _made_up(schema)),
            below,
            inner.get("about", ""),
        )
        if below:
            yield from _keys(inner, f"{path}{mark}.", defs)


def _usual_way(table: Mapping[str, Any]) -> list[str]:
    """The required keys of a table that may be written in several ways: those of the first."""
    return next((way.get("required", []) for way in table.get("oneOf", ())), [])


def _resolved(field: Mapping[str, Any], defs: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a field, that of a table which it refers to included."""
    if "$ref" not in field:
        return dict(field)
    table = defs[field["$ref"].rpartition("/")[2]]
    return {**table, "about": table.get("description", ""), **field}


def _table_among(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Mapping[str, Any]:
    """The table among several things that are accepted, where there is one."""
    options = (_resolved(option, defs) for option in schema.get("anyOf", ()))
    return next((option for option in options if "properties" in option), schema)


def _type(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    """A type in words."""
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(_resolved(o, defs), defs) for o in schema["anyOf"]))
    kinds = schema.get("type", "string" if isinstance(schema.get("const"), str) else "any value")
    words = [_TYPES.get(kind, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    if kinds == "array" and (items := schema.get("items")):
        parts = _type(_resolved(items, defs), defs).split(" or ")
        return f"array of {' or '.join(f'{part}s' for part in parts)}"
    return " or ".join(words)


def _limits(schema: Mapping[str, Any]) -> str:
    """The ends of a range in signs, those of elements for an array."""
    of = schema.get("items", schema)
    return ", ".join(form.format(of[name]) for name, form in _ENDS.items() if name in of)


def number_within(schema: Mapping[str, Any], *, integer: bool) -> float:
    """A number inside the limits that a JSON schema states, by its keywords."""
    least, most = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    above = schema.get("exclusiveMinimum", -math.inf)
    below = schema.get("exclusiveMaximum", math.inf)
    low, high = max(least, above), min(most, below)
    if math.isinf(low) or math.isinf(high):
        number = low + 1 if math.isfinite(low) else min(1, high - 1)
        return math.floor(number) if integer else float(number)
    middle = (low + high) / 2
    inside = (x for x in (math.floor(middle), math.ceil(middle))
              if least <= x <= most and above < x < below)  # fmt: skip
    return next(inside, math.floor(middle)) if integer else middle


def _made_up(schema: Mapping[str, Any]) -> Any:
    """A value that is accepted, where nobody gave an example."""
    kind = str(schema.get("type"))
    if kind in ("integer", "number"):
        return number_within(schema, integer=kind == "integer")
    value = {"boolean": False, "array": [], "object": {}}.get(kind)
    return next(iter(_choices(schema)), "..." if value is None else value)


def _choices(schema: Mapping[str, Any]) -> list[str]:
    """The known words of a key, or of the elements of an array."""
    return [schema["const"]] if "const" in schema else schema.get("enum", [])


def toml(value: Any) -> str:
    """A value as TOML writes it, on one line."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{name} = {toml(item)}' for name, item in value.items())} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def keys_listing(entries: list[ScenarioKey]) -> Listing:
    """A line for each key."""
    rows = [
        (key.path, key.type, key.unit, key.limits, _default(key), _example(key), key.words)
        for key in entries
    ]
    return Listing(_HEADS, rows=rows)


def key_lines(key: ScenarioKey, width: int) -> list[str]:
    """Everything about a key in lines of some width: its name, what it may be, what it means."""
    default = _default(key)
    usual = {"required": "required", "–": "no default"}.get(default, f"default {default}")
    limits = ", ".join(filter(None, (key.type, key.unit, key.limits, usual)))
    example = f"; for example {_example(key)}" if key.example is not None else ""
    lines = [key.path]
    for words in (limits, f"{key.words}{example}"):
        lines += textwrap.wrap(words, width, initial_indent="    ", subsequent_indent="    ")
    return lines


def _default(key: ScenarioKey) -> str:
    if key.default is None:
        return "required" if key.required else "–"
    return toml(key.default)


def _example(key: ScenarioKey) -> str:
    return "" if key.example is None else toml(key.example)
