"""Base of every table of a scenario file: strict sections and self-describing keys.

A key says in its `description` what it accepts, in its `examples` how it is written in TOML, and in
the keyword "unit" of its JSON schema what it is counted in. Sentences about mistakes, lists of
keys, schemas for editors and new scenarios are made of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from sciprec.foundation.arguments import Range


def as_tuple(value: Any) -> Any:
    """TOML arrays arrive as lists; frozen scenarios hold tuples."""
    return tuple(value) if isinstance(value, list) else value


def once(what: str) -> AfterValidator:
    """A check that no name stands twice among names, or among tables with a key `name`.

    Args:
        what: the beginning of the message, such as "a backend is".
    """

    def checked(choices: tuple[Any, ...]) -> tuple[Any, ...]:
        if len({getattr(choice, "name", choice) for choice in choices}) < len(choices):
            raise ValueError(f"{what} named twice")
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
