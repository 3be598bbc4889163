"""The verb `sciprec monitor`: what variables of a kernel hold, and how a batch goes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sciprec.cli.console import print_result, say
from sciprec.cli.kernel_or_scenario import KernelInputsOption, is_kernel, kernel_with_inputs
from sciprec.cli.old_spellings import todays_rule
from sciprec.cli.options import known_backends
from sciprec.cli.progress import Waiting
from sciprec.cli.written_files import Html
from sciprec.foundation.arguments import choice
from sciprec.foundation.errors import InputError


def monitor(
    watched: Annotated[str, typer.Argument(metavar="KERNEL|FOLDER")],
    backend: Annotated[
        str | None, typer.Option("--backend", "-b", autocompletion=known_backends)
    ] = None,
    watch: list[str] | None = None,
    inputs: KernelInputsOption = None,
    level: int = 1,
    every: Annotated[int, typer.Option(metavar="N")] = 1,
    alert: list[str] | None = None,
    truth: str = "fp64",
    html: Html = None,
    once: bool = False,
    json: bool = False,
) -> None:
    """Watch variables and lines of your kernel as it runs, or a batch that runs elsewhere; exit
    with 1 where a run of the batch has failed.

    Args:
        watched: Kernel, a function of a Python file as FILE.py:FUNCTION, or the folder into which
            `sciprec run` writes a batch whose scenario has a table [monitor].
        backend: Arithmetic of the kernel, by its name in `sciprec list backends` or a spec string.
        watch: Variable or argument of the kernel to watch, or a line of its file, as in line:38;
            repeat it for several.
        level: Detail, 0 to 3: 0 notes nothing, 1 summaries, 2 also exponents of each step and
            places of the largest errors, 3 also whole arrays (in Python); a larger one takes
            longer.
        every: Watch every N-th pass of the kernel's outermost loops; a larger N is faster.
        alert: Rule of an alert, as in lost=50%, digits=3, moved=1e-3, jump=10, nan=false, or a
            range, as in 'h>0' or '|c|<=1'; repeat it for several [default: nan, overflow and
            lost=50%].
        truth: Truth of the errors, the kernel's run in fp64; with dd, the right digits of fp64's
            own results are counted, too.
        once: Print the state of the batch in FOLDER once, and end.
        json: Print JSON instead of a table; for a batch, one line at each change.
        html: Write a page: alerts, errors over steps, exponents.
    """
    from sciprec.tools.monitor.monitored import monitor as monitor_kernel

    choice("--truth", truth, ("dd", "fp64"))
    rules = dict(map(_rule, alert or []))
    if not is_kernel(watched):
        of_kernel = {"--backend": backend, "--watch": watch, "--inputs": inputs, "--alert": alert,
                     "--html": html}  # fmt: skip
        return _follow(watched, [name for name, value in of_kernel.items() if value], once, json)
    if once or backend is None or not watch:
        watched_one = "--watch, a variable or a line of its file (as in line:38)"
        missing = watched_one if backend else "--backend, an arithmetic"
        wrong = "--once is of a batch: leave it out" if once else f"lacks {missing}: give it"
        raise InputError(f"'{watched}' is a kernel, and {wrong}")
    function, args = kernel_with_inputs(watched, inputs)
    with Waiting(f"running {watched} in {backend}"):
        result = monitor_kernel(
            function, backend, args, watch=watch, level=level, every=every, alerts=rules,
            truth=truth if truth == "dd" else True,
        )  # fmt: skip
    print_result(result, None if html is None else result.html(html), json)


def _rule(text: str) -> tuple[str, object]:
    """A rule and its value: "jump=10" or "nan=false"; a range is its own name."""
    from sciprec.tools.monitor.alerts import Bounds

    if Bounds.read(text) is not None:
        return text, True
    name, equals, value = text.partition("=")
    name = todays_rule(name.strip())
    words = {"true": True, "false": False}
    if not equals or not name:
        raise InputError(
            f"--alert is given '{text}'; accepted: a rule and its value, as in jump=10 or "
            "nan=false, or a range, as in h>0"
        )
    if value.strip().lower() in words:
        return name, words[value.strip().lower()]
    try:
        return name, float(value)
    except ValueError:
        return name, value.strip()


def _follow(folder: str, of_kernel: list[str], once: bool, json: bool) -> None:
    """Print how a batch goes, its alerts included, until it ends.

    Args:
        folder: that it is written into.
        of_kernel: options that were given, and are of kernels.
        once: whether one look is enough.
        json: whether JSON is printed.
    """
    if not Path(folder).is_dir():
        raise InputError(
            f"'{folder}' is neither a kernel, FILE.py:FUNCTION, nor a folder of a batch; of a "
            "scenario write a table [monitor] into it and run it with `sciprec run`"
        )
    if of_kernel:
        raise InputError(
            f"'{folder}' is the folder of a batch, and {of_kernel[0]} is of a kernel: leave it out"
        )
    import time
    from json import dumps

    from sciprec.workbench.batch.states import FAILED, read_states

    before: list[str] = []
    while True:
        states = read_states(Path(folder))
        ended = states["ended"] or states["interrupted"]
        lines = [dumps(states)] if json else _lines(states)
        if lines != before:
            for line in lines if json else [line for line in lines if line not in before]:
                print(line, flush=True) if json else say(line)
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
    finished = sum(run["state"] not in ("waiting", "running") for run in states["runs"])
    end = "ended" if states["ended"] else "was interrupted" if states["interrupted"] else "runs"
    return [*lines, f"the batch {end}: {finished} of {len(states['runs'])} runs done"]


def _progress(run: dict[str, Any]) -> list[str]:
    """The progress of a run, in parts of a line."""
    parts = [run["state"] + (f" ({run['failure']})" if run["failure"] else "")]
    if run.get("of_days") and run.get("days") is not None:
        parts.append(f"{run.get('unit') or 'day'} {run['days']:.3g} of {run['of_days']:g}")
    if run.get("step"):
        parts.append(f"watched in step {run['step']:,}")
    for name, change in run.get("variables", {}).items():
        if None not in (moved := change["moved"], growth := change["growth"]):
            parts.append(f"mean of {name} moved by {moved:+.1e}, size x {growth:.4g}")
    return parts
