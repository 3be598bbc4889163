"""A scenario file to begin with: every key with its accepted values, those that may be left out as
comments.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sciprec.scenario.keys import ScenarioKey, toml

_WIDTH = 100
_HEAD = (
    'A scenario of kind "{kind}". What stands behind a "#" without a space may be left out: take '
    "the sign away to say it. `sciprec scenario check FILE` looks for mistakes, `sciprec run FILE` "
    "computes."
)


def draft(kind: str, keys: Sequence[ScenarioKey], name: str) -> str:
    """The text of a scenario file that runs as it stands.

    Args:
        kind: of the scenario.
        keys: of its files.
        name: of the scenario.
    """
    first = {
        "name": name, "title": f"A first scenario of kind {kind}",
        "source": "who chose these numbers, and why", "backends": ["fp32", "fp16"],
    }  # fmt: skip
    lines = [*_comment(_HEAD.format(kind=kind)), "", *_table("", keys, kind, first)]
    return "\n".join(lines) + "\n"


def _table(
    place: str, keys: Sequence[ScenarioKey], kind: str, first: Mapping[str, Any], sign: str = ""
) -> Iterator[str]:
    """The lines of a table: its own keys, then the tables in it.

    Args:
        place: what the paths of its keys begin with.
        keys: of the file.
        kind: name of the table that always stands there.
        first: values of keys, by path, that go before those which the keys name.
        sign: before every line that is no comment: "#" where the whole table may be left out.
    """
    own_keys = [key for key in keys if key.path.rpartition(".")[0] == place]
    tables = [key for key in own_keys if key.type in ("table", "array of tables") and key.opens]
    for key in own_keys:
        if key not in tables:
            needed = key.required or key.path in first
            yield from _comment(_words(key))
            yield f"{sign or '#' * (not needed)}{key.name} = {toml(_value(key, first))}"
    for key in sorted(tables, key=lambda table: not table.required and table.path != kind):
        many = key.type != "table"
        mark = sign or "#" * (not key.required and key.path != kind)
        yield ""
        yield from _comment(key.about or key.words)
        yield f"{mark}[[{key.path}]]" if many else f"{mark}[{key.path}]"
        yield from _table(f"{key.path}[]" if many else key.path, keys, kind, first, mark)


def _value(key: ScenarioKey, first: Mapping[str, Any]) -> Any:
    """The value of a key in a draft: a default, which may be changed, or an example."""
    usual = key.default if key.default not in ([], {}) else None
    return next(v for v in (first.get(key.path), usual, key.example) if v is not None)


def _words(key: ScenarioKey) -> str:
    """Words for the values that a key accepts, with its unit."""
    has_unit = not key.unit or key.unit in key.words
    return key.words if has_unit else f"{key.words} ({key.unit})"


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(text, _WIDTH - 2)]
