"""The way from scenario files to a page: load, plan, execute, store, compare, report."""

from __future__ import annotations

import contextlib
import os
import shlex
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sciprec.foundation.arguments import flag, integer, path, refused
from sciprec.foundation.errors import InputError
from sciprec.foundation.limits import THREADS
from sciprec.foundation.listing import Listing, Shown, Summary, counted
from sciprec.foundation.loading import load_files
from sciprec.foundation.notebook import NotebookLine
from sciprec.foundation.origin import provenance
from sciprec.foundation.shipped import example_models
from sciprec.foundation.whole import put_back
from sciprec.precision.formats.backend import backend_names
from sciprec.results.comparison.verdicts import STATUS_WORDS, Verdict, margin_in_words
from sciprec.results.comparison.wording import digits, duration, number
from sciprec.results.output.files import NETCDF, suffix_of
from sciprec.results.output.folders import alone_in, require_own_page
from sciprec.scenario.changes import changed, changes_of
from sciprec.scenario.keys import toml
from sciprec.scenario.loading import Scenario
from sciprec.scenario.sweep import family
from sciprec.workbench.batch.checking import check
from sciprec.workbench.batch.course import estimates, name_of
from sciprec.workbench.batch.execute import execute
from sciprec.workbench.batch.modes import shell_assignments
from sciprec.workbench.batch.perform import Days
from sciprec.workbench.batch.plan import Outcome, Run, code_behind, plan, state_behind
from sciprec.workbench.batch.resume import (
    INTERRUPTED,
    find,
    interrupted_beside,
    left_beside,
    remove_leftovers,
    restored,
)
from sciprec.workbench.batch.states import begin_states, end_states
from sciprec.workbench.kinds import kind_of, load_scenarios, parse_scenarios
from sciprec.workbench.kinds.files import read_scenario

_MOST_NAMED = 3
"""Files that a sentence names."""


@dataclass(frozen=True, repr=False)
class BatchResult(Shown):
    """The result of a batch.

    Args:
        folder, page: where everything is.
        files: the netCDF files of the runs that succeeded.
        table: one dictionary per run: scenario, backend, compensation, label, status, reason,
            margin (the error over its tolerance, None without one), errors, seconds, ...
        failures: the runs that failed, each with its sentence.
        notes: sentences about the folder, and about roles that no operation of a run has.
    """

    folder: Path
    page: Path
    files: tuple[Path, ...]
    table: list[dict[str, Any]]
    failures: tuple[Outcome, ...]
    notes: tuple[str, ...] = ()

    @property
    def beyond(self) -> tuple[str, ...]:
        """Runs that miss a tolerance of their scenario, as "scenario in backend"."""
        bad = ("beyond", "broken")
        return tuple(f"{r['scenario']} in {r['label']}" for r in self.table if r["status"] in bad)

    def html(self, path: str | Path) -> Path:
        """Write the page once more, as one file for all scenarios that needs nothing beside it.

        Args:
            path: of the file.

        Returns:
            The path.

        Raises:
            InputError: it cannot be written, what is there is no page of sciprec, or the file of a
                run that has not failed cannot be read any more.
        """
        from sciprec.report.page import write_alone
        from sciprec.report.stored.batch import read_batch

        stored = read_batch(self.folder, keep=True)
        status = {(row["scenario"], row["label"]): row["status"] for row in self.table}
        for run in stored.runs:
            verdict = run.verdict
            before = status.get((run.scenario, run.label), "failed")
            if verdict.status == "failed" != before:
                raise InputError(f"the page '{path}' is not written: {verdict.sentence}")
        return write_alone(stored, path)

    def _summary(self) -> Summary:
        counts = [counted(len(self.table), "run")]
        if self.failures:
            counts.append(f"{len(self.failures)} failed")
        if self.beyond:
            counts.append(f"{len(self.beyond)} beyond a tolerance")
        failed = [f"{f.label} in {f.scenario} failed: {f.failure}" for f in self.failures]
        return Summary(
            f"batch in {self.folder}: {', '.join(counts)}",
            runs_listing(self.table),
            (*failed, *self.notes),
            self.page,
        )


def runs_listing(table: Sequence[dict[str, Any]]) -> Listing:
    """One line per run.

    Args:
        table: of a BatchResult.
    """
    rows = []
    for row in table:
        errors = row["errors"] if row["status"] != "truth" else {}
        largest = number(errors.get("max_abs")) + (f" {row['units']}" if errors else "")
        rows.append((
            row["scenario"],
            row["label"],
            STATUS_WORDS[row["status"]],
            _margin(row),
            row["variable"] or "–",
            largest.strip(),
            number(errors.get("relative_l2")),
            digits(errors.get("decimal_digits")),
            "–" if row["nonfinite"] is None else str(row["nonfinite"]),
            duration(row["seconds"]),
        ))  # fmt: skip
    return Listing(
        ("scenario", "arithmetic", "verdict", "tolerance", "variable"),
        ("largest error", "relative l2", "digits", "not finite", "time"),
        rows,
        droppable=("not finite", "time", "variable", "largest error", "digits", "tolerance"),
    )


def _margin(row: dict[str, Any]) -> str:
    """The margin between the judged error and the tolerance, in the words of the page."""
    if row.get("margin") is None:
        return "–"
    words = margin_in_words(Verdict(row["status"], "", row["margin"]))
    return "–" if words == STATUS_WORDS[row["status"]] else words


def run(
    scenarios: str | Path | Scenario | Sequence[str | Path | Scenario],
    *,
    out: str | Path | None = None,
    backends: Iterable[str] | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    threads: int | None = None,
    format: str = NETCDF,
    on_plan: Callable[[Sequence[Run]], None] | None = None,
    on_done: Callable[[Outcome], None] | None = None,
    on_days: Days | None = None,
    on_compiling: Callable[[Run], None] | None = None,
    on_cluster: Callable[[str], None] | None = None,
    fresh: bool = False,
    plugins: str | Path | Sequence[str | Path] = (),
    changes: Mapping[str, Any] | None = None,
    command: str | None = None,
    debug: bool = False,
) -> BatchResult:
    """Run scenarios in all their arithmetics, store every run, and write the page.

    Runs whose files are in the folder already, made by the same code, are kept: a batch that was
    interrupted goes on where it stopped.

    Args:
        scenarios: files or loaded scenarios, one or several.
        out: folder for the files and the page; `reports/NAME` when left out.
        backends: names that replace those of the scenarios.
        scheduler: address of an existing dask cluster.
        workers: number of processes on this machine; threads when left out. A script that asks for
            processes does so below `if __name__ == "__main__":`.
        threads: how many threads of this process there are; left out, one per processor. They
            take a run each; where there are fewer runs, several share one.
        format: of the files: "netcdf", or "zarr", which needs the package zarr.
        on_plan: called once with the plan, before anything is computed. In a notebook a line of
            the output says how the batch goes, if none of these callbacks is given.
        on_done: called with each outcome as it arrives.
        on_days: called with a run and its simulated days now and then.
        on_compiling: called with a run whose kernels are compiled for the first time on this
            machine; not on clusters.
        on_cluster: called with a line about the cluster, where there is one.
        fresh: compute runs again whose files are there.
        plugins: Python files of one's own, imported here and on workers before anything else; they
            register kinds, cases, equations, schemes, payoffs, metrics or formats.
        changes: values that go before those of all the scenarios, by dotted key, as in
            {"climate.days": 3}; everything is as if the files said so.
        command: the command line that makes the batch again, for the page; left out, `sciprec run`.
        debug: let the first failing run end the batch with its traceback.

    Returns:
        A BatchResult: folder, page, files, one dictionary per run in `table`, and `failures`. A run
        that fails ends no other.

    Raises:
        InputError: a scenario, an arithmetic, the folder or the scheduler cannot be used; nothing
            was computed.
    """
    sources = _listed(scenarios)
    backends = _names(backends)
    if scheduler is not None and not isinstance(scheduler, str):
        raise refused("scheduler", scheduler, "an address such as tcp://host:8786")
    for name, count in (("workers", workers), ("threads", threads)):
        if count is not None:
            integer(name, count, *THREADS)
    fresh = flag("fresh", fresh)
    files = load_files(plugins)
    changes = changes_of(changes)
    loaded = _loaded(sources, changes, backends)
    files = tuple(dict.fromkeys((*files, *_files_behind(loaded, workers or scheduler))))
    runs = planned(loaded, backends, suffix_of(format))
    return run_planned(
        runs, out if out is not None else default_folder(loaded),
        lambda folder: command or _command(sources, backends, files, changes, format, folder),
        {"on_plan": on_plan, "on_done": on_done, "on_days": on_days,
         "on_compiling": on_compiling, "on_cluster": on_cluster},
        fresh=fresh, debug=debug, scheduler=scheduler, workers=workers, threads=threads,
        plugins=files,
    )  # fmt: skip


def run_planned(
    runs: Sequence[Run], out: str | Path, command: Callable[[Path], str],
    callbacks: Mapping[str, Callable | None], **how: Any,
) -> BatchResult:  # fmt: skip
    """Compute planned runs in a folder that nobody else works in, and write its page.

    Args:
        runs: as `planned` gives them.
        out: the folder.
        command: folder -> the command line that makes the batch again.
        callbacks: the callbacks of `run`, by name.
        how: `fresh`, and how the runs are executed, as in `run`.

    Raises:
        InputError: as `run`.
    """
    folder = prepare_folder(out)
    try:
        with alone_in(folder):
            require_own_page(folder)
            return _run_in(folder, runs, command(folder), **how, **_listening(callbacks))
    except InputError:
        with contextlib.suppress(OSError):  # an empty folder would say that something had run
            folder.rmdir()
        raise


def _listening(callbacks: Mapping[str, Callable | None]) -> dict[str, Any]:
    """The callbacks that were given; where none is, those of a notebook, if this is one."""
    chosen = {name: call for name, call in callbacks.items() if call is not None}
    if chosen or not NotebookLine.is_seen():
        return chosen
    from sciprec.workbench.batch.course import listeners

    return listeners()


def _run_in(
    folder: Path, runs: Sequence[Run], command: str, *, fresh: bool,
    on_plan: Callable = lambda runs: None, on_done: Callable = lambda outcome: None, **how: Any,
) -> BatchResult:  # fmt: skip
    """Compute what is missing in a folder, and write its page.

    Args:
        how: arguments of `execute`.
    """
    on_plan(runs)
    in_order = completed(runs, folder, fresh=fresh, on_done=on_done, **how)
    notes = (
        *(
            f"{name_of(outcome.scenario, outcome)}: {note}"
            for outcome in in_order
            for note in outcome.notes
        ),
        *_notes(left_beside(runs, folder), folder),
        *_notes_of_interruptions(*interrupted_beside(runs, folder), folder),
    )
    end_states(in_order, folder)
    result = _report(folder, runs, in_order, command)
    return replace(result, notes=(*result.notes, *notes))


def completed(
    runs: Sequence[Run], folder: Path, *, fresh: bool = False,
    on_done: Callable[[Outcome], None] = lambda outcome: None, **how: Any,
) -> list[Outcome]:  # fmt: skip
    """Compute those of some runs whose files are not in a folder; return the outcomes of all.

    Args:
        runs: the plan.
        folder: that nobody else works in.
        fresh: whether files that are there do not count.
        on_done: told of each outcome, those of runs that are kept first.
        how: further arguments of `execute`.
    """
    put_back(folder)
    outcomes, notes = {}, {}
    for candidate in () if fresh else find(runs, folder):
        if candidate.note:
            notes[candidate.run.file] = candidate.note
        elif (outcome := restored(candidate, folder)) is not None:
            outcomes[outcome.file] = outcome
    begin_states(runs, folder, outcomes)
    missing = [run for run in runs if run.file not in outcomes]
    remove_leftovers(missing, folder)
    for outcome in outcomes.values():
        on_done(outcome)

    def noted(outcome: Outcome) -> Outcome:
        of_file = (notes[outcome.file],) if outcome.file in notes else ()
        return replace(outcome, notes=(*of_file, *outcome.notes))

    def done(outcome: Outcome) -> None:
        on_done(noted(outcome))

    computed = execute(missing, folder, fresh=fresh, on_done=done, **how) if missing else ()
    remove_leftovers(missing, folder)
    outcomes |= {outcome.file: noted(outcome) for outcome in computed}
    return [outcomes[run.file] for run in runs]


def _notes(names: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Notes for a reader of the folder about files that are not on the page."""
    if not names:
        return ()
    listed = ", ".join(names[:_MOST_NAMED]) + (" and others" if len(names) > _MOST_NAMED else "")
    return (
        f"{len(names)} of the files in '{folder}' are not on the page: {listed}; they are of other "
        "scenarios of the same name, or of runs that were not asked for now; remove them, or give "
        "another folder with --out",
    )


def _notes_of_interruptions(count: int, size: int, folder: Path) -> tuple[str, ...]:
    """Notes on checkpoints that runs of other batches have left in the folder."""
    if not count:
        return ()
    return (
        f"'{folder / INTERRUPTED}' holds {size / 1e6:,.1f} MB from which {counted(count, 'run')} "
        "that nobody asked for now can go on; ask for the same again, or remove it",
    )


def forecast(
    scenarios: str | Path | Scenario | Sequence[str | Path | Scenario],
    *,
    out: str | Path | None = None,
    backends: Iterable[str] | None = None,
    format: str = NETCDF,
    fresh: bool = False,
    plugins: str | Path | Sequence[str | Path] = (),
    changes: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Describe what `run` would do with the same arguments; nothing is computed or written.

    Returns:
        One dictionary per run: scenario, label, member, file, kept (whether its file is there
        already, and holds what was written), note (about one that does not), work (in words),
        seconds (roughly, on one core, without compilation; None where that depends on the numbers),
        compile_seconds (0 where its kernels are compiled already, or another run of this batch
        compiles them), megabytes (of its file before compression, at
        most), memory_megabytes (of the process that makes it, at most; None where not known).

    Raises:
        InputError: as `run`.
    """
    backends = _names(backends)
    load_files(plugins)
    loaded = _loaded(_listed(scenarios), changes_of(changes), backends)
    runs = planned(loaded, backends, suffix_of(format))
    folder = Path(out) if out is not None else default_folder(loaded)
    present, notes = set(), {}
    for candidate in () if fresh else find(runs, folder):
        notes[candidate.run.file] = candidate.note
        if candidate.attributes is not None:
            present.add(candidate.run.file)
    return [
        {"scenario": run.scenario.name, "label": run.label, "member": run.member, "file": run.file,
         "kept": run.file in present, "note": notes.get(run.file, ""), **vars(about)}
        for run, about in zip(runs, estimates(runs, present), strict=True)
    ]  # fmt: skip


def _files_behind(scenarios: Sequence[Scenario], elsewhere: Any) -> list[str]:
    """The files of users' models, which other processes have to import.

    Args:
        scenarios: loaded ones.
        elsewhere: whether runs go to other processes.

    Raises:
        InputError: they do, and there is no file.
    """
    kinds = [kind_of(scenario) for scenario in scenarios]
    for kind in kinds:
        if elsewhere and not kind.file and kind.origin[:1] == ("__main__",):
            raise InputError(
                f"the model '{kind.name}' is defined in a notebook or at a prompt, where other "
                "processes cannot find it; save it in a file and give that as plugin, or leave out "
                "workers and scheduler"
            )
    return [kind.file for kind in kinds if kind.file]


def _listed(scenarios: Any) -> list[Any]:
    """One or several scenarios as a list."""
    items = [scenarios] if isinstance(scenarios, (str, Path, Scenario)) else scenarios
    if not isinstance(items, (list, tuple)) or not all(
        isinstance(item, (str, Path, Scenario)) for item in items
    ):
        raise refused("scenarios", scenarios, "files, loaded scenarios, or a list of these")
    return list(items)


def _loaded(
    sources: Sequence[Any], changes: Mapping[str, Any], backends: Sequence[str] | None
) -> list[Scenario]:
    """Scenarios, those of files loaded, with what is said otherwise. Where arithmetics are given
    and scales, which are for those, none of the file's own is looked at.
    """
    if backends and "scaling" in changes:
        changes = {**changes, "backends": list(backends)}
    if not changes:
        return [
            scenario for source in sources
            for scenario in ([source] if isinstance(source, Scenario) else load_scenarios(source))
        ]  # fmt: skip
    contents = (
        (file.model_dump(mode="json"), f"scenario '{file.name}'") if isinstance(file, Scenario)
        else (read_scenario(file), str(file)) for file in sources
    )  # fmt: skip
    return [
        scenario for content, origin in contents
        for scenario in parse_scenarios(changed(content, changes), origin)
    ]  # fmt: skip


def _names(backends: Iterable[str] | None) -> list[str] | None:
    """The arithmetics that replace those of the scenarios; None where there are none."""
    none = backends is None or (isinstance(backends, (list, tuple)) and not backends)
    return None if none else backend_names(backends)


def planned(
    scenarios: Sequence[Scenario], backends: Sequence[str] | None, suffix: str
) -> tuple[Run, ...]:
    """All runs of scenarios, which are checked, with digests of what is behind them.

    Args:
        scenarios: loaded ones.
        backends: names that replace those of the scenarios, or None.
        suffix: of the files, as in `output.files`.

    Raises:
        InputError: as `run`.
    """
    runs = plan(scenarios, backends, os.environ, suffix)
    for scenario in scenarios:
        own_runs = [run for run in runs if run.scenario.name == scenario.name]
        check(scenario, [run.variant for run in own_runs if run.member == 0])
    behind: dict[str, dict[str, Any]] = {
        s.name: {"code": code_behind(s), "state": state_behind(s)} for s in scenarios
    }
    return tuple(replace(run, **behind[run.scenario.name]) for run in runs)


def default_folder(scenarios: Sequence[Scenario]) -> Path:
    """The folder `reports/NAME`: of the only scenario, of the only file with a sweep, or `batch`.
    """
    names = {family(scenario.name, scenario.sweep) for scenario in scenarios}
    return Path("reports") / (names.pop() if len(names) == 1 else "batch")


def prepare_folder(out: str | Path) -> Path:
    """Make the output folder and try to write into it, before anything is computed.

    Raises:
        InputError: it cannot be made, is no folder, or cannot be written.
    """
    folder = Path(path("the output folder", out))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        why = "it is a file" if os.path.isfile(folder) else error.strerror
        raise InputError(
            f"the output folder '{folder}' cannot be written ({why}); "
            "give a folder that you may write into with --out"
        ) from None
    return folder


def _report(
    folder: Path, runs: Sequence[Run], outcomes: Sequence[Outcome], command: str
) -> BatchResult:  # fmt: skip
    """Store the list of runs, write the page, and read the table from what is stored."""
    from sciprec.report.page import table, write_page
    from sciprec.report.stored.batch import read_batch, write_manifest

    scenarios = {run.scenario.name: run.scenario for run in runs}
    stated = {name: scenario.model_dump(mode="json") for name, scenario in scenarios.items()}
    write_manifest(folder, outcomes, command=command, made_by=provenance(), scenarios=stated)
    batch = read_batch(folder, keep=True)
    page = write_page(batch)
    rows = table(batch, keep=True)
    return BatchResult(
        folder=folder,
        page=page,
        files=tuple(folder / o.file for o in outcomes if not o.failure),
        table=rows,
        failures=tuple(o for o in outcomes if o.failure),
        notes=tuple(
            f"{row['label']} in {row['scenario']}: {row['idle_roles']}"
            for row in rows
            if row["idle_roles"]
        ),
    )


def _command(
    sources: Sequence[Any], backends: Sequence[str] | None, plugins: Sequence[str],
    changes: Mapping[str, Any], format: str, folder: Path,
) -> str:  # fmt: skip
    """The command line that makes this batch again."""
    parts = [*shell_assignments(os.environ), "sciprec", "run"]
    for source in sources:
        parts.append(f"{source.name}.toml" if isinstance(source, Scenario) else os.fspath(source))
    for name in backends or ():
        parts += ["--backend", name]
    for file in plugins:
        if Path(file) not in example_models().values():  # their scenarios bring them along
            parts += ["--plugin", file]
    for key, value in changes.items():
        parts += ["--set", f"{key}={toml(value)}"]
    if format != NETCDF:
        parts += ["--format", format]
    return shlex.join([*parts, "--out", os.fspath(folder)])
