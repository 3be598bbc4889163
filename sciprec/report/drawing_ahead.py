"""Parts of pages drawn ahead by several processes, which keep them; the page then finds them.

Which process draws a scenario decides nothing: a part is kept by the digest of what it shows, and
one that no process has kept is drawn where the page is put together.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from sciprec.foundation import cache_files
from sciprec.report.section import is_undrawn, scenario_part
from sciprec.report.stored.batch import StoredBatch

MOST_PROCESSES = 8
LEAST_SCENARIOS = 3
"""Scenarios for each process from which on one is worth its beginning, which takes two seconds."""
_BYTES = 4
_MOST_QUEUED = 2**12
"""Numbers that a pipe takes at once, four bytes each."""
Task = tuple[StoredBatch, int, str]


def draw_ahead(batch: StoredBatch, pages: Mapping[str, str]) -> None:
    """Draw what is not kept of a batch's scenarios, on all processors.

    Args:
        batch: as its folder holds it.
        pages: scenario -> its page, where each has one of its own.
    """
    if cache_files.why_unusable(cache_files.chosen_folder()):
        return
    tasks = tasks_of(batch, pages)
    todo = [task for task in tasks if is_undrawn(*task)][:_MOST_QUEUED]
    count = min(os.cpu_count() or 1, MOST_PROCESSES, len(todo) // LEAST_SCENARIOS)
    if count > 1 and sys.executable:
        _draw_with(count - 1, todo)


def tasks_of(batch: StoredBatch, pages: Mapping[str, str]) -> list[Task]:
    """Batch, place and name of each scenario, as its page shows it."""
    if pages:
        return [(batch.only(name), 0, name) for name in pages]
    return [(batch, place, name) for place, name in enumerate(batch.scenarios)]


def _draw_with(helpers: int, todo: Sequence[Task]) -> None:
    """Draw scenarios here and in helping processes; each takes the next number from a pipe."""
    with tempfile.TemporaryDirectory(prefix="sciprec-drawing-") as folder:
        path = Path(folder) / "tasks"
        path.write_bytes(pickle.dumps(list(todo)))
        queue, end = os.pipe()
        os.write(end, b"".join(n.to_bytes(_BYTES, "big") for n in range(len(todo))))
        os.close(end)
        program = f"from {__name__} import draw_queued; draw_queued()"
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", program, str(path)], stdin=queue,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            ) for _ in range(helpers)
        ]  # fmt: skip
        try:
            _draw_from(queue, todo)
            for process in processes:
                process.wait()
        finally:
            os.close(queue)
            for process in processes:
                process.kill()
                process.wait()


def _draw_from(queue: int, todo: Sequence[Task]) -> None:
    """Draw the scenarios whose numbers come from a pipe, until it is empty."""
    while number := os.read(queue, _BYTES):
        batch, place, name = todo[int.from_bytes(number, "big")]
        scenario_part(batch, place, name, keep=True)


def draw_queued() -> None:
    """Draw scenarios from the file of tasks, by the numbers on standard input: the process that
    helps `draw_ahead`. What goes wrong here goes wrong again where the page is made, and is told.
    """
    with contextlib.suppress(Exception):
        _draw_from(sys.stdin.fileno(), pickle.loads(Path(sys.argv[1]).read_bytes()))
