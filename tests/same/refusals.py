"""Sentences for what is wrong on command lines and in scenarios: exit code and standard error."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import shlex
import shutil
import tempfile
from pathlib import Path

from sciprec.cli import commands
from sciprec.workbench.batch import workflow
from sciprec.workbench.kinds import parse_scenario
from tests.conftest import without_plugins
from tests.same.plain import digest, outcome, plain
from tests.shell.test_refusals import COMMANDS, SCENARIOS, edited, write_inputs


def things():
    """By name, a function that gives digests by variant."""
    found = {command: functools.partial(_command, command) for command in COMMANDS}
    for base, rows in SCENARIOS.items():
        for edits, _ in rows:
            found[f"{base}: {edits}"] = functools.partial(_scenario, base, edits)
    return {plain(name): thing for name, thing in found.items()}


@functools.cache
def _inputs() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="inputs"))
    write_inputs(folder)
    return folder


def said(*arguments: str) -> str:
    """Exit code, standard output and error of a command."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    code: object = None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), without_plugins():
        try:
            commands.main([*arguments])
        except SystemExit as ended:
            code = ended.code
    texts = (stream.buffer.getvalue().decode() for stream in (out, err))  # type: ignore[attr-defined]
    return re.sub(r"(?m)^.*\bso far\b.*\n", "", "\n".join([str(code), *texts]))  # of slow machines


def _command(command: str) -> dict[str, str]:
    here = Path(tempfile.mkdtemp())
    shutil.copytree(_inputs(), here / "here")
    before = Path.cwd()
    os.chdir(here / "here")
    try:
        return {"said": digest(plain(said(*shlex.split(command))))}
    finally:
        os.chdir(before)
        shutil.rmtree(here)


def _scenario(base: str, edits: dict) -> dict[str, str]:
    out = Path(tempfile.mkdtemp())
    found = outcome(lambda: workflow.run(parse_scenario(edited(base, edits), "file"), out=out))
    assert found.startswith("!"), f"{base}: {edits} is not refused any more"
    return {"said": found}
