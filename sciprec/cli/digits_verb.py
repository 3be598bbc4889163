"""The verb `sciprec digits`: how many digits of a kernel's results are right."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sciprec.cli.kernel_or_scenario import KernelInputs, Outputs, is_kernel, kernel_with_inputs
from sciprec.cli.options import Backend, Json
from sciprec.cli.written_files import written
from sciprec.foundation import targets
from sciprec.foundation.errors import InputError


def digits(
    kernel: Annotated[
        str,
        typer.Argument(metavar="KERNEL", help="A function of a Python file, FILE.py:FUNCTION."),
    ],
    inputs: KernelInputs = None,
    backend: Backend = "fp64",
    output: Outputs = None,
    condition: Annotated[
        bool,
        typer.Option(
            "--condition/--no-condition",
            help="Count the digits, too, that arguments and literals leave which are wrong by half "
            "a unit.",
        ),
    ] = True,
    html: Annotated[
        Path | None,
        written(targets.PAGE, "--html", "Write a page: digits of each result, number by number."),
    ] = None,
    json: Json = False,
) -> None:
    """Count the decimal digits of a kernel's results that are right, and which data decide."""
    from sciprec.cli.console import print_result
    from sciprec.cli.progress import Waiting
    from sciprec.tools.digits.kernel_digits import digits as count_digits

    if not is_kernel(kernel):
        raise InputError(
            f"digits is given '{kernel}', a scenario; it takes a kernel, FILE.py:FUNCTION. For a "
            "model's drift from fp64 use `sciprec monitor`"
        )
    function, args = kernel_with_inputs(kernel, inputs)
    with Waiting(f"counting digits of {kernel} in {backend}"):
        result = count_digits(
            function, args, backend=backend, output=output or None, condition=condition
        )
    print_result(result, html, json)
