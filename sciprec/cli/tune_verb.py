"""The verb `sciprec tune`: the cheapest format for every line of a kernel or of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sciprec.cli.console import print_json, say
from sciprec.cli.kernel_or_scenario import (
    KernelInputsOption,
    MetricOption,
    Outputs,
    SubjectArgument,
    arguments_of,
    is_kernel,
    kernel_with_inputs,
    refuse_inputs,
    refuse_truth,
)
from sciprec.cli.options import BackendsOption, Json
from sciprec.cli.progress import Waiting
from sciprec.cli.run_verb import Set
from sciprec.cli.written_files import Html, written
from sciprec.foundation import targets


def tune(
    tuned: SubjectArgument,
    tolerance: Annotated[str, typer.Option()],
    inputs: KernelInputsOption = None,
    check: str | None = None,
    changes: Set = None,
    check_changes: Annotated[
        list[str] | None, typer.Option("--check-set", metavar="KEY=VALUE")
    ] = None,
    backend: BackendsOption = None,
    by: str = "line",
    metric: MetricOption = None,
    margin: float = 1.5,
    rounds: str = "operations",
    truth: str | None = None,
    output: Outputs = None,
    save: Annotated[Path | None, written(targets.ASSIGNMENT, "--save")] = None,
    html: Html = None,
    json: Json = False,
) -> None:
    """Find the cheapest format for every line of a kernel of yours, or of a scenario's model; exit
    with 1 where it fails its check.

    Args:
        tolerance: Largest error of the results, against fp64, that is good enough: 1e-3, or 0.1%; a
            larger one allows narrower formats.
        check: Arguments, given like --inputs, that the search does not see: the result is checked
            on them.
        check_changes: Set KEY of the scenario in an extra run, not seen by the search, on which the
            result is checked; repeat it for several.
        backend: Format to choose from, or bits for significands of 2 to 25 bits; repeat it for
            several [default: fp64, fp32 and bf16].
        by: Parts that each get a format: line, operation, variable, function or call; for a
            scenario's model also stage.
        margin: Factor by which a search with --check stays below the tolerance on its own inputs; a
            larger one makes it surer that the check passes, and gives wider formats.
        rounds: Places that get formats: operations alone, or everything, which adds loads,
            arguments and comparisons.
        truth: Trust in fp64, for a kernel: auto checks, where that is cheap, that fp64's own error
            is within the tolerance; dd always checks; fp64 never does [default: auto].
        save: Write the assignment, for `-b assignment:FILE` of other verbs.
        html: Write a page: formats by line, error against cost.
    """
    from sciprec.results.comparison.pointwise.error_metrics import limit_of
    from sciprec.tools.tune.page import write_tune_page

    metric = metric or "relative_l2"
    search: dict[str, Any] = {
        "tolerance": limit_of("--tolerance", tolerance, metric), "output": output or None,
        "metric": metric,
        "formats": _formats(backend), "by": by, "margin": margin, "rounds": rounds,
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


def _formats(formats: list[str] | None) -> str | list[str]:
    """The formats to choose from, by name; or the word for all numbers of bits. Names may have
    commas between them, and spec strings semicolons.
    """
    if formats == ["bits"]:
        return "bits"
    names = []
    for text in formats or ("fp64", "fp32", "bf16"):
        between = "," if ":" not in text and ";" not in text else ";"
        names += [name.strip() for name in text.split(between) if name.strip()]
    return names


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
