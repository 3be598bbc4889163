"""The states of a batch's runs, in small files that another command reads while they are written.

There are some where a scenario has a table [monitor]: one of the batch, and one of each run,
written again now and then, each complete or not at all.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.foundation.stored_objects import (
    DamagedError,
    Field,
    is_file_name,
    is_flag,
    is_number_or_none,
    is_text,
    is_texts,
    read_object,
    what_is_wrong,
)
from sciprec.foundation.whole import is_running, remove, tidy, write_text
from sciprec.results.output.folders import LOCK
from sciprec.workbench.batch.course import length_of, name_of
from sciprec.workbench.batch.plan import Outcome, Run

STATES, BATCH = ".watched", "batch.json"
"""Folder of these files, inside that of the batch; the file of the batch in it."""
_EVERY_SECONDS = 0.5
WAITING, RUNNING, DONE, FAILED, KEPT = "waiting", "running", "done", "failed", "kept"


def is_watched(run: Run) -> bool:
    """Whether a run's scenario asks for a monitor."""
    return run.scenario.monitor is not None and run.scenario.monitor.plan() is not None


def begin_states(runs: Sequence[Run], folder: Path, outcomes: Mapping[str, Outcome]) -> None:
    """Leave the list of the runs, where one is watched; states of an earlier batch go, but for
    those of runs that are not computed again.

    Args:
        runs: the plan.
        folder: of the batch.
        outcomes: outcomes of the runs that are not computed again, by file.
    """
    place = folder / STATES
    if place.is_symlink():  # what is behind it is somebody else's
        remove(place)
    tidy(place)
    for old in place.glob("*.json"):
        if old.stem not in outcomes or not any(map(is_watched, runs)):
            remove(old)
    if not any(map(is_watched, runs)):
        return
    listed = [
        {"file": run.file, "name": name_of(run.scenario.name, run), "watched": is_watched(run)}
        | (_ended(outcomes[run.file]) if run.file in outcomes else {})
        for run in runs
    ]
    _write(place / BATCH, _batch(listed, ended=False))


def end_states(outcomes: Sequence[Outcome], folder: Path) -> None:
    """Say that the batch has ended, and how."""
    place = folder / STATES
    if not (place / BATCH).exists():
        return
    listed = [{"file": o.file, "name": name_of(o.scenario, o)} | _ended(o) for o in outcomes]
    _write(place / BATCH, _batch(listed, ended=True))


def _ended(outcome: Outcome) -> dict[str, Any]:
    """The state of a run that has ended."""
    state = FAILED if outcome.failure else KEPT if outcome.kept else DONE
    return {"state": state, "failure": outcome.failure, "alerts": list(outcome.alerts)}


def _batch(listed: list[dict[str, Any]], ended: bool) -> dict[str, Any]:
    return {
        "ended": ended, "process": os.getpid(), "host": socket.gethostname(), "runs": listed,
    }  # fmt: skip


class RunState:
    """The file of a run that is under way.

    Args:
        run: the run.
        folder: of the batch.
    """

    def __init__(self, run: Run, folder: str | Path) -> None:
        self._path = Path(folder) / STATES / f"{run.file}.json"
        self._written = -np.inf
        self._observed: Any = None
        days, unit = length_of(run) or (None, "")
        self._content: dict[str, Any] = {
            "file": run.file, "name": name_of(run.scenario.name, run), "state": RUNNING,
            "days": 0.0 if days else None, "of_days": days, "unit": unit, "step": 0, "alerts": [],
            "variables": {}, "failure": "",
        }  # fmt: skip
        self._write_state(at_once=True)

    def hearing(self, listening: Callable[[float], None] | None) -> Callable[[float], None]:
        """A function of the simulated days, which calls another one, too."""

        def heard(days: float) -> None:
            self._content["days"] = days
            self._write_state()
            if listening is not None:
                listening(days)

        return heard

    def seen(self, observed: Callable[[], Any]) -> None:
        """Note that a monitor watches the run; `observed` returns its observations so far."""
        self._observed = observed
        self._write_state()

    def _look(self) -> None:
        """Read the monitor's last observations."""
        if self._observed is None:
            return
        observed = self._observed()
        history = observed.history
        self._content |= {
            "step": int(history.steps[-1]),
            "alerts": [str(alert) for alert in observed.alerts],
            "variables": {
                name: _changes(history, number) for number, name in enumerate(history.names)
            },
        }  # fmt: skip
        self._observed = None

    def end(self, failure: str, alerts: Sequence[str]) -> None:
        """The run has ended."""
        self._look()
        self._content |= {"state": FAILED if failure else DONE, "failure": failure}
        if alerts:
            self._content["alerts"] = list(alerts)
        self._write_state(at_once=True)

    def _write_state(self, at_once: bool = False) -> None:
        if at_once or time.monotonic() - self._written >= _EVERY_SECONDS:
            self._look()
            _write(self._path, self._content)
            self._written = time.monotonic()


def _changes(history: Any, number: int) -> dict[str, float | None]:
    """Move of the mean, and growth, of a variable since its first look, over its first size."""
    norms, means = (history.column(name)[:, number] for name in ("norm", "mean"))
    counts = history.column("count")[:, number]
    if not counts[0] or not norms[0] > 0.0:
        return {"moved": None, "growth": None}
    first = norms[0] / np.sqrt(counts[0])
    moved, growth = (means[-1] - means[0]) / first, norms[-1] / norms[0]
    if not (np.isfinite(moved) and np.isfinite(growth)):
        return {"moved": None, "growth": None}
    return {"moved": float(moved), "growth": float(growth)}


def _write(path: Path, content: dict[str, Any]) -> None:
    """Write a file. Where that cannot be done the run goes on: it needs its own file, not this."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        write_text(path, json.dumps(content))


# ---- reading -----------------------------------------------------------------------------------


def read_states(folder: str | Path) -> dict[str, Any]:
    """Read the state of a batch: `ended`, `interrupted`, and `runs`, a dictionary for each.

    Raises:
        InputError: the folder holds no batch that is watched, or a file of it is damaged.
    """
    place = Path(folder) / STATES
    batch = _read(place / BATCH, _OF_BATCH)
    if batch is None:
        raise InputError(
            f"'{folder}' holds no batch that can be watched; give the folder of a `sciprec run` "
            "one of whose scenarios has a table [monitor]"
        )
    runs = []
    for entry in batch["runs"]:
        state = _read(place / f"{entry['file']}.json", _OF_RUN) or {}
        runs.append({"state": WAITING, "alerts": [], "failure": ""} | state | entry)
    dead = not batch["ended"] and not _is_alive(batch, Path(folder))
    return {"ended": batch["ended"], "interrupted": dead, "runs": runs}


def _read(path: Path, fields: Mapping[str, Field]) -> dict[str, Any] | None:
    """Read a file of states; None where there is none.

    Raises:
        InputError: it is damaged: no JSON, or other than this module writes.
    """
    try:
        return read_object(path, fields)
    except OSError:
        return None
    except DamagedError as error:
        raise InputError(
            f"'{path}' is damaged ({error}), and what it says cannot be shown; run the batch again"
        ) from None


def _are_changes(value: Any) -> bool:
    if not isinstance(value, dict) or not all(map(is_text, value)):
        return False
    return not any(what_is_wrong(change, _OF_CHANGES) for change in value.values())


def _are_runs(value: Any) -> bool:
    listed = {"file": _OF_RUN["file"], "name": _OF_RUN["name"]}
    needed = {key: replace(field, needed=True) for key, field in listed.items()}
    return isinstance(value, list) and not any(
        what_is_wrong(entry, _OF_RUN | needed) for entry in value
    )


_OF_CHANGES = dict.fromkeys(("moved", "growth"), Field(is_number_or_none, needed=True))
_OF_RUN = {
    "file": Field(is_file_name), "name": Field(is_text),
    "watched": Field(is_flag),
    "state": Field(lambda value: value in (WAITING, RUNNING, DONE, FAILED, KEPT)),
    "failure": Field(is_text), "alerts": Field(is_texts), "days": Field(is_number_or_none),
    "of_days": Field(is_number_or_none), "unit": Field(is_text),
    "step": Field(lambda value: type(value) is int), "variables": Field(_are_changes),
}  # fmt: skip
_OF_BATCH = {
    "ended": Field(is_flag, needed=True),
    "process": Field(lambda value: type(value) is int and 0 < value < 2**31, needed=True),
    "host": Field(is_text, needed=True), "runs": Field(_are_runs, needed=True),
}  # fmt: skip


def _is_alive(batch: dict[str, Any], folder: Path) -> bool:
    """Whether the command that writes a batch is still there; on other machines, as far as its lock
    tells.
    """
    if not (folder / LOCK).exists():
        return False
    return batch["host"] != socket.gethostname() or is_running(batch["process"])
