"""Write files of runs while the system's calls on them fail one by one, in C libraries as well.

    python -m tests.writing.traced_writes FOLDER small|large STEP CALLS:ERROR:WHEN ...

Each try is a process of its own, which strace follows: it lets the call of that number (WHEN is
3), or all from it on (3+), of those in CALLS (as in pwrite64,write) on the new file end with ERROR.
A line of JSON tells each: whether a call failed and which, how the process ended, what was raised,
what is there after it and after the next write. Where WHEN is empty, one call after another fails
until none is left, or each STEP-th one; where it is +, all calls from one after another on.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import xarray as xr

from sciprec.foundation import whole
from sciprec.results.output import files, pieces

MOST = 80
"""Calls of a kind on one file, at the most."""


def dataset(seed: int) -> xr.Dataset:
    values = np.random.default_rng(seed).normal(size=(4, 500))
    return xr.Dataset(
        {"height": (("time", "x"), values), "width": ("x", values[0])},
        coords={"time": np.arange(4.0)}, attrs={"seed": seed},
    )  # fmt: skip


def tried(path: Path, calls: str, error: str, when: str) -> dict[str, object]:
    """The result of one try."""
    log = path.parent.parent / "log"
    files.write(dataset(1), path)
    child = os.fork()
    if child == 0:
        for stream in (1, 2):  # where the netCDF library prints
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        os._exit(_write(path, log, calls, error, when))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    lines = [line for line in log.read_text().splitlines() if "INJECTED" in line]
    call = lines[0].partition(" ")[2].lstrip() if lines else ""
    said = (path.parent.parent / "said").read_text() if code == 0 else ""
    left = sorted(os.listdir(path.parent))
    there = _seed(path)
    whole.tidy(path.parent)
    files.write(dataset(3), path)
    return {
        "calls": calls, "error": error, "when": when, "failed": bool(lines), "call": call,
        "code": code, "said": said, "left": left, "there": there, "next": _seed(path),
        "then": sorted(os.listdir(path.parent)),
    }  # fmt: skip


def _write(path: Path, log: Path, calls: str, error: str, when: str) -> int:
    follower = followed(log, ["-P", str(whole.part_of(path)), *failing(calls, error, when)])
    said = ""
    try:
        files.write(dataset(2), path)
    except Exception as raised:
        said = f"{type(raised).__name__}: {raised}"
    follower.terminate()
    follower.wait()
    (path.parent.parent / "said").write_text(said)
    return 0


def failing(calls: str, error: str, when: str) -> list[str]:
    """Options of strace by which calls fail."""
    inject = (("-e", f"inject={call}:error={error}:when={when}") for call in calls.split(","))
    return [*itertools.chain(*inject), "-e", f"trace={calls}"]


def followed(log: Path, options: list[str]) -> subprocess.Popen[bytes]:
    """Let strace follow this process, with a log of calls; returns once it does."""
    command = ["strace", "-f", "-qq", "-o", str(log), *options, "-p", str(os.getpid())]
    follower = subprocess.Popen(command)
    while "TracerPid:\t0\n" in Path("/proc/self/status").read_text():
        if follower.poll() is not None:
            os._exit(77)
        time.sleep(0.002)
    return follower


def _seed(path: Path) -> object:
    """Which dataset a file holds, whole; words where it holds none."""
    try:
        read = files.read(path)
        seed = int(read.attrs["seed"])
        return seed if read.identical(files.read(path)) and _is(read, dataset(seed)) else "other"
    except Exception as raised:
        return f"{type(raised).__name__}: {raised}"


def _is(one: xr.Dataset, other: xr.Dataset) -> bool:
    return all(np.array_equal(one[n].values, v.values) for n, v in other.variables.items())


def main(folder: str, size: str, step: str, *groups: str) -> None:
    path = Path(folder).resolve() / "out" / "run.nc"
    path.parent.mkdir(exist_ok=True)
    if size == "large":
        pieces.WHOLE_BYTES = 0
    for group in groups:
        calls, error, when = group.split(":")
        every = (f"{n}{when}" for n in range(1, MOST, int(step)))
        for one in every if when in ("", "+") else [when]:
            result = tried(path, calls, error, one)
            print(json.dumps(result), flush=True)
            if not result["failed"]:
                break


if __name__ == "__main__":
    main(*sys.argv[1:])
