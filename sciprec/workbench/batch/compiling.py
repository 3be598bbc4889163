"""Compiling ahead: whether the kernels of a run are compiled, and who hears when they are.

A run that has ended leaves an empty file in the folder of the compiled kernels, named by a digest
of what decides which kernels it calls. Where it is missing, forecasts count the compiling, and a
batch compiles before its runs start, in processes of its own, because Numba compiles on one thread
of a process at a time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path

from numba.core import event

from sciprec.foundation import cache_files
from sciprec.foundation.definitions import code_digest
from sciprec.foundation.loading import load_files
from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.operations.shared import can_share
from sciprec.precision.operations.shared_rows import can_share_rows
from sciprec.precision.rounding.variant import PLAIN
from sciprec.results.comparison import compare
from sciprec.workbench.batch.plan import Run
from sciprec.workbench.kinds import Surroundings, kind_of

FOLDER = "compiled-runs"
_LOOK_SECONDS = 0.05
_MOST_PROCESSES = 8  # each takes half a gigabyte
_MOST_RUNS = 4  # of one process, which never frees what it has compiled
_WORTH_SECONDS = 3.0  # of compiling: a process takes one to begin
_thread = threading.local()


def is_compiled(run: Run) -> bool:
    """Whether a run with the same kernels has ended on this machine."""
    return os.path.exists(_mark_of(run))


def remember(run: Run) -> None:
    """Note that the kernels of a run are compiled, where the folder can be written."""
    cache_files.write(_mark_of(run), b"")


def _mark_of(run: Run) -> Path:
    return cache_files.cache_folder() / FOLDER / kernels_of(run)


def kernels_of(run: Run) -> str:
    """A digest of the kernels that a run calls, as 24 hexadecimal digits."""
    return _kernels_in(run, _written(run.backend))


def _kernels_in(run: Run, arithmetic: str) -> str:
    kind = kind_of(run.scenario)
    table = kind.kernels(run.scenario.table, run.variant)
    parts = (kind.name, table, arithmetic, run.variant.choices(), code_digest())
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]


@cache
def _written(backend: str) -> str:
    return json.dumps(asdict(resolve_backend(backend)), sort_keys=True, default=repr)


@contextlib.contextmanager
def told_of_compiling(tell: Callable[[], None] | None) -> Iterator[None]:
    """Call a function when something is compiled on this thread inside the block, once.

    Args:
        tell: the function; None: nobody is told.
    """
    _listen()
    _thread.tell = tell
    try:
        yield
    finally:
        _thread.tell = None


class _FirstCompile(event.Listener):
    def on_start(self, event) -> None:
        tell, _thread.tell = getattr(_thread, "tell", None), None
        if tell is not None:
            tell()

    def on_end(self, event) -> None:
        pass


@cache
def _listen() -> None:
    """Hear of every compilation of this process; code loaded from the disk counts as none."""
    event.register("numba:compile", _FirstCompile())


# ---- ahead of a batch --------------------------------------------------------------------------


def compile_ahead(
    runs: Sequence[Run],
    processes: int,
    plugins: Sequence[str] = (),
    on_compiling: Callable[[Run], None] | None = None,
) -> None:
    """Compile the kernels of runs, and those that compare them, in processes of their own, several
    at a time, where there are several to compile. What cannot be compiled so is compiled by its
    first run, as it says.

    Args:
        runs: of a batch.
        processes: how many at a time, at most.
        plugins: files that these import first.
        on_compiling: called with a run whose kernels are compiled now.
    """
    todo: dict[str, Run] = {}
    first: dict[tuple[str, str], Run] = {}
    for run in runs:
        first.setdefault((run.scenario.name, run.label), run)
    for run in first.values():
        kind = kind_of(run.scenario)
        worth = kind.brief is not None and kind.compile_seconds >= _WORTH_SECONDS
        if worth and not is_compiled(run):
            todo.setdefault(kernels_of(run), run)
    waiting = _without_waiting(todo.values())
    processes = min(processes, _MOST_PROCESSES)
    if min(len(waiting), processes) < 2 or not sys.executable:
        return
    working: list[_CompilerProcess] = []
    is_first = True
    try:
        while waiting or any(process.busy for process in working):
            working = [process for process in working if process.alive()]
            free = [process for process in working if not process.busy]
            if waiting and (free or len(working) < processes):
                compiler = free[0] if free else _CompilerProcess(plugins)
                if not free:
                    working.append(compiler)
                compiler.give(run := waiting.pop(0), is_first)
                is_first = False
                if on_compiling is not None:
                    on_compiling(run)
            else:
                time.sleep(_LOOK_SECONDS)
    finally:
        for process in working:
            process.end()


class _CompilerProcess:
    """A process that compiles the kernels of one run after the other: what the engine's own
    functions are compiled to is there for the next, and it begins once.

    Args:
        plugins: files that it imports first.
    """

    def __init__(self, plugins: Sequence[str]):
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import compile_given; compile_given()"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert self._process.stdin is not None and self._process.stdout is not None
        self._runs, self._done = self._process.stdin, self._process.stdout
        self.busy, self._runs_sent = False, 0
        self._plugins = list(plugins)
        self._ear = threading.Thread(target=self._hear, daemon=True)
        self._ear.start()

    def give(self, run: Run, is_first: bool) -> None:
        """Let it compile the kernels of a run, and of comparing runs after the first of a batch; it
        is busy until it has.
        """
        self.busy = True
        self._runs_sent += 1
        packed = pickle.dumps((self._plugins, pickle.dumps(run), is_first))
        with contextlib.suppress(OSError):  # it has died
            self._runs.write(packed)
            self._runs.flush()

    def _hear(self) -> None:
        """A byte for each run that is done."""
        with self._done as stream:
            while stream.read(1):
                self.busy = False

    def alive(self) -> bool:
        """Whether it takes runs still: it ends after some, whose code it never frees."""
        if not self.busy and self._runs_sent == _MOST_RUNS:
            self.end()
        if self._process.poll() is None:
            return True
        self.end()
        return False

    def end(self) -> None:
        """Stop it, whatever it does."""
        self._process.kill()
        self._process.wait()
        self._ear.join()
        with contextlib.suppress(OSError):  # what it has not read
            self._runs.close()


def _without_waiting(runs: Collection[Run]) -> list[Run]:
    """The runs in an order in which those whose kernels are mostly the same are apart: the first of
    them compiles what the others, at the end, find; side by side one would wait for the other.
    """
    leading: dict[str, Run] = {}
    for run in runs:
        backend = resolve_backend(run.backend)
        shared = "shared" if can_share(backend) else _written(run.backend)
        shared = "fixed" if can_share_rows(backend, PLAIN) else shared
        leading.setdefault(_kernels_in(run, shared), run)
    first = list(leading.values())
    return first + [run for run in runs if not any(run is leader for leader in first)]


def compile_kernels(run: Run, is_compared: bool = False) -> None:
    """Compile the kernels of a run by one that is brief, and where asked for those of comparing."""
    kind = kind_of(run.scenario)
    if kind.brief is not None:
        dataset = kind.run(kind.brief(run.scenario.table), run.variant, Surroundings())
        remember(run)
        if is_compared:
            compare(dataset, dataset)


def compile_given() -> None:
    """Compile runs that come on standard input, and write a byte for each: the process of
    `compile_ahead`. A run that cannot be compiled says so when it is made.
    """
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # kernels may print
    while True:
        try:
            files, packed_run, is_first = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        with contextlib.suppress(Exception):
            load_files(files)
            compile_kernels(pickle.loads(packed_run), is_compared=is_first)
        output.write(b".")
