"""The verbs `sciprec climate ...`; heavy imports wait until one is called."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from sciprec.cli.options import Backends, CaseName, Json, Quiet
from sciprec.cli.run_verb import Fresh, Out, Threads, run_and_show
from sciprec.cli.settings import command_line

app = typer.Typer(help="The climate model: what it knows, and runs of it.", no_args_is_help=True)

_NUMBER = re.compile(r"\d{1,9}")


@app.callback()
def _verbs() -> None:
    """The climate model: what it knows, and runs of it."""


@app.command("run")
def run_case(
    case: CaseName,
    truncation: Annotated[
        str, typer.Option(help="42 or T42; TL42 on a linear grid.")
    ] = "42",
    days: Annotated[float, typer.Option(help="Simulated days.")] = 5.0,
    backend: Backends = None,
    output_hours: Annotated[
        float | None, typer.Option(help="Between stored states [default: 24].")
    ] = None,
    step_seconds: Annotated[
        float | None, typer.Option(help="Time step [default: the truncation's usual one].")
    ] = None,
    time_scheme: Annotated[
        str | None, typer.Option(help="See `climate list` [default: the equations' own].")
    ] = None,
    compensation: Annotated[
        list[str] | None, typer.Option(help="none, carry, ...; repeat it for several.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE",
            help="Any other key of a scenario: climate.parameters.angle_degrees=45; repeatable.",
        ),
    ] = None,
    out: Out = None,
    threads: Threads = None,
    fresh: Fresh = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:  # fmt: skip
    """Run a case in fp64 and other arithmetics; print what they differ by, store files and a page.

    The same as `sciprec run` of a scenario file that says so.
    """
    from sciprec.scenario.changes import change, changed
    from sciprec.workbench.kinds import parse_scenario

    table = {
        "case": case,
        "truncation": int(truncation) if _NUMBER.fullmatch(truncation) else truncation,
        "days": days, "output_hours": output_hours, "step_seconds": step_seconds,
        "time_scheme": time_scheme,
    }  # fmt: skip
    content = _heading(case, truncation) | {
        "climate": {name: value for name, value in table.items() if value is not None},
        **{name: value for name, value in
           (("backends", backend), ("compensation", compensation)) if value},
    }  # fmt: skip
    changes = dict(map(change, settings or ()))
    scenario = parse_scenario(changed(content, changes), "climate run")
    options = {
        "--truncation": [truncation], "--days": [f"{days:g}"], "--backend": backend,
        "--output-hours": [output_hours], "--step-seconds": [step_seconds],
        "--time-scheme": [time_scheme], "--compensation": compensation, "--set": settings,
        "--out": [out],
    }  # fmt: skip
    run_and_show(
        scenario, out=out, threads=threads, fresh=fresh, quiet=quiet, json=json,
        command=command_line(["climate", "run", case], options),
    )  # fmt: skip


def _heading(case: str, truncation: str) -> dict[str, str]:
    """The keys of a scenario that describe a case: name, title, source and kind."""
    from sciprec.climate.catalogue import CASES

    name = f"{case}_t{truncation.upper().removeprefix('T')}".lower()
    return {
        "name": re.sub(r"[^a-z0-9_-]+", "_", name).strip("_-")[:60],
        "title": f"{case} at T{truncation.upper().removeprefix('T')}",
        "source": CASES[case].source if case in CASES else case,
        "kind": "climate",
    }


@app.command("list")
def list_names(
    json: Json = False,
) -> None:
    """List cases, truncations, equations, time schemes, and arithmetics of transforms' stages."""
    from sciprec.cli.console import print_json, print_listing, say
    from sciprec.foundation.listing import Listing

    content = catalogue()
    if json:
        print_json(content)
        return
    for kind, rows in content.items():
        say(f"\n{kind}:")
        heads = tuple(rows[0])
        lines = [tuple(_cell(value) for value in row.values()) for row in rows]
        droppable = ("source", "parameters", "fields")
        print_listing(Listing(heads, (), lines, droppable=droppable))


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
