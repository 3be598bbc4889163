"""Tuples of the kind of others: a named tuple stays one where its items change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def tuple_like(like: tuple, items: Iterable[Any]) -> tuple:
    """A tuple of these items, named as another one is.

    Args:
        like: a tuple, or a named one of as many items.
        items: of the new one.
    """
    return type(like)(*items) if hasattr(like, "_fields") else tuple(items)
