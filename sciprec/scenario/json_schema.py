"""JSON schemas (draft 2020-12) of scenario files, by which editors complete and check them.

They say what each key accepts by itself. What several keys make together, and what only a model
knows, is told by `sciprec scenario check`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Annotated, Any, Union

from pydantic import BaseModel, Field, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(scenarios: Sequence[type[BaseModel]]) -> dict[str, Any]:
    """The schema of files that hold a scenario of one of these classes, told apart by `kind`."""
    one_of: Any = scenarios[0]
    if len(scenarios) > 1:
        one_of = Annotated[Union[tuple(scenarios)], Field(discriminator="kind")]  # noqa: UP007
    schema = TypeAdapter(one_of).json_schema(schema_generator=_OfToml)
    schema.pop("discriminator", None)  # of OpenAPI, no keyword of JSON schemas
    for table in (schema, *schema.get("$defs", {}).values()):
        for name, field in table.get("properties", {}).items():
            _with_values_as_examples(name, field)
    return {"$schema": DRAFT} | schema


class _OfToml(GenerateJsonSchema):
    """TOML has no null: what may be left out is not required."""

    def nullable_schema(self, schema: Any) -> dict[str, Any]:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: Any) -> dict[str, Any]:
        result = super().default_schema(schema)
        return {name: value for name, value in result.items() if (name, value) != ("default", None)}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _with_values_as_examples(name: str, field: dict[str, Any]) -> None:
    """Examples that are lines of TOML as the values that they hold; those of whole tables go."""
    values = [value_of_example(name, example) for example in field.pop("examples", ())]
    if values := [value for value in values if value != {}]:
        field["examples"] = values


def value_of_example(name: str, example: Any) -> Any:
    """The value in an example: a line of TOML with the key, the head of a table, or a value."""
    if not isinstance(example, str):
        return example
    if example.startswith("["):
        return {}
    try:
        return tomllib.loads(example)[name]
    except (KeyError, tomllib.TOMLDecodeError):
        return example
