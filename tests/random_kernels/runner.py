"""Runs trials in processes that may die, with faults planted or not: a process that aborts or hangs
names its trial.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from tests.random_kernels.cases import Trial
from tests.random_kernels.trials import Outcome

PER_PROCESS = 60
LIMIT_SECONDS = 120.0  # of one trial
ROOT = Path(__file__).parents[2]


def run_trials(
    trials: Iterable[Trial], fault: str = "", limit: float = LIMIT_SECONDS, per_process=PER_PROCESS
) -> Iterator[tuple[Trial, Outcome]]:
    """Every trial, compiled, with its outcome, in order, as far as the caller asks for them.

    Args:
        trials: what to run.
        fault: a fault to plant in every process first.
        limit: seconds after which a trial is given up as hung.
        per_process: how many trials a process runs.
    """
    trials = iter(trials)
    while some := list(islice(trials, per_process)):
        yield from zip(some, run_planted([(fault, t, True) for t in some], limit), strict=True)


def run_planted(
    planted: Iterable[tuple[str, Trial, bool]], limit: float = LIMIT_SECONDS
) -> list[Outcome]:
    """The outcome of each trial, compiled or not, where its fault is planted ("" plants none)."""
    with tempfile.TemporaryDirectory(prefix="random_kernels_") as folder:
        given, found = Path(folder) / "trials", Path(folder) / "outcomes"
        given.write_text("\n".join(json.dumps([name, t.as_json(), c]) for name, t, c in planted))
        own = {"NUMBA_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "tests.random_kernels.worker", given, found, str(limit)]
        subprocess.run(command, cwd=ROOT, env={**os.environ, **own}, check=True)
        return [Outcome(*json.loads(line)) for line in found.read_text().splitlines()]
