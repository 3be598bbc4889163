"""The command line: a thin layer over the Python functions; heavy imports wait for their verb."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from sciprec import __version__
from sciprec.cli import (
    baseline_verbs,
    bench_verbs,
    climate_verbs,
    compare_verb,
    coverage_verb,
    monitor_verbs,
    repeat_verb,
    run_verb,
    scenario_verbs,
    study_verb,
    trace_verb,
    tune_verb,
)
from sciprec.cli.options import Json, prepare_completion, print_completion
from sciprec.cli.pricing import price_verbs
from sciprec.cli.settings import Settings, before_the_verb
from sciprec.errors import InputError, Interrupted, printable
from sciprec.plugins.loading import load_files, load_plugins

GOOD, NOT_MET, USAGE, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 130
atexit.register(gc.freeze)  # a process that ends needs no garbage found: a quarter of a second

app = typer.Typer(
    name="sciprec",
    help="Run scientific models in any computer arithmetic, and see what the rounding costs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(baseline_verbs.app, name="baseline")
app.add_typer(bench_verbs.app, name="bench")
app.add_typer(climate_verbs.app, name="climate")
app.add_typer(scenario_verbs.app, name="scenario")


def _print_version(asked: bool) -> None:
    """What `--version` says."""
    if asked:
        print(f"sciprec {__version__}")
        raise typer.Exit(GOOD)


@app.callback()
def _global_options(
    debug: Annotated[
        bool,
        typer.Option(
            "--debug", help="Show the traceback of an internal error (before or after the verb)."
        ),
    ] = False,
    plugin: Annotated[
        list[Path] | None,
        typer.Option(
            "--plugin",
            help="Python file of yours to import first, here and on workers; repeat it for "
            "several (before or after the verb).",
        ),
    ] = None,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True),
    ] = False,
    completion: Annotated[
        str | None,
        typer.Option(
            "--completion", metavar="SHELL", callback=print_completion, is_eager=True,
            help="Print what bash, zsh or fish reads to complete words: "
            'eval "$(sciprec --completion bash)".',
        ),
    ] = None,
) -> None:
    Settings.debug = debug
    load_plugins()
    Settings.plugins = load_files(plugin or ())


app.command()(run_verb.run)
app.command()(run_verb.quickstart)


@app.command()
def backends(
    scenario: Annotated[
        Path | None, typer.Option(help="Scenario whose keys are looked at too (TOML).")
    ] = None,
    json: Json = False,
) -> None:
    """List the arithmetics and their properties, and what is in force and from where."""
    from sciprec.cli.console import print_backends, print_in_force, print_json
    from sciprec.machine.modes import in_force
    from sciprec.precision.formats.backend import table

    settings = in_force(os.environ, _keys_of(scenario)).as_rows()
    if json:
        print_json({"backends": table(), "in_force": settings})
    else:
        print_backends(table())
        print_in_force(settings)


@app.command()
def policies(json: Json = False) -> None:
    """List every stage of the models, and which policies of mixed precision have it narrow."""
    from sciprec.cli.console import print_json, print_policies
    from sciprec.kinds.policies import mixture_rows, policy_rows

    rows, mixtures = policy_rows(), mixture_rows()
    if json:
        print_json({"stages": rows, "mixtures": mixtures})
    else:
        print_policies(rows, mixtures)


@app.command()
def doctor(
    clear_cache: Annotated[
        bool, typer.Option("--clear-cache", help="Remove compiled kernels instead.")
    ] = False,
    json: Json = False,
) -> None:
    """Print what a report of a fault needs, and test the rounding on this machine."""
    from sciprec.cli import doctor
    from sciprec.cli.console import print_findings, print_json, say

    if clear_cache:
        files, size = doctor.clear_cache()
        if json:
            return print_json({"files": files, "bytes": size})
        return say(f"{files} files of compiled kernels removed, {size / 1e6:.1f} MB")
    found = doctor.examine()
    if json:
        print_json([vars(finding) for finding in found])
    else:
        print_findings(found)
    if not all(finding.good for finding in found):
        raise typer.Exit(NOT_MET)


def _keys_of(scenario: Path | None) -> dict[str, Any]:
    """The keys of a scenario that the environment could have said too."""
    if scenario is None:
        return {}
    from sciprec.kinds import load_scenario

    loaded = load_scenario(scenario)
    choices = tuple(choice.name for choice in loaded.compensation)
    return {"backends": loaded.backends, "compensation": choices}


@app.command()
def report(
    folder: Annotated[
        Path, typer.Argument(help="A folder that `sciprec run` or `sciprec coverage` wrote.")
    ],
    json: Json = False,
) -> None:
    """Write the page of a stored batch or coverage run again, from its files only."""
    from sciprec.report.coverage_page import holds_coverage

    if holds_coverage(folder):
        return coverage_verb.report(folder, json)
    from sciprec.cli.console import print_json, print_runs, say
    from sciprec.output.folders import alone_in
    from sciprec.report.page import table, write_page
    from sciprec.report.stored.batch import read_batch

    batch = read_batch(folder)
    with alone_in(folder):
        page, rows = write_page(batch), table(batch)
    if json:
        print_json({"folder": folder, "page": page, "runs": rows})
    else:
        print_runs(rows)
        say(f"page: {page}")
    if run_verb.any_failed(rows):
        raise typer.Exit(NOT_MET)


app.command()(study_verb.study)
app.command()(trace_verb.trace)
app.command()(tune_verb.tune)
app.command()(monitor_verbs.monitor)
app.command()(monitor_verbs.watch)
app.command()(compare_verb.compare)
app.command()(repeat_verb.repeat)
app.command()(price_verbs.price)
app.command()(coverage_verb.coverage)
app.command()(run_verb.gallery)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 good, 1 not met or failed, 2 usage, 3 internal error.

    Ctrl-C exits with 130, as shells expect.
    """
    Settings.debug = False
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a terminal without '…' shows '?', not a failure
    try:
        prepare_completion()
        given = before_the_verb(sys.argv[1:] if arguments is None else arguments)
        _command()(given, prog_name="sciprec")
    except InputError as error:
        _fail(USAGE, str(error))
    except Interrupted as error:
        _leave_at_once(f"interrupted; {error}")
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(GOOD) from None
    except Exception as error:
        if Settings.debug:
            raise
        if isinstance(error, OSError) and error.errno is not None:
            from sciprec.output.files import system_reason

            _fail(USAGE, f"{system_reason(error)}, and try again")
        _fail(INTERNAL, f"internal error: {_words(error)}. Please report this; --debug shows more")
    raise SystemExit(GOOD)


@cache
def _command() -> Callable[..., Any]:
    """What `app` describes, made once in a process: that takes longer than many a verb."""
    return typer.main.get_command(app)


def _leave_at_once(message: str) -> NoReturn:
    """End the process although threads still compute: a lifted kernel cannot be interrupted."""
    from sciprec.output import netcdf

    netcdf.finish_writing()
    print(f"sciprec: {printable(message)}", file=sys.stderr, flush=True)
    os._exit(INTERRUPTED)


def _words(error: Exception) -> str:
    """An unexpected exception on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _fail(code: int, message: Any) -> NoReturn:
    """Say what is wrong on standard error and exit."""
    for line in str(message).splitlines():
        print(f"sciprec: {printable(line)}", file=sys.stderr)
    raise SystemExit(code)
