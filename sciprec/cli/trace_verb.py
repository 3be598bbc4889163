"""The verb `sciprec trace`: which line of a kernel or of a scenario's model makes its error."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sciprec.cli.options import Backend, Json
from sciprec.cli.run_verb import Set
from sciprec.errors import InputError


def trace(
    traced: Annotated[
        str,
        typer.Argument(
            metavar="KERNEL|SCENARIO",
            help="A function of a Python file, FILE.py:FUNCTION, or a scenario: its file, or the "
            "name of one that comes with sciprec.",
        ),
    ],
    backend: Backend,
    inputs: Annotated[
        str | None,
        typer.Option(
            help="A kernel's arguments by name: an .npz or netCDF file, or FILE.py:FUNCTION of a "
            "function that returns them."
        ),
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            help="Split by line, operation, variable, function or, of a kernel, call or step; of a "
            "model functions with more than 5 % of the error are."
        ),
    ] = "line",
    output: Annotated[
        list[str] | None,
        typer.Option(
            help="Result that counts: an argument that the kernel writes, or return (return_0, "
            "...); of a scenario a variable of its files [default: all; fields, or prices]."
        ),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(
            help="Inputs over which parts of lines are correlated, the given ones and perturbed "
            "ones; 1 for none [default: 16; 1 of a model with at least 1000 results]."
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(help="Write a page: source with heat by line, groups, when the error arose."),
    ] = None,
    changes: Set = None,
    json: Json = False,
) -> None:
    """Say which line of a kernel of yours, or of a scenario's model, makes its rounding error."""
    from sciprec.cli.console import print_json, say

    if html is not None and not html.parent.is_dir():
        raise InputError(
            f"--html is given '{html}', whose folder does not exist; make it, or name another file"
        )
    if ".py:" in traced:
        if changes:
            raise InputError("--set is given beside a kernel; it changes keys of a scenario")
        found = _of_kernel(traced, inputs, backend, by, output or None, samples)
    else:
        found = _of_scenario(traced, inputs, backend, by, output or None, changes or [], samples)
    page = None if html is None else _written(found, html)
    if json:
        print_json(found.as_dict())
    else:
        print(found)
        if page is not None:
            say(f"page: {page}")


def _written(found, path: Path) -> Path:
    """The page of a trace."""
    from sciprec.diagnosis.models.traces import ModelTrace
    from sciprec.report.trace_page import write_trace_page

    return write_trace_page(found, path) if isinstance(found, ModelTrace) else found.html(path)


def _of_kernel(named: str, inputs: str | None, backend: str, by: str, output, samples):
    """The trace of a kernel."""
    from sciprec.precision.rewriting.syntax import plain_function
    from sciprec.studies.inputs import inputs_of
    from sciprec.studies.kernel_file import kernel_named
    from sciprec.studies.traces import trace as trace_kernel

    function = kernel_named(named)
    if inputs is None:
        raise InputError(
            f"kernel '{function.__name__}' is given no arguments; give --inputs, an .npz or netCDF "
            "file of them, or FILE.py:FUNCTION of a function that returns them"
        )
    given = inputs_of(plain_function(function), inputs)
    more = {} if samples is None else {"samples": samples}
    return trace_kernel(function, backend, given.values, output=output, by=by, **more)


def _of_scenario(
    named: str, inputs: str | None, backend: str, by: str, output, changes: list[str], samples
):  # fmt: skip
    """The trace of a scenario's model."""
    from sciprec.kinds.scenario_trace import trace_scenario
    from sciprec.scenario.changes import change

    if inputs is not None:
        raise InputError(
            "--inputs is given beside a scenario, which says itself what its model is given; "
            "leave it out, or name a kernel: FILE.py:FUNCTION"
        )
    changed = dict(map(change, changes))
    return trace_scenario(
        named, backend, output=output, by=by, changes=changed, samples=samples
    )
