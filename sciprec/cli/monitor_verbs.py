"""The verbs `sciprec monitor` and `sciprec watch`: what variables hold as a run goes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sciprec.cli.kernel_or_scenario import KernelInputs, is_kernel, kernel_with_inputs
from sciprec.cli.options import Backend, Json
from sciprec.errors import InputError


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
            help="A rule, as in drift=1e-3, jump=10, nan=false, overflow=false; repeat it for "
            "several [default: nan and overflow]."
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write a page: alerts, errors over steps, exponents.")
    ] = None,
    json: Json = False,
) -> None:
    """Run a kernel of yours, and say what its variables and lines hold as it goes."""
    from sciprec.cli.console import print_json, say
    from sciprec.studies.monitored import monitor as watched

    if html is not None and not html.parent.is_dir():
        raise InputError(
            f"--html is given '{html}', whose folder does not exist; make it, or name another file"
        )
    if not is_kernel(kernel):
        raise InputError(
            f"'{kernel}' names no kernel; give FILE.py:FUNCTION, or write a table [monitor] into "
            "a scenario and run it with `sciprec run`"
        )
    function, given = kernel_with_inputs(kernel, inputs)
    rules = dict(map(_rule, alert or []))
    found = watched(
        function, backend, given, watch=watch, level=level, every=every, alerts=rules
    )
    page = None if html is None else found.html(html)
    if json:
        print_json(found.as_dict())
    else:
        print(found)
        if page is not None:
            say(f"page: {page}")


def _rule(text: str) -> tuple[str, object]:
    """A rule and its value: "jump=10" or "nan=false"."""
    name, equals, value = text.partition("=")
    words = {"true": True, "false": False}
    if not equals or not name.strip():
        raise InputError(
            f"--alert is given '{text}'; accepted: a rule and its value, as in jump=10 or nan=false"
        )
    if value.strip().lower() in words:
        return name.strip(), words[value.strip().lower()]
    try:
        return name.strip(), float(value)
    except ValueError:
        return name.strip(), value.strip()
