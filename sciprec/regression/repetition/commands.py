"""A command that is run again and again: the files that it leaves, and what it prints."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sciprec.foundation.arguments import at_least
from sciprec.foundation.errors import InputError
from sciprec.foundation.whole import remove, temporary_folder
from sciprec.regression.repetition import listings
from sciprec.regression.repetition.circumstances import (
    A_THIRD_ORDER,
    ELSEWHERE,
    FIRST,
    MOST_THREADS,
    OTHER_BLOCKS,
    Circumstance,
    Process,
    filled,
    fills_memory,
    threaded,
    to_be_made,
)
from sciprec.regression.repetition.findings import Repetition
from sciprec.regression.repetition.judging import Ended, Told, judged, nobody
from sciprec.regression.repetition.kernels import LEAST_RUNS, UNFILLED, patience
from sciprec.regression.repetition.leavings import PRINTED, files_below, lines_of
from sciprec.regression.repetition.sources import behind_command
from sciprec.regression.repetition.suspects import explained

OUT = "{out}"
"""Stands in a command for a new folder."""
_LAST_WORDS = 300


def repeat_command(
    words: Sequence[str], *, folder: str | Path | None = None, runs: int | None = None,
    blocks: Mapping[str, Sequence[int]] = {}, ignored: Sequence[str] = (),
    tell: Told = nobody,
) -> Repetition:  # fmt: skip
    """Run a command again and again, and compare the files that it leaves and what it prints.

    Args:
        words: the command; `{out}` in it stands for a new, empty folder of each run.
        folder: that it writes into, where it is not told `{out}`: a new or an empty one.
        runs: how many; None: as many as there are circumstances.
        blocks: variables of the environment that no result may depend on, each with values for it.
        ignored: patterns of files, or of what is in them, that do not count.
        tell: of each run.

    Raises:
        InputError: the command cannot be run, fails, or leaves nothing.
    """
    if runs is not None:
        at_least("--runs", runs, LEAST_RUNS)
    every = [
        *(
            Circumstance(("block size",), f"{name}={number}",
                         Process(variables=((name, str(number)),)))
            for name, numbers in blocks.items() for number in numbers
        ),
        threaded(2), ELSEWHERE, *filled(), OTHER_BLOCKS, A_THIRD_ORDER,
        threaded(MOST_THREADS),
    ]  # fmt: skip
    with temporary_folder("repeat") as place:
        commands = Commands(words, place, folder, tuple(ignored))
        try:
            return repeated(every, runs, commands, tell)
        finally:
            commands.clear_folder()


def repeated(
    every: Sequence[Circumstance], runs: int | None, commands: Commands, tell: Told
) -> Repetition:
    """Repeat a command under some circumstances.

    Args:
        every: circumstances, beside the first run and another one.
        runs: how many; None: for every one of them.
        commands: makes the runs.
        tell: of each run.
    """
    chosen = to_be_made(list(every), len(every) + 2 if runs is None else runs)
    made_runs, findings = judged(chosen, commands.run, tell)
    scopes = behind_command([*commands.words, *commands.sources])
    findings = [replace(finding, places=explained(finding.ways, scopes)) for finding in findings]
    untried = [c.words for c in every if c not in chosen]
    notes = [
        f"not counted: the attributes {', '.join(sorted(commands.not_counted))}"
        if commands.not_counted else "",
        "dates, times, durations and paths in what is printed and in attributes are not counted",
        "" if fills_memory() else UNFILLED,
        f"not tried with {len(chosen)} runs: {'; '.join(untried)}" if untried else "",
    ]  # fmt: skip
    return Repetition(commands.title, tuple(made_runs), tuple(findings), tuple(filter(None, notes)))


@dataclass
class Commands:
    """Runs of a command.

    Args:
        words: the command.
        place: an empty folder.
        folder: that it writes into; None: into none but `{out}`.
        ignored: patterns of what does not count.
        only: endings of the files that count; empty for all.
        usual: words that are added where a circumstance has none of its own.
        sources: Python files that it runs beside those that it names.
        printed: whether what it prints counts.
        title: what it is called.
        not_counted: attributes that were found and do not count.
        patience: how long a run may take, in seconds; None while that is not known.
    """

    words: Sequence[str]
    place: Path
    folder: str | Path | None = None
    ignored: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    usual: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    printed: bool = True
    title: str = ""
    not_counted: set[str] = field(default_factory=set)
    patience: float | None = None
    started: int = 0

    def __post_init__(self) -> None:
        self.title = self.title or f"command '{' '.join(self.words)}'"
        folder = None if self.folder is None else Path(self.folder)
        if folder is not None and folder.exists() and (
            not folder.is_dir() or any(folder.iterdir())
        ):
            fault = "is a file" if not folder.is_dir() else "has files in it"
            raise InputError(
                f"--folder is given '{folder}', which {fault}; name a folder that is not there yet "
                "or is empty, so that all in it is the command's"
            )
        self._is_new = folder is not None and not folder.exists()
        self._customized = self.place / "customized"
        self._customized.mkdir()
        shutil.copy(listings.__file__, self._customized / f"{listings.NAME}.py")

    def run(self, requested: Sequence[Circumstance]) -> Iterator[tuple[int, Ended]]:
        """Yield the number and the result of each run."""
        for number, circumstance in enumerate(requested):
            yield number, self._run_one(circumstance)

    def _run_one(self, circumstance: Circumstance) -> Ended:
        self.started += 1
        out = self.place / f"out{self.started}"
        out.mkdir()
        options = circumstance.call.options or self.usual
        words = [word.replace(OUT, str(out)) for word in (*self.words, *options)]
        code, printed, errors = self._ended(words, circumstance, out)
        folder = self._moved_out(out)
        if code:
            last = errors.strip().splitlines()[-1:] or printed.strip().splitlines()[-1:]
            words_of = last[0][:_LAST_WORDS] if last else "nothing said"
            ended = f"signal {-code}" if code < 0 else f"code {code}"
            if circumstance == FIRST:
                raise InputError(
                    f"{self.title} ends with {ended}: {words_of}; correct "
                    "it, or try it by itself"
                )
            return f"{ended}: {words_of}"
        results, not_counted = files_below(folder, self.ignored, self.only)
        self.not_counted |= not_counted
        if printed.strip() and self.printed and PRINTED not in self.ignored:
            places = {str(out): OUT, str(self.place): "…"}
            results = {**results, PRINTED: lines_of(printed, places)}
        if circumstance == FIRST and not results:
            raise InputError(
                f"{self.title} prints nothing and leaves no files that "
                "count; name the folder that it writes into with --folder, or give it {out}, which "
                "stands for a new folder"
            )
        shutil.rmtree(folder, ignore_errors=True)
        return results

    def _ended(
        self, words: Sequence[str], circumstance: Circumstance, out: Path
    ) -> tuple[int, str, str]:
        """Exit code, standard output and error of the command."""
        environment = self._environment(circumstance.process)
        try:
            if circumstance.call.interrupted:
                interrupt(words, environment, out)
            begun = time.perf_counter()
            process = subprocess.run(
                words, env=environment, capture_output=True, text=True, errors="replace",
                stdin=subprocess.DEVNULL, timeout=self.patience,
            )  # fmt: skip
            self.patience = self.patience or patience(time.perf_counter() - begun)
        except subprocess.TimeoutExpired:
            return 1, "", f"no end within {self.patience:.0f} s"
        except OSError as error:
            raise InputError(
                f"the command '{words[0]}' cannot be run ({error.strerror}); give a program with "
                "its arguments after --, as in -- python model.py"
            ) from None
        return process.returncode, process.stdout, process.stderr

    def _environment(self, process: Process) -> dict[str, str]:
        cold = {"NUMBA_CACHE_DIR": str(self.place / f"cold{self.started}")}
        variables = process.environment({}, cold)
        path = variables.get("PYTHONPATH")
        first = str(self._customized)
        return variables | {"PYTHONPATH": f"{first}{os.pathsep}{path}" if path else first}

    def _moved_out(self, out: Path) -> Path:
        """Move the files that the run has written out of the way of the next one."""
        folder = None if self.folder is None else Path(self.folder)
        if folder is not None and folder.is_dir():
            for path in list(folder.iterdir()):
                shutil.move(str(path), out / path.name)
            if self._is_new:
                folder.rmdir()
        return out

    def clear_folder(self) -> None:
        """Remove from the folder that the command writes into what could not be moved away; it was
        empty, or not there.
        """
        folder = None if self.folder is None else Path(self.folder)
        if folder is not None and folder.is_dir():
            for path in [folder] if self._is_new else list(folder.iterdir()):
                remove(path)


def interrupt(words: Sequence[str], environment: Mapping[str, str], out: Path) -> None:
    """Begin a batch, and end it without warning as soon as it has a file of a run, or a checkpoint;
    one that ends before has nothing left to do.
    """
    begun = subprocess.Popen(
        words, env=dict(environment), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    while begun.poll() is None:
        if any(out.glob(".interrupted/*/*")) or any(out.glob("*.nc")):
            begun.kill()
        time.sleep(0.02)
