"""The verb `sciprec compare`: two files, their errors, and whether these are within tolerances."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sciprec.cli.written_files import Html, JUnit, check_folder, write
from sciprec.errors import InputError

NOT_MET = 1


def compare(
    golden: Annotated[
        Path | None, typer.Argument(help="The truth: a netCDF, Zarr, .npy or .npz file.")
    ] = None,
    actual: Annotated[Path | None, typer.Argument(help="The run: a file of such a kind.")] = None,
    rtol: Annotated[
        list[str] | None,
        typer.Option(
            help="Largest relative l2 error that counts as the same: 1e-3, 8u (unit roundoffs of "
            "the run's format), auto, or for one variable temperature=1e-3; repeatable."
        ),
    ] = None,
    atol: Annotated[
        list[str] | None,
        typer.Option(help="Largest error that counts as the same: 0.5 or height=0.5; repeatable."),
    ] = None,
    max_ulp: Annotated[
        list[str] | None,
        typer.Option(help="Largest error in units in the last place: 4 or u=4; repeatable."),
    ] = None,
    stored: Annotated[
        Path | None, typer.Option(help="Judge what --json printed again, without the files.")
    ] = None,
    html: Html = None,
    junit_xml: JUnit = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Compare two files; exit with 1 when a variable differs by more than its tolerances."""
    for path in (html, junit_xml):
        check_folder(path)
    tolerances = {"rtol": rtol or (), "atol": atol or (), "max_ulp": max_ulp or ()}
    comparison, names = _compared(golden, actual, stored, tolerances)
    if html is not None:
        from sciprec.report.comparison import comparison_page

        write(html, comparison_page(comparison, golden=names[0], actual=names[1]))
    if junit_xml is not None:
        from sciprec.comparison.junit import junit_xml as as_junit

        write(junit_xml, as_junit(comparison, golden=names[0], actual=names[1]))
    from sciprec.cli.console import print_comparison, print_json

    if json:
        print_json(comparison.as_dict())
    else:
        print_comparison(comparison)
    if not comparison.within:
        raise typer.Exit(NOT_MET)


def _compared(
    golden: Path | None, actual: Path | None, stored: Path | None, tolerances: dict[str, Any]
) -> tuple[Any, tuple[str, str]]:
    """The comparison that was asked for, and what its sides are called."""
    if stored is not None:
        if golden is not None:
            raise InputError("--stored and files were both given; give one of them")
        from sciprec.comparison.stored_metrics import judge_again

        return judge_again(stored, **tolerances), ("truth", str(stored))
    if golden is None or actual is None:
        raise InputError(
            "two files are compared, the truth and the run; write `sciprec compare GOLDEN ACTUAL`, "
            "or give stored metrics with --stored"
        )
    from sciprec.comparison import compare as compare_files

    return compare_files(golden, actual, **tolerances), (str(golden), str(actual))
