"""Parameters of a model as a table of scenario files: their types, limits and sentences."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from sciprec.facets.tables import Section, as_tuple
from sciprec.foundation.errors import InputError
from sciprec.scenario.keys import number_within, toml

_PLAIN = {
    bool: ("true or false", "true"), int: ("a whole number", "1"), float: ("a number", "1.0"),
    str: ("a string", '"..."'),
}  # fmt: skip
_MANY = {
    bool: "true or false", int: "whole numbers", float: "numbers", str: "strings",
}  # fmt: skip
_LIMITS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
_KEYWORDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
_OF_METADATA = (*_LIMITS, "multiple_of", "min_length", "max_length", "pattern")


def parameters_of(function: Callable[..., Any], model: str) -> type:
    """The class of a model's parameters: that with which its first argument is annotated.

    Raises:
        InputError: it takes other than two arguments, or the first one has no class of parameters.
    """
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    if len(names) != 2 or code.co_kwonlyargcount or code.co_flags & 0x0C:
        raise InputError(
            f"model '{model}': '{function.__name__}' takes ({', '.join(names)}); a model takes "
            "two arguments, (parameters, arithmetic)"
        )
    annotated = function.__annotations__.get(names[0])
    if isinstance(annotated, str):
        inside = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        cells = {name: cell.cell_contents for name, cell in inside.items()}
        try:
            annotated = eval(annotated, function.__globals__, cells)  # as Python does it
        except NameError:
            raise InputError(
                f"model '{model}': the annotation {annotated!r} of '{names[0]}' is no name that "
                "the module knows; define the class of the parameters at the top of the module"
            ) from None
    is_class = isinstance(annotated, type)
    if is_class and (dataclasses.is_dataclass(annotated) or issubclass(annotated, BaseModel)):
        return annotated
    raise InputError(
        f"model '{model}': '{names[0]}' of '{function.__name__}' is annotated with "
        f"{'nothing' if annotated is None else repr(annotated)}; accepted: a dataclass or a "
        "pydantic model, whose fields become the keys of the scenario's table, such as "
        f"def {function.__name__}({names[0]}: Parameters, arithmetic)"
    )


def table_of(parameters: type, model: str) -> type[BaseModel]:
    """The schema of the table that a scenario gives a model: strict, frozen, without other keys.

    Every key says what it accepts, by its type and its limits, and what it means, by its
    description.

    Args:
        parameters: a dataclass, whose fields may have `metadata` with description, unit, example,
            ge, gt, le, lt, or types such as Annotated[float, pydantic.Field(gt=0)]; or a pydantic
            model, whose validators stay.
        model: its name.

    Raises:
        InputError: a type that no scenario file can hold.
    """
    of_dataclass = dataclasses.is_dataclass(parameters)
    described = _of_dataclass(parameters, model) if of_dataclass else _of_pydantic(parameters)
    fields = {name: _key(name, *description, model) for name, description in described.items()}
    for name in fields:
        if name.startswith(("_", "model_")) or hasattr(Section, name):
            raise InputError(
                f"model '{model}': a parameter cannot be called '{name}', which has another "
                "meaning in tables; choose another name"
            )
    try:
        if of_dataclass:
            checks = {"as_given": model_validator(mode="after")(_as_made)}
            table = create_model(
                parameters.__name__, __base__=Section, __validators__=checks, **fields
            )
            table._original = parameters
        else:
            table = create_model(parameters.__name__, __base__=(parameters, Section), **fields)
            table.model_config = ConfigDict(**(parameters.model_config | Section.model_config))
            table._original = None
            table.model_rebuild(force=True)
    except PydanticUserError as error:
        raise InputError(
            f"model '{model}': its parameters cannot be a scenario's table "
            f"({str(error).splitlines()[0]}); give them plain numbers, texts, or arrays of these"
        ) from None
    table.__doc__ = parameters.__doc__
    return table


def as_given(table: BaseModel) -> Any:
    """The parameters of a table as the model takes them: an object of the user's own class."""
    of = type(table)._original
    return table if of is None else of(**{name: getattr(table, name) for name in _names(table)})


def _as_made(table: BaseModel) -> BaseModel:
    """Let the user's class look at the values, too."""
    as_given(table)
    return table


def _names(table: BaseModel) -> tuple[str, ...]:
    return tuple(type(table).model_fields)


def _of_dataclass(parameters: type, model: str) -> dict[str, tuple[Any, FieldInfo]]:
    """The type of each field without annotations, and its description."""
    try:
        hints = get_type_hints(parameters, include_extras=True)
    except NameError as error:
        raise InputError(
            f"model '{model}': the types of {parameters.__name__} cannot be found ({error}); "
            "define or import them at the top of the module"
        ) from None
    result = {}
    for field in dataclasses.fields(parameters):
        if not field.init:
            continue
        default: dict[str, Any] = {}
        if field.default is not dataclasses.MISSING:
            default = {"default": field.default}
        elif field.default_factory is not dataclasses.MISSING:
            default = {"default_factory": field.default_factory}
        metadata = dict(field.metadata)
        options = {n: metadata[n] for n in (*_OF_METADATA, "description") if n in metadata}
        if "unit" in metadata:
            options["json_schema_extra"] = {"unit": metadata["unit"]}
        if "example" in metadata:
            options["examples"] = [metadata["example"]]
        merged = Field(**options, **default)
        info = FieldInfo.from_annotated_attribute(hints[field.name], merged)
        result[field.name] = (info.annotation, info)
    return result


def _of_pydantic(parameters: type[BaseModel]) -> dict[str, tuple[Any, FieldInfo]]:
    return {name: (info.annotation, info) for name, info in parameters.model_fields.items()}


def _key(name: str, annotation: Any, info: FieldInfo, model: str) -> tuple[Any, FieldInfo]:
    """A key of the table: what it accepts in words, how it is written, and its limits."""
    accepted, example = _words(annotation, name, model)
    limits = [
        f"{sign} {getattr(bound, limit):g}"
        for bound in info.metadata for limit, sign in _LIMITS.items() if hasattr(bound, limit)
    ]  # fmt: skip
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, Mapping) else {}
    unit = f" in {extra['unit']}" if extra.get("unit") else ""
    about = f": {info.description}" if info.description else ""
    merged = FieldInfo.merge_field_infos(info)
    merged.description = f"{accepted}{unit}{' ' if limits else ''}{' and '.join(limits)}{about}"
    if not info.examples:
        value = info.get_default(call_default_factory=True)
        none = value in (PydanticUndefined, None)
        value_text = _within(info.metadata, annotation) or example if none else toml(value)
        merged.examples = [f"{name} = {value_text}"]
    elif not str(info.examples[0]).startswith(f"{name} ="):
        merged.examples = [f"{name} = {toml(info.examples[0])}"]
    array = get_origin(annotation) in (tuple, list)
    return (Annotated[annotation, BeforeValidator(as_tuple)] if array else annotation), merged


def _within(metadata: list[Any], annotation: Any) -> str:
    """A number inside its limits as TOML has it; empty where the type is none, or has no limits."""
    ends = {word: getattr(item, limit) for item in metadata for limit, word in _KEYWORDS.items()
            if hasattr(item, limit)}  # fmt: skip
    kind = next((t for t in (annotation, *get_args(annotation)) if t in (int, float)), None)
    return toml(number_within(ends, integer=kind is int)) if ends and kind else ""


def _words(annotation: Any, name: str, model: str) -> tuple[str, str]:
    """Words for the values that a type accepts, and an example of one in TOML.

    Raises:
        InputError: no scenario file can hold such a value.
    """
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        values = [toml(value) for value in inside]
        return " or ".join(values), values[0]
    if origin in (Union, types.UnionType):
        kinds = [argument for argument in inside if argument is not type(None)]
        if len(kinds) == 1:
            return _words(kinds[0], name, model)
    if origin is Annotated:
        return _words(inside[0], name, model)
    if origin is tuple and inside:
        kinds = [argument for argument in inside if argument is not Ellipsis]
        if all(kind in _MANY for kind in kinds) and len(set(kinds)) == 1:
            many = Ellipsis in inside
            count = "an array of" if many else f"an array of {len(kinds)}"
            element = _PLAIN[kinds[0]][1]
            return f"{count} {_MANY[kinds[0]]}", f"[{', '.join([element] * len(kinds))}]"
    type_name = getattr(annotation, "__name__", None) or repr(annotation)
    raise InputError(
        f"model '{model}': the parameter '{name}' is of type {type_name}, which no table of a "
        "scenario can hold; accepted: bool, int, float, str, Literal[...], tuple[float, ...], "
        "tuple[float, float], the same with int, str or bool, and Optional of each"
    )


