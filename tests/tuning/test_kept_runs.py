"""Runs of searches that are kept: other problems, several processes, and answers that are run."""

import json
import math
import random
import subprocess
import sys

import numpy as np
import pytest

from sciprec import tune
from sciprec.foundation.sealed import sealed
from sciprec.tools.tune.kept_runs import KeptRuns
from tests.writing.damaged_stores import known, noted


def test_lines_of_another_problem_do_not_count():
    noted("a" * 64, random.Random(1))
    noted("a" * 24 + "b" * 40, random.Random(2), 3)
    assert len(known("a" * 64)) == 20 and len(known("a" * 24 + "b" * 40)) == 3


APPEND = """
import sys
from pathlib import Path
from sciprec.tools.tune import kept_runs
kept_runs._folder = lambda: Path(sys.argv[1])
kept = kept_runs.KeptRuns("c" * 64)
for number in range(300):
    kept.note((int(sys.argv[2]), number), float(number))
"""


@pytest.mark.slow
def test_several_processes_append_to_one_file(kept_folder):
    started = [
        subprocess.Popen([sys.executable, "-c", APPEND, str(kept_folder), str(one)])
        for one in range(3)
    ]
    assert [process.wait(timeout=60) for process in started] == [0, 0, 0]
    assert KeptRuns("c" * 64)._errors == {(p, n): float(n) for p in range(3) for n in range(300)}


def mean_of(x):
    total = 0.0
    for i in range(x.size):
        total += 0.25 * x[i] * x[i]
    return math.sqrt(total) / 3.0


ARGS = (np.linspace(0.1, 2.0, 40),)


def test_errors_that_somebody_wrote_into_the_file_make_no_other_assignment(kept_folder):
    """Neither without the digests of their lines, nor, by the final run, with these."""
    right = tune(mean_of, ARGS, tolerance=1e-3)
    (path,) = kept_folder.iterdir()
    rows = [json.loads(line) for line in path.read_text().splitlines() if line]
    for row in rows:
        row["error"] *= 1e-3
    path.write_text("\n".join(map(json.dumps, rows)))
    again = tune(mean_of, ARGS, tolerance=1e-3)
    assert again.as_dict() == right.as_dict()
    path.write_text("\n".join(json.dumps(sealed(row)) for row in rows))
    wrong = tune(mean_of, ARGS, tolerance=1e-3)
    assert wrong.assignment != right.assignment  # what the file says is believed on the way
    assert not wrong.good and wrong.error > 1e-3 and "where 0.001 is allowed" in wrong.verdict
