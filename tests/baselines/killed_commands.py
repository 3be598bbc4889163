"""Commands that save or bless a baseline and are killed: they go on, to the same record.

    python -m tests.baselines.killed_commands FIRST LAST

Kills a command of every seed from FIRST to LAST - 1 at random moments, up to three times, then lets
it end. Prints how many were killed, and how many runs they found when they went on.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sciprec.baselines.records import read_record, record_names
from sciprec.baselines.saving import writable

FILES = {
    "sums.toml": """
name = "sums"
title = "Sums"
source = "nobody"
kind = "accumulation"
backends = ["fp32", "fp16"]

[accumulation]
updates = 200000
members = 4
outputs = 4
smallest = 1.0e-3
largest = 1.0e-2
start = 1.0
""",
    "flow.toml": """
name = "flow"
title = "A little flow"
source = "Williamson et al. (1992), case 5"
kind = "climate"
backends = ["fp32"]

[climate]
case = "williamson_5"
truncation = 7
days = 2.0
output_hours = 6.0
""",
    "products.py": """
import numpy as np

def product(x, y):
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total

def start():
    return {"x": np.linspace(0.0, 1.0, 100), "y": np.linspace(1.0, 2.0, 100)}
""",
}
SUBJECTS: Mapping[str, tuple[str, ...]] = {
    "sums": ("sums.toml",),
    "flow": ("flow.toml",),
    "product": ("products.py:product", "--inputs", "products.py:start", "--backend", "fp16"),
    "price_call": ("--", "price", "--model", "lewis", "--payoff", "call", "--strike", "100",
                   "--maturity", "1", "--backend", "fp32", "--tolerance", "0.5"),
}  # fmt: skip
AT_ONE_TIME = os.environ | {"GIT_AUTHOR_DATE": "@0 +0000", "GIT_COMMITTER_DATE": "@0 +0000"}
OF_TIME = ("pace", "room", "sealed", "values")
"""What differs from one run to the next: times, memory, and digests of files that state these."""


class Place:
    """A repository with the subjects, and a folder for what is temporary."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.temporary = folder / "work", folder / "temporary"
        self.folder.mkdir(parents=True)
        self.temporary.mkdir()
        for name, text in FILES.items():
            (self.folder / name).write_text(text)
        git = ["git", "-C", str(self.folder), "-c", "user.name=a", "-c", "user.email=a@b"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
            subprocess.run([*git, *words], check=True, capture_output=True, env=AT_ONE_TIME)

    def started(self, *words: str, waits: str = "") -> subprocess.Popen:
        """`sciprec baseline` with these words; `waits`: the arithmetic in which a model waits."""
        environment = {**os.environ, "TMPDIR": str(self.temporary), "WAITS": waits}
        return subprocess.Popen(
            [sys.executable, "-m", "sciprec", "baseline", *words], cwd=self.folder,
            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def killed_then_ended(
        self, draw: random.Random, is_done: Callable[[], bool], *words: str
    ) -> tuple[int, int]:
        """Kill a command at random moments, then let it end.

        Args:
            draw: of the moments.
            is_done: whether the command had reached its end when it was killed.
            words: of the command.

        Returns:
            How often it was killed, and how many runs it found when it went on.
        """
        for kills in range(draw.randint(1, 3)):
            command = self.started(*words)
            try:
                _, said = command.communicate(timeout=draw.uniform(0.5, 6.0))
            except subprocess.TimeoutExpired:
                command.kill()
                command.communicate()
                assert not list(self.temporary.iterdir()), list(self.temporary.iterdir())
                if is_done():  # the next command of any kind removes what it has left
                    with writable(self.folder / "baselines"):
                        return kills + 1, 0
                continue
            assert command.returncode == 0, said
            return kills, len(re.findall("kept, computed before", said))
        command = self.started(*words)
        _, said = command.communicate(timeout=300)
        assert command.returncode == 0, said
        return kills + 1, len(re.findall("kept, computed before", said))

    def record(self, name: str) -> dict[str, Any]:
        """A baseline with its values, without what no two runs have in common."""
        record = read_record(name, self.folder / "baselines")
        stored = json.loads((self.folder / "baselines" / name / "baseline.json").read_text())
        runs = [
            {key: value for key, value in run.items() if key not in OF_TIME}
            for run in stored["runs"]
        ]
        values = {
            run.name: {
                str(n): (v.dims, v.dtype.str, v.values.tobytes())
                for n, v in record.values_of(run).variables.items()
            }
            for run in record.runs
        }
        history = [{k: v for k, v in one.items() if k != "at"} for one in record.history]
        return {"key": record.key, "runs": runs, "values": values, "history": history}

    def left(self) -> list[Path]:
        """What is there beside baselines and their subjects."""
        return [*self.temporary.iterdir(), *(self.folder / "baselines").glob(".*")]


def words_of(name: str, blessed: bool) -> tuple[str, ...]:
    """The words of a command that saves or blesses a subject."""
    if blessed:
        return "bless", name, "--reason", "it is right"
    return "save", *SUBJECTS[name]


def ended(folder: Path, name: str) -> tuple[Path, dict[str, Any], dict[str, Any]]:
    """Where a subject was saved, and what it is saved and blessed as without a kill."""
    place, records = Place(folder), []
    for blessed in (False, True):
        if blessed:
            shutil.copytree(place.folder / "baselines", folder / "saved")
        command = place.started(*words_of(name, blessed))
        _, said = command.communicate(timeout=300)
        assert command.returncode == 0, said
        records.append(place.record(name))
        assert not place.left()
    return folder / "saved", *records


def trial(draw: random.Random, name: str, blessed: bool, known: tuple, folder: Path) -> tuple:
    """Kill a command that saves or blesses a subject, and hold what it gives at last against what
    `ended` gave; how often it was killed, and how many runs it found.
    """
    place = Place(folder)
    if blessed:
        shutil.copytree(known[0], place.folder / "baselines")
    expected, baselines = known[1 + blessed], place.folder / "baselines"

    def is_done() -> bool:
        return name in record_names(baselines) and place.record(name) == expected

    found = place.killed_then_ended(draw, is_done, *words_of(name, blessed))
    assert place.record(name) == expected, f"another record of {name}"
    assert not place.left(), place.left()
    return found


def main(first: int, last: int) -> None:
    """Run the trials of seeds."""
    kills = kept = 0
    with tempfile.TemporaryDirectory() as place:
        known = {name: ended(Path(place) / name, name) for name in SUBJECTS}
        for seed in range(first, last):
            draw = random.Random(seed)
            name, blessed = draw.choice(list(SUBJECTS)), draw.random() < 0.4
            try:
                found = trial(draw, name, blessed, known[name], Path(place) / f"{seed}")
                kills, kept = kills + found[0], kept + found[1]
            except Exception as error:
                print(f"seed {seed}, {name}, {'bless' if blessed else 'save'}: {error!r}")
    print(f"{last - first} commands, killed {kills} times; they found {kept} of their runs")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
