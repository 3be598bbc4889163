"""`monitor`: what variables and lines of a kernel hold as it goes, beside the truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sciprec.foundation import targets
from sciprec.foundation.arguments import flag, integer, names, word
from sciprec.foundation.arguments import path as checked_path
from sciprec.foundation.course import followed, tell
from sciprec.foundation.errors import InputError
from sciprec.foundation.later import KERNEL_TRUTHS
from sciprec.foundation.listing import Listing, Shown, Summary
from sciprec.instruments.assigning.assignment import AssignedBackend
from sciprec.instruments.observing import noted_values
from sciprec.instruments.observing.carried_sums import Totals, looking
from sciprec.instruments.observing.losing import CarriedSum, losing
from sciprec.instruments.observing.noted_values import MOST_PLACES, MOST_VALUES, Recording
from sciprec.instruments.observing.noting import Watched, lift_noting, require_found
from sciprec.precision.formats.backend import TRUTH, Backend, resolve_backend
from sciprec.precision.lifting.lifted import function_of
from sciprec.precision.lifting.lifting import lift
from sciprec.tools.calls.inputs import Inputs, inputs_of
from sciprec.tools.calls.outputs import called, given_arrays
from sciprec.tools.monitor.alerts import AT_END, Alert, checked_rules
from sciprec.tools.monitor.history import OFF, History, checked_level, place_in
from sciprec.tools.monitor.kernel_sums import RUNNING, sums_of
from sciprec.tools.monitor.lost import LostUpdates, alerts_of_sums
from sciprec.tools.monitor.summaries import COLUMNS, FormatEnds, digits

DD = "dd"
_SHARES = ("zeros", "subnormals", "nans", "overflows", "saturated")
_AT_ENDS = {"nan": np.isnan, "overflow": np.isinf}
"""Rules that look at results, too."""


@dataclass(frozen=True, repr=False)
class Monitored(Shown):
    """The values of a kernel's variables and lines as it went.

    Attributes:
        kernel, backend, level, every: what was asked for.
        watch: the variables and lines.
        steps: (n,), numbers of the watched steps: passes of the kernel's outermost loops from 1 on;
            what is before, between and after loops is a step, too.
        alerts: what the rules found, by step; then NaN and infinities of results that are not
            watched.
        results: what the kernel left: arrays that it was given, and what it returned.
        history: of the watched variables; None at level 0.
        shapes: of those that are arrays.
        rules: of alerts, with their values.
        sums: what each carried sum has lost, in the order of the source; empty at level 0, and
            where the rule `lost` is off.
        known: how many digits fp64 itself has, a sentence for each result; empty where that was
            not asked for.
    """

    kernel: str
    backend: str
    level: int
    every: int
    watch: tuple[str, ...]
    steps: np.ndarray
    alerts: tuple[Alert, ...]
    results: Mapping[str, np.ndarray]
    history: History | None
    shapes: Mapping[str, tuple[int, ...]]
    rules: Mapping[str, float] = field(default_factory=dict)
    sums: tuple[LostUpdates, ...] = ()
    known: tuple[str, ...] = ()

    def column(self, variable: str, name: str) -> np.ndarray:
        """(n,), one of the numbers of a variable in each watched step.

        Args:
            variable: as it was watched.
            name: count, minimum, maximum, mean, norm, zeros, subnormals, nans, overflows,
                saturated: numbers of values; or first_nan, first_overflow, largest: places; or
                digits: decimal digits that agree with fp64; NaN in fp64 itself.
        """
        history = self._required()
        number = history.names.index(word("variable", variable, history.names))
        accepted = (*COLUMNS, "digits")
        if word("column", name, accepted) != "digits":
            return history.column(name)[:, number]
        errors = history.errors
        if errors is None:
            return np.full(history.steps.size, np.nan)
        return np.array([digits(e) for e in errors[:, number].tolist()])

    def arrays(self, variable: str) -> list[np.ndarray]:
        """The values of a variable in each watched step, at level 3: arrays in their shape."""
        history = self._required()
        values = history.values_of(word("variable", variable, history.names))
        shape = self.shapes.get(variable)
        return [a.reshape(shape) if shape and a.size == np.prod(shape) else a for a in values]

    def _required(self) -> History:
        if self.history is None:
            raise InputError("nothing was watched at level 0; give level = 1, 2 or 3")
        return self.history

    def largest_errors(self) -> list[tuple[str, int, str, float]]:
        """(variable, step, place, size) of the largest error of each variable; from level 2 on."""
        worst = None if self.history is None else self.history.worst
        result: list[tuple[str, int, str, float]] = []
        if worst is None:
            return result
        for number, name in enumerate(self.watch):
            sizes = worst[:, number, 0, 1]
            at = int(np.argmax(sizes))
            if sizes[at] > 0.0:
                where = place_in(self.shapes.get(name), int(worst[at, number, 0, 0]))
                result.append((name, int(self.steps[at]), where, float(sizes[at])))
        return result

    def silent(self) -> tuple[str, ...]:
        """The names in `watch` that gave no value: they hold no floating-point numbers, are given
        none in a watched step, or are not reached.
        """
        if self.history is None:
            return ()
        counts = self.history.column("count").sum(axis=0).tolist()
        return tuple(name for name, count in zip(self.watch, counts, strict=True) if not count)

    def as_dict(self) -> dict[str, Any]:
        """Everything but results and whole arrays, as plain data."""
        result: dict[str, Any] = {
            "kernel": self.kernel, "backend": self.backend, "level": self.level,
            "every": self.every, "steps": self.steps.tolist(), "rules": dict(self.rules),
            "alerts": [asdict(alert) | {"text": str(alert)} for alert in self.alerts],
            "silent": list(self.silent()), "known": list(self.known), "variables": {},
            "sums": [carried.as_dict() for carried in self.sums],
        }  # fmt: skip
        if self.history is None:
            return result
        for number, name in enumerate(self.watch):
            columns = {c: self.column(name, c).tolist() for c in (*COLUMNS, "digits")}
            columns["exponents"] = self.history.exponents[number].tolist()
            if self.history.histograms is not None:
                columns["exponents_of_steps"] = self.history.histograms[:, number].tolist()
            result["variables"][name] = columns
        result["largest_errors"] = [
            {"variable": v, "step": s, "place": p, "error": e}
            for v, s, p, e in self.largest_errors()
        ]
        return result

    def html(self, path: str | Path) -> Path:
        """Write a page: alerts, summaries, and the error over variables and steps.

        Args:
            path: of the file.

        Raises:
            InputError: it cannot be written, or what is there is no page of sciprec.
        """
        from sciprec.tools.monitor.page import monitor_page

        text = monitor_page(
            self._named, self._summary(), self.watch, self.every, self.history
        )
        return targets.write(checked_path("the page", path), text, targets.PAGE)

    @property
    def _named(self) -> str:
        return f"'{self.kernel}' in {self.backend}"

    def _summary(self) -> Summary:
        label = self._named
        if self.history is None:
            return Summary(f"{label} was run; level 0 watches nothing.")
        rows = [self._row(name) for name in self.watch]
        heads = ("least", "greatest", "rms, last", "zeros", "subnormal", "NaN", "overflow",
                 "digits, least", "digits, last")  # fmt: skip
        silent = self.silent()
        count = "no alert" if not self.alerts else f"{len(self.alerts)} alert" + "s" * (
            len(self.alerts) > 1)  # fmt: skip
        title = f"{label}, {self.steps.size} steps watched: {count}."
        notes = [str(alert) for alert in self.alerts]
        alarmed = {alert.words for alert in self.alerts if alert.rule == "lost"}
        notes += [s.note for s in self.sums if s.is_listed and s.sentence not in alarmed]
        notes += [
            f"{name}: the largest error is {size:.3g}, in step {step} at {place}"
            for name, step, place, size in self.largest_errors()
        ]
        notes += self.known
        if silent:
            is_single = len(silent) == 1
            notes.append(
                f"{', '.join(silent)} gave no value and {'is' if is_single else 'are'} not "
                "watched: watched are floating-point numbers that a variable is given in a watched "
                "step, and arrays of them; no integers, no tuples (watch what they are taken apart "
                "into, or the line), no numbers that a kernel is given and keeps"
            )
        listing = Listing(("watched",), heads, rows, droppable=("zeros", "rms, last"))
        return Summary(title, listing, tuple(notes))

    def _row(self, name: str) -> tuple[str, ...]:
        """A row of the printed table, for one variable."""
        columns = {c: self.column(name, c) for c in (*COLUMNS, "digits")}
        counts = columns["count"]
        if not counts.any():
            return (name, *("–",) * 9)
        last = int(np.flatnonzero(counts)[-1])
        total = counts.sum()
        shares = {c: columns[c].sum() / total for c in _SHARES}
        rms = columns["norm"][last] / np.sqrt(counts[last])
        finite_digits = columns["digits"][np.isfinite(columns["digits"])]
        return (
            name, _number(_least(columns["minimum"], np.fmin)),
            _number(_least(columns["maximum"], np.fmax)), _number(rms),
            *(_percent(shares[c]) for c in ("zeros", "subnormals", "nans")),
            _percent(shares["overflows"] + shares["saturated"]),
            _digits(finite_digits.min() if finite_digits.size else np.nan),
            _digits(columns["digits"][last]),
        )  # fmt: skip


def monitor(
    kernel: Callable[..., Any],
    backend: str | Backend,
    args: Sequence[Any] | Mapping[str, Any],
    *,
    watch: str | Sequence[str],
    level: int = 1,
    every: int = 1,
    alerts: Mapping[str, float | bool] | None = None,
    truth: bool | str = True,
) -> Monitored:
    """Run a kernel, and take down what variables and lines of it hold as it goes.

    A step is a pass of the kernel's outermost loops, counted from 1 over all of them; what is
    before, between and after loops is a step, too, and always watched. Of a variable that holds
    a number each value is taken that it is given in a step, of one that holds an array its content
    when the step ends; a line gives what it assigns, stores or returns.

    Args:
        kernel: a Python function in Numba's subset, an `@njit` function, or what `lift` gave.
        backend: the arithmetic, by name, spec string or Backend; one format, or roles of several.
        args: a tuple of its arguments, or a mapping by parameter name. They are not written.
        watch: names of variables or arguments of the kernel, and lines of its file ("line:38") in
            it or in what it calls.
        level: 0 off; 1 summaries of each watched step: least and greatest value, mean, norm, shares
            of zeros, subnormals, NaN, infinities and saturated values, exponents over all steps,
            decimal digits that agree with fp64; 2 also the exponents of each step and places of the
            largest errors; 3 also whole arrays.
        every: of passes each so many is watched.
        alerts: rules, {"nan": True, "overflow": True} where nothing is said: the first NaN; the
            first infinity or saturation; "moved": a mean that has moved from its first value by
            more than that share of the variable's first root mean square; "jump": a root mean
            square so many times larger or smaller than the mean of those of all watched steps
            before, of which there are three at least; "lost": a carried sum, `x = x + d` in the
            kernel or what it calls, that has lost that share of what was added to it over the whole
            run, whatever is watched (see docs/reference/monitor.md), 0.5 where nothing is said;
            "digits": fewer decimal digits agree with fp64; and ranges, {"h>0": True,
            "|c|<=1": True}, of what is watched. False: that rule is off. NaN and infinities are
            looked for in all results, too, whatever is watched.
        truth: whether the kernel runs in fp64, too, for digits and places of errors, of which a run
            in fp64 has none; "dd": and how many digits fp64 itself has in the results, by pairs of
            binary64.

    Returns:
        A Monitored: columns by variable, alerts with place and step, and the kernel's results,
        whose bits are those of the lifted kernel at every level.

    Raises:
        InputError: there is no such variable, line, level or rule, every is no number of steps, or
            what is watched are more than 67,108,864 numbers.
        LiftError: the kernel cannot be lifted.

    Precision:
        Summaries are computed in binary64. Norms and means leave out what is not finite; digits are
        -log10 of the relative l2 error, from 0 to 17; 0 where a value is finite in one run only,
        unknown in steps where the runs have given different numbers of values.
    """
    function = function_of(kernel, "monitor")
    arithmetic = resolve_backend(backend)
    arithmetic.require_taken_by("monitor")
    if isinstance(arithmetic, AssignedBackend):
        raise InputError(
            f"backend '{arithmetic.name}' has formats by place; monitor takes one format so far, "
            "such as the narrowest of them"
        )
    watched = _watched(watch)
    level = checked_level(level)
    integer("every", every, 1, 2**62, "a whole number of steps from 1")
    rules = checked_rules(alerts, [w.text for w in watched])
    if truth != DD:
        truth = flag("truth", truth)
    if "digits" in rules and not (truth and arithmetic != resolve_backend(TRUTH)):
        why = "the run is in fp64 itself" if truth else "truth is False"
        raise InputError(
            f"alerts.digits counts digits that agree with fp64, and {why}: leave that rule out"
        )
    require_found(function, watched)
    inputs, sentences = inputs_of(function, args), ()
    if truth == DD:
        truth_digits = KERNEL_TRUTHS[DD](function, tuple(inputs.values.values()), DD)
        sentences = tuple(truth_digits.sentence(name) for name in truth_digits.results)
    result = _run(function, arithmetic, inputs, watched, level, every, rules, bool(truth))
    return replace(result, known=sentences)


def _watched(watch: Any) -> tuple[Watched, ...]:
    """The variables and lines to watch, each once."""
    watched = tuple(Watched.read(text) for text in dict.fromkeys(names("watch", watch)))
    if len(watched) > MOST_PLACES:
        raise InputError(f"watch names {len(watched)} things; accepted: at most {MOST_PLACES}")
    return watched


def _run(
    function, backend: Backend, inputs: Inputs, watched: tuple[Watched, ...], level: int,
    every: int, rules: Mapping[str, float], truth: bool,
) -> Monitored:  # fmt: skip
    watch = tuple(w.text for w in watched)
    about = function.__name__, backend.name, level, every, watch
    if level == OFF:
        outcome = called(lift(function, backend), inputs)
        return Monitored(*about, np.empty(0, np.int64), (), outcome.results, None, {}, rules)
    places: dict[CarriedSum, int] | None = {} if "lost" in rules else None
    exact, fp64 = None, resolve_backend(TRUTH)
    runs = 1 + (truth and backend != fp64)  # fp64 beside itself would agree to every digit
    tell("runs of the kernel", 0, runs)
    tested, results, totals = _recorded(function, backend, inputs, watched, every, places)
    exact_totals: Mapping[CarriedSum, Totals] = {}
    if runs > 1:
        tell("runs of the kernel", 1, runs)
        exact, _, exact_totals = _recorded(function, fp64, inputs, watched, every, places)
    sums = sums_of(totals, exact_totals, backend)
    history = History(watch, FormatEnds.of(backend.storage), level)
    for number, step in enumerate(tested.steps):
        tell("steps summed up", number, len(tested.steps))
        values = [tested.values(n, step) for n in range(len(watched))]
        truths = None if exact is None else [exact.values(n, step) for n in range(len(watched))]
        history.note(step, values, truths)
    shapes = {watch[n]: shape for n, shape in tested.shapes.items()}
    alerts = history.alerts(rules, lambda name, at: place_in(shapes.get(name), at))
    announced = {(alert.variable, alert.rule) for alert in alerts}
    ends = _alerts_of_results(results, inputs, rules)
    alerts += tuple(alert for alert in ends if (alert.variable, alert.rule) not in announced)
    alerts += alerts_of_sums(sums, rules)
    return Monitored(*about, history.steps, alerts, results, history, shapes, rules, sums)


def _alerts_of_results(
    results: Mapping[str, np.ndarray], inputs: Inputs, rules: Mapping[str, float]
) -> tuple[Alert, ...]:
    """The first NaN and the first infinity of each result, and whether the kernel was given all of
    these where they are.
    """
    floats = {name: a for name, a in results.items() if np.issubdtype(a.dtype, np.floating)}
    history, arrays = History(tuple(floats), FormatEnds()), given_arrays(inputs.values)
    history.note(AT_END, list(floats.values()))

    def place(name: str, at: int) -> str:
        return place_in(floats[name].shape, at) if floats[name].shape else ""

    alerts = []
    for alert in history.alerts({n: v for n, v in rules.items() if n in _AT_ENDS}, place):
        holds, array = _AT_ENDS[alert.rule], floats[alert.variable]
        before = arrays.get(alert.variable, ("", np.zeros(())))[1]
        if not (holds(array) & ~holds(before)).any():
            alert = replace(alert, words=f"{alert.words}, as it was given,")
        alerts.append(alert)
    return tuple(alerts)


def _recorded(
    function, backend: Backend, inputs: Inputs, watched: tuple[Watched, ...], every: int,
    places: dict[CarriedSum, int] | None,
) -> tuple[Recording, Mapping[str, np.ndarray], Mapping[CarriedSum, Totals]]:  # fmt: skip
    """Run with notes: the notes, the results, and totals of carried sums, if `places` has any."""
    further = () if places is None else (losing(function, places),)
    kernel = lift_noting(function, backend, watched, further)
    with RUNNING, noted_values.recording(every) as log, looking(places or {}) as totals:
        with followed(partial(_passes, backend.name)):
            outcome = called(kernel, inputs)
    if log.count > MOST_VALUES:
        raise InputError(
            f"what is watched of '{function.__name__}' are {log.count:,} numbers in {backend.name}"
            f"; at most {MOST_VALUES:,} are kept: give a larger every, or watch less"
        )
    return log, outcome.results, totals


def _passes(backend: str) -> tuple[str, int, int] | None:
    """The loop that a run is in, how many of its passes are done, and how many there are."""
    passes = noted_values.passes()
    if passes is None:
        return None
    line, count, length = passes
    return f"run in {backend}, passes of the loop in line {line}", count, length


def _least(values: np.ndarray, least: np.ufunc) -> float:
    return float(least.reduce(values))


def _number(value: float) -> str:
    return f"{value:.4g}"


def _percent(share: float) -> str:
    return "0" if share == 0.0 else f"{100 * share:.2g} %"


def _digits(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.1f}"
