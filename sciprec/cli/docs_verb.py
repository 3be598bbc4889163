"""The verb `sciprec docs`: the page of a word; nothing is run."""

from __future__ import annotations

from typing import Annotated

import typer

from sciprec.cli.console import print_json, say
from sciprec.cli.options import Json


def docs(
    words: Annotated[list[str] | None, typer.Argument()] = None,
    site: bool = False,
    json: Json = False,
) -> None:
    """Print the section of the documentation that a word belongs to, and where else it stands.

    Args:
        words: Words to look up, such as 'lost updates'; without any, all pages.
        site: Open the page in a browser, where the site has been built.
    """
    from sciprec.cli.behind import reading
    from sciprec.foundation.errors import printable

    if not words:
        pages = reading.titles()
        if json:
            return print_json(pages)
        return say("\n".join(f"{page['page']:<34} {page['title']}" for page in pages))
    sections = reading.find(" ".join(words))
    if site:
        address = reading.address(sections[0])
        opened = reading.open_page(address)
        return say(address if opened else f"{address} (no browser was found: open it by hand)")
    best, *rest = sections
    if json:
        return print_json({**best.as_dict(), "others": [section.place for section in rest]})
    print(printable(best.text))  # its tables and its code keep their lines
    say(f"\n{best.place}")
    for other in rest:
        say(f"see also: {other.place}")
