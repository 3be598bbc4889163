"""The verbs `sciprec backends`, `policies` and `doctor`: what there is here; nothing is run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from sciprec.cli.exit_codes import NOT_MET
from sciprec.cli.options import Json


def backends(
    scenario: Annotated[
        Path | None, typer.Option(help="Scenario whose keys are looked at too (TOML).")
    ] = None,
    json: Json = False,
) -> None:
    """List the arithmetics and their properties, and what is in force and from where."""
    from sciprec.cli.console import print_backends, print_in_force, print_json, say
    from sciprec.precision.formats.backend import table
    from sciprec.workbench.batch.modes import in_force

    settings = in_force(os.environ, _keys_of(scenario))
    if json:
        content = {"in_force": settings.as_rows(), "notes": list(settings.notes)}
        print_json({"backends": table(), **content})
    else:
        print_backends(table())
        print_in_force(settings.as_rows())
        for note in settings.notes:
            say(note)


def policies(json: Json = False) -> None:
    """List every stage of the models, and which policies of mixed precision have it narrow."""
    from sciprec.cli.console import print_json, print_policies
    from sciprec.workbench.kinds.policies import mixture_rows, policy_rows

    rows, mixtures = policy_rows(), mixture_rows()
    if json:
        print_json({"stages": rows, "mixtures": mixtures})
    else:
        print_policies(rows, mixtures)


def doctor(
    clear_cache: Annotated[
        bool, typer.Option("--clear-cache", help="Remove compiled kernels instead.")
    ] = False,
    json: Json = False,
) -> None:
    """Print what a report of a fault needs, and test the rounding on this machine."""
    from sciprec.cli.behind import doctor as examining
    from sciprec.cli.console import print_findings, print_json, say

    if clear_cache:
        files, size = examining.clear_cache()
        if json:
            return print_json({"files": files, "bytes": size})
        return say(f"{files} files of compiled kernels removed, {size / 1e6:.1f} MB")
    findings = examining.examine()
    if json:
        print_json([vars(finding) for finding in findings])
    else:
        print_findings(findings)
    if not all(finding.good for finding in findings):
        raise typer.Exit(NOT_MET)


def _keys_of(scenario: Path | None) -> dict[str, Any]:
    """The keys of a scenario that the environment could have set too."""
    if scenario is None:
        return {}
    from sciprec.workbench.kinds import load_scenario

    loaded = load_scenario(scenario)
    choices = tuple(choice.name for choice in loaded.compensation)
    return {"backends": loaded.backends, "compensation": choices}
