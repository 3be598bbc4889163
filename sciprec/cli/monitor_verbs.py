"""The verbs `sciprec monitor` and `sciprec watch`: what variables hold as a run goes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sciprec.cli.kernel_or_scenario import KernelInputs, is_kernel, kernel_with_inputs
from sciprec.cli.options import Backend, Json
from sciprec.cli.written_files import written
from sciprec.foundation import targets
from sciprec.foundation.arguments import word
from sciprec.foundation.errors import InputError


def monitor(
    kernel: Annotated[
        str,
        typer.Argument(metavar="KERNEL", help="A function of a Python file, FILE.py:FUNCTION."),
    ],
    backend: Backend,
    watch: Annotated[
        list[str],
        typer.Option(
            help="A variable or argument of the kernel, or a line of its file, as in line:38; "
            "repeat it for several."
        ),
    ],
    inputs: KernelInputs = None,
    level: Annotated[
        int,
        typer.Option(
            help="0 off, 1 summaries, 2 also exponents of each step and places of the largest "
            "errors, 3 also whole arrays (in Python)."
        ),
    ] = 1,
    every: Annotated[
        int, typer.Option(help="Of passes of the kernel's outermost loops each so many is watched.")
    ] = 1,
    alert: Annotated[
        list[str] | None,
        typer.Option(
            help="A rule, as in lost=50%, digits=3, drift=1e-3, jump=10, nan=false, or a range, as "
            "in 'h>0' or '|c|<=1'; repeat it for several [default: nan, overflow and lost=50%]."
        ),
    ] = None,
    truth: Annotated[
        str,
        typer.Option(
            help="dd: say how many digits fp64 itself has in the results, too; fp64: take it as it "
            "is."
        ),
    ] = "fp64",
    html: Annotated[
        Path | None,
        written(targets.PAGE, "--html", "Write a page: alerts, errors over steps, exponents."),
    ] = None,
    json: Json = False,
) -> None:
    """Run a kernel of yours, and say what its variables and lines hold as it goes."""
    from sciprec.cli.console import print_result
    from sciprec.cli.progress import Waiting
    from sciprec.tools.monitor.monitored import monitor as watched

    if not is_kernel(kernel):
        raise InputError(
            f"'{kernel}' names no kernel; give FILE.py:FUNCTION, or write a table [monitor] into "
            "a scenario and run it with `sciprec run`"
        )
    function, args = kernel_with_inputs(kernel, inputs)
    rules = dict(map(_rule, alert or []))
    word("--truth", truth, ("dd", "fp64"))
    with Waiting(f"running {kernel} in {backend}"):
        result = watched(
            function, backend, args, watch=watch, level=level, every=every, alerts=rules,
            truth=truth if truth == "dd" else True,
        )  # fmt: skip
    print_result(result, html, json)


def _rule(text: str) -> tuple[str, object]:
    """A rule and its value: "jump=10" or "nan=false"; a range is its own name."""
    from sciprec.tools.monitor.alerts import Bounds

    if Bounds.read(text) is not None:
        return text, True
    name, equals, value = text.partition("=")
    words = {"true": True, "false": False}
    if not equals or not name.strip():
        raise InputError(
            f"--alert is given '{text}'; accepted: a rule and its value, as in jump=10 or "
            "nan=false, or a range, as in h>0"
        )
    if value.strip().lower() in words:
        return name.strip(), words[value.strip().lower()]
    try:
        return name.strip(), float(value)
    except ValueError:
        return name.strip(), value.strip()


def watch(
    folder: Annotated[Path, typer.Argument(help="The folder that `sciprec run --out` writes.")],
    once: Annotated[
        bool, typer.Option("--once", help="Print how it goes now, and end.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print JSON, a line for each change.")
    ] = False,
) -> None:
    """Show how a batch goes that runs elsewhere: progress, drift, alerts; ends with the batch.

    The exit code is 1 where a run has failed, or the batch was interrupted.
    """
    import time
    from json import dumps

    from sciprec.cli.console import say
    from sciprec.workbench.batch.states import FAILED, read_states

    before: list[str] = []
    while True:
        states = read_states(folder)
        ended = states["ended"] or states["interrupted"]
        lines = [dumps(states)] if json else _lines(states)
        if lines != before:
            for line in lines if json else [line for line in lines if line not in before]:
                say(line)
            before = lines
        if once or ended:
            break
        time.sleep(_SECONDS)
    if states["interrupted"] or any(run["state"] == FAILED for run in states["runs"]):
        raise typer.Exit(1)


_SECONDS = 1.0
"""Seconds between looks at a folder."""


def _lines(states: dict[str, Any]) -> list[str]:
    """A batch in words: a line for each run that has begun, one for each alert, and the end."""
    lines = []
    for run in states["runs"]:
        if run["state"] == "waiting":
            continue
        lines.append(f"{run['name']}: {', '.join(_progress(run))}")
        lines += [f"  ALERT in {run['name']}: {alert}" for alert in run["alerts"]]
    done = sum(run["state"] not in ("waiting", "running") for run in states["runs"])
    end = "ended" if states["ended"] else "was interrupted" if states["interrupted"] else "runs"
    return [*lines, f"the batch {end}: {done} of {len(states['runs'])} runs done"]


def _progress(run: dict[str, Any]) -> list[str]:
    """The progress of a run, in parts of a line."""
    parts = [run["state"] + (f" ({run['failure']})" if run["failure"] else "")]
    if run.get("of_days") and run.get("days") is not None:
        parts.append(f"{run.get('unit') or 'day'} {run['days']:.3g} of {run['of_days']:g}")
    if run.get("step"):
        parts.append(f"watched in step {run['step']:,}")
    for name, moved in run.get("variables", {}).items():
        if moved["drift"] is not None and moved["growth"] is not None:
            parts.append(f"{name} drifted by {moved['drift']:+.1e}, size x {moved['growth']:.4g}")
    return parts
