"""The verbs `sciprec report` and `gallery`: pages of a stored batch, and those that are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sciprec.cli.console import NOT_MET, print_json, print_listing, print_runs, say
from sciprec.cli.coverage_verb import report as show_coverage
from sciprec.cli.options import Json
from sciprec.cli.progress import Waiting
from sciprec.cli.run_verb import BatchPage, any_failed
from sciprec.foundation.errors import InputError


def report(
    folder: Path,
    verify: bool = False,
    html: BatchPage = None,
    json: Json = False,
) -> None:
    """Write the page of a stored batch or coverage run again, from its files only.

    Args:
        folder: Folder that `sciprec run`, `study` or `dev coverage` wrote.
        verify: Check every file of a batch, and write nothing.
    """
    if verify and html is not None:
        raise InputError("--html is given with --verify, which writes nothing; leave one out")
    if verify:
        return _verify(folder, json)
    from sciprec.report.coverage_page import holds_coverage

    if holds_coverage(folder):
        if html is not None:
            raise InputError(
                f"--html is given for '{folder}', a coverage run, whose page is one file already: "
                "copy it"
            )
        return show_coverage(folder, json)
    from sciprec.report.page import table, write_alone, write_page
    from sciprec.report.stored.batch import read_batch
    from sciprec.results.output.folders import alone_in

    with Waiting("reading the files of the batch"):
        batch = read_batch(folder, keep=True)
        with alone_in(folder):
            page, rows = write_page(batch), table(batch, keep=True)
        pages = [page, *([] if html is None else [write_alone(batch, html)])]
    if json:
        print_json({"folder": folder, "page": page, "runs": rows})
    else:
        print_runs(rows)
        for result in pages:
            say(f"page: {result}")
    if any_failed(rows):
        raise typer.Exit(NOT_MET)


def _verify(folder: Path, json: bool) -> None:
    """Print the state of each file of a batch; exit with 1 where one is damaged or missing."""
    from sciprec.report.stored.verification import DAMAGED, MISSING, verify

    with Waiting("checking the files of the batch"):
        batch = verify(folder)
    if json:
        print_json({
            "folder": folder, "good": batch.good, "digest": batch.digest, "command": batch.command,
            "files": batch.table,
        })  # fmt: skip
    else:
        colours = {DAMAGED: "red", MISSING: "red"}
        print_listing(batch.listing(), lambda number, head, cell: colours.get(cell, ""))
        for sentence in batch.sentences():
            say(sentence)
    if not batch.good:
        raise typer.Exit(NOT_MET)


def gallery(
    names: Annotated[list[str] | None, typer.Argument()] = None,
    scenarios: Path | None = None,
    out: Path = Path("reports/gallery"),
    json: bool = False,
) -> None:
    """Run the scenarios of the gallery and write its pages, without their files.

    Args:
        names: Names of the pages to make [default: all].
        scenarios: Folder of the scenario files [default: the shipped ones].
        out: Folder of the pages.
        json: Print JSON instead of lines.
    """
    from sciprec.cli.behind.gallery import make_gallery

    with Waiting("making the pages of the gallery") as waiting:

        def show_page(page: Path) -> None:
            if not json:
                with waiting.aside():
                    say(f"page: {page} ({page.stat().st_size / 1000:.0f} kB)")

        pages = make_gallery(scenarios, out, names or None, show_page)
    if json:
        print_json([{"page": page, "bytes": page.stat().st_size} for page in pages])
