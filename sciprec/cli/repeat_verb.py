"""The verb `sciprec repeat`: whether a kernel, a scenario or a command leaves the same bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from sciprec.cli.console import NOT_MET, print_json, print_listing, say
from sciprec.cli.kernel_or_scenario import KernelInputsOption, is_kernel, kernel_with_inputs
from sciprec.cli.options import BackendsOption, Json, Quiet
from sciprec.cli.progress import Waiting
from sciprec.cli.run_verb import Set
from sciprec.cli.settings import Settings, interruptible
from sciprec.cli.written_files import Html
from sciprec.foundation.errors import InputError


def repeat(
    target: Annotated[
        list[str] | None, typer.Argument(metavar="KERNEL|SCENARIO|-- COMMAND")
    ] = None,
    inputs: KernelInputsOption = None,
    backend: BackendsOption = None,
    runs: int | None = None,
    block_size: Annotated[list[str] | None, typer.Option(metavar="NAME=N,N")] = None,
    folder: str | None = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="PATTERN")] = None,
    changes: Set = None,
    html: Html = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run a kernel, scenario or command with other threads, orders and memory; compare the bits.

    Args:
        target: Kernel as FILE.py:FUNCTION, scenario by its file or name, or behind -- a command
            with its words, where {out} stands for a new folder.
        runs: Number of runs, 2 or more; more runs find rarer differences [default: one for each way
            in which runs may differ, such as threads, order or memory].
        block_size: Block size to vary, by name, with its other values: an integer argument of a
            kernel, or a variable of a command's environment; repeat it for several.
        folder: Folder that a command writes into, new or empty.
        ignore: Pattern of names of files, or of variables and attributes in them, to leave out:
            '*.log', 'elapsed'; repeat it for several.
    """

    options = {"--inputs": inputs, "--backend": backend, "--block-size": block_size,
             "--folder": folder, "--ignore": ignore, "--set": changes}  # fmt: skip

    text = f"repeating {' '.join([*(target or ()), *Settings.command]) or 'a run'}"
    with (
        interruptible(lambda: "nothing is left of the runs"), Waiting(text, quiet=quiet) as waiting,
    ):  # fmt: skip

        def tell(words: str) -> None:
            waiting.show(f"{text}: {words}")

        result = _repeated(list(target or ()), options, {"runs": runs, "tell": tell})
    page = None if html is None else result.html(html)
    if json:
        print_json(result.as_dict())
    else:
        from sciprec.regression.repetition.findings import runs_listing

        print_listing(runs_listing(result.runs))
        say(f"{result.target}: {result.answer}")
        for sentence in result.sentences():
            say(sentence)
        if page is not None:
            say(f"page: {page}")
    if not result.identical:
        raise typer.Exit(NOT_MET)


_OPTIONS = {
    "a kernel": ("--inputs", "--backend", "--block-size"),
    "a scenario": ("--backend", "--set", "--ignore"),
    "a command": ("--block-size", "--folder", "--ignore"),
}


def _repeated(target: list[str], options: dict[str, Any], how: dict[str, Any]) -> Any:
    """Repeat a target by its sort: a command, a kernel or a scenario."""
    behind = list(Settings.command)
    if not target:
        raise InputError(
            "nothing is given to repeat; give FILE.py:FUNCTION with --inputs, a scenario, or a "
            "command behind --"
        )
    sort = "a command" if behind else "a kernel" if is_kernel(target[0]) else "a scenario"
    if len(target) > len(behind or [""]):
        targets = f"{', '.join(target[: -len(behind)])} before --" if behind else ", ".join(target)
        raise InputError(
            f"one target is taken, and {targets} was given; put a command with its words behind --"
        )
    for option, value in options.items():
        if value and option not in _OPTIONS[sort]:
            raise InputError(f"{option} was given, and '{target[0]}' is {sort}: leave it out")
    if sort == "a command":
        from sciprec.regression.repetition.commands import repeat_command

        return repeat_command(
            behind, folder=options["--folder"], ignored=options["--ignore"] or (),
            blocks=_blocks(options["--block-size"] or ()), **how,
        )  # fmt: skip
    if sort == "a kernel":
        from sciprec.regression.repetition.kernels import repeat_kernel

        backends = options["--backend"] or []
        if len(backends) > 1:
            raise InputError(
                f"--backend is given {len(backends)} times for a kernel; give one arithmetic, or "
                "none for the kernel as it is"
            )
        if options["--inputs"] is None:
            kernel_with_inputs(target[0], None)  # refuses
        return repeat_kernel(
            target[0], options["--inputs"], backend=backends[0] if backends else None,
            blocks=_blocks(options["--block-size"] or ()), plugins=Settings.plugins, **how,
        )  # fmt: skip
    from sciprec.regression.repetition.scenarios import repeat_scenario

    return repeat_scenario(
        target[0], backends=options["--backend"] or (), plugins=Settings.plugins,
        changes=options["--set"] or (), ignored=options["--ignore"] or (), **how,
    )  # fmt: skip


def _blocks(entries: Sequence[str]) -> dict[str, list[int]]:
    """Read `--block-size` as names of parameters with their values."""
    blocks: dict[str, list[int]] = {}
    for text in entries:
        name, _, values = text.partition("=")
        numbers = [v.strip() for v in values.split(",")]
        if not name or not all(v.isdigit() and v.isascii() for v in numbers):
            raise InputError(
                f"--block-size is given '{text}'; it takes a name and whole numbers, as in "
                "block=16,64"
            )
        blocks[name] = [int(v) for v in numbers]
    return blocks
