"""The verb `sciprec tune`: the cheapest format for every line of a kernel, within a tolerance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sciprec.cli.options import Json
from sciprec.errors import InputError


def tune(
    kernel: Annotated[
        str,
        typer.Argument(metavar="KERNEL", help="A function of a Python file, FILE.py:FUNCTION."),
    ],
    inputs: Annotated[
        str,
        typer.Option(
            help="The kernel's arguments by name: an .npz or netCDF file, or FILE.py:FUNCTION of a "
            "function that returns them."
        ),
    ],
    tolerance: Annotated[
        float, typer.Option(help="The largest error of the results, against fp64.")
    ],
    check: Annotated[
        str | None,
        typer.Option(
            help="Arguments that the search does not see, likewise: it keeps to the tolerance over "
            "--margin on its own, and the result is checked on these."
        ),
    ] = None,
    formats: Annotated[
        str,
        typer.Option(
            help="Formats to choose from, with commas between them, or bits for significands of 2 "
            "to 25 bits; spec strings have semicolons between them."
        ),
    ] = "fp64,fp32,bf16",
    unit: Annotated[
        str,
        typer.Option(help="What gets a format: line, operation, variable, function or call."),
    ] = "line",
    metric: Annotated[
        str, typer.Option(help="The error: relative_l2, max or rms.")
    ] = "relative_l2",
    margin: Annotated[float, typer.Option(help="Of a search with --check.")] = 1.5,
    output: Annotated[
        list[str] | None,
        typer.Option(
            help="Result that counts: an argument that the kernel writes, or return (return_0, "
            "...) [default: all]."
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(help="Write the assignment, for --backend assignment:FILE of other verbs."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write a page: formats by line, error against cost.")
    ] = None,
    json: Json = False,
) -> None:
    """Find the cheapest format for every line of a kernel of yours; exit code 1 where it fails its
    check.
    """
    from sciprec.cli.console import print_json, say
    from sciprec.precision.rewriting.syntax import plain_function
    from sciprec.studies.inputs import inputs_of
    from sciprec.studies.kernel_file import kernel_named
    from sciprec.studies.tuned import tune as tune_kernel

    for option, path in (("--save", save), ("--html", html)):
        if path is not None and not path.parent.is_dir():
            raise InputError(
                f"{option} is given '{path}', whose folder does not exist; make it, or name "
                "another file"
            )
    function = kernel_named(kernel)
    given = inputs_of(plain_function(function), inputs).values
    checked = None if check is None else inputs_of(plain_function(function), check).values
    between = ";" if ";" in formats else ","
    names = (
        "bits" if formats == "bits" else [n.strip() for n in formats.split(between) if n.strip()]
    )
    found = tune_kernel(
        function, given, tolerance=tolerance, output=output or None, metric=metric, formats=names,
        unit=unit, check=checked, margin=margin,
    )  # fmt: skip
    if save is not None and found.good:
        found.save(save)
    page = None if html is None else found.html(html)
    if json:
        print_json(found.as_dict())
    else:
        print(found)
        if save is not None and found.good:
            say(f"assignment: {save}")
        if page is not None:
            say(f"page: {page}")
    if not found.good:
        raise typer.Exit(1)
