"""What every table of a scenario file is made of: strict sections and self-describing keys."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from sciprec.checks.arguments import Range


def as_tuple(value: Any) -> Any:
    """TOML arrays arrive as lists; frozen scenarios hold tuples."""
    return tuple(value) if isinstance(value, list) else value


def key(description: str, example: str, **limits: Any) -> Any:
    """A scenario key: what it accepts in words, how to write it in TOML, and its limits."""
    return Field(description=description, examples=[example], **limits)


def limited(limits: Range, example: str, **options: Any) -> Any:
    """A scenario key for a number of a range, with a default where there is one."""
    return Field(description=limits.words, examples=[example], **limits.limits(), **options)


Numbers = Annotated[tuple[float, ...], BeforeValidator(as_tuple)]
Names = Annotated[tuple[str, ...], BeforeValidator(as_tuple)]


class Section(BaseModel):
    """A table of the file: frozen, strict about types, no unknown keys, no NaN."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
