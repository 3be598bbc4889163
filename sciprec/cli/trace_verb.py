"""The verb `sciprec trace`: which line of a kernel of one's own makes its rounding error."""

from __future__ import annotations

from typing import Annotated

import typer

from sciprec.cli.options import Backend, Json


def trace(
    kernel: Annotated[str, typer.Argument(help="A function of a Python file: FILE.py:FUNCTION.")],
    inputs: Annotated[
        str,
        typer.Option(
            help="Its arguments by name: an .npz or netCDF file, or FILE.py:FUNCTION of a function "
            "that returns them."
        ),
    ],
    backend: Backend,
    by: Annotated[
        str,
        typer.Option(help="Split by line, operation, variable, function, call or step."),
    ] = "line",
    output: Annotated[
        list[str] | None,
        typer.Option(
            help="Result that counts: an argument that the kernel writes, or return (return_0, "
            "...) [default: all]."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Say which line of a kernel of yours makes its rounding error."""
    from sciprec.cli.console import print_json
    from sciprec.diagnosis.traces import trace as trace_kernel
    from sciprec.precision.rewriting.syntax import plain_function
    from sciprec.studies.inputs import inputs_of
    from sciprec.studies.kernel_file import kernel_named

    function = kernel_named(kernel)
    given = inputs_of(plain_function(function), inputs)
    found = trace_kernel(function, backend, given.values, output=output or None, by=by)
    if json:
        print_json(found.as_dict())
    else:
        print(found)
