"""Pages of results that are tables and sentences: bounds, memory, repeated runs, prices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from sciprec.drawing.templating import page_style, template
from sciprec.foundation import targets
from sciprec.foundation.arguments import path as checked_path
from sciprec.foundation.listing import Listing


def write_listed(
    path: str | Path, title: str, verdict: str, tables: Mapping[str, Listing],
    notes: Sequence[str] = (),
) -> Path:  # fmt: skip
    """Write a page of tables without pictures and scripts; the same result gives the same bytes.

    Args:
        path: of the file.
        title, verdict: of the page; the verdict is a sentence.
        tables: heading -> table; those without a row are left out.
        notes: sentences below them.

    Returns:
        The path.

    Raises:
        InputError: it cannot be written, or what is there is no page of sciprec.
    """
    free = targets.require_free(checked_path("the page", path), targets.PAGE)
    filled = [(heading, listing) for heading, listing in tables.items() if listing.rows]
    page = template("listed.html").render(
        style=page_style(), title=title, verdict=verdict, tables=filled, notes=notes
    )
    return targets.write(free, page, targets.PAGE)
