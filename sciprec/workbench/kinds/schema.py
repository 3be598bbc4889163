"""Keys of the kinds of scenario: as a JSON schema, and as lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sciprec.foundation.arguments import word
from sciprec.scenario.json_schema import json_schema
from sciprec.scenario.keys import ScenarioKey, keys
from sciprec.scenario.sweep import SWEEP
from sciprec.workbench.kinds.kind import kind_called, kind_names


def scenario_schema(names: Sequence[str] = ()) -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of scenario files of some kinds; of all, if none is named.

    Raises:
        InputError: a kind is unknown.
    """
    names = [word("kind", name, kind_names()) for name in names or kind_names()]
    chosen = [kind for name in names if (kind := kind_called(name)) is not None]
    schema = json_schema([kind.scenario for kind in chosen])
    places = [
        entry["$ref"].rpartition("/")[2] for entry in schema.get("oneOf", ()) if "$ref" in entry
    ]
    tables = [schema["$defs"][place] for place in places] if len(chosen) > 1 else [schema]
    for kind, table in zip(chosen, tables, strict=True):
        if not kind.ensembles:
            del table["properties"]["ensemble"]
        if example := _swept_example(kind.name, schema if len(chosen) == 1 else
                                     table | {"$defs": schema["$defs"]}):  # fmt: skip
            table["properties"][SWEEP]["examples"] = [example]
    return schema


def _swept_example(kind: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """A sweep of the first number of the table of a kind; empty where it has none."""
    of_table = (key for key in keys(schema) if key.path.startswith(f"{kind}."))
    number = next((key for key in of_table if key.type in ("number", "whole number")), None)
    return {} if number is None else {number.path: [number.example]}


def scenario_keys(name: str) -> list[ScenarioKey]:
    """The keys of files of a kind.

    Raises:
        InputError: the kind is unknown.
    """
    return keys(scenario_schema([name]))
