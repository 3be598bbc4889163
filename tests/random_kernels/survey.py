"""Many random kernels in many backends, in chunks; what was done already is not done again.

    python -m tests.random_kernels.survey FOLDER FIRST LAST COUNT [FAULT]

Runs the kernels of seeds FIRST to LAST - 1 in COUNT drawn backends each, or in all where COUNT is
`all`; where COUNT is `lines`, with lines in formats of their own, where it is `everything`, by an
assignment of one format to loads, arguments and comparisons, too. FAULT is planted first, such as
`without short ways`. A chunk's findings are in
FOLDER/chunk_SEED_COUNT.txt as soon as it is complete.
"""

from __future__ import annotations

import collections
import json
import os
import sys
import time
from pathlib import Path

from tests.random_kernels.assigned import assigned_trials, whole_trials
from tests.random_kernels.backends import drawn, everywhere
from tests.random_kernels.cases import Case, Trial
from tests.random_kernels.generator import random_case
from tests.random_kernels.runner import run_trials

CHUNK = 20


def survey(folder: Path, first: int, last: int, count: str, fault: str = "") -> None:
    """Run every chunk that the folder does not hold yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for start in range(first, last, CHUNK):
        path = folder / f"chunk_{start:05d}_{count}.txt"
        if path.exists():
            continue
        cases = [random_case(seed) for seed in range(start, min(start + CHUNK, last))]
        trials = [t for case in cases for t in _trials(case, count)]
        began, counts, findings = time.monotonic(), collections.Counter(), []
        for trial, outcome in run_trials(trials, fault):
            counts[outcome.kind] += 1
            if outcome.kind != "same":
                findings.append(f"==== {outcome.kind}: {outcome.detail}\n{trial.text()}")
        head = json.dumps({"counts": counts, "seconds": round(time.monotonic() - began)})
        path.with_suffix(".part").write_text("\n".join([head, *findings]))
        os.replace(path.with_suffix(".part"), path)
        print(path.name, head, flush=True)


def _trials(case: Case, count: str) -> list[Trial]:
    if count == "lines":
        return assigned_trials(case, 2)
    if count == "everything":
        return whole_trials(case)
    return everywhere(case) if count == "all" else drawn(case, int(count))


if __name__ == "__main__":
    survey(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
