"""The verbs `sciprec scenario ...`: what scenario files may say, and whether they say it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from sciprec.cli.console import USAGE, print_json, print_keys, say
from sciprec.cli.help_pages import App
from sciprec.cli.options import AnyKind, Json, ScenarioFiles, known_kinds
from sciprec.cli.written_files import written
from sciprec.foundation import targets
from sciprec.foundation.errors import printable

app = App(
    help="List keys of scenario files, write a first one or a schema for editors, and find "
    "mistakes."
)


@app.command("keys")
def list_keys(
    kind: AnyKind = None,
    json: Json = False,
) -> None:
    """List every key with its type, unit, limits, default, an example and its meaning."""
    from sciprec.workbench.kinds.kind import kind_names
    from sciprec.workbench.kinds.schema import scenario_keys

    keys = {name: scenario_keys(name) for name in ([kind] if kind else kind_names())}
    if json:
        print_json({name: [vars(key) for key in of_kind] for name, of_kind in keys.items()})
        return
    for name, of_kind in keys.items():
        if not kind:
            say(f"\n{name}:")
        print_keys(of_kind)


@app.command("schema")
def print_schema(kind: AnyKind = None) -> None:
    """Print the JSON schema by which editors complete a scenario file and mark its mistakes."""
    from sciprec.workbench.kinds.schema import scenario_schema

    print_json(scenario_schema([kind] if kind else []))


@app.command("check")
def check_files(
    files: ScenarioFiles,
    json: Json = False,
) -> None:
    """Say everything that is wrong with scenario files, and compute nothing; exit with 2 if any."""
    from sciprec.workbench.batch.checking import complaints_of

    complaints = {str(file): complaints_of(file) for file in files}
    if json:
        print_json(
            [{"file": file, "complaints": messages} for file, messages in complaints.items()]
        )
    for file, messages in complaints.items() if not json else ():
        for message in messages:
            print(f"sciprec: {printable(message)}", file=sys.stderr)
        if not messages:
            say(f"{file}: good")
    if any(complaints.values()):
        raise typer.Exit(USAGE)


@app.command("new")
def new_file(
    kind: Annotated[str, typer.Argument(autocompletion=known_kinds)],
    out: Annotated[Path | None, written(targets.SCENARIO, "--out")] = None,
) -> None:
    """Write a first scenario of a kind that runs as it stands, every key with a comment.

    Args:
        out: Write the scenario into this file [default: standard output].
        kind: Kind of the scenario: climate, heston, or that of an example or a plugin.
    """
    from sciprec.scenario.draft import draft
    from sciprec.workbench.kinds.schema import scenario_keys

    keys = scenario_keys(kind)
    name = re.sub(r"[^a-z0-9_-]+", "_", out.stem.lower()).lstrip("_-")[:60] if out else ""
    text = draft(kind, keys, name or f"first_{kind}")
    if out is None:
        print(text, end="")
    else:
        targets.write(out, text, targets.SCENARIO)
