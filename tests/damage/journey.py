"""A damaged folder's way through the commands, in a process of its own: a library may crash in it.

A damage may leave all values, attributes and the list as they were. Otherwise `sciprec report` and
`report --verify` name the file that is damaged, no verdict of it is shown, every other one is what
it was, and `sciprec run` makes again what is lost, to the last bit.
"""

from __future__ import annotations

import contextlib
import io
import json
import multiprocessing
import random
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.damage.damages import DAMAGES
from tests.damage.folders import PLUGIN, contents, lasting

SECONDS = 120.0
"""The most that a whole way may take; a usual one takes two or three."""
SHOWN = ("scenario", "label", "member", "status", "reason", "errors", "nonfinite", "variable")
"""The keys of a run's row that are compared."""


@dataclass
class Way:
    """The observations of one way.

    Args:
        damage: in words.
        effect: names of files whose content differs, or the list.
        named: whether a command said that something is damaged.
        faults: sentences; empty where all is as it has to be.
    """

    damage: str = ""
    effect: list[str] = field(default_factory=list)
    named: bool = False
    faults: list[str] = field(default_factory=list)


def command(*words: Any) -> tuple[int, str, str]:
    """Exit code, standard output and error of a command in this process."""
    from sciprec.cli import commands

    out, err = io.StringIO(), io.StringIO()
    out.reconfigure = err.reconfigure = lambda **_: None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            commands.main([str(word) for word in words])
        except SystemExit as end:
            code = int(end.code or 0)
    return code, out.getvalue(), err.getvalue()


def listed(folder: Path) -> Any:
    """The list of a folder; a phrase where it holds nothing."""
    try:
        return json.loads((folder / "batch.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return "unreadable"


def rows(said: str) -> dict[str, dict[str, Any]]:
    """Rows of `--json` by scenario, label and member; none where a command has printed none."""
    found = json.loads(said)["runs"] if said else []
    return {f"{r['scenario']}, {r['label']}, {r['member']}": {k: r[k] for k in SHOWN}
            for r in found}  # fmt: skip


def in_order(said: str) -> Any:
    """Answer of `compare --json`, by name: a store without `.zmetadata` has no order of its own."""
    content = json.loads(said)
    return content | {"variables": sorted(content["variables"], key=lambda row: row["variable"])}


def travel(way: Way, folder: Path, whole: Path, scenarios: list[Path]) -> None:
    """Send a folder through the commands, and compare with the whole one."""
    good, held = contents(whole), contents(folder)
    expected = rows(command("report", whole, "--json")[1])
    ours = [n for n in sorted({*good, *held}) if held.get(n) != good.get(n)]
    in_list = listed(folder) != listed(whole)
    way.effect = ours + ["batch.json"] * in_list

    def fault(words: str) -> None:
        way.faults.append(words)

    def ask(known: tuple[int, ...], *words: Any) -> tuple[int, str, str]:
        code, out, err = command(*words)
        if code not in known or "Traceback" in err or "internal error" in err:
            fault(f"{' '.join(map(str, words))} ends with {code}: {err.strip()[:300]}")
        return code, out, err

    def unnamed(said: str, names: list[str]) -> list[str]:
        state = "(is damaged|is missing|damaged|missing|cannot be read|does not exist)"
        return [n for n in names if not re.search(rf"{re.escape(n)}'? {state}", said)]

    code, out, err = ask((0, 1, 2), "report", folder, "--json")
    ended, table, _ = ask((1, 2) if way.effect else (0, 1), "report", folder, "--verify")
    way.named = ended > 0
    if in_list and (code != 2 or "batch.json" not in err):
        fault(f"report says nothing of the list: {code} {err[:200]}")
    if not in_list:
        if ended < 2 and (left := unnamed(" ".join(table.split()), ours)):
            fault(f"report --verify does not name {left}")
        member_0 = [name for name in ours if "__m0" not in name]
        if code == 0 and way.effect or (left := unnamed(out + err, member_0)):
            fault(f"report ends with {code} and does not name {left}")
    if code != 2:
        for name, row in rows(out).items():
            if row != expected.get(name) and row["status"] != "failed":
                fault(f"another verdict on {name}: {row} for {expected.get(name)}")
        if missing := {*expected} - {*rows(out)}:
            fault(f"report has no rows of {missing}")
    elsewhere = [*good.values(), *contents(whole.with_name(f"{whole.name}-before")).values()]
    hurt = [name for name in ours if held.get(name) not in elsewhere]
    pairs = [[n for n in good if re.match(rf"{one}__fp(32|64)\.", n)] for one in ("squall", "sums")]
    for pair in pairs:
        same = not {*pair} & {*ours}
        code, out, err = ask((0, 1, 2), "compare", *(folder / name for name in pair), "--json")
        wrong = [name for name in pair if name in hurt]
        if wrong and (code != 2 or unnamed(err, wrong) == wrong):
            fault(f"compare does not name {wrong}: {err[:200]}")
        theirs = command("compare", *(whole / name for name in pair), "--json")[1]
        if same and (code == 2 or in_order(out) != in_order(theirs)):
            fault(f"compare of {pair} gives other numbers")
    form = "zarr" if whole.name.startswith("zarr") else "netcdf"
    code, out, err = ask(
        (0, 1), "run", *scenarios, "--plugin", PLUGIN, "--out", folder, "--quiet", "--json",
        "--threads", 1, "--format", form,
    )  # fmt: skip
    after = contents(folder)
    if left := [n for n in good if lasting(after)[n] != lasting(good)[n]]:
        fault(f"run has not made again {left}")
    if other := [n for n in expected if rows(out).get(n) != expected[n]]:
        fault(f"run gives other verdicts on {other}")
    ask((0,), "report", folder, "--verify")


def _in_child(pipe: Any, place: Path, wholes: dict[str, Path], scenarios: list[Path], **drawn: Any):
    """Damage a copy of a folder as drawn, and send it on its way."""
    import warnings

    import sciprec.drawing.svg as svg

    warnings.simplefilter("ignore")

    svg._as_text = lambda _: '<svg viewBox="0 0 1 1"></svg>'  # takes longest, and decides nothing
    rng, way = random.Random(drawn["seed"]), Way()
    kind, form = drawn.get("kind") or rng.choice(sorted(DAMAGES)), drawn["form"]
    folder = Path(shutil.copytree(wholes[form], place / f"{drawn['seed']}-{form}"))
    way.damage = f"{form} {drawn['seed']} {kind}: "
    pipe.send(way)
    way.damage += DAMAGES[kind](folder, wholes[f"{form}-before"], rng)
    pipe.send(way)
    travel(way, folder, wholes[form], scenarios)
    pipe.send(way)
    shutil.rmtree(folder)


_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([
    "tests.damage.journey", "sciprec.cli.commands", "sciprec.report.page", "netCDF4", "zarr",
    "sciprec.workbench.batch.workflow", "dask.threaded", "sciprec.workbench.kinds",
    "sciprec.drawing.svg",
])  # fmt: skip


def sent(place: Path, wholes: dict[str, Path], scenarios: list[Path], **drawn: Any) -> Way:
    """The observations of a damage, drawn by its seed, in a process of its own."""
    here, there = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(
        target=_in_child, args=(there, place, wholes, scenarios), kwargs=drawn, daemon=True
    )
    process.start()
    there.close()
    way = Way(str(drawn))
    process_end = "ended"
    with contextlib.suppress(EOFError):
        for _ in range(3):
            if not here.poll(SECONDS):
                process_end = f"hung for {SECONDS:g} s"
                process.kill()
                break
            way = here.recv()
        else:
            process_end = ""
    process.join(10.0)
    if process_end:
        way.faults.append(f"the process {process_end}, exit code {process.exitcode}")
    return way
