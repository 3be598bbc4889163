"""The table [sweep] of a scenario file, which makes a scenario for each combination of values."""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sciprec.foundation.arguments import shown
from sciprec.foundation.errors import InputError
from sciprec.scenario.changes import changed
from sciprec.scenario.keys import toml

SWEEP = "sweep"
MOST_SCENARIOS = 200
"""Most scenarios that one file makes; each is a truth and its arithmetics."""
LONGEST_NAME = 60
_DIGEST_DIGITS = 8
_WORDS = ("name", "title", "source", "kind")
"""Keys that tell scenarios apart or choose their model, which no sweep changes."""


def swept(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The contents of the scenarios that a file makes: its own where it has no table [sweep], else
    one for each combination of values, the first key changing slowest. In place of the arrays the
    table [sweep] of each holds the values of its own.

    Names and titles depend on keys and values alone, not on how many there are.

    Args:
        content: of a scenario file.

    Raises:
        InputError: the table is empty or no table, a key of it cannot be swept or has no array of
            different values, or there are too many combinations; a line for each.
    """
    if SWEEP not in content:
        return [dict(content)]
    values = _values_by_key(content[SWEEP])
    count = math.prod(map(len, values.values()))
    if count > MOST_SCENARIOS:
        sizes = " x ".join(str(len(of_key)) for of_key in values.values())
        raise InputError(
            f"the table [sweep] makes {count} scenarios ({sizes}); at most {MOST_SCENARIOS} are "
            "accepted: give fewer values, or several files"
        )
    remaining = {key: value for key, value in content.items() if key != SWEEP}
    return [
        _row(remaining, dict(zip(values, combination, strict=True)))
        for combination in itertools.product(*values.values())
    ]


def family(name: str, row: Mapping[str, Any]) -> str:
    """The name that the file of a scenario gives it, without its own values.

    Args:
        name: of the scenario.
        row: its values by swept key; empty where it is not swept.
    """
    return name.removesuffix(_ending(row)) if row else name


def _row(content: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """The content with one value for each swept key, a name and a title of its own."""
    result = changed(content, row) | {SWEEP: dict(row)}
    if isinstance(content.get("name"), str):
        result["name"] = _short(content["name"] + _ending(row))
    if isinstance(content.get("title"), str):
        settings = ", ".join(f"{key} = {toml(value)}" for key, value in row.items())
        result["title"] = f"{content['title']}, {settings}"
    return result


def _values_by_key(table: Any) -> dict[str, list[Any]]:
    """The arrays of the table by dotted key, each with values whose words differ."""
    if not isinstance(table, Mapping):
        raise InputError(
            f"key 'sweep' was given {shown(table)}; accepted: a table of arrays by key, such as "
            '[sweep] with the line "climate.days" = [5.0, 10.0]'
        )
    values: dict[str, list[Any]] = {}
    wrong = [] if table else [
        "the table [sweep] is empty; give it a key with an array of values, or leave it out"
    ]  # fmt: skip
    for key, of_key in _leaves(table, ""):
        wrong += [f"key 'sweep': {sentence}" for sentence in _refused(key, of_key, values)]
        values[key] = of_key
    if wrong:
        raise InputError("\n".join(dict.fromkeys(wrong)))
    return values


def _leaves(table: Mapping[str, Any], above: str) -> Iterator[tuple[str, Any]]:
    """Dotted keys and what they hold; `climate.days = [...]` is a table inside a table in TOML."""
    for name, value in table.items():
        key = f"{above}{name}"
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{key}.")
        else:
            yield key, value


def _refused(key: str, values: Any, before: Mapping[str, Any]) -> list[str]:
    """Sentences on what is wrong with one swept key."""
    if key in before:
        return [f"'{key}' stands twice; give all values in one array"]
    if key.partition(".")[0] in (*_WORDS, SWEEP):
        return [
            f"'{key}' cannot be swept, since scenarios are told apart by it; sweep a key of the "
            "model, such as climate.days"
        ]
    if not isinstance(values, list):
        return [
            f"'{key}' was given {shown(values)}; accepted: an array of values, each of which makes "
            "a scenario"
        ]
    if not values:
        return [f"'{key}' has no value; give it at least one, or leave it out"]
    by_word: dict[str, Any] = {}
    for value in values:
        word = _word(value)
        if word in by_word:
            return [
                f"'{key}' has {shown(by_word[word])} and {shown(value)}, and both make a scenario "
                f"whose name ends in '{word}'; give one of them"
            ]
        by_word[word] = value
    return []


def _ending(row: Mapping[str, Any]) -> str:
    """The end of the name of a row: "-step_seconds-600"."""
    parts = [key.split(".") for key in row]
    length = next(
        n for n in itertools.count(1)
        if len({tuple(part[-n:]) for part in parts}) == len(parts)
    )  # fmt: skip
    return "".join(
        f"-{_plain('_'.join(part[-length:]))}-{_word(value)}"
        for part, value in zip(parts, row.values(), strict=True)
    )


def _word(value: Any) -> str:
    """A value in letters that names of files have: 600.0 is 600, -0.5 is m0_5."""
    text = value if isinstance(value, str) else toml(value)
    if isinstance(value, float):
        text = text.removesuffix(".0")
    if isinstance(value, (int, float)) and text.startswith("-"):
        text = f"m{text[1:]}"
    return _plain(text) or "empty"


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9-]+", "_", text.lower()).strip("_")


def _short(name: str) -> str:
    """The name, or, where it is too long, its beginning and a digest."""
    if len(name) <= LONGEST_NAME:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGEST_DIGITS]
    return f"{name[: LONGEST_NAME - _DIGEST_DIGITS - 1]}-{digest}"
