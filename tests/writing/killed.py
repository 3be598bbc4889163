"""Processes that are killed between any two steps on files.

    python -m tests.writing.killed FOLDER

Kills a file and a folder that replace others there: each is what it was, or what it is to be.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from sciprec.foundation import whole

_EVENTS = ("open", "os.", "shutil.")
"""Starts of the names of audit events that a step on files raises."""


def killed_at_every_step(action: Callable[[], object], look: Callable[[], object]) -> int:
    """Do something again and again, each time in a process that is killed one step later, until one
    gets to its end.

    Args:
        action: done in a copy of this process, which therefore has one thread.
        look: done after each kill, in this process; it puts everything back.

    Returns:
        How many processes were killed.
    """
    for step in range(10_000):
        child = os.fork()
        if child == 0:
            left = [step]

            def hear(event: str, _: tuple, left: list[int] = left) -> None:
                if event.startswith(_EVENTS) and event != "os.kill":
                    left[0] -= 1
                    if left[0] < 0:
                        os.kill(os.getpid(), signal.SIGKILL)

            try:
                sys.addaudithook(hear)
                action()
                os._exit(0)
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        look()
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0, "the action failed"
            return step
    raise AssertionError("the action has no end")


def file_replaced(path: Path) -> None:
    """Write the new content of a file."""
    whole.write_bytes(path, b"new" * 1000, lasting=True)


def folder_replaced(path: Path) -> None:
    """Write a folder whose files have the new content."""
    with whole.replacing(path, lasting=True) as part:
        (part / "in").mkdir(parents=True)
        for name in ("one", "in/other"):
            (part / name).write_bytes(b"new" * 1000)


def killed(place: Path, replaced: Callable[[Path], None], old: dict[str, bytes]) -> int:
    """Kill the replacement of a file or folder at every step; how many kills that were.

    Args:
        place: an empty folder.
        replaced: does it.
        old: what was there: names in the folder, "" for a file, and contents.
    """
    path, seen = place / "it", []

    def put() -> None:
        whole.remove(path)
        for name, content in old.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(content)

    def look() -> None:
        whole.put_back(place)
        files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
        seen.append({one.relative_to(path).as_posix(): one.read_bytes() for one in files})
        whole.tidy(place)
        assert os.listdir(place) == ([path.name] if files else []), os.listdir(place)
        put()

    put()
    count = killed_at_every_step(lambda: replaced(path), look)
    before = {name or ".": content for name, content in old.items()}
    first = next(k for k, one in enumerate(seen) if one != before)
    assert all(one == seen[-1] for one in seen[first:]) and {*seen[-1].values()} == {b"new" * 1000}
    return count


if __name__ == "__main__":
    cases = (
        (file_replaced, {}), (file_replaced, {"": b"old"}), (folder_replaced, {}),
        (folder_replaced, {"one": b"old", "third": b"old"}),
    )  # fmt: skip
    counts = []
    for number, case in enumerate(cases):
        (Path(sys.argv[1]) / f"{number}").mkdir(parents=True)
        counts.append(killed(Path(sys.argv[1]) / f"{number}", *case))
    print(json.dumps(counts))
