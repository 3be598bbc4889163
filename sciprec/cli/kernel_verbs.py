"""The verbs `sciprec digits`, `bound` and `check-memory`: what one call of a kernel is worth."""

from __future__ import annotations

from typing import Annotated

import typer

from sciprec.cli.console import NOT_MET, print_result
from sciprec.cli.kernel_or_scenario import (
    KernelArgument,
    KernelInputsOption,
    MetricOption,
    OutputsOfKernel,
    kernel_alone,
)
from sciprec.cli.options import BackendOption, Json
from sciprec.cli.progress import Waiting
from sciprec.cli.written_files import Html


def digits(
    kernel: KernelArgument,
    inputs: KernelInputsOption = None,
    backend: BackendOption = "fp64",
    output: OutputsOfKernel = None,
    condition: Annotated[bool, typer.Option("--condition/--no-condition")] = True,
    html: Html = None,
    json: Json = False,
) -> None:
    """Count the right decimal digits of a kernel's results, and those that its data allow.

    Args:
        condition: Also count the digits left if arguments and literals are off by half a unit in
            the last place.
        html: Write a page: digits of each result, number by number.
    """
    from sciprec.tools.digits.kernel_digits import digits as count_digits

    function, args = kernel_alone(kernel, inputs, "digits")
    with Waiting(f"counting digits of {kernel} in {backend}"):
        result = count_digits(
            function, args, backend=backend, output=output or None, condition=condition
        )
    print_result(result, None if html is None else result.html(html), json)


def bound(
    kernel: KernelArgument,
    backend: BackendOption,
    inputs: KernelInputsOption = None,
    output: OutputsOfKernel = None,
    metric: MetricOption = None,
    html: Html = None,
    json: Json = False,
) -> None:
    """Bound the rounding error of a call of your kernel, proven and not estimated."""
    from sciprec.tools.bound.bounds import bound as bound_error

    function, args = kernel_alone(kernel, inputs, "bound")
    with Waiting(f"bounding the error of {kernel} in {backend}"):
        result = bound_error(
            function, backend, args, output=output or None, metric=metric or "relative_l2"
        )
    print_result(result, None if html is None else result.html(html), json)


def check_memory(
    kernel: KernelArgument,
    backend: BackendOption = "fp64",
    inputs: KernelInputsOption = None,
    html: Html = None,
    json: Json = False,
) -> None:
    """Find accesses of your kernel beyond its arrays, reads of unwritten memory, and integers that
    wrap; exit with 1 where there are any.
    """
    from sciprec.drawing.templating import write_listed
    from sciprec.tools.memory.memory import check_memory as check

    function, args = kernel_alone(kernel, inputs, "check-memory")
    with Waiting(f"checking the memory of {kernel} in {backend}"):
        report = check(function, backend, args)
    page = None
    if html is not None:
        title = f"Memory of '{report.kernel}' in {report.backend}"
        page = write_listed(html, title, f"{report.title}.", {"Findings": report.listing})
    print_result(report, page, json)
    if not report.clean:
        raise typer.Exit(NOT_MET)
