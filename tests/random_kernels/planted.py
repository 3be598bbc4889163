"""Trials with faults planted, each in a copy of one process that has imported and compiled nothing
of the engine's but what any compilation needs: a process of its own for each would start for longer
than it runs.

    python -m tests.random_kernels.planted TRIALS OUTCOMES

TRIALS has a line `[fault, trial]` for each, OUTCOMES gets `[kind, detail]`, in order.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

import numba

from tests.random_kernels.cases import Trial
from tests.random_kernels.faults import plant
from tests.random_kernels.trials import Outcome, run_trial

LIMIT_SECONDS = 60.0  # of one trial
ROOT = Path(__file__).parents[2]


def run_planted(planted: Sequence[tuple[str, Trial]]) -> list[Outcome]:
    """The outcome of each trial where its fault is planted ("" plants none)."""
    with tempfile.TemporaryDirectory(prefix="planted_") as folder:
        given, found = Path(folder) / "trials", Path(folder) / "outcomes"
        given.write_text("\n".join(json.dumps([name, t.as_json()]) for name, t in planted))
        own = {"NUMBA_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "tests.random_kernels.planted", given, found]
        subprocess.run(command, cwd=ROOT, env={**os.environ, **own}, check=True)
        return [Outcome(*json.loads(line)) for line in found.read_text().splitlines()]


def in_a_copy(name: str, trial: Trial, folder: Path) -> Outcome:
    """The outcome in a copy of this process, whose cache is the folder."""
    said = folder / "outcome"
    child = os.fork()
    if child == 0:
        os.environ["SCIPREC_CACHE_DIR"] = str(folder)
        try:
            if name:
                plant(name)
            outcome = run_trial(trial, folder)
            said.write_text(json.dumps([outcome.kind, outcome.detail]))
        except BaseException:
            traceback.print_exc()  # the copy's own mistake: no outcome is written
        finally:
            os._exit(0)
    until = time.monotonic() + LIMIT_SECONDS
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return Outcome("hung")
        time.sleep(0.02)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        return Outcome("aborted", signal.Signals(-status).name)
    return Outcome(*json.loads(said.read_text()))


def main(trials: Path, outcomes: Path) -> None:
    numba.njit(lambda x: x + 1.0)(1.0)  # what the first compilation of a process imports
    with outcomes.open("w") as out:
        for line in trials.read_text().splitlines():
            name, trial = json.loads(line)
            with tempfile.TemporaryDirectory(dir=trials.parent) as folder:
                found = in_a_copy(name, Trial.from_json(trial), Path(folder))
            print(json.dumps([found.kind, found.detail]), file=out, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
