"""Truths about a command that met a fault, and of the next one after it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from sciprec.foundation import targets, whole
from sciprec.results.output.folders import LOCK
from tests.writing.faults import ONCE, Disk, Fault, failing
from tests.writing.scenes import (
    OUT,
    TEMPORARY,
    Ended,
    Stage,
    at,
    command,
    look,
    masked,
    raw,
    seen,
    tree,
    units,
)

_BAD = re.compile(r"Traceback|internal error|please report|\[Errno|Exception ignored|Error:")


def tried(stage: Stage, fault: Fault) -> tuple[Disk, list[str]]:
    """Let the command of a scene meet a fault, and run it once more; what is wrong, in words."""
    before = stage.set_up()
    disk = Disk(stage.place / OUT, fault)
    with at(stage.place):
        with failing(disk):
            ended = command(stage.scene.words)
        wrong = []
        if disk.failed:
            wrong = said_well(stage, ended, fault) + left_whole(stage, before, ended)
            wrong += [] if _may_leave_temporary(disk) else _temporary(stage)
        wrong += next_is_right(stage)
    return disk, wrong


def _may_leave_temporary(disk: Disk) -> bool:
    """Whether what failed may have kept temporary files from being removed."""
    return disk.fault.how != ONCE or f" {TEMPORARY}" in disk.failed[0]


def _temporary(stage: Stage) -> list[str]:
    left = tree(stage.place / OUT / TEMPORARY)
    return [f"temporary files are left: {left[0]}"] if left else []


def said_well(stage: Stage, ended: Ended, fault: Fault) -> list[str]:
    """The faults of the words of a command that met a fault."""
    wrong, said = [], ended.printed + ended.said
    if ended.code not in (0, 1, 2):
        wrong.append(f"exit code {ended.code}")
    if found := _BAD.search(said):
        wrong.append(f"says {found[0]!r}")
    lines = [line for line in ended.said.splitlines() if line.startswith("sciprec: ")]
    if ended.code == 2 and len(lines) != 1:
        wrong.append(f"says {len(lines)} sentences")
    if ended.code not in (0, stage.ended.code) and os.strerror(fault.error) not in said:
        wrong.append("the system's reason is not told")
    return [f"{one}: {said.strip()[-600:]}" for one in wrong]


def left_whole(stage: Stage, before: dict[str, Any], ended: Ended | None) -> list[str]:
    """Which files are neither as they were nor as the undisturbed command leaves them; after a run
    that failed, pages and lists may say so. A command that ended well has left all.
    """
    wrong, folder = [], stage.place / OUT
    now = raw(folder)
    for name, path in units(folder).items():
        if stage.scene.stays and name.startswith(stage.scene.stays):
            continue
        if before.get(name) == now[name]:
            if ended and ended.code == 0 and not _is(path, stage.left.get(name)):
                wrong.append(f"{name} is the old one although the command ended well")
        elif not _is(path, stage.left.get(name)) and not (
            ended is not None and ended.code == 1 and _is_readable(path)
        ):
            wrong.append(f"{name} is neither the old one nor the new one")
    aside = {whole.name_of(path) for path in folder.rglob(f".*-old{whole.PART}")}
    gone = {n for n in before if n in stage.left and n not in now and not aside & {*Path(n).parts}}
    wrong += [f"{name}, which was there, is gone" for name in sorted(gone)]
    if ended is not None and ended.code == 0 and (missing := set(stage.left) - set(now)):
        wrong.append(f"{sorted(missing)} missing although the command ended well")
    return wrong


def _is(path: Path, wanted: Any) -> bool:
    """Whether a unit is there and says what it should."""
    try:
        return seen(path) == wanted
    except Exception:  # whatever a half-written one brings a reader to
        return False


def _is_readable(path: Path) -> bool:
    """Whether a file that tells of a failure is complete."""
    if path.suffix == ".json":
        return bool(json.loads(path.read_text()))
    if path.suffix == ".html":
        return path.read_text().rstrip().endswith("</html>")
    if path.suffix == ".md":
        return targets.MARKDOWN.is_of(path)
    return path.suffix == ".xml" and ElementTree.parse(path) is not None


def next_is_right(stage: Stage) -> list[str]:
    """The faults of the command that follows undisturbed, and of the files then."""
    scene, folder = stage.scene, stage.place / OUT
    there = scene.target and (stage.place / scene.target).exists()
    stays = (f"{TEMPORARY}/", *([scene.stays] if scene.stays else []))
    added = set(tree(folder)) - set(stage.tree)
    if not there and any(name.startswith(stays[1:]) for name in added):
        return []  # nothing that follows can do without the user
    ended = command(scene.then) if there and scene.then else stage.ended
    if not there:
        ended = command(scene.words)
    wrong = []
    if ended.code != stage.ended.code:
        wrong.append(f"the next ends with {ended.code}: {(ended.printed + ended.said)[-300:]}")
    elif not there and masked(ended.printed) != masked(stage.ended.printed):
        wrong.append(f"the next prints something else: {ended.printed[-600:]}")
    names = [name for name in tree(folder) if not name.startswith(stays)]
    if there:  # another command has followed, which leaves other files, and needs no lock
        hidden = {name for name in names if Path(name).name.startswith(".")} - set(stage.tree)
        return wrong + [f"{name} is left" for name in hidden if not name.endswith(LOCK)]
    wrong += [f"{name} is left" for name in names if name not in stage.tree]
    wrong += [f"{name} is missing" for name in stage.tree if name not in names]
    wrong += [
        f"{name} is not what it is undisturbed{_where(it, stage.left[name])}"
        for name, it in look(folder).items() if name in stage.left and it != stage.left[name]
    ]  # fmt: skip
    return wrong


def _where(one: Any, other: Any) -> str:
    """Where two texts differ first."""
    if not (isinstance(one, str) and isinstance(other, str)):
        return ""
    at = len(os.path.commonprefix([one, other]))
    return f": {one[max(at - 40, 0) : at + 60]!r} for {other[max(at - 40, 0) : at + 60]!r}"
