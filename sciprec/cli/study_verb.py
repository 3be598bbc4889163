"""The verb `sciprec study`: a kernel of one's own on the same inputs in every arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from sciprec.cli.console import NOT_MET, print_json, print_runs, say
from sciprec.cli.options import BackendsOption, Json, Quiet
from sciprec.cli.progress import Progress
from sciprec.cli.run_verb import BatchPage, write_cases
from sciprec.cli.settings import FILES_KEPT, command_line, interruptible
from sciprec.cli.written_files import JUnit
from sciprec.foundation.errors import InputError

NOT_SHOWN = ("beyond", "broken", "doubtful")
"""Statuses of arithmetics that are not shown to meet their tolerance."""


def study(
    kernel: str,
    inputs: Annotated[list[str], typer.Option()],
    backend: BackendsOption = None,
    tolerance: list[str] | None = None,
    metric: str = "relative_l2",
    output: list[str] | None = None,
    axes: list[str] | None = None,
    search: str | None = None,
    truth: str = "auto",
    out: Path = Path("reports/mine"),
    threads: Annotated[int | None, typer.Option(min=1)] = None,
    fresh: bool = False,
    html: BatchPage = None,
    junit_xml: JUnit = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run a kernel of yours in every arithmetic on the same inputs, to a page.

    Args:
        kernel: Kernel, a function of a Python file: FILE.py:FUNCTION.
        inputs: Arguments of the kernel by name: an .npz or netCDF file, or FILE.py:FUNCTION of a
            function that returns them; repeat it for an ensemble, a member each.
        tolerance: Largest error that is good enough, such as 1e-3 or 0.1%; a larger one lets more
            pass. For one output, write path=1e-3. If an arithmetic misses it, the exit code is 1.
        metric: Metric of the tolerance: relative_l2, relative_max, max_relative, max_abs, rms, or
            one of a plugin.
        output: Result that counts, the main one first: an argument that the kernel writes, or
            return (return_0, ...); repeat it for several [default: all].
        axes: Names of the axes of a result: path=time or field=time,lat,lon.
        search: With the word bits: search the fewest bits that stay within the tolerance.
        truth: Trust in fp64: auto counts fp64's right digits where that is cheap; dd always counts
            them, on every member; fp64 never does.
        out: Folder for files and page.
        threads: Number of runs at a time; more are usually faster and change no result [default:
            one for each processor].
        fresh: Compute again what is in the folder already.
    """
    from sciprec.tools.calls.kernel_file import kernel_named
    from sciprec.workbench.study.kernel_page import study as study_kernel

    options = {
        "--inputs": inputs, "--backend": backend, "--tolerance": tolerance, "--metric": [metric],
        "--output": output, "--axes": axes, "--search": search and [search],
        "--truth": truth != "auto" and [truth] or None, "--out": [str(out)],
    }  # fmt: skip
    with interruptible(lambda: FILES_KEPT), Progress(quiet=quiet, json=json) as progress:
        result = study_kernel(
            kernel_named(kernel), list(inputs), backends=tuple(backend or ()),
            output=output or None, tolerance=_limits(tolerance or (), metric), metric=metric,
            out=out, axes=axes_of(axes or ()), search=search, truth=truth, threads=threads,
            fresh=fresh, command=command_line(["study", kernel], options), on_plan=progress.planned,
            on_done=progress.done,
            on_tried=lambda trial: progress.show(f"tried {trial}"),
        )  # fmt: skip
        pages = [result.page, *([] if html is None else [result.html(html)])]
    search_result = result.search
    if junit_xml is not None:
        compared = search_result.compared if search_result else ()
        table = [row for row in result.table if row["label"] not in compared]
        write_cases(junit_xml, "study", table, NOT_SHOWN)
    if json:
        content = {"folder": result.folder, "page": result.page, "runs": result.table}
        print_json(
            content | {"search": search_result and search_result.as_dict(), "notes": result.notes}
        )
    else:
        print_runs(result.table)
        for line in (
            *([search_result.sentence, search_result.note] if search_result else []),
            *result.notes,
        ):
            if line:
                say(line)
        for page in pages:
            say(f"page: {page}")
    if result.failures or _missed(result):
        raise typer.Exit(NOT_MET)


def _missed(result: Any) -> bool:
    """Whether an arithmetic misses its tolerance; those that a search shows are there to miss it,
    unless nothing was found.
    """
    compared = result.search.compared if result.search else ()
    bad = [row for row in result.table if row["status"] in NOT_SHOWN]
    nothing = result.search is not None and not result.search.found
    return nothing or any(row["label"] not in compared for row in bad)


def _limits(texts: Sequence[str], metric: str) -> float | dict[str, float] | None:
    """The tolerance: one for all outputs, or by name, as in path=1e-3."""
    from sciprec.results.comparison.pointwise.error_metrics import limit_of

    pairs = [
        (name, limit_of("--tolerance", value, metric))
        for name, value in (text.rpartition("=")[::2] for text in texts)
    ]
    plain = [value for name, value in pairs if not name]
    if plain and len(pairs) > 1:
        raise InputError(
            "--tolerance is given more than once, and not each time for an output by name; give "
            "one number, or NAME=VALUE for each output"
        )
    return plain[0] if plain else dict(pairs) or None


def axes_of(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Names of axes by result."""
    axes: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, _, dims = text.partition("=")
        if not (name and dims):
            raise InputError(
                f"--axes is given '{text}'; it takes the names of the axes of a result, as in "
                "path=time or field=time,lat,lon"
            )
        axes[name] = tuple(dim.strip() for dim in dims.split(","))
    return axes
