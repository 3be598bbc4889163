"""Run verbs while the system's calls on their files fail, one by one, in C libraries as well.

    python -m tests.writing.traced_verbs FOLDER SEED SCENE small|large COUNT ...

Each try is a process of its own, which strace follows: one call of a kind, or all from it on, fails
among those on files of the scene, as seen by the thread that makes it. COUNT tries are drawn; 0
goes through all, once each. A line of JSON tells each: what failed, and what is wrong.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import pickle
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sciprec.foundation import whole
from sciprec.results.output import pieces
from tests.writing import checking, scenes
from tests.writing.faults import Fault
from tests.writing.scenes import SCENES, Ended, Stage, at
from tests.writing.stand_ins import stand_ins
from tests.writing.traced_writes import failing, followed

KINDS = {
    "pwrite64,write": ("ENOSPC", "EIO"), "openat": ("EACCES", "EIO"), "fsync": ("ENOSPC", "EIO"),
    "rename": ("EACCES", "ENOSPC"), "close": ("EIO",), "pread64,read": ("EIO",),
}  # fmt: skip
"""Calls, and how they fail."""
_PATH = re.compile(r'(?<=["<])/[^">]*')
_command = scenes.command


def apart(words: str, options: list[str] | None = None, log: Path | None = None) -> Ended:
    """Run a command line in a copy of this process.

    Args:
        words: of the command.
        options: of strace, which follows it; "PROCESS" in them is the number of that process.
        log: where strace writes.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            number = str(os.getpid())
            follower = options and followed(log, [o.replace("PROCESS", number) for o in options])
            ended = _command(words)
            if follower:
                follower.terminate()
                follower.wait()
            with open(writer, "wb") as stream:
                pickle.dump(ended, stream)
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writer)
    with open(reader, "rb") as stream:
        told = stream.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return pickle.loads(told) if code == 0 else Ended(code, "", "")


def files_and_counts(stage: Stage, log: Path) -> tuple[list[str], Counter[str]]:
    """Files of a scene on which the undisturbed command calls the system, and how many calls of
    each kind are made at the most by one thread.
    """
    stage.set_up()
    with at(stage.place):
        apart(stage.scene.words, ["-y", "-s", "0", "-e", f"trace={','.join(KINDS)}"], log)
    paths, counts = set(), Counter()
    for line in log.read_text().splitlines():
        thread, call = line.split(maxsplit=1)
        name = call.partition("(")[0]
        here = [path for path in _PATH.findall(call) if path.startswith(f"{stage.place}/")]
        kind = next((kind for kind in KINDS if name in kind.split(",")), "")
        if here and kind:
            paths.update(here)
            counts[thread, kind] += 1
    most: Counter[str] = Counter()
    for (_, kind), count in counts.items():
        most[kind] = max(most[kind], count)
    numbers = re.compile(r"[0-9]+(?=-[0-9]+(-old)?\.part)|(?<=-)[0-9]+(?=(-old)?\.part)")
    paths = {numbers.sub("PROCESS", path) for path in paths}
    return sorted({*paths, *(os.path.relpath(path, stage.place) for path in paths)}), most


def tries(most: Counter[str], count: int, draw: random.Random) -> Iterator[tuple[str, str, str]]:
    """Calls, error and number of what fails."""
    if count == 0:
        for kind, number in most.items():
            for error, n in itertools.product(KINDS[kind], range(1, number + 1)):
                yield kind, error, str(n)
    for _ in range(count):
        kind = draw.choice(sorted(most))
        number = draw.randint(1, most[kind])
        yield kind, draw.choice(KINDS[kind]), f"{number}{draw.choice(['', '+'])}"


def tried(stage: Stage, paths: list[str], log: Path, one: tuple[str, str, str]) -> dict[str, Any]:
    """The result of one try.

    The process ends where the netCDF library cannot close a file that it reads, or a large one that
    it writes, whose head it writes once more then. The reason of an error that is gone when the
    file is tried again is lost in that library. The call of a number fails in each thread: a run
    may fail, which lists and pages tell, and one of these after it.
    """
    before = stage.set_up()
    options = [*itertools.chain(*(("-P", path) for path in paths)), *failing(*one)]
    with at(stage.place):
        ended = apart(stage.scene.words, options, log)
        failed = [line for line in log.read_text().splitlines() if "INJECTED" in line]
        head = pieces.WHOLE_BYTES == 0 and any(", 48, 0) = -1" in line for line in failed)
        closing = head or any(" close(" in line for line in failed)
        died = closing and ended.code == -11
        after = replace(ended, code=1) if ended.code == 2 and len(failed) > 1 else ended
        wrong = checking.left_whole(stage, before, None if died else after)
        if failed and not died:
            said = checking.said_well(stage, ended, Fault(error=getattr(errno, one[1])))
            lost = "(NetCDF: ", os.strerror(errno.EIO)
            wrong += [w for w in said if not ("reason" in w and any(one in w for one in lost))]
        wrong += checking.next_is_right(stage)
    return {"try": one, "failed": failed[:1], "code": ended.code, "wrong": wrong}


def main(folder: str, seed: str, *asked: str) -> None:
    usual = pieces.WHOLE_BYTES
    scenes.command = checking.command = apart
    whole.part_of = lambda path: path.with_name(  # whatever the thread
        f".{path.name}.{os.getpid()}-{os.getpid()}{whole.PART}"
    )
    with pytest.MonkeyPatch.context() as patch:
        stand_ins(patch)
        for name, size, count in zip(asked[::3], asked[1::3], asked[2::3], strict=True):
            pieces.WHOLE_BYTES = 0 if size == "large" else usual
            place, scene = Path(folder).resolve() / f"{name}, {size}", SCENES[name]
            (place / "scene").mkdir(parents=True)
            stage = scenes.staged(scene, place / "scene", bool(scene.older))
            paths, most = files_and_counts(stage, place / "log")
            for one in tries(most, int(count), random.Random(f"{name} {seed}")):
                print(json.dumps(tried(stage, paths, place / "log", one)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
