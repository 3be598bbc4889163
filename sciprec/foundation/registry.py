"""Registries: rows of one kind by name."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

from sciprec.foundation.errors import InputError
from sciprec.foundation.loading import load_plugins


class Named(Protocol):
    """An object with a name."""

    @property
    def name(self) -> str: ...


Row = TypeVar("Row", bound=Named)


class Registry(dict[str, Row], Generic[Row]):
    """Rows of one kind by their `name`.

    Args:
        kind: what a row is called in messages.
        rows: the first ones.
    """

    def __init__(self, kind: str, *rows: Row):
        self.kind = kind
        for row in rows:
            self.add(row)

    def add(self, row: Row) -> Row:
        """One more row, under its name.

        Raises:
            InputError: the name is taken.
        """
        if dict.__contains__(self, row.name):
            raise InputError(f"{self.kind} '{row.name}' is there already: give another name")
        self[row.name] = row
        return row


class NamedRows(Registry[Row]):
    """Rows that users ask for by name. At a name that is unknown the plugins of installed packages
    are imported, once, and it is looked up again.
    """

    def __contains__(self, name: object) -> bool:
        if not dict.__contains__(self, name):
            load_plugins()
        return dict.__contains__(self, name)

    def __missing__(self, name: str) -> Row:
        if name in self:
            return self[name]
        raise KeyError(name)
