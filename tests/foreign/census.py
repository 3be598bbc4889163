"""Offer every kernel of foreign packages to `lift`: what is accepted, refused, and by which
construct.

    python -m tests.foreign.census FOLDER PACKAGE ...

FOLDER has the packages of `requirements.txt`, installed with `pip install --no-deps --target`.
"""

from __future__ import annotations

import json
import re
import resource
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

SECONDS, BYTES = 20, 8 << 30


def offer(folder: str, package: str) -> None:
    """Lift every kernel of a package, and print a line of JSON for each."""
    import sciprec
    from tests.foreign.collecting import kernels_of

    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    sys.path.insert(1, folder)
    signal.signal(signal.SIGALRM, _too_long)
    for name, kernel in kernels_of(package):
        signal.alarm(SECONDS)
        try:
            sciprec.lift(kernel, "fp64")
            outcome, words = "accepted", ""
        except sciprec.InputError as error:
            outcome, words = "refused", str(error)
        except Exception as error:
            outcome, words = "crashed", f"{type(error).__name__}: {error}"
        signal.alarm(0)
        print("ROW", json.dumps([package, name, outcome, words]), flush=True)


def _too_long(number, frame):
    raise TimeoutError(f"lifting takes more than {SECONDS} s")


def rows_of(folder: str, package: str) -> list[list[str]]:
    """[package, kernel, outcome, words] of every kernel of a package."""
    command = [sys.executable, "-m", "tests.foreign.census", "--offer", folder, package]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    rows = [json.loads(r[4:]) for r in done.stdout.splitlines() if r.startswith("ROW ")]
    if done.returncode:
        rows.append([package, "?", "crashed", done.stderr[-400:]])
    return rows


def construct_of(words: str) -> str:
    """What a refusal names, without the names of the kernel."""
    found = re.search(r"\): (.+?) cannot be lifted", words)
    return found[1] if found else re.sub(r"'[^']*'", "'...'", words)[:90]


def main(arguments: list[str]) -> None:
    if arguments[0] == "--offer":
        offer(*arguments[1:])
        return
    folder, *packages = arguments
    every = []
    for package in packages:
        rows = rows_of(folder, package)
        counts = Counter(r[2] for r in rows)
        print(package, dict(counts), flush=True)
        every += rows
    Path("/tmp/foreign/census.json").write_text(json.dumps(every))
    print(Counter(r[2] for r in every))
    for construct, n in Counter(construct_of(r[3]) for r in every if r[3]).most_common(60):
        print(n, construct)


if __name__ == "__main__":
    main(sys.argv[1:])
