"""Base of every table of a scenario file: strict sections, self-describing keys, and their values.

A key says in its `description` what it accepts, in its `examples` how it is written in TOML, and in
the keyword "unit" of its JSON schema what it is counted in. Sentences about mistakes, lists of
keys, schemas for editors and new scenarios are made of these.

Keys of several tables share types of values: registered names, arithmetics, names in place of
tables, and plain values; each says what it is in JSON schemas, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import core_schema

from sciprec.foundation.arguments import Range, word
from sciprec.foundation.limits import PARAMETER
from sciprec.precision.formats.backend import backends, resolve_backend
from sciprec.precision.formats.float_format import ALIASES, FORMATS


def as_tuple(value: Any) -> Any:
    """TOML arrays arrive as lists; frozen scenarios hold tuples."""
    return tuple(value) if isinstance(value, list) else value


def once(beginning: str) -> AfterValidator:
    """A check that no name stands twice among names, or among tables with a key `name`.

    Args:
        beginning: the beginning of the message, such as "a backend is".
    """

    def checked(choices: tuple[Any, ...]) -> tuple[Any, ...]:
        if len({getattr(choice, "name", choice) for choice in choices}) < len(choices):
            raise ValueError(f"{beginning} named twice")
        return choices

    return AfterValidator(checked)


def key(description: str, example: str, *, unit: str = "", **options: Any) -> Any:
    """A scenario key: what it accepts in words, how to write it in TOML, its unit and its limits,
    with a default where it may be left out.
    """
    extra: Any = {"unit": unit} if unit else None
    return Field(description=description, examples=[example], json_schema_extra=extra, **options)


def limited(limits: Range, example: str, **options: Any) -> Any:
    """A scenario key for a number of a range, with a default where there is one."""
    return key(limits.words, example, unit=limits.unit, **limits.limits(), **options)


class Section(BaseModel):
    """A table of the file: frozen, strict about types, no unknown keys, no NaN."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class AddedKeys(Section):
    """Keys that a facet adds to scenarios of some kinds: a base of their classes, before
    `Scenario`, whose keys and methods it may use.
    """

    if TYPE_CHECKING:
        backends: tuple[str, ...]

        def arithmetics(self, instead: tuple[str, ...] = ()) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class Registered:
    """Marks a text as one of the names of a registry, which is asked when it is needed.

    Args:
        what: the names are of, such as "case".
        names: gives them.
    """

    what: str
    names: Callable[[], Collection[str]]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return handler(schema) | {"enum": sorted(self.names())}

    def _checked(self, value: str) -> str:
        return word(self.what, value, self.names())


@dataclass(frozen=True)
class NameOrTable:
    """Marks a table with a key `name`: a text in its place stands for a table of nothing else.

    Args:
        names: the known ones.
    """

    names: tuple[str, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return core_schema.no_info_before_validator_function(
            lambda value: {"name": value} if isinstance(value, str) else value, handler(source)
        )

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {"anyOf": [{"type": "string", "enum": list(self.names)}, handler(schema)]}


@dataclass(frozen=True)
class OneOrSeveral:
    """Marks an array of names: one name in its place stands for an array of this alone.

    Args:
        names: the known ones, for JSON schemas.
    """

    names: tuple[str, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return core_schema.no_info_before_validator_function(
            lambda value: (value,) if isinstance(value, str) else as_tuple(value), handler(source)
        )

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        name = {"type": "string", "enum": list(self.names)}
        return {"anyOf": [name, {"type": "array", "items": name}]}


class KnownArithmetic:
    """The JSON schema of arithmetics: the known names, and the pattern of spec strings."""

    @staticmethod
    def __get_pydantic_json_schema__(schema: Any, handler: Any) -> dict[str, Any]:
        names = list(dict.fromkeys([*backends(), *ALIASES, *FORMATS]))
        return {"anyOf": [{"type": "string", "enum": names}, {"type": "string", "pattern": "[:,]"}]}


def known_arithmetic(name: str) -> str:
    """The name of an arithmetic, checked."""
    resolve_backend(name)
    return name


def _number(value: Any) -> Any:
    PARAMETER.number("the value", value)
    return value


def _plain(value: Any) -> bool | float | str:
    return value if isinstance(value, (bool, str)) else PARAMETER.number("the value", value)


ArithmeticName = Annotated[str, AfterValidator(known_arithmetic), KnownArithmetic]
"""The name of a backend, or a spec string."""
ArithmeticNames = Annotated[tuple[ArithmeticName, ...], BeforeValidator(as_tuple)]
JsonNumber = Annotated[Any, AfterValidator(_number), WithJsonSchema({"type": "number"})]
"""Finite; a whole one stays one."""
PlainValue = Annotated[
    Any, AfterValidator(_plain), WithJsonSchema({"type": ["boolean", "number", "string"]})
]
"""true or false, a text, or a finite number, which becomes a float."""
