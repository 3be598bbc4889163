"""A figure with its caption."""

from __future__ import annotations

from dataclasses import dataclass

WIDTH = 9.4  # inches; text then has the size of the page's


@dataclass(frozen=True)
class Picture:
    """A figure with its caption, ready for the page."""

    svg: str
    caption: str
