"""The verbs `sciprec run` and `quickstart`, and what verbs print that run a batch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from sciprec.cli.console import NOT_MET, print_forecast, print_json, print_runs, say
from sciprec.cli.options import BackendsOption, Json, Quiet, ScenarioFiles
from sciprec.cli.progress import Progress
from sciprec.cli.settings import FILES_KEPT, Settings, interruptible
from sciprec.cli.written_files import JUnit, written
from sciprec.foundation import targets
from sciprec.foundation.errors import InputError

QUICKSTART = ("quickstart_climate", "quickstart_heston")

Out = Annotated[
    Path | None, typer.Option(help="Folder for files and page [default: reports/NAME].")
]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Number of threads in this process; more are usually faster and change no "
        "result [default: one for each processor].",
    ),
]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Compute again what is in the folder already.")
]
BatchPage = Annotated[
    Path | None,
    written(
        targets.PAGE, "--html", "Also write the page to this file, which needs no other file."
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE",
        help="Value that replaces the files' own: climate.days=3; repeat it for several.",
    ),
]  # fmt: skip


def run(
    files: ScenarioFiles,
    backend: BackendsOption = None,
    out: Out = None,
    workers: Annotated[int | None, typer.Option(min=1)] = None,
    scheduler: str | None = None,
    threads: Threads = None,
    format: str = "netcdf",
    enforce: bool = False,
    fresh: Fresh = False,
    settings: Set = None,
    html: BatchPage = None,
    junit_xml: JUnit = None,
    plan: bool = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run scenarios in all their arithmetics; store netCDF files and a page.

    Args:
        backend: Arithmetic to use instead of the scenarios' own; repeat it for several.
        workers: Number of processes on this machine; more are usually faster and change no result
            [default: one process, with threads].
        scheduler: Address of a dask cluster, such as tcp://host:8786.
        format: Format of the files: netcdf or zarr.
        enforce: Exit with 1 when a tolerance is missed.
        plan: Show what would be computed, and compute nothing.
    """
    options = {"--workers": workers, "--scheduler": scheduler, "--threads": threads}
    names = [name for name, value in options.items() if value is not None]
    if len(names) > 1:
        raise InputError(f"{' and '.join(names)} were given; give one of them")
    from sciprec.scenario.changes import change

    how = {"out": out, "backends": backend, "format": format, "fresh": fresh,
           "changes": dict(map(change, settings or ()))}  # fmt: skip
    if plan:
        beside = [name for name, file in (("--html", html), ("--junit-xml", junit_xml)) if file]
        if beside:
            raise InputError(
                f"{beside[0]} is given with --plan, which computes nothing; leave one of them out"
            )
        from sciprec.workbench.batch.workflow import forecast

        rows = forecast(files, plugins=Settings.plugins, **how)
        return print_json(rows) if json else print_forecast(rows)
    places = {"scheduler": scheduler, "workers": workers, "threads": threads}
    run_and_show(
        files, enforce=enforce, quiet=quiet, json=json, html=html, junit_xml=junit_xml, **how,
        **places,
    )


def quickstart(
    out: Path = Path("reports/quickstart"),
    html: BatchPage = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run a small scenario of each model, a flow and option prices, to their page.

    Args:
        out: Folder for files and page.
    """
    run_and_show([Path(name) for name in QUICKSTART], out=out, html=html, quiet=quiet, json=json)


def run_and_show(
    scenarios: Sequence[Any],
    *,
    enforce: bool = False,
    quiet: bool,
    json: bool,
    html: Path | None = None,
    junit_xml: Path | None = None,
    **how: Any,
) -> None:
    """Run a batch and print its table; exit with 1 where a run failed.

    Args:
        scenarios: files, or loaded ones.
        enforce: whether a tolerance that is missed counts as failed.
        quiet: whether nothing is said on the way.
        json: whether data are printed in place of a table.
        html: file for the page of all scenarios.
        junit_xml: file for a test case of each run.
        how: further arguments of `sciprec.run`.
    """
    from sciprec.workbench.batch import workflow

    with interruptible(lambda: FILES_KEPT), Progress(quiet=quiet, json=json) as progress:
        result = workflow.run(
            scenarios,
            on_plan=progress.planned,
            on_done=progress.done,
            on_days=progress.days,
            on_compiling=progress.compiling,
            on_cluster=progress.cluster,
            plugins=Settings.plugins,
            debug=Settings.debug,
            **how,
        )
        pages = [result.page, *([] if html is None else [result.html(html)])]
    if json:
        content = {"folder": result.folder, "page": result.page, "runs": result.table}
        print_json(content | {"notes": result.notes})
    else:
        print_runs(result.table)
        for note in result.notes:
            say(note)
        for page in pages:
            say(f"page: {page}")
    if junit_xml is not None:
        write_cases(junit_xml, "run", result.table, ("beyond", "broken") if enforce else ())
    if any_failed(result.table) or (enforce and result.beyond):
        raise typer.Exit(NOT_MET)


def write_cases(
    path: Path, verb: str, table: Sequence[dict[str, Any]], failing: Sequence[str]
) -> None:
    """JUnit XML of the runs of a batch; failed ones are failures, and those of these statuses."""
    from sciprec.results.comparison.junit import junit_text, run_cases

    cases = run_cases(table, ("failed", *failing))
    targets.write(path, junit_text({f"sciprec {verb}": cases}), targets.JUNIT)


def any_failed(table: Sequence[dict[str, Any]]) -> bool:
    """Whether a run of a batch failed."""
    return any(row["status"] == "failed" for row in table)
