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

from sciprec.cli import (
    baseline_verbs,
    climate_verbs,
    compare_verb,
    coverage_verb,
    help_pages,
    kernel_verbs,
    list_verbs,
    monitor_verb,
    repeat_verb,
    report_verb,
    run_verb,
    scenario_verbs,
    study_verb,
    trace_verb,
    tune_verb,
)
from sciprec.cli.console import GOOD, INTERNAL, INTERRUPTED, UNREAD, USAGE
from sciprec.cli.old_spellings import old_spellings_named
from sciprec.cli.options import (
    of_options,
    prepare_completion,
    print_completion,
    refuse_slips,
    suspicious,
)
from sciprec.cli.pricing import price_verbs
from sciprec.cli.settings import Settings, before_the_verb, quiet_everywhere
from sciprec.cli.written_files import require_free_files
from sciprec.foundation.errors import InputError, Interrupted, printable
from sciprec.foundation.interrupts import ended_if_deferred, terminated_as_by_interrupts
from sciprec.foundation.loading import load_files, load_plugins

atexit.register(gc.freeze)  # a process that ends needs no garbage found: a quarter of a second

app = help_pages.App(
    name="sciprec",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=help_pages.SETTINGS,
    epilog="`sciprec VERB --help` has the options of a verb, `sciprec dev --help` the verbs by "
    "which sciprec itself is checked.",
)


def _print_version(requested: bool) -> None:
    """Print the version for `--version` and end."""
    if requested:
        from sciprec.foundation.definitions import version_of

        print(f"sciprec {version_of('sciprec')}")
        raise typer.Exit(GOOD)


@app.callback()
def _global_options(
    debug: bool = False,
    plugin: list[Path] | None = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True)
    ] = False,
    completion: Annotated[
        str | None, typer.Option(metavar="SHELL", callback=print_completion, is_eager=True)
    ] = None,
) -> None:
    """Run scientific models in any computer arithmetic, and see what the rounding costs.

    Args:
        debug: Show the traceback of an internal error; stands before or behind the verb.
        plugin: Python file of yours to import first, here and on workers; repeat it for several,
            before or behind the verb.
        version: Show the version, and end.
        completion: Print the completion script of bash, zsh or fish: eval "$(sciprec --completion
            bash)".
    """
    Settings.debug = debug
    load_plugins()
    Settings.plugins = load_files(plugin or ())


_VERBS: dict[str, tuple[Any, ...]] = {
    help_pages.KERNEL: (
        study_verb.study, trace_verb.trace, tune_verb.tune, monitor_verb.monitor,
        kernel_verbs.bound, kernel_verbs.digits, kernel_verbs.check_memory,
    ),
    help_pages.MODELS: (
        run_verb.run, compare_verb.compare, report_verb.report, ("climate", climate_verbs.app),
    ),
    help_pages.OPTIONS: (price_verbs.price,),
    help_pages.KEEP: (("baseline", baseline_verbs.app), repeat_verb.repeat),
    help_pages.REST: (
        ("list", list_verbs.app), ("scenario", scenario_verbs.app), list_verbs.doctor,
        run_verb.quickstart, list_verbs.docs,
    ),
}  # fmt: skip
"""Verbs by group; of verbs that have verbs of their own the name and these."""
_DEV = help_pages.App(help="Check sciprec itself: its price bounds, the pages of its gallery.")
_DEV.command()(coverage_verb.coverage)
_DEV.command()(report_verb.gallery)
app.add_typer(_DEV, name="dev", hidden=True)
for _group, _members in _VERBS.items():
    for _verb in _members:
        if isinstance(_verb, tuple):
            app.add_typer(_verb[1], name=_verb[0], rich_help_panel=_group)
        else:
            app.command(rich_help_panel=_group)(_verb)


@app.command(
    hidden=True, context_settings={"allow_extra_args": True, "ignore_unknown_options": True}
)
def bench() -> None:
    """Say how benchmarks are run."""
    raise InputError(
        "`sciprec bench` was given; benchmarks are run by `python -m benchmarks NAME` in a "
        "checkout of sciprec's source"
    )


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 good, 1 not met or failed, 2 usage, 3 internal error.

    Ctrl-C exits with 130, as shells expect, and so does SIGTERM; a closed pipe with 141.
    """
    Settings.debug = Settings.quiet = False
    gc.set_threshold(50_000, 20, 50)  # looks for garbage were a twelfth of a short command
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a terminal without '…' shows '?', not a failure
    words: list[str] = []
    try:
        prepare_completion()
        words = before_the_verb(sys.argv[1:] if arguments is None else arguments)
        with (
            ended_if_deferred(lambda: _leave_at_once(Settings.work_ended())),
            terminated_as_by_interrupts(),
            old_spellings_named(),
        ):
            _command()(words, prog_name="sciprec")
    except InputError as error:
        _fail(USAGE, "\n".join([of_options(str(error), words), *suspicious(words)]))
    except Interrupted as error:
        _leave_at_once(str(error))
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(UNREAD) from None
    except SystemExit as end:
        if "PacifyFlushWrapper" in type(sys.stdout).__name__:  # Typer's, for a pipe that is closed
            raise SystemExit(UNREAD) from None
        if end.code == USAGE and (complaints := suspicious(words)):
            _fail(USAGE, "\n".join(complaints))
        raise
    except Exception as error:
        if Settings.debug:
            raise
        if isinstance(error, OSError) and error.errno is not None:
            from sciprec.results.output.files import system_reason

            _fail(USAGE, f"{system_reason(error)}, and try again")
        if isinstance(error, MemoryError):
            detail = f" ({error})" if str(error) else ""
            _fail(USAGE, f"this machine's memory does not suffice{detail}; give less at once")
        _fail(INTERNAL, f"internal error: {_words(error)}. Please report this; --debug shows more")
    raise SystemExit(GOOD)


@cache
def _command() -> Callable[..., Any]:
    """The Click command of `app`, made once in a process: that takes longer than many a verb."""
    command = typer.main.get_command(app)
    quiet_everywhere(command)
    refuse_slips(command)
    require_free_files(command)
    help_pages.in_plain_words(command)
    return command


def _leave_at_once(message: str) -> NoReturn:
    """End an interrupted process, and say what is kept; threads that compute go with it, because a
    lifted kernel cannot be interrupted.
    """
    netcdf = sys.modules.get("sciprec.results.output.netcdf")
    if netcdf is not None:
        netcdf.finish_writing()
    words = f"interrupted; {message}" if message else "interrupted"
    control = "\r\x1b[2K\x1b[?25h" if sys.stderr.isatty() else ""  # progress may hide the cursor
    print(f"{control}sciprec: {printable(words)}", file=sys.stderr, flush=True)
    os._exit(INTERRUPTED)


def _words(error: Exception) -> str:
    """An unexpected exception on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _fail(code: int, message: Any) -> NoReturn:
    """Print the error on standard error and exit."""
    for line in str(message).splitlines():
        print(f"sciprec: {printable(line)}", file=sys.stderr)
    raise SystemExit(code)
