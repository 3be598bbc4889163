"""A scenario that is run again and again, by the command that runs it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sciprec.foundation.arguments import at_least
from sciprec.foundation.whole import temporary_folder
from sciprec.precision.formats.backend import backend_names
from sciprec.regression.repetition.circumstances import CallSettings, Circumstance, Process, filled
from sciprec.regression.repetition.commands import OUT, Commands, repeated
from sciprec.regression.repetition.findings import Repetition
from sciprec.regression.repetition.judging import Told, nobody
from sciprec.regression.repetition.kernels import LEAST_RUNS
from sciprec.regression.repetition.listings import BACKWARDS
from sciprec.results.output.files import NETCDF, suffix_of
from sciprec.workbench.kinds import kind_of, load_scenarios

_ALONE = ("--threads", "1")


def repeat_scenario(
    named: str, *, backends: Sequence[str] = (), runs: int | None = None,
    changes: Sequence[str] = (), plugins: Sequence[str] = (), ignored: Sequence[str] = (),
    tell: Told = nobody,
) -> Repetition:  # fmt: skip
    """Run a scenario again and again, and compare the variables in the files of its runs.

    Args:
        named: its file, or the name of one that comes with sciprec.
        backends: arithmetics in place of its own.
        runs: how many; None: as many as there are circumstances.
        changes: KEY=VALUE, in place of the file's.
        plugins: files that register what it uses.
        ignored: patterns of files, or of variables, that do not count.
        tell: of each run.

    Raises:
        InputError: it cannot be read, or its batch fails.
    """
    if runs is not None:
        at_least("--runs", runs, LEAST_RUNS)
    scenario = load_scenarios(named)[0]
    names = backend_names(list(backends)) if backends else list(scenario.backends)
    plugged = [word for file in plugins for word in ("--plugin", file)]
    changed = [word for change in changes for word in ("--set", change)]
    words = [
        sys.executable, "-m", "sciprec", *plugged, "run", named, "--out", OUT, "--quiet", *changed,
    ]  # fmt: skip
    options = _as_words(names) if backends else ()
    backwards = [
        Circumstance(("order of runs",), "arithmetics in the opposite order",
                     call=CallSettings(options=(*_ALONE, *_as_words(names[::-1])))),
    ] if len(names) > 1 else []  # fmt: skip
    every = [
        Circumstance(("threads",), "2 threads", Process(threads=2),
                     CallSettings(options=("--threads", "2", *options))),
        Circumstance(("processes",), "runs in 2 processes",
                     call=CallSettings(options=("--workers", "2", *options))),
        *backwards,
        Circumstance(("hash seed", "order of files"), "another hash seed, lists of files backwards",
                     Process(hash_seed=1, listed=BACKWARDS)),
        *filled(),
        Circumstance(("interruption",), "interrupted, and gone on with",
                     call=CallSettings(interrupted=True)),
    ]  # fmt: skip
    with temporary_folder("repeat") as place:
        commands = Commands(
            words, place, ignored=tuple(ignored), only=(suffix_of(NETCDF),),
            usual=(*_ALONE, *options), sources=(kind_of(scenario).file,), printed=False,
            title=f"scenario '{scenario.name}'",
        )  # fmt: skip
        return repeated(every, runs, commands, tell)


def _as_words(backends: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for name in backends for word in ("--backend", name))
