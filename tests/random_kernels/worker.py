"""Runs the trials of a file one after another; what it writes tells how far it came.

    python -m tests.random_kernels.worker TRIALS OUTCOMES [FAULT]

TRIALS has one trial in JSON a line. OUTCOMES gets a line `[n, null, seconds]` when the n-th begins
and a line `[n, kind, detail]` when it has ended. FAULT is the name of a fault to plant first.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from tests.random_kernels.assigned import KIND, WHOLE, run_assigned, run_whole
from tests.random_kernels.cases import Trial
from tests.random_kernels.trials import run_trial


def work(trials: Path, outcomes: Path) -> None:
    """Run every trial of the file."""
    with outcomes.open("a") as out:
        for n, line in enumerate(trials.read_text().splitlines()):
            print(json.dumps([n, None, time.monotonic()]), file=out, flush=True)
            trial = Trial.from_json(line)
            kind = f"{trial.backend.partition(':')[0]}:"
            run = {KIND: run_assigned, WHOLE: run_whole}.get(kind, run_trial)
            outcome = run(trial, trials.parent)
            print(json.dumps([n, outcome.kind, outcome.detail]), file=out, flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 3:
        from tests.random_kernels.faults import plant

        plant(sys.argv[3])
    work(Path(sys.argv[1]), Path(sys.argv[2]))
