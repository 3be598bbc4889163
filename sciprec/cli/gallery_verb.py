"""The verb `sciprec gallery`; heavy imports wait until it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def gallery(
    names: Annotated[list[str] | None, typer.Argument(help="Pages to make [default: all].")] = None,
    scenarios: Annotated[
        Path | None, typer.Option(help="Folder of the scenario files [default: the shipped ones].")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of the pages.")] = Path("reports/gallery"),
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of lines.")] = False,
) -> None:
    """Run the scenarios of the gallery and write its pages, without their files."""
    from sciprec.cli.console import print_json, say
    from sciprec.cli.gallery import make_gallery

    def said(page: Path) -> None:
        if not json:
            say(f"page: {page} ({page.stat().st_size / 1000:.0f} kB)")

    pages = make_gallery(scenarios, out, names or None, said)
    if json:
        print_json([{"page": page, "bytes": page.stat().st_size} for page in pages])
