"""The verb `sciprec climate run`; heavy imports wait until it is called."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from sciprec.cli.help_pages import App
from sciprec.cli.options import BackendsOption, Json, Quiet, known_cases
from sciprec.cli.run_verb import BatchPage, Fresh, Out, Set, Threads, run_and_show
from sciprec.cli.settings import command_line

app = App(help="Run a case of the climate model without a scenario file.")
_NUMBER = re.compile(r"\d{1,9}")


@app.callback()
def _verbs() -> None:
    """Run a case of the climate model without a scenario file."""


@app.command("run")
def run_case(
    case: Annotated[str, typer.Argument(autocompletion=known_cases)],
    truncation: str = "42",
    days: float = 5.0,
    backend: BackendsOption = None,
    output_hours: float | None = None,
    step_seconds: float | None = None,
    time_scheme: str | None = None,
    compensation: list[str] | None = None,
    initial: Annotated[str | None, typer.Option(metavar="FILE")] = None,
    start_from: Annotated[str | None, typer.Option(metavar="FILE")] = None,
    forcing: Annotated[str | None, typer.Option(metavar="FILE.py:NAME")] = None,
    settings: Set = None,
    out: Out = None,
    threads: Threads = None,
    fresh: Fresh = False,
    html: BatchPage = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run a case in fp64 and other arithmetics; print what they differ by, store files and a page.

    It does what `sciprec run` does with a scenario file that says so.

    Args:
        truncation: Spectral truncation, 42 or T42, or TL42 on a linear grid; a larger one resolves
            more and takes longer.
        days: Simulated days; over more days errors grow larger.
        output_hours: Hours between stored states; a smaller number stores more states [default:
            24].
        step_seconds: Seconds of a time step; a longer one is faster, and may be unstable [default:
            the truncation's usual one].
        time_scheme: Time scheme; `sciprec list climate` prints them [default: the equations' own].
        compensation: Compensation of rounded sums: none, carry, carry-sums, published-10-90 or
            published-15-85; repeat it for several.
        initial: NetCDF file with the initial state, or FILE@TIME where it holds several times;
            another state is another flow [default: the case's own].
        start_from: Checkpoint or netCDF file of another run, or FILE@TIME, from which the run goes
            on for its days [default: begin with the initial state].
        forcing: Forcing, a kernel decorated by sciprec.climate.forcing, whose tendencies are added
            to those of the equations [default: none].
        settings: Value of any other key of a scenario: ensemble.members=20; repeat it for several.
        case: Name of a case; `sciprec list cases` prints them.
    """
    from sciprec.scenario.changes import change, changed
    from sciprec.workbench.kinds import parse_scenarios

    table = {
        "case": case,
        "truncation": int(truncation) if _NUMBER.fullmatch(truncation) else truncation,
        "days": days, "output_hours": output_hours, "step_seconds": step_seconds,
        "time_scheme": time_scheme, "initial": initial,
        "start_from": start_from, "forcing": forcing,
    }  # fmt: skip
    content = _heading(case, truncation) | {
        "climate": {name: value for name, value in table.items() if value is not None},
        **{name: value for name, value in
           (("backends", backend), ("compensation", compensation)) if value},
    }  # fmt: skip
    changes = dict(map(change, settings or ()))
    scenarios = parse_scenarios(changed(content, changes), "climate run")
    options = {
        "--truncation": [truncation], "--days": [f"{days:g}"], "--backend": backend,
        "--output-hours": [output_hours], "--step-seconds": [step_seconds],
        "--time-scheme": [time_scheme], "--initial": [initial],
        "--start-from": [start_from], "--forcing": [forcing], "--compensation": compensation,
        "--set": settings, "--out": [out],
    }  # fmt: skip
    run_and_show(
        scenarios, out=out, threads=threads, fresh=fresh, quiet=quiet, json=json, html=html,
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
