"""The verbs `sciprec climate ...`; heavy imports wait until one is called."""

from __future__ import annotations

from typing import Annotated, Any

import typer

app = typer.Typer(help="The climate model: what it knows.", no_args_is_help=True)


@app.callback()
def _verbs() -> None:
    """The climate model: what it knows."""


@app.command("list")
def list_names(
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """List cases, truncations, equations, time schemes, and arithmetics of transforms' stages."""
    from sciprec.cli.console import Table, print_json, say

    content = catalogue()
    if json:
        print_json(content)
        return
    for kind, rows in content.items():
        say(f"\n{kind}:")
        heads = tuple(rows[0])
        table = Table(heads, (), droppable=("source", "parameters", "fields"))
        for row in rows:
            table.add(*(_cell(value) for value in row.values()))
        table.print()


def catalogue() -> dict[str, list[dict[str, Any]]]:
    """Cases, truncations, equations, time schemes and stages of transforms as plain data."""
    from sciprec.climate.catalogue import CASES, EQUATIONS, TIME_SCHEMES
    from sciprec.climate.running.parameters import MODEL
    from sciprec.climate.transform.grid import TRUNCATIONS
    from sciprec.precision.formats.stages import STAGES

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
