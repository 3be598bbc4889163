"""The verbs `sciprec baseline ...`: what runs gave once, and whether they still do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from sciprec.cli.console import NOT_MET, print_check, print_json, print_listing, say
from sciprec.cli.help_pages import App
from sciprec.cli.options import BackendsOption, Json, Quiet
from sciprec.cli.progress import Progress
from sciprec.cli.run_verb import Set, Threads
from sciprec.cli.settings import interruptible
from sciprec.cli.study_verb import axes_of
from sciprec.cli.written_files import Html, JUnit, written
from sciprec.foundation import targets
from sciprec.foundation.errors import InputError

app = App(help="Keep what runs gave once, with its noise, and check whether it is still so.")

Folder = Annotated[Path, typer.Option(help="Folder of all baselines.")]
Batch = Annotated[
    Path | None,
    typer.Option(
        help="Folder of `sciprec run` that has the runs already, so that none is computed again."
    ),
]
NoCommit = Annotated[
    bool, typer.Option("--no-commit", help="Keep the baseline although there is no commit to name.")
]
BASELINES = Path("baselines")
_AS_THEY_WERE = "the baselines are as they were"
_RUNS_KEPT = f"{_AS_THEY_WERE}, and the same command goes on from the runs that had finished"
COMMANDS = ("price", "bench")
"""Verbs of sciprec that there are baselines of."""


@app.command("save")
def save(
    subject: str,
    words: Annotated[list[str] | None, typer.Argument()] = None,
    backend: BackendsOption = None,
    inputs: list[str] | None = None,
    output: list[str] | None = None,
    axes: list[str] | None = None,
    traced: Annotated[bool, typer.Option("--trace")] = False,
    name: str | None = None,
    folder: Folder = BASELINES,
    batch: Batch = None,
    settings: Set = None,
    unversioned: NoCommit = False,
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run a scenario, kernel or price, and perturbed copies that tell its noise, or a benchmark;
    keep what they give.

    Args:
        subject: A scenario file (TOML), a shipped one's name, FILE.py:FUNCTION, or, behind --,
            price with its options, or bench NAME.
        words: Words behind the verb: options of price, or a benchmark's name.
        inputs: Arguments of a kernel, as for `sciprec study`; repeat it for several.
        output: Result of a kernel that counts [default: all].
        axes: Names of the axes of a kernel's result: path=time.
        traced: Keep the share of each line in a kernel's error, and not the kernel's results.
        name: Name of the baseline [default: the scenario's].
    """
    from sciprec.regression.baselines.asking import requests_named
    from sciprec.regression.baselines.saving import save_request
    from sciprec.scenario.changes import change

    with _computing(threads, quiet, json, _RUNS_KEPT) as how:
        of_runs = (
            backend or (), dict(map(change, settings or ())), inputs or (), output or (),
            axes_of(axes or ()), traced,
        )  # fmt: skip
        if words or subject in COMMANDS:
            requests = [_commanded(subject, words or [], any((*of_runs, batch)))]
        else:
            requests = requests_named(subject, *of_runs)
        if name and len(requests) > 1:
            raise InputError(
                f"--name was given, and the sweep of '{subject}' makes {len(requests)} baselines, "
                "named like its scenarios; leave --name out"
            )
        records = [
            save_request(request, name=name or "", folder=folder, batch=batch,
                         unversioned=unversioned, how=how)
            for request in requests
        ]  # fmt: skip
    if json:
        rows = [{"name": r.name, "folder": r.folder, "key": r.key} for r in records]
        return print_json(rows if len(rows) > 1 else rows[0])
    for record in records:
        say(f"baseline: {record.folder / record.name}")


@app.command("check")
def check(
    names: Annotated[list[str] | None, typer.Argument()] = None,
    folder: Folder = BASELINES,
    batch: Batch = None,
    exact: bool = False,
    slower: float | None = None,
    larger: float | None = None,
    html: Html = None,
    junit_xml: JUnit = None,
    markdown: Annotated[Path | None, written(targets.MARKDOWN, "--markdown")] = None,
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Repeat the runs of your baselines, and say what changed; exit with 1 if anything did.

    Args:
        names: Names of baselines [default: all].
        exact: Exit with 1 where any bit differs.
        slower: Exit with 1 where a run takes more than this many times as long, such as 1.5; a
            larger factor lets slower runs pass.
        larger: Exit with 1 where a run takes more than this many times as much memory, such as 1.5;
            a larger factor lets larger runs pass.
        markdown: Write a summary in Markdown, for a pull request.
    """
    from sciprec.regression.baselines.asking import asked_again
    from sciprec.regression.baselines.checking import check_request, require_all
    from sciprec.regression.baselines.records import read_record, record_names

    checks = []
    for name in require_all(names or (), record_names(folder), folder):
        record = read_record(name, folder)
        with _computing(threads, quiet, json) as how:
            request = asked_again(record)
            checks.append(check_request(
                record, request, batch=batch, how=how, slower=slower, larger=larger
            ))  # fmt: skip
    _write_files(checks, html, junit_xml, markdown)
    if json:
        print_json([result.as_dict() for result in checks])
    else:
        for result in checks:
            print_check(result)
    good = all(result.identical if exact else result.within for result in checks)
    if not good:
        raise typer.Exit(NOT_MET)


@app.command("bless")
def bless(
    name: str,
    reason: Annotated[str, typer.Option()],
    folder: Folder = BASELINES,
    batch: Batch = None,
    unversioned: NoCommit = False,
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Put today's numbers in place of a baseline's, and note why.

    Args:
        name: Name of a baseline.
        reason: Reason why the new numbers are right, which is kept with them.
    """
    from sciprec.regression.baselines.asking import asked_again
    from sciprec.regression.baselines.checking import bless_request
    from sciprec.regression.baselines.records import read_record

    record = read_record(name, folder)
    with _computing(threads, quiet, json, _RUNS_KEPT) as how:
        check = bless_request(
            record, asked_again(record), reason, batch=batch, unversioned=unversioned,
            how=how,
        )  # fmt: skip
    print_json(check.as_dict()) if json else print_check(check)


@app.command("list")
def list_all(folder: Folder = BASELINES, json: Json = False) -> None:
    """List the baselines of a folder."""
    from sciprec.regression.baselines.records import read_record, record_names
    from sciprec.regression.baselines.summaries import records_listing

    records = [read_record(name, folder) for name in record_names(folder)]
    if json:
        print_json([
            {"name": r.name, "key": r.key, "runs": [run.name for run in r.runs],
             "made_by": r.made_by, "history": len(r.history)} for r in records
        ])  # fmt: skip
    else:
        print_listing(records_listing(records))


@app.command("show")
def show(
    name: str,
    folder: Folder = BASELINES,
    json: Json = False,
) -> None:
    """Show what a baseline holds: its runs, their noise, by what they were made, its history.

    Args:
        name: Name of a baseline.
    """
    from sciprec.regression.baselines.records import read_record
    from sciprec.regression.baselines.summaries import about_record, record_listing

    record = read_record(name, folder)
    if json:
        runs = [
            {"name": run.name, "failure": run.failure, "noise": run.noise,
             "noise_of": run.noise_of, "errors": run.errors} for run in record.runs
        ]  # fmt: skip
        return print_json({
            "name": record.name, "key": record.key, "subject": record.subject, "runs": runs,
            "made_by": record.made_by, "history": record.history,
        })  # fmt: skip
    print_listing(record_listing(record))
    for line in about_record(record):
        say(line)


def _commanded(verb: str, words: list[str], has_options: bool) -> Any:
    """Return the price or the benchmark that the words behind `--` ask for.

    Raises:
        InputError: it is another verb, options of runs or of the wrong kind were given, or a word
            is missing.
    """
    from sciprec.cli.pricing.price_verbs import options_of_price
    from sciprec.regression.baselines.asking import bench_request, price_request

    if verb not in COMMANDS:
        raise InputError(
            f"'{words[0]}' was given behind '{verb}'; one scenario or kernel at a time, or "
            "`-- price OPTIONS`, or `-- bench NAME`"
        )
    if has_options:
        raise InputError(
            f"options of scenarios, kernels or batches were given with {verb}; leave them out "
            "(an arithmetic of prices is given behind --: `-- price --backend fp32 ...`)"
        )
    if verb == "bench":
        if len(words) != 1:
            raise InputError("a benchmark is named by one word: `-- bench precision`")
        return bench_request(words[0])
    return price_request(*options_of_price(words))


def _write_files(
    checks: list[Any], html: Path | None, junit_xml: Path | None, markdown: Path | None
) -> None:
    """Write the files that the options name."""
    if html is not None:
        from sciprec.regression.baselines.keeping import METRICS
        from sciprec.regression.baselines.page import checks_page

        targets.write(html, checks_page(checks, METRICS), targets.PAGE)
    if junit_xml is not None:
        from sciprec.results.comparison.junit import junit_text

        cases = {f"sciprec baseline check {result.name}": result.cases() for result in checks}
        targets.write(junit_xml, junit_text(cases), targets.JUNIT)
    if markdown is not None:
        from sciprec.regression.baselines.checking import markdown as in_markdown

        targets.write(markdown, in_markdown(checks), targets.MARKDOWN)


@contextmanager
def _computing(
    threads: int | None, quiet: bool, json: bool, message: str = _AS_THEY_WERE
) -> Iterator[Any]:
    """Yield the settings of a computation, with its progress on standard error.

    Args:
        threads: how many runs at a time.
        quiet: whether nothing is said on the way.
        json: whether the result is printed as data.
        message: shown after Ctrl-C.
    """
    from sciprec.regression.baselines.answering import How

    with interruptible(lambda: message), Progress(quiet=quiet, json=json) as progress:
        callbacks = {
            "on_done": progress.done, "on_days": progress.days, "on_compiling": progress.compiling,
        }  # fmt: skip
        yield How(threads, callbacks, progress.planned, progress.cluster)
