"""Runs trials in processes that may die: a process that aborts or hangs names its trial."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from tests.random_kernels.cases import Trial
from tests.random_kernels.trials import Outcome

PER_PROCESS = 20
LIMIT_SECONDS = 120.0  # of one trial, the process's start included
ROOT = Path(__file__).parents[2]


def run_trials(
    trials: Iterable[Trial], fault: str = "", limit: float = LIMIT_SECONDS, per_process=PER_PROCESS
) -> Iterator[tuple[Trial, Outcome]]:
    """Every trial with its outcome, in order, as far as the caller asks for them.

    Args:
        trials: what to run.
        fault: a fault to plant in every process first.
        limit: seconds after which a trial is given up as hung.
        per_process: how many trials a process runs.
    """
    trials = iter(trials)
    while rest := list(islice(trials, per_process)):
        while rest:
            outcomes = _run_process(rest, fault, limit)
            yield from zip(rest, outcomes, strict=False)
            rest = rest[len(outcomes) :]


def _run_process(trials: list[Trial], fault: str, limit: float) -> list[Outcome]:
    """The outcomes of one process: of all trials, or up to the one that ended it."""
    with tempfile.TemporaryDirectory(prefix="random_kernels_") as folder:
        given, found = Path(folder) / "trials", Path(folder) / "outcomes"
        said = Path(folder) / "said"
        given.write_text("\n".join(t.as_json() for t in trials))
        found.touch()
        own = {"SCIPREC_CACHE_DIR": folder, "NUMBA_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "tests.random_kernels.worker", given, found]
        with said.open("w") as stream:
            process = subprocess.Popen(
                [*command, *([fault] if fault else [])],
                cwd=ROOT, env={**os.environ, **own}, stdout=stream, stderr=stream,
            )  # fmt: skip
            try:
                hung = _watch(process, found, limit)
            finally:
                process.kill()
                process.wait()
        return _outcomes(found, len(trials), process.returncode, hung, said)


def _watch(process: subprocess.Popen, found: Path, limit: float) -> bool:
    """Wait until the process ends; whether it wrote nothing for longer than the limit."""
    size, since = 0, time.monotonic()
    while True:
        try:
            process.wait(0.5)
            return False
        except subprocess.TimeoutExpired:
            pass
        now = found.stat().st_size
        if now != size:
            size, since = now, time.monotonic()
        elif time.monotonic() - since > limit:
            return True


def _outcomes(found: Path, count: int, status: int, hung: bool, said: Path) -> list[Outcome]:
    outcomes: list[Outcome] = []
    begun = False
    for line in found.read_text().splitlines():
        _, kind, detail = json.loads(line)
        begun = kind is None
        if not begun:
            outcomes.append(Outcome(kind, detail))
    if len(outcomes) < count:
        words = said.read_text()[-1500:]
        if not begun:
            raise RuntimeError(f"a worker did not start, or ended between trials: {words}")
        ended = signal.Signals(-status).name if status < 0 else f"exit {status}"
        outcomes.append(Outcome("hung" if hung else "aborted", "" if hung else f"{ended}: {words}"))
    return outcomes
