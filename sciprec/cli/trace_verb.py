"""The verb `sciprec trace`: which line of a kernel or of a scenario's model makes its error."""

from __future__ import annotations

from pathlib import Path

from sciprec.cli.console import print_json, say
from sciprec.cli.kernel_or_scenario import (
    KernelInputsOption,
    MetricOption,
    Outputs,
    SubjectArgument,
    is_kernel,
    kernel_with_inputs,
    refuse_inputs,
)
from sciprec.cli.options import BackendOption, Json
from sciprec.cli.progress import Waiting
from sciprec.cli.run_verb import Set
from sciprec.cli.written_files import Html
from sciprec.foundation.errors import InputError


def trace(
    traced: SubjectArgument,
    backend: BackendOption,
    inputs: KernelInputsOption = None,
    by: str | None = None,
    output: Outputs = None,
    metric: MetricOption = None,
    samples: int | None = None,
    mend: bool = False,
    html: Html = None,
    changes: Set = None,
    json: Json = False,
) -> None:
    """Say which line of a kernel of yours, or of a scenario's model, makes its rounding error.

    Args:
        by: Split the error by line, operation, variable, function, call or step (for a model, a
            time step); for a model also by stage [default: line; stage for --mend of a long run of
            a model that has stages].
        samples: Number of inputs, the given ones and perturbed ones, over which parts of lines are
            correlated; more inputs make shares surer and take longer, and 1 leaves that out
            [default: 16; for long runs of a model, over their beginning].
        mend: Search for remedies for the lines of a kernel that are to blame, or for a model; each
            proposal is proven by runs, and has a patch.
        html: Write a page: source with heat by line, groups, when the error arose.
    """

    options = {"output": output or None, "by": by or "line"}
    if is_kernel(traced):
        if metric is not None:
            options["metric"] = metric
        with Waiting(f"tracing {traced} in {backend}"):
            result = _of_kernel(traced, inputs, changes, backend, samples, options)
            mended = result.mend() if mend else None
        page = None if html is None else _written(result, html, mended)
    else:
        refuse_inputs(inputs)
        if metric is not None:
            raise InputError(
                f"--metric {metric} is given with a scenario, whose traces are of relative_l2; "
                "leave it out, or name a kernel: FILE.py:FUNCTION"
            )
        with Waiting(f"tracing {traced} in {backend}") as waiting:
            options["by"] = by or _usual_split(traced, changes or [], mend, waiting)
            result = _of_scenario(traced, changes or [], backend, samples, options, waiting)
            mended = result.mend() if mend else None
            page = None if html is None else _written(result, html, mended)
    if json:
        print_json(result.as_dict() | ({"mend": mended.as_dict()} if mended is not None else {}))
    else:
        print(result)
        if mended is not None:
            print(mended)
            if mended.recommended is not None:
                print(mended.recommended.patch, end="")
        if page is not None:
            say(f"page: {page}")


def _usual_split(named: str, changes: list[str], mend: bool, waiting) -> str:
    """See `scenario_trace.usual_split`."""
    from sciprec.scenario.changes import change
    from sciprec.workbench.kinds.scenario_trace import usual_split

    by = usual_split(named, dict(map(change, changes)), mend)
    if by != "line":
        waiting.note(f"split by {by}, since a trace by line of so long a run takes many runs more: "
                     "--by line does it")  # fmt: skip
    return by


def _written(result, path: Path, mended) -> Path:
    """The page of a trace, with what to do about its lines where that was asked for."""
    from sciprec.tools.trace.models.traces import ModelTrace
    from sciprec.tools.trace.page import write_trace_page

    if isinstance(result, ModelTrace):
        return write_trace_page(result, path, mend=mended)
    return result.html(path, mend=mended)


def _of_kernel(named: str, inputs: str | None, changes, backend: str, samples, options):
    """The trace of a kernel."""
    from sciprec.tools.trace.traces import trace as trace_kernel

    function, args = kernel_with_inputs(named, inputs, changes)
    chosen = {} if samples is None else {"samples": samples}
    return trace_kernel(function, backend, args, **options, **chosen)


def _of_scenario(named: str, changes: list[str], backend: str, samples, options, waiting):
    """The trace of a scenario's model, whose progress is told."""
    from sciprec.scenario.changes import change
    from sciprec.workbench.kinds.scenario_trace import trace_scenario

    changed = dict(map(change, changes))
    return trace_scenario(
        named, backend, changes=changed, samples=samples,
        on_estimate=waiting.note,
        tell=lambda words, n, total: waiting.tell(f"{named} in {backend}: {words}", n, total),
        **options,
    )  # fmt: skip
