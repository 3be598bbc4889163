"""The verbs `sciprec list ...`, `doctor` and `docs`: what there is here; nothing is run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from sciprec.cli.console import (
    NOT_MET,
    print_backends,
    print_findings,
    print_in_force,
    print_json,
    print_listing,
    print_policies,
    say,
)
from sciprec.cli.help_pages import App
from sciprec.cli.options import Json
from sciprec.cli.progress import Waiting

app = App(
    help="List what scenarios and options name: arithmetics, policies, cases of the climate, "
    "examples."
)


@app.command("backends")
def backends(
    scenario: Path | None = None,
    json: Json = False,
) -> None:
    """List the arithmetics and their properties, and what is in force and from where.

    Args:
        scenario: Scenario file (TOML) whose keys are looked at, too.
    """
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


@app.command("policies")
def policies(json: Json = False) -> None:
    """List every stage of the models, and which policies of mixed precision have it narrow."""
    from sciprec.facets.policy.words import mixture_rows, policy_rows

    rows, mixtures = policy_rows(), mixture_rows()
    if json:
        print_json({"stages": rows, "mixtures": mixtures})
    else:
        print_policies(rows, mixtures)


@app.command("cases")
def cases(json: Json = False) -> None:
    """List the cases of the climate model with their equations, parameters and sources."""
    _print_catalogue({"cases": catalogue()["cases"]}, json)


@app.command("climate")
def climate(json: Json = False) -> None:
    """List cases, truncations, equations, time schemes, and arithmetics of transforms' stages."""
    _print_catalogue(catalogue(), json)


@app.command("examples")
def examples(json: Json = False) -> None:
    """List the examples that come with sciprec, with a sentence on each.

    `examples:NAME` goes wherever the path of a scenario, of a kernel's file or of a plugin does.
    """
    from sciprec.foundation.listing import Listing
    from sciprec.foundation.shipped import example_rows

    rows = example_rows()
    if json:
        return print_json(rows)
    lines = [tuple(row.values()) for row in rows]
    print_listing(Listing(("name", "sort"), (), lines, ("title",), droppable=("sort",)))


def doctor(
    clear_cache: bool = False,
    json: Json = False,
) -> None:
    """Print what a report of a fault needs, and test the rounding on this machine.

    Args:
        clear_cache: Remove compiled kernels, and test nothing.
    """
    from sciprec.cli.behind import doctor as examining

    if clear_cache:
        files, size = examining.clear_cache()
        if json:
            return print_json({"files": files, "bytes": size})
        return say(f"{files} files of compiled kernels removed, {size / 1e6:.1f} MB")
    with Waiting("testing the rounding of this machine"):
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
    from sciprec.workbench.kinds import load_scenarios

    loaded = load_scenarios(scenario)[0]
    choices = tuple(choice.name for choice in loaded.compensation)
    return {"backends": loaded.backends, "compensation": choices}


def _print_catalogue(content: dict[str, list[dict[str, Any]]], json: bool) -> None:
    """Print tables of the climate model, each below its name where there are several."""
    from sciprec.foundation.listing import Listing

    if json:
        return print_json(content)
    for kind, rows in content.items():
        if len(content) > 1:
            say(f"\n{kind.replace('_', ' ')}:")
        lines = [tuple(_cell(value) for value in row.values()) for row in rows]
        droppable = ("source", "parameters", "fields")
        print_listing(Listing(tuple(rows[0]), (), lines, droppable=droppable))


def catalogue() -> dict[str, list[dict[str, Any]]]:
    """Cases, truncations, equations, time schemes and stages of transforms as plain data."""
    from sciprec.climate.catalogue import CASES, EQUATIONS, TIME_SCHEMES
    from sciprec.climate.running.parameters import MODEL
    from sciprec.climate.transform.grid import TRUNCATIONS
    from sciprec.facets.stages.arithmetics import STAGES

    cases = [
        {"name": c.name, "equations": c.equations, "parameters": dict(c.parameters),
         "source": c.source}
        for c in CASES.values()
    ]  # fmt: skip
    truncations = [
        {"name": t.name, "nlat": t.nlat, "nlon": t.nlon, "step_seconds": t.step_seconds}
        for t in TRUNCATIONS.values()
    ]
    equations = [
        {"name": e.name, "prognostic": list(e.variables), "fields": list(e.fields),
         "parameters": {**e.parameters, **MODEL}, "time_scheme": e.time_scheme,
         "source": e.source}
        for e in EQUATIONS.values()
    ]  # fmt: skip
    schemes = [
        {"name": s.name, "order": s.order, "kind": "implicit gravity waves" if s.implicit_share
         else "explicit", "source": s.source}
        for s in TIME_SCHEMES.values()
    ]  # fmt: skip
    stages = [{"name": name, **vars(stages)} for name, stages in STAGES.items()]
    return {
        "cases": cases, "truncations": truncations, "equations": equations,
        "time_schemes": schemes, "stages": stages,
    }  # fmt: skip


def _cell(value: Any) -> str:
    """A value of a table in words; a choice is shown with all its words, the usual one first."""
    if isinstance(value, dict):
        return ", ".join(f"{k} = {_cell(v)}" for k, v in value.items()) or "–"
    if isinstance(value, tuple):
        return " | ".join(map(str, value))
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if value is None:
        return "–"
    return f"{value:g}" if isinstance(value, float) else str(value)


def docs(
    words: Annotated[list[str] | None, typer.Argument()] = None,
    site: bool = False,
    json: Json = False,
) -> None:
    """Print the section of the documentation that a word belongs to, and where else it stands.

    Args:
        words: Words to look up, such as 'lost updates'; without any, all pages.
        site: Open the page in a browser, where the site has been built.
    """
    from sciprec.cli.behind import reading
    from sciprec.foundation.errors import printable

    if not words:
        pages = reading.titles()
        if json:
            return print_json(pages)
        return say("\n".join(f"{page['page']:<34} {page['title']}" for page in pages))
    sections = reading.find(" ".join(words))
    if site:
        address = reading.address(sections[0])
        opened = reading.open_page(address)
        return say(address if opened else f"{address} (no browser was found: open it by hand)")
    best, *rest = sections
    if json:
        return print_json({**best.as_dict(), "others": [section.place for section in rest]})
    print(printable(best.text))  # its tables and its code keep their lines
    say(f"\n{best.place}")
    for other in rest:
        say(f"see also: {other.place}")
