"""Figures with their captions, and sets of figures of which one is shown at a time."""

from __future__ import annotations

from dataclasses import dataclass

WIDTH = 9.4  # inches; text then has the size of the page's


@dataclass(frozen=True)
class Picture:
    """A figure with its caption, ready for the page.

    Args:
        svg, caption: of the figure.
        folded: why it has nothing new to say, in words under which it is folded; else empty.
    """

    svg: str
    caption: str
    folded: str = ""


@dataclass(frozen=True)
class Switch:
    """Figures of the same kind, one for each arithmetic; readers choose which they see.

    Args:
        title: what is chosen: "error map of".
        identifier: unique on the page.
        choices: label -> figure, the most telling first. Without scripts all are seen.
        beside: the figure that all of them are seen beside.
    """

    title: str
    identifier: str
    choices: dict[str, Picture]
    beside: Picture
