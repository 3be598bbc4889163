"""`sciprec.study`: a kernel on the same inputs in every arithmetic, to a page."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sciprec.foundation.arguments import Range, choice, flag, refused, whole, word
from sciprec.foundation.errors import InputError, meant
from sciprec.foundation.limits import THREADS
from sciprec.foundation.listing import Summary
from sciprec.foundation.notebook import NotebookLine
from sciprec.precision.formats.backend import TRUTH, backend_names, resolve_backend
from sciprec.results.comparison.own_error import OwnErrors
from sciprec.results.comparison.pointwise.error_metrics import limit_of, metrics
from sciprec.results.output.files import NETCDF, suffix_of
from sciprec.scenario.loading import Tolerance
from sciprec.tools.calls.outputs import todays_name
from sciprec.tools.digits.own_error import DD, TRUTHS, own_errors
from sciprec.tools.tune.formats import BITS
from sciprec.workbench.batch.modes import shell_assignments
from sciprec.workbench.batch.plan import Outcome, Run
from sciprec.workbench.batch.workflow import BatchResult, planned, run_planned
from sciprec.workbench.study.bit_search import Search, TriedFormat, fewest_bits
from sciprec.workbench.study.kernel_kind import scenario_of
from sciprec.workbench.study.subjects import StudySubject, opened, subject

OUT = "reports/mine"
_TOLERANCE = Range("a number >= 0", least=0.0)


@dataclass(frozen=True, repr=False)
class Study(BatchResult):
    """The result of a study.

    Args:
        folder, page, files, table, failures, notes: as of a batch.
        search: what the search for the fewest bits has found, where one was asked for.
    """

    search: Search | None = None

    def _summary(self) -> Summary:
        summary = super()._summary()
        return summary if self.search is None else replace(summary, about=self.search.sentence)


def study(
    kernel: Callable[..., Any],
    args: Any,
    *,
    backends: str | Iterable[str] = (),
    output: str | Sequence[str] | None = None,
    tolerance: float | Mapping[str, float] | None = None,
    metric: str = "relative_l2",
    out: str | Path = OUT,
    axes: Mapping[str, str | Sequence[str]] | None = None,
    search: str | None = None,
    truth: str = "auto",
    threads: int | None = None,
    fresh: bool = False,
    command: str | None = None,
    on_plan: Callable[[Sequence[Run]], None] | None = None,
    on_done: Callable[[Outcome], None] | None = None,
    on_tried: Callable[[TriedFormat], None] | None = None,
) -> Study:
    """Run a kernel on copies of the same inputs in every arithmetic, store and compare the results,
    and write a page.

    Args:
        kernel: a Python function in Numba's subset, an `@njit` function, or what `lift` gave.
        args: a tuple of its arguments, or a mapping by parameter name; the path of an .npz or
            netCDF file that holds them by name, or `FILE.py:FUNCTION` of a function that returns
            them; or a list of such, the members of the study. Arrays are copied, floats to
            binary64.
        backends: names or spec strings of arithmetics; fp64, the truth, always runs, too.
        output: names of the results that count, the main one first: arguments that the kernel
            writes (`NAME_0`, ... for those in a tuple), and what it returns (`return`, or
            `return_0`, ...); left out, all.
        tolerance: the largest error at which an arithmetic is good enough: for all of these, or by
            name. Every member has to meet it; results along a first axis "time" at the last time.
        metric: of the tolerance, such as "relative_l2" or "max_abs".
        out: folder for the files and the page.
        axes: result -> names of its axes: "time" lets the page draw how errors grow, "lat" and
            "lon" maps. Values along an axis are those of the input of that name. Inputs from netCDF
            bring their own.
        search: "bits" finds the least significand, and the fewest exponent bits with it, at which
            all members stay under the tolerance; its formats are among those that are compared.
        truth: how true fp64 is, which all runs are compared with: "auto" counts its right digits
            on the first member, by pairs of binary64, where that takes some seconds at most; "dd"
            on every member, however long that takes; "fp64" takes it as it is. Nothing is judged
            that is beyond the digits of fp64, or where these are not known.
        threads: how many runs at a time; left out, one per processor.
        fresh: compute again what is in the folder already.
        command: the command line to note on the page.
        on_plan, on_done: as of `sciprec.run`.
        on_tried: called with each format that a search has tried; left out, a line of a notebook
            names it.

    Returns:
        A Study: folder, page, files, one dictionary per run in `table`, failures, search.

    Raises:
        InputError: an argument, an arithmetic or the folder cannot be used, or the kernel cannot be
            lifted or fails on its inputs in binary64.

    Differs from a batch:
        Runs are threads of this process. Results are those of the first call of a lifted kernel;
        its processor time is that of further calls.
    """
    fresh = flag("fresh", fresh)
    chosen = _backends(backends, search)
    word("metric", metric, metrics())
    choice("truth", truth, TRUTHS)
    if threads is not None:
        whole("threads", threads, *THREADS)
    about = subject(kernel, args, output, axes)
    limits = [
        Tolerance(variable=name, metric=metric, at_most=limit, reason="as was asked for")
        for name, limit in _limits(tolerance, about.outputs, metric).items()
    ]
    rounding = _own_errors(about, truth)
    found_bits = None
    if search is not None:
        if rounding is not None:
            bounds = {t.variable: (t.metric, t.at_most) for t in limits}
            rounding.require(about.kernel.__name__, bounds)
        found_bits = _searched(search, about, limits, on_tried)
        chosen = tuple(dict.fromkeys((*chosen, *found_bits.compared))) or (TRUTH,)
    scenario = scenario_of(
        about, chosen, limits, None if found_bits is None else found_bits.as_dict(),
        None if rounding is None else rounding.as_dict(),
    )  # fmt: skip
    with opened(about):
        result = run_planned(
            planned([scenario], None, suffix_of(NETCDF)), out,
            lambda folder: command or _words(about, chosen, folder),
            {"on_plan": on_plan, "on_done": on_done},
            fresh=fresh, debug=False, scheduler=None, workers=None, threads=threads, plugins=(),
        )  # fmt: skip
    return Study(**vars(result), search=found_bits)


def _own_errors(about: StudySubject, truth: str) -> OwnErrors | None:
    """The error of fp64 itself, of the first member or the worst of all."""
    members, worst = about.members if truth == DD else about.members[:1], None
    for inputs in members:
        on = inputs.origin if len(about.members) > len(members) else ""
        truth_errors = own_errors(about.kernel, tuple(inputs.values.values()), truth, on=on)
        if truth_errors is not None:
            worst = truth_errors if worst is None else worst.worst(truth_errors)
    if worst is None:
        return None
    return replace(worst, results={n: o for n, o in worst.results.items() if n in about.outputs})


def _backends(backends: str | Iterable[str], search: str | None) -> tuple[str, ...]:
    """The arithmetics by their full names."""
    if isinstance(backends, (tuple, list)) and not backends:
        if search is not None:
            return ()
        raise InputError(
            "no arithmetic was given; name some as `backends`, such as ['fp32', 'bf16'] "
            "(--backend bf16 on the command line), or search for the fewest bits"
        )
    return tuple(dict.fromkeys(resolve_backend(name).name for name in backend_names(backends)))


def _limits(tolerance: Any, outputs: Sequence[str], metric: str) -> dict[str, float]:
    """The tolerance of each output that has one."""
    if tolerance is None:
        return {}
    if not isinstance(tolerance, Mapping):
        return dict.fromkeys(outputs, _limit("tolerance", tolerance, metric))
    limits = {todays_name(name, outputs): limit for name, limit in tolerance.items()}
    for name in limits:
        if name not in outputs:
            raise InputError(
                f"a tolerance is given for '{name}'; outputs: {', '.join(outputs)}"
                f"{meant(name, outputs)}"
            )
    return {n: _limit(f"the tolerance of '{n}'", limit, metric) for n, limit in limits.items()}


def _limit(name: str, limit: Any, metric: str) -> float:
    """A tolerance, a number or a text."""
    number = limit_of(name, limit, metric) if isinstance(limit, str) else limit
    return _TOLERANCE.number(name, number)


def _searched(
    search: Any, about: StudySubject, limits: Sequence[Tolerance], on_tried: Callable | None
) -> Search:
    """Make the search for the fewest bits; return its result."""
    if not (isinstance(search, str) and search == BITS):
        raise refused("search", search, f"'{BITS}'")
    if not limits:
        raise InputError(
            "a search needs to know when an error is small enough; give a tolerance, such as 1e-3"
        )
    line = NotebookLine()
    return fewest_bits(about, limits, on_tried or (lambda trial: line.write(f"tried {trial}")))


def _words(about: StudySubject, backends: Sequence[str], folder: Path) -> str:
    """The Python call of the same study, for the page."""
    listed = ", ".join(map(repr, backends))
    setting = " ".join(shell_assignments(os.environ))
    call = f'sciprec.study({about.kernel.__name__}, args, backends=[{listed}], out="{folder}")'
    return f"{call}  # with {setting}" if setting else call
