"""Files of runs, and verbs, where Python and the libraries written in C meet a disk that fails.

strace lets one call of the system after another fail on their files, in a process of its own.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.writing.scenes import SCENES

WORDS = {"ENOSPC": "No space left on device", "EIO": "Input/output error",
         "EACCES": "Permission denied"}  # fmt: skip


def is_traced() -> bool:
    """Whether strace is there and may follow processes."""
    if not sys.platform.startswith("linux") or shutil.which("strace") is None:
        return False
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")  # unless 0, children follow no parents
    if scope.exists() and scope.read_text().strip() != "0" and os.geteuid() != 0:
        return False
    tried = subprocess.run(["strace", "-qq", "true"], capture_output=True, check=False)
    return tried.returncode == 0


pytestmark = pytest.mark.skipif(not is_traced(), reason="strace is not here, or may not trace")


def tries(folder, size, step, *groups):
    return told_by("tests.writing.traced_writes", folder, size, step, *groups)


def told_by(program, *words, seconds=900):
    command = [sys.executable, "-m", program, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def wrong_with(one, size):
    """The faults of a try, in words.

    Where closing a large file is what fails, the library ends the process: of the call itself, or
    of the head of the file, which it writes again then. What was there and the next write are right
    all the same.
    """
    closing = one["call"].startswith("close(") or ", 48, 0) = -1" in one["call"]
    if one["code"] and not (size == "large" and closing and one["code"] == -11):
        yield f"ends with {one['code']}"
    if one["code"] == 0 and not one["said"] and one["there"] != 2:
        yield f"says nothing, and {one['there']} is there"
    if (one["said"] or one["code"]) and one["there"] != 1:
        yield f"failed, and {one['there']} is there"
    reasons = WORDS[one["error"]], WORDS["EIO"]
    if one["said"] and not any(reason in one["said"] for reason in reasons):
        yield f"says {one['said']}"
    if one["code"] == 0 and one["left"] != ["run.nc"] and not one["call"].startswith("unlink"):
        yield f"leaves {one['left']}"
    if one["next"] != 3 or one["then"] != ["run.nc"]:
        yield f"is followed by {one['next']}, with {one['then']}"


def check(given, size):
    wrong = {(one["calls"], one["when"]): (one["call"], *wrong_with(one, size)) for one in given}
    assert not {when: found for when, found in wrong.items() if len(found) > 1}


SOME = {
    "small": ("write:ENOSPC:1", "write:EIO:1+", "openat:EACCES:1", "close:EIO:1", "rename:EIO:1"),
    "large": ("pwrite64,write:ENOSPC:2", "pwrite64,write:EIO:5+", "openat:EACCES:3+", "fsync:EIO:1",
              "rename:EACCES:1", "close:ENOSPC:2"),
}  # fmt: skip
"""Of each size: one that Python writes, and one that the library writes."""


@pytest.mark.slow
@pytest.mark.parametrize("size", SOME)
def test_some_calls_fail(size, tmp_path):
    given = tries(tmp_path, size, 1, *SOME[size])
    check(given, size)
    assert all(one["failed"] for one in given) and len(given) == len(SOME[size])


@pytest.mark.parametrize(
    "step", [pytest.param(3, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.survey)]
)
@pytest.mark.parametrize("size", SOME)
def test_every_call_fails(size, step, tmp_path):
    """Or each third one."""
    groups = "openat", "pwrite64,write", "fsync", "close", "rename", "unlink"
    given = tries(tmp_path, size, step, *(f"{calls}:ENOSPC:" for calls in groups))
    check(given, size)
    assert sum(one["failed"] for one in given) > (20 // step if size == "large" else 3)


DRAWN = {("run", "large"): 2, ("compare", "small"): 2}
"""Verb and size of the files that count as large: tries. Small files of a run are written by Python
alone, whose calls fail in test_faults.py.
"""


@pytest.mark.slow
def test_verbs_whose_calls_fail_end_in_a_sentence_and_the_next_is_right(tmp_path):
    scenes = [word for (scene, size), count in DRAWN.items() for word in (scene, size, count)]
    given = told_by("tests.writing.traced_verbs", tmp_path, 1, *scenes)
    assert len(given) == sum(DRAWN.values())
    assert sum(bool(one["failed"]) for one in given) > len(given) // 2
    assert not [one for one in given if one["wrong"]]


@pytest.mark.survey
@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize("scene", SCENES)
def test_verbs_of_which_every_call_fails(scene, size, tmp_path):
    """Each write, read, fsync, rename and close on files of a scene, with each of its errors. Of
    `run` with large files 183 tries left nothing wrong.
    """
    given = told_by("tests.writing.traced_verbs", tmp_path, 1, scene, size, 0, seconds=None)
    assert any(one["failed"] for one in given) and not [one for one in given if one["wrong"]]
