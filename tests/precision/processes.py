"""New processes that run code of the tests."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def started(program: str, *words: str, cwd: Path = ROOT, **environment) -> str:
    """The output of a program in a process of its own, with variables of the environment added; it
    may take five minutes.
    """
    done = subprocess.run(
        [sys.executable, "-c", program, *words], cwd=cwd, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)} | {k: str(v) for k, v in environment.items()},
        check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout
