"""Runs the trials of a file, those in a row that have one fault in a copy of this process.

    python -m tests.random_kernels.worker TRIALS OUTCOMES LIMIT

TRIALS has a line `[fault, trial, compiled]` for each, OUTCOMES gets `[kind, detail]`, in order;
LIMIT are the seconds after which a trial is given up. The process has imported and compiled nothing
of the engine's but what any compilation needs: one of its own for each fault would start for longer
than it runs.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
import traceback
from itertools import groupby
from pathlib import Path

import numba

from tests.random_kernels.assigned import KIND, WHOLE, run_assigned, run_whole
from tests.random_kernels.cases import Trial
from tests.random_kernels.faults import plant
from tests.random_kernels.trials import run_trial, run_uncompiled


def work(rows: list, outcomes: Path, folder: Path) -> None:
    """Run every trial in this process, whose cache is the folder."""
    os.environ["SCIPREC_CACHE_DIR"] = str(folder)
    if fault := rows[0][0]:
        plant(fault)
    for _, text, compiled in rows:
        trial = Trial.from_json(text)
        kind = f"{trial.backend.partition(':')[0]}:"
        run = {KIND: run_assigned, WHOLE: run_whole}.get(kind, run_trial)
        outcome = (run if compiled else run_uncompiled)(trial, folder)
        _tell(outcomes, outcome.kind, outcome.detail)


def _tell(outcomes: Path, kind: str, detail: str) -> None:
    with outcomes.open("a") as out:
        print(json.dumps([kind, detail]), file=out)


def in_a_copy(rows: list, outcomes: Path, limit: float) -> None:
    """Run trials in a copy of this process; what ends it is the outcome of the one at work."""
    with tempfile.TemporaryDirectory(dir=outcomes.parent) as folder:
        child = os.fork()
        if child == 0:
            try:
                work(rows, outcomes, Path(folder))
            except BaseException:
                traceback.print_exc()  # the worker's own mistake
                os._exit(1)
            os._exit(0)
        size, since = 0, time.monotonic()
        while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            time.sleep(0.02)
            if size != (size := outcomes.stat().st_size):
                since = time.monotonic()
            if time.monotonic() - since > limit:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return _tell(outcomes, "hung", "")
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status > 0:
        raise RuntimeError("a worker's copy ended between its trials")
    if status < 0:
        _tell(outcomes, "aborted", signal.Signals(-status).name)


def main(trials: Path, outcomes: Path, limit: float) -> None:
    numba.njit(lambda x: x + 1.0)(1.0)  # what the first compilation of a process imports
    outcomes.touch()
    rows = [json.loads(line) for line in trials.read_text().splitlines()]
    for _, some in groupby(rows, key=lambda row: row[0]):
        rest = list(some)
        while rest:
            before = len(outcomes.read_text().splitlines())
            in_a_copy(rest, outcomes, limit)
            rest = rest[len(outcomes.read_text().splitlines()) - before :]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]))
