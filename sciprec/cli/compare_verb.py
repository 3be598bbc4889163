"""The verb `sciprec compare`: two files, their errors, and whether these are within tolerances."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sciprec.cli.console import NOT_MET, print_comparison, print_json
from sciprec.cli.progress import Waiting
from sciprec.cli.written_files import Html, JUnit
from sciprec.foundation import targets
from sciprec.foundation.errors import InputError


def compare(
    golden: Annotated[Path | None, typer.Argument(metavar="TRUTH")] = None,
    actual: Annotated[Path | None, typer.Argument(metavar="RUN")] = None,
    rtol: list[str] | None = None,
    atol: list[str] | None = None,
    max_ulp: list[str] | None = None,
    select: Annotated[list[str] | None, typer.Option(metavar="AXIS=WHAT")] = None,
    rename: Annotated[list[str] | None, typer.Option(metavar="A=B")] = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="NAME")] = None,
    coords_atol: float = 0.0,
    coords_rtol: float = 0.0,
    stored: Path | None = None,
    html: Html = None,
    junit_xml: JUnit = None,
    json: bool = False,
) -> None:
    """Compare two files or folders; exit with 1 when variables differ by more than tolerances.

    Args:
        golden: Truth: a netCDF, Zarr, .npy or .npz file, or a folder of them.
        actual: Run to compare with the truth: such a file, or a folder.
        rtol: Largest relative l2 error (metric relative_l2) that counts as the same; a larger one
            lets more pass. Give 1e-3, 0.1%, 8u (unit roundoffs of the run's format) or auto. For
            one variable, write temperature=1e-3; repeat it for several.
        atol: Largest error (metric max_abs), in the variable's units, that counts as the same, such
            as 0.5; a larger one lets more pass. For one variable, write height=0.5; repeat it for
            several.
        max_ulp: Largest error in units in the last place (metric max_ulp) that counts as the same,
            such as 4; a larger one lets more pass. For one variable, write u=4; repeat it for
            several.
        select: Compare only these places along an axis: time=2.5, time=1,2, time=1..4 (with both
            ends), time=#-1 (the last place) or time=2000-01-31; repeat it for several axes.
        rename: Compare the run's variable or axis A with the truth's B; repeat it for several.
        ignore: Name of a variable, of a coordinate or, in folders, of a file to leave out; repeat
            it for several.
        coords_atol: Largest difference of coordinates that counts as the same; a larger one lets
            more pass.
        coords_rtol: Largest difference of coordinates, relative to the truth's, that counts as the
            same; a larger one lets more pass.
        stored: File that --json printed, to judge again without the files of numbers.
        json: Print JSON instead of a table.
    """
    tolerances = {"rtol": rtol or (), "atol": atol or (), "max_ulp": max_ulp or ()}
    adjustments = {
        "select": select or (), "rename": rename or (), "ignore": ignore or (),
        "coords_atol": coords_atol, "coords_rtol": coords_rtol,
    }  # fmt: skip
    comparison, names = _compared(golden, actual, stored, tolerances, adjustments)
    if html is not None:
        from sciprec.report.comparison import comparison_page

        page = comparison_page(comparison, golden=names[0], actual=names[1])
        targets.write(html, page, targets.PAGE)
    if junit_xml is not None:
        from sciprec.results.comparison.junit import junit_xml as as_junit

        cases = as_junit(comparison, golden=names[0], actual=names[1])
        targets.write(junit_xml, cases, targets.JUNIT)

    if json:
        print_json(comparison.as_dict())
    else:
        print_comparison(comparison)
    if not comparison.within:
        raise typer.Exit(NOT_MET)


def _compared(
    golden: Path | None, actual: Path | None, stored: Path | None, tolerances: dict[str, Any],
    adjustments: dict[str, Any],
) -> tuple[Any, tuple[str, str]]:  # fmt: skip
    """The comparison of the two sides, and the names of these."""
    if stored is not None:
        if golden is not None:
            raise InputError("--stored and files were both given; give one of them")
        for name, value in adjustments.items():
            if value:
                raise InputError(
                    f"--{name.replace('_', '-')} was given with --stored, whose numbers are made "
                    "already; compare the files again"
                )
        from sciprec.results.comparison.stored_metrics import judge_again

        return judge_again(stored, **tolerances), ("truth", str(stored))
    if golden is None or actual is None:
        alone = "" if golden is None else f", and '{golden}' was given alone"
        raise InputError(
            f"two files are compared, the truth and the run{alone}; write `sciprec compare TRUTH "
            "RUN`, or give stored metrics with --stored"
        )
    from sciprec.results.comparison import compare as compare_files

    with Waiting("reading both files"):
        compared = compare_files(golden, actual, **tolerances, **adjustments)
    return compared, (str(golden), str(actual))
