"""Words of verbs that take a kernel of a user's with its arguments, or a scenario."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from sciprec.foundation.errors import InputError

SubjectArgument = Annotated[
    str,
    typer.Argument(
        metavar="KERNEL|SCENARIO",
        help="Kernel, a function of a Python file as FILE.py:FUNCTION, or a scenario: its "
        "file, or the name of one that comes with sciprec.",
    ),
]
KernelArgument = Annotated[
    str,
    typer.Argument(metavar="KERNEL", help="Kernel, a function of a Python file: FILE.py:FUNCTION."),
]
MetricOption = Annotated[
    str | None,
    typer.Option(
        "--metric",
        help="Metric of a kernel's error: relative_l2, relative_max, max_relative, max_abs or "
        "rms [default: relative_l2].",
    ),
]
KernelInputsOption = Annotated[
    str | None,
    typer.Option(
        "--inputs",
        help="Arguments of the kernel by name: an .npz or netCDF file, or FILE.py:FUNCTION"
        " of a function that returns them.",
    ),
]
Outputs = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        help="Result that counts: an argument that the kernel writes, or return (return_0,"
        " ...); for a scenario, a variable of its files; repeat it for several "
        "[default: all; fields, or prices].",
    ),
]


OutputsOfKernel = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        help="Result that counts: an argument that the kernel writes, or return (return_0, ...);"
        " repeat it for several [default: all].",
    ),
]


def is_kernel(subject: str) -> bool:
    """Whether a kernel is named, and no scenario.

    Raises:
        InputError: the name of a kernel lacks its function or the ending of its file.
    """
    from sciprec.tools.calls.kernel_file import is_kernel as names_kernel

    return names_kernel(subject)


def kernel_alone(named: str, inputs: str | None, verb: str) -> tuple[Any, dict[str, Any]]:
    """A kernel and its arguments, for a verb that takes no scenario.

    Raises:
        InputError: it is none.
    """
    if not is_kernel(named):
        raise InputError(
            f"{verb} is given '{named}', a scenario; it takes a kernel, FILE.py:FUNCTION. For a "
            "model's drift from fp64 use `sciprec monitor`"
        )
    return kernel_with_inputs(named, inputs)


def kernel_with_inputs(
    named: str, inputs: str | None, changes: list[str] | None = None
) -> tuple[Callable[..., Any], dict[str, Any]]:
    """A kernel and its arguments by name.

    Args:
        named, inputs: as they were typed.
        changes: of a scenario's keys, which a kernel has none of.

    Raises:
        InputError: there is no such kernel, no arguments, or something changes a scenario.
    """
    from sciprec.tools.calls.kernel_file import kernel_named

    if changes:
        raise InputError(
            f"'{changes[0]}' is to be changed with a kernel; --set and the like change keys of a "
            "scenario"
        )
    function = kernel_named(named)
    if inputs is None:
        raise InputError(
            f"kernel '{function.__name__}' is given no arguments; give --inputs, an .npz or netCDF "
            "file of them, or FILE.py:FUNCTION of a function that returns them"
        )
    return function, arguments_of(function, inputs)


def arguments_of(function: Callable[..., Any], inputs: str) -> dict[str, Any]:
    """Arguments of a kernel by name, from a file."""
    from sciprec.precision.rewriting.syntax import plain_function
    from sciprec.tools.calls.inputs import inputs_of

    return dict(inputs_of(plain_function(function), inputs).values)


def refuse_inputs(inputs: str | None, options: str = "--inputs") -> None:
    """A scenario has no arguments.

    Raises:
        InputError: some were given.
    """
    if inputs is not None:
        raise InputError(
            f"{options} is given with a scenario, which says itself what its model is given; "
            "change its keys by --set, or name a kernel: FILE.py:FUNCTION"
        )


def refuse_truth(truth: str | None) -> None:
    """Digits of fp64 itself are counted in kernels alone.

    Raises:
        InputError: they were asked for.
    """
    if truth is not None:
        raise InputError(
            f"--truth {truth} is given with a scenario; the digits of fp64 itself are counted of "
            "kernels alone: name one, FILE.py:FUNCTION, or see what `sciprec monitor` says of drift"
        )
