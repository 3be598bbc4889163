"""The verb `sciprec tune`: the cheapest format for every line of a kernel or of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sciprec.cli.kernel_or_scenario import (
    KernelInputs,
    Outputs,
    Subject,
    arguments_of,
    is_kernel,
    kernel_with_inputs,
    limit_of,
    refuse_inputs,
    refuse_truth,
)
from sciprec.cli.options import Json
from sciprec.cli.run_verb import Set
from sciprec.cli.written_files import written
from sciprec.foundation import targets


def tune(
    tuned: Subject,
    tolerance: Annotated[
        str, typer.Option(help="The largest error of the results, against fp64: 1e-3, or 0.1%.")
    ],
    inputs: KernelInputs = None,
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
        str,
        typer.Option(help="The error: relative_l2, relative_max, max_relative, max_abs or rms."),
    ] = "relative_l2",
    margin: Annotated[float, typer.Option(help="Of a search with --check.")] = 1.5,
    rounds: Annotated[
        str,
        typer.Option(help="What gets formats: operations, or everything: loads, arguments and "
            "comparisons, too."),
    ] = "operations",
    truth: Annotated[
        str | None,
        typer.Option(
            help="How true fp64 is, of a kernel: auto looks whether its own error is within the "
            "tolerance where that is cheap, dd always, fp64 takes it as it is [default: auto]."
        ),
    ] = None,
    output: Outputs = None,
    save: Annotated[
        Path | None,
        written(
            targets.ASSIGNMENT, "--save",
            "Write the assignment, for --backend assignment:FILE of other verbs.",
        ),  # fmt: skip
    ] = None,
    html: Annotated[
        Path | None,
        written(targets.PAGE, "--html", "Write a page: formats by line, error against cost."),
    ] = None,
    json: Json = False,
) -> None:
    """Find the cheapest format for every line of a kernel of yours, or of a scenario's model; exit
    code 1 where it fails its check.
    """
    from sciprec.cli.console import print_json, say
    from sciprec.cli.progress import Waiting
    from sciprec.tools.tune.page import write_tune_page

    search: dict[str, Any] = {
        "tolerance": limit_of(tolerance, metric), "output": output or None, "metric": metric,
        "formats": _formats(formats), "unit": unit, "margin": margin, "rounds": rounds,
    }  # fmt: skip
    with Waiting(f"searching the formats of {tuned}"):
        if is_kernel(tuned):
            all_changes = [*(changes or []), *(check_changes or [])]
            search |= {} if truth is None else {"truth": truth}
            result = _of_kernel(tuned, inputs, check, all_changes, search)
        else:
            refuse_inputs(inputs or check, "--inputs or --check")
            refuse_truth(truth)
            result = _of_scenario(tuned, changes or [], check_changes or [], search)
    if save is not None and result.good:
        result.save(save)
    page = None if html is None else write_tune_page(result, html)
    if json:
        print_json(result.as_dict())
    else:
        print(result)
        if save is not None and result.good:
            say(f"assignment: {save}")
        if page is not None:
            say(f"page: {page}")
    if not result.good:
        raise typer.Exit(1)


def _formats(text: str) -> str | list[str]:
    """The formats to choose from, by name; or the word for all numbers of bits."""
    if text == "bits":
        return text
    between = ";" if ";" in text else ","
    return [name.strip() for name in text.split(between) if name.strip()]


def _of_kernel(
    named: str, inputs: str | None, check: str | None, changes: list[str], search: dict[str, Any]
):  # fmt: skip
    """Tune a kernel of a file; return the result."""
    from sciprec.tools.tune.tuned import tune as tune_kernel

    function, args = kernel_with_inputs(named, inputs, changes)
    checked = None if check is None else arguments_of(function, check)
    return tune_kernel(function, args, check=checked, **search)


def _of_scenario(named: str, changes: list[str], check: list[str], search: dict[str, Any]):
    """Tune the model of a scenario; return the result."""
    from sciprec.scenario.changes import change
    from sciprec.workbench.kinds.scenario_tune import tune_scenario

    check_changes = dict(map(change, check)) if check else None
    return tune_scenario(named, changes=dict(map(change, changes)), check=check_changes, **search)
