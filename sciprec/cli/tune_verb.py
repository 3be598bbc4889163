"""The verb `sciprec tune`: the cheapest format for every line of a kernel or of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sciprec.cli.options import Json
from sciprec.cli.run_verb import Set
from sciprec.errors import InputError


def tune(
    tuned: Annotated[
        str,
        typer.Argument(
            metavar="KERNEL|SCENARIO",
            help="A function of a Python file, FILE.py:FUNCTION, or a scenario: its file, or the "
            "name of one that comes with sciprec.",
        ),
    ],
    tolerance: Annotated[
        float, typer.Option(help="The largest error of the results, against fp64.")
    ],
    inputs: Annotated[
        str | None,
        typer.Option(
            help="A kernel's arguments by name: an .npz or netCDF file, or FILE.py:FUNCTION of a "
            "function that returns them."
        ),
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(
            help="Arguments that the search does not see, likewise: it keeps to the tolerance over "
            "--margin on its own, and the result is checked on these."
        ),
    ] = None,
    changes: Set = None,
    check_changes: Annotated[
        list[str] | None,
        typer.Option(
            "--check-set", metavar="KEY=VALUE",
            help="Change a key of the scenario for a check, in a run that the search does not see; "
            "may be given several times.",
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
        typer.Option(help="What gets a format: line, operation, variable, function or call; of a "
            "scenario's model stage, too."),
    ] = "line",
    metric: Annotated[
        str, typer.Option(help="The error: relative_l2, max, max_relative or rms.")
    ] = "relative_l2",
    margin: Annotated[float, typer.Option(help="Of a search with --check.")] = 1.5,
    output: Annotated[
        list[str] | None,
        typer.Option(
            help="Result that counts: an argument that the kernel writes, or return (return_0, "
            "...); of a scenario a variable of its files [default: all; fields, or prices]."
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
    """Find the cheapest format for every line of a kernel of yours, or of a scenario's model; exit
    code 1 where it fails its check.
    """
    from sciprec.cli.console import print_json, say
    from sciprec.report.tune_page import write_tune_page

    for option, path in (("--save", save), ("--html", html)):
        if path is not None and not path.parent.is_dir():
            raise InputError(
                f"{option} is given '{path}', whose folder does not exist; make it, or name "
                "another file"
            )
    between = ";" if ";" in formats else ","
    names = (
        "bits" if formats == "bits" else [n.strip() for n in formats.split(between) if n.strip()]
    )
    search: dict[str, Any] = {
        "tolerance": tolerance, "output": output or None, "metric": metric, "formats": names,
        "unit": unit, "margin": margin,
    }  # fmt: skip
    if ".py:" in tuned:
        found = _of_kernel(tuned, inputs, check, [*(changes or []), *(check_changes or [])], search)
    else:
        found = _of_scenario(tuned, inputs or check, changes or [], check_changes or [], search)
    if save is not None and found.good:
        found.save(save)
    page = None if html is None else write_tune_page(found, html)
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


def _of_kernel(
    named: str, inputs: str | None, check: str | None, changes: list[str], search: dict[str, Any]
):  # fmt: skip
    """What was found for a kernel."""
    from sciprec.precision.rewriting.syntax import plain_function
    from sciprec.studies.inputs import inputs_of
    from sciprec.studies.kernel_file import kernel_named
    from sciprec.studies.tuned import tune as tune_kernel

    if changes:
        raise InputError(
            f"'{changes[0]}' is to be changed beside a kernel; --set and --check-set change keys "
            "of a scenario"
        )
    function = kernel_named(named)
    if inputs is None:
        raise InputError(
            f"kernel '{function.__name__}' is given no arguments; give --inputs, an .npz or netCDF "
            "file of them, or FILE.py:FUNCTION of a function that returns them"
        )
    given = inputs_of(plain_function(function), inputs).values
    checked = None if check is None else inputs_of(plain_function(function), check).values
    return tune_kernel(function, given, check=checked, **search)


def _of_scenario(
    named: str, inputs: str | None, changes: list[str], check: list[str], search: dict[str, Any]
):  # fmt: skip
    """What was found for the model of a scenario."""
    from sciprec.kinds.scenario_tune import tune_scenario
    from sciprec.scenario.changes import change

    if inputs is not None:
        raise InputError(
            "--inputs or --check is given beside a scenario, which says itself what its model is "
            "given; change its keys by --set and --check-set, or name a kernel: FILE.py:FUNCTION"
        )
    others = dict(map(change, check)) if check else None
    return tune_scenario(named, changes=dict(map(change, changes)), check=others, **search)
