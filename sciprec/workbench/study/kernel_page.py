"""`sciprec.study`: a kernel on the same inputs in every arithmetic, to a page."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import xarray as xr

from sciprec.foundation.arguments import Range, choice, flag, integer, refused, word
from sciprec.foundation.errors import InputError, meant
from sciprec.foundation.limits import THREADS
from sciprec.foundation.listing import Listing, Shown, Summary
from sciprec.foundation.notebook import NotebookLine
from sciprec.foundation.plain_data import plain
from sciprec.precision.formats.backend import TRUTH, backend_names, resolve_backend
from sciprec.results.comparison.own_error import OwnErrors
from sciprec.results.comparison.pointwise.error_metrics import limit_of, metrics
from sciprec.results.comparison.rows import compare
from sciprec.results.comparison.verdicts import judge
from sciprec.results.comparison.wording import number
from sciprec.results.output.files import NETCDF, suffix_of
from sciprec.results.output.stated import SCENARIO
from sciprec.scenario.loading import Tolerance
from sciprec.tools.calls.outputs import todays_name
from sciprec.tools.digits.own_error import DD, TRUTHS, own_errors
from sciprec.tools.tune.formats import BEYOND_NEED, BITS, FEWEST, emax_of, spec_of_bits
from sciprec.tools.tune.search import least_from, least_holding
from sciprec.workbench.batch.modes import shell_assignments
from sciprec.workbench.batch.perform import properties
from sciprec.workbench.batch.plan import Outcome, Run
from sciprec.workbench.batch.workflow import BatchResult, planned, run_planned
from sciprec.workbench.study.kernel_kind import scenario_of
from sciprec.workbench.study.subjects import StudySubject, opened, subject

OUT = "reports/mine"
_TOLERANCE = Range("a number >= 0", least=0.0)
MOST = 53
_CURVE = (4, 8, 11, 16, 24, 32, 40)
"""Significands that a search tries in any case, for the curve."""
_EXPONENT_BITS = range(2, 10)


@dataclass(frozen=True)
class TriedFormat:
    """A format for every operation that a search has tried, rounded to nearest.

    Args:
        bits: of its significand, the implicit one included.
        emax: its largest exponent; the smallest is 1 - emax.
        backend: its spec string.
        ratios: error over tolerance of the worst output, for each member; infinite where values
            are finite in one run and not in the other.
    """

    bits: int
    emax: int
    backend: str
    ratios: tuple[float, ...]

    @property
    def worst(self) -> float:
        """The worst error of all members."""
        return max(self.ratios)

    @property
    def meets(self) -> bool:
        """Whether every member stays under the tolerance."""
        return self.worst <= 1.0

    @property
    def exponents(self) -> str:
        """The smallest and the largest exponent, in words; "" where they are beyond need."""
        return "" if self.emax == BEYOND_NEED else f"{1 - self.emax} to {self.emax}"

    def __str__(self) -> str:
        exponents = f", exponents {self.exponents}" if self.exponents else ""
        return f"{self.bits} significant bits{exponents}: error {self.worst:.2g} of the tolerance"

    def as_dict(self) -> dict[str, Any]:
        """Plain data; infinite ratios are None."""
        exponents = (1 - self.emax, self.emax) if self.exponents else None
        about = {"bits": self.bits, "exponents": exponents, "backend": self.backend}
        return plain(about | {"ratios": self.ratios})


@dataclass(frozen=True, repr=False)
class Search(Shown):
    """The result of a search for the fewest bits.

    Args:
        bits: of the least significand that holds; MOST where only binary64's does.
        tried: significands with exponents beyond need, in ascending order.
        ranges: exponents e, 2^e <= |x| < 2^(e+1), of the smallest and the largest number that
            binary64 meets, zeros left out; None where they are not known.
        exponent_bits: the fewest of an IEEE-like format with that significand that holds; None
            where none of up to 9 does, or ranges are not known.
        exponents_tried: formats of that significand, exponents ascending.
        note: why something is left out; else empty.
    """

    bits: int
    tried: tuple[TriedFormat, ...]
    ranges: tuple[int, int] | None = None
    exponent_bits: int | None = None
    exponents_tried: tuple[TriedFormat, ...] = ()
    note: str = ""

    @property
    def found(self) -> bool:
        """Whether fewer bits than binary64's hold."""
        return self.bits < MOST

    @property
    def lucky(self) -> tuple[int, ...]:
        """Fewer bits that meet the tolerance although more do not."""
        return tuple(trial.bits for trial in self.tried if trial.bits < self.bits and trial.meets)

    @property
    def compared(self) -> tuple[str, ...]:
        """Formats for the page: the one found, and one of fewer bits; none where none was found."""
        emax = BEYOND_NEED if self.exponent_bits is None else emax_of(self.exponent_bits)
        fewer = range(self.bits, max(self.bits - 2, FEWEST - 1), -1)
        return tuple(_name_of(bits, emax) for bits in fewer) if self.found else ()

    @property
    def backend(self) -> str:
        """The spec string of the format with these bits and exponent bits."""
        return self.compared[0] if self.found else TRUTH

    @property
    def sentence(self) -> str:
        """The result, in words."""
        if not self.found:
            return "No significand below binary64's 53 bits stays under the tolerance."
        text = f"{self.bits} significant bits are enough, the implicit one included"
        if self.exponent_bits is not None:
            emax = emax_of(self.exponent_bits)
            text += f", with {self.exponent_bits} exponent bits (2^{1 - emax} to 2^{emax})"
        if self.lucky:
            fewer = ", ".join(map(str, self.lucky))
            text += f"; {fewer} would do too, but not some of more bits: that is chance"
        return f"{text}."

    def _summary(self) -> Summary:
        rows = [
            (str(trial.bits), trial.exponents or "beyond need", number(trial.worst),
             "yes" if trial.meets else "no")
            for trial in (*self.tried, *self.exponents_tried)
        ]  # fmt: skip
        heads = ("significant bits", "exponents", "error / tolerance")
        listing = Listing((), heads, rows, ("good enough",))
        notes = (self.note,) if self.note else ()
        return Summary("search for the fewest bits", listing, notes, about=self.sentence)

    def as_dict(self) -> dict[str, Any]:
        """Plain data; infinite ratios are None."""
        names = ("bits", "exponent_bits", "backend", "ranges", "lucky", "sentence", "note")
        return plain({name: getattr(self, name) for name in names}) | {
            "tried": [trial.as_dict() for trial in self.tried],
            "exponents_tried": [trial.as_dict() for trial in self.exponents_tried],
        }


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
        integer("threads", threads, *THREADS)
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
    largest = limit_of(name, limit, metric) if isinstance(limit, str) else limit
    return _TOLERANCE.number(name, largest)


def _searched(
    search: Any, about: StudySubject, limits: Sequence[Tolerance], on_tried: Callable | None
) -> Search:
    """Search for the least significand, then for the fewest exponent bits with it."""
    if not (isinstance(search, str) and search == BITS):
        raise refused("search", search, f"'{BITS}'")
    if not limits:
        raise InputError(
            "a search needs to know when an error is small enough; give a tolerance, such as 1e-3"
        )
    line, trials = NotebookLine(), []
    truths = _judged(about, TRUTH, limits)

    @cache
    def trial(bits: int, emax: int = BEYOND_NEED) -> TriedFormat:
        backend = _name_of(bits, emax)
        ratios = tuple(map(_ratio, truths, _judged(about, backend, limits)))
        trials.append(TriedFormat(bits, emax, backend, ratios))
        (on_tried or (lambda trial: line.write(f"tried {trial}")))(trials[-1])
        return trials[-1]

    bits = least_holding(lambda bits: trial(bits).meets, FEWEST, MOST, _CURVE)
    result = Search(bits, tuple(sorted(trials, key=lambda trial: trial.bits)))
    trials.clear()
    try:
        ranges = about.ranges()
    except InputError as error:
        return replace(result, note=f"exponents were not searched for: {error}")
    if not result.found:
        return replace(result, ranges=ranges)
    wide = [e for e in _EXPONENT_BITS if ranges[1] <= emax_of(e)] or [_EXPONENT_BITS[-1]]
    needed = next((e for e in wide if 1 - emax_of(e) <= ranges[0]), _EXPONENT_BITS[-1])
    fewest = least_from(
        needed, lambda e: trial(bits, emax_of(e)).meets, wide[0], _EXPONENT_BITS.stop
    )
    is_beyond = fewest not in _EXPONENT_BITS
    return replace(
        result, ranges=ranges, exponent_bits=None if is_beyond else fewest,
        exponents_tried=tuple(sorted(trials, key=lambda trial: trial.emax)),
        note="more than 9 exponent bits are needed, which is not emulated" if is_beyond else "",
    )  # fmt: skip


def _name_of(bits: int, emax: int) -> str:
    """The full name of the format with a significand and exponents from 1 - emax to emax."""
    return resolve_backend(spec_of_bits(bits, emax)).name


def _judged(about: StudySubject, name: str, limits: Sequence[Tolerance]) -> list[xr.Dataset]:
    """The results of each member in an arithmetic, with what a verdict on them needs to know."""
    attributes = {
        "sciprec_backend": name,
        "sciprec_backend_properties": json.dumps(properties(resolve_backend(name))),
        SCENARIO: json.dumps({"tolerance": [t.model_dump() for t in limits]}),
    }
    return [about.run(inputs, name)[1].assign_attrs(attributes) for inputs in about.members]


def _ratio(truth: xr.Dataset, dataset: xr.Dataset) -> float:
    """Error over tolerance of the worst output, as pages judge it."""
    try:
        verdict = judge(truth, dataset, compare(truth, dataset))
    except InputError:  # results of another shape
        return math.inf
    judged = {"identical": 0.0, "good": verdict.margin, "beyond": verdict.margin}
    return judged.get(verdict.status, math.inf)


def _words(about: StudySubject, backends: Sequence[str], folder: Path) -> str:
    """The Python call of the same study, for the page."""
    listed = ", ".join(map(repr, backends))
    setting = " ".join(shell_assignments(os.environ))
    call = f'sciprec.study({about.kernel.__name__}, args, backends=[{listed}], out="{folder}")'
    return f"{call}  # with {setting}" if setting else call
