"""`trace_program`: where the error of a whole model arises, kernel by kernel and line by line.

A model calls many kernels and does things between them. All its kernels share the parts of one
table; a run follows some groups of their operations, functions first, then the lines of those
functions in which much of the error arises.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from sciprec.checks.arguments import names, refused, whole, word
from sciprec.diagnosis.attribution import TWIN_LANES, require_traceable
from sciprec.diagnosis.between import Ladder
from sciprec.diagnosis.lines import LANES, Line
from sciprec.diagnosis.model_runs import Census, ErrorRun, Place, traced_kernel
from sciprec.diagnosis.origins import BY, Group, groups_of
from sciprec.display.listing import Listing, Shown, Summary, counted
from sciprec.errors import InputError
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.tracing.operations import SEEN_BITS

HOT = 0.05
"""A function whose part is larger than this share of the error is split."""
APART = 10.0
"""Where parts together are so many times larger than their sum, the run is past its horizon."""
BETWEEN = "float32 arrays"
"""What the model's own arrays of binary32 numbers round between kernels."""


@dataclass(frozen=True, repr=False)
class ModelTrace(Shown):
    """Where the error of a model's results arises.

    Attributes:
        model, backend, by: what was traced, and how hot functions are split.
        lines: functions and, of hot ones, their lines; conversions of arguments; what is rounded
            between kernels. In the order of the source.
        outputs: name -> relative l2 error of that result.
        times: of the stored states of results that have a time axis; empty without one.
        growth: name of a line -> rms of its part at these times, results over their norms.
        until: the time whose state is traced; None without a time axis.
        shortened: whether later states were left out, since parts cancel there.
        sizes: sum of the sizes of all parts over the size of their sum.
        elements: how many numbers the results have.
        left_out: how many of them are not finite.
        closure: |sum of parts - (tested - twin)| / |error|.
        passes: how often the model was run with its error in parts.
        calls: of kernels in a run.
    """

    model: str
    backend: str
    by: str
    lines: tuple[Line, ...]
    outputs: Mapping[str, float]
    times: tuple[float, ...]
    growth: Mapping[str, tuple[float, ...]]
    until: float | None
    shortened: bool
    sizes: float
    elements: int
    left_out: int
    closure: float
    passes: int
    calls: int

    @property
    def ranked(self) -> list[Line]:
        """The lines, the largest part first."""
        return sorted(self.lines, key=lambda n: -abs(n.share))

    @property
    def verdict(self) -> str:
        """What there is to know, in a sentence."""
        if self.elements == self.left_out:
            return "No result is finite: there is no error to split."
        if not any(self.outputs.values()):
            return f"'{self.model}' makes no error in {self.backend}: all shares are 0."
        first = self.ranked[0]
        return (
            f"{first.share:.0%} of the error of '{self.model}' in {self.backend} is rounding of "
            f"{_called(first)}."
        )

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return asdict(self) | {"verdict": self.verdict}

    def _summary(self) -> Summary:
        rows = [
            (n.function, str(n.line or ""), n.source, f"{n.share:+.1%}", f"{n.rms:.2g}")
            for n in self.ranked
            if n.share or n.rms
        ]
        errors = ", ".join(f"{name} {error:.2g}" for name, error in self.outputs.items())
        notes = [f"relative l2 error: {errors}" + self._when]
        if self.shortened:
            notes.append(
                f"later states are left out: parts are more than {APART:g} times as large as "
                "their sum there, beyond what can be told apart"
            )
        elif self.sizes > APART:
            notes.append(
                f"parts are {self.sizes:.0f} times as large as their sum: beyond what can be told "
                "apart; shorten the run"
            )
        if self.left_out:
            some = counted(self.left_out, "number")
            notes.append(f"{some} of {self.elements:,} left out: not finite")
        notes.append(
            f"{self.passes} passes, {self.calls:,} calls of kernels each; closure "
            f"{self.closure:.1g}"
        )
        listing = Listing(("function", "line", "source"), ("share", "rms of part"), rows)
        return Summary(self.verdict, listing, tuple(notes))

    @property
    def _when(self) -> str:
        return "" if self.until is None else f" at time {self.until:g}"


def _called(line: Line) -> str:
    if line.name.startswith("line "):
        return f"line {line.line} in '{line.function}': {line.source}"
    if line.source == BETWEEN:
        return "the model's own float32 arrays"
    what = {"arguments": "its arguments", "roundings": "arrays between kernels"}.get(
        line.name, line.name
    )
    return f"{what} in '{line.function}'"


@dataclass(frozen=True)
class Results:
    """What a program gives: numbers by name.

    Args:
        values: name -> array; of `timed` ones the first axis is time.
        timed: names of those.
        times: of the stored states.
    """

    values: Mapping[str, np.ndarray]
    timed: tuple[str, ...] = ()
    times: tuple[float, ...] = ()


@dataclass(frozen=True)
class _Joint:
    """A group of operations of several kernels.

    Args:
        group: what it is called, and its place.
        rows: kernel -> numbers of its rows.
        arguments: (kernel, name) of the arguments whose conversion it is.
        places: where the model rounds arrays between kernels.
    """

    group: Group
    rows: dict[Any, list[int]] = field(default_factory=dict)
    arguments: list[tuple] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)


def trace_program(
    program: Callable[[Backend], Results],
    backend: str | Backend,
    *,
    model: str,
    output: str | Iterable[str] | None = None,
    by: str = "line",
    lanes: int = LANES,
) -> ModelTrace:
    """Split the error of a model's results by where it arose.

    Args:
        program: runs the model in a backend, from its initial state on, and gives its results; all
            kernels are lifted to that very backend.
        backend: a floating-point arithmetic without random bits, of at most 30 bits.
        model: its name.
        output: names of the results that count; left out, all.
        by: what hot functions are split by: "line", "operation", "variable"; "function": by none.
        lanes: numbers beside each value: lanes - 2 groups are followed in one run; 4, 8, 16 or 32.

    Raises:
        InputError: an argument cannot be used; rounded numbers decide what the model does between
            kernels; no arithmetic of this kind.
        LiftError: a kernel cannot be traced.
    """
    arithmetic = resolve_backend(backend)
    require_traceable(arithmetic)
    _require_few_bits(arithmetic)
    word("by", by, [b for b in BY if b not in ("call", "step")])
    if whole("lanes", lanes, 4, 32, "4, 8, 16 or 32") not in (4, 8, 16, 32):
        raise refused("lanes", lanes, "4, 8, 16 or 32")
    return _Splitting(program, arithmetic, model, output, lanes).trace(by)


def _require_few_bits(backend: Backend) -> None:
    if backend.compute.format.significand_bits > SEEN_BITS:
        raise InputError(
            f"backend '{backend.name}' has {backend.compute.format.significand_bits} bits; the "
            f"trace of a model takes at most {SEEN_BITS}, since what is between its kernels is "
            "computed in binary64: take a narrower one, or trace a kernel by itself"
        )


class _Splitting:
    """The runs of one trace, and what they gave."""

    def __init__(self, program, backend: Backend, model: str, output, lanes: int) -> None:
        self.model, self.backend, self.lanes = model, backend, lanes
        self.census = Census(program, backend)
        self.program, self.passes = program, 0
        self.results: Results = self.census.results
        self.outputs = _chosen(self.results, output)
        self.parts: dict[tuple, dict[str, np.ndarray]] = {}
        self.groups: dict[tuple, _Joint] = {}

    def trace(self, by: str) -> ModelTrace:
        """All runs: functions, pieces of those that are hot down to their lines, and the twin."""
        self.groups, whole = {}, {}
        for key, joint in self._groups("function").items():
            inside = [] if by == "function" else self._inside(key, by)
            if len(inside) == 1:
                key, joint = inside.pop()
            self.groups[key], whole[key] = joint, inside
        self._follow()
        if by != "function":
            while hot := [k for k in self.groups if len(whole.get(k, ())) > 1 and self._is_hot(k)]:
                split: dict[tuple, _Joint] = {}
                for key, joint in self.groups.items():
                    pieces = self._pieces(whole.pop(key)) if key in hot else {key: ([], joint)}
                    whole |= {k: leaves for k, (leaves, _) in pieces.items() if key in hot}
                    split |= {k: piece for k, (_, piece) in pieces.items()}
                self.groups = split
                self._follow()
        return self._made(by)

    def _inside(self, key: tuple, by: str) -> list[tuple[tuple, _Joint]]:
        """What is in a function, in its order."""
        what = {"arguments": "argument", "roundings": "rounding"}.get(key[0], by)
        return [(k, j) for k, j in self._groups(by).items() if k[:3] == (what, *key[1:])]

    def _pieces(self, inside: list[tuple[tuple, _Joint]]) -> dict[tuple, tuple[list, _Joint]]:
        """As many pieces of consecutive groups as one run follows, with what is in them."""
        size = -(-len(inside) // (self.lanes - 2))
        found: dict[tuple, tuple[list, _Joint]] = {}
        for first in range(0, len(inside), size):
            some = inside[first : first + size]
            if len(some) == 1:
                found[some[0][0]] = [], some[0][1]
            else:
                found["piece", some[0][0], some[-1][0]] = some, _joined([j for _, j in some])
        return found

    # ---- groups --------------------------------------------------------------------------------

    def _groups(self, by: str) -> dict[tuple, _Joint]:
        """What operations of all kernels belong to, by what tells groups apart."""
        found: dict[tuple, _Joint] = {}
        for kernel in self.census.kernels:
            traced = traced_kernel(kernel, self.backend, "parts", self.lanes)
            for group in groups_of(traced.program, by):
                if group.argument and by == "function":
                    key: tuple = ("arguments", group.file, group.function)
                    group = replace(group, name="arguments", source="conversion of arguments")
                elif group.argument:
                    key = ("argument", group.file, group.function, group.argument)
                else:
                    key = (by, group.file, group.function)
                    key = key if by == "function" else (*key, group.name)
                joint = found.setdefault(key, _Joint(group))
                joint.rows.setdefault(kernel, []).extend(group.rows)
                if group.argument:
                    joint.arguments.append((kernel, group.argument))
        for place in self.census.roundings:
            file, function, line = place
            source = linecache.getline(file, line).strip()
            one = Group(function, file, line, source, f"line {line}", ())
            key = "rounding", file, function, line
            if by == "function":
                one = replace(one, name="roundings", source="rounding of arrays between kernels")
                key = "roundings", file, function
            found.setdefault(key, _Joint(one)).places.append(place)
        return dict(sorted(found.items(), key=lambda item: _place(item[1].group)))

    def _follow(self) -> None:
        """Run the model until the part of every group is known.

        Copies lack parts in the order of the groups: between two that are followed in one run a
        lane is of those that stand between them. So whatever the model does to numbers between its
        kernels, the parts of all groups add up, in whichever runs they were followed.
        """
        order = list(self.groups)
        todo = [n for n, key in enumerate(order) if key not in self.parts]
        while todo:
            lanes: list[list[int]] = [list(range(todo[0]))]  # and what is between kernels
            while todo and len(lanes) + (todo[0] > _last(lanes) + 1) < self.lanes - 1:
                if todo[0] > _last(lanes) + 1:
                    lanes.append(list(range(_last(lanes) + 1, todo[0])))
                lanes.append([todo.pop(0)])
            self._pass([[order[n] for n in lane] for lane in lanes])

    def _pass(self, lanes: Sequence[Sequence[tuple]]) -> None:
        tables = {}
        of_arguments: dict[tuple, int] = {}
        of_roundings: dict[Place, int] = {}
        for kernel in self.census.kernels:
            tables[kernel] = traced_kernel(kernel, self.backend, "parts", self.lanes).table()
            tables[kernel].begin()
        for lane, keys in enumerate(lanes, 1):
            for key in keys:
                for kernel, rows in self.groups[key].rows.items():
                    tables[kernel].masks[rows, lane] = 1.0
                of_arguments |= dict.fromkeys(self.groups[key].arguments, lane)
                of_roundings |= dict.fromkeys(self.groups[key].places, lane)
        ladder = Ladder("parts", self.lanes)
        run = ErrorRun(self.program, self.census, ladder, tables, of_arguments, of_roundings)
        self.passes += 1
        copies = [r.values for r in run.results]
        self._require_the_same(copies[0])
        with np.errstate(invalid="ignore"):
            if not self.parts:
                self.parts[BETWEEN,] = self._differences(copies, 0)
                self.errors = {n: _float(copies[0][n]) - copies[-1][n] for n in self.outputs}
            for lane, keys in enumerate(lanes):
                if lane and len(keys) == 1:
                    self.parts[keys[0]] = self._differences(copies, lane)

    def _require_the_same(self, values: Mapping[str, np.ndarray]) -> None:
        for name in self.outputs:
            if not np.array_equal(values[name], self.results.values[name], equal_nan=True):
                raise InputError(
                    f"the model gives another '{name}' when it is run again; trace takes models "
                    "that give the same numbers in every run"
                )

    def _differences(self, copies, lane: int) -> dict[str, np.ndarray]:
        return {n: _float(copies[lane][n]) - copies[lane + 1][n] for n in self.outputs}

    def _is_hot(self, key: tuple) -> bool:
        part, error = self._at(self.parts[key], -1), self._at(self.errors, -1)
        return _norm(part) > HOT * _norm(error) or abs(_share(part, error)) > HOT

    # ---- numbers -------------------------------------------------------------------------------

    def _at(self, values: Mapping[str, np.ndarray], time: int) -> np.ndarray:
        """Usable elements of all outputs at a stored time, each output over the norm of its exact
        values.
        """
        pieces = []
        for name in self.outputs:
            timed = name in self.results.timed
            tested, error, given = (
                np.asarray(x[name], float)[time] if timed else np.asarray(x[name], float)
                for x in (self.results.values, self.errors, values)
            )
            usable = np.isfinite(tested) & np.isfinite(error)
            norm = _norm((tested - error)[usable])
            pieces.append(given[usable].ravel() / (norm if norm > 0.0 else 1.0))
        return np.concatenate(pieces)

    def _twin(self) -> dict[str, np.ndarray]:
        """tested - exact, exact values computed apart from the parts."""
        tables = {}
        for kernel in self.census.kernels:
            tables[kernel] = traced_kernel(kernel, self.backend, "twin", TWIN_LANES).table()
            tables[kernel].begin()
        run = ErrorRun(self.program, self.census, Ladder("twin", TWIN_LANES), tables, {}, {})
        tested, exact = (r.values for r in run.results)
        with np.errstate(invalid="ignore"):
            return {n: _float(tested[n]) - exact[n] for n in self.outputs}

    def _made(self, by: str) -> ModelTrace:
        times = self.results.times if any(n in self.results.timed for n in self.outputs) else ()
        chosen = self._last_usable(len(times))
        error, known = self._at(self.errors, chosen), self._at(self._twin(), chosen)
        size, total, sizes, lines = _norm(error), np.zeros_like(error), 0.0, []
        growth = {}
        for key, group in self._all_groups():
            part = self._at(self.parts[key], chosen)
            total += part
            sizes += _norm(part)
            line = Line(
                group.function, group.file, group.line, _source(key, group), group.name,
                share=_share(part, error), rms=_norm(part) / max(part.size, 1) ** 0.5,
            )  # fmt: skip
            lines.append(line)
            growth[f"{line.function}: {line.name}"] = tuple(
                _rms(self._at(self.parts[key], n)) for n in range(len(times))
            )
        values = {n: np.asarray(self.results.values[n], float) for n in self.outputs}
        return ModelTrace(
            model=self.model, backend=self.backend.name, by=by, lines=tuple(lines),
            outputs={n: self._error_of(n, chosen) for n in self.outputs},
            times=tuple(times), growth=growth, until=times[chosen] if times else None,
            shortened=bool(times) and chosen % len(times) != len(times) - 1,
            sizes=sizes / size if size else 0.0,
            elements=sum(v[-1].size if n in self.results.timed else v.size
                         for n, v in values.items()),
            left_out=sum(v[-1].size if n in self.results.timed else v.size
                         for n, v in values.items()) - error.size,
            closure=_norm(total - known) / size if size else 0.0,
            passes=self.passes, calls=self.census.calls,
        )  # fmt: skip

    def _all_groups(self) -> list[tuple[tuple, Group]]:
        """What the parts are of, what is rounded between kernels first."""
        between = (BETWEEN,), Group("", "", 0, BETWEEN, BETWEEN, ())
        return [between, *((key, joint.group) for key, joint in self.groups.items())]

    def _last_usable(self, count: int) -> int:
        """The last stored time at which parts are not much larger than their sum."""
        for time in range(count - 1, 0, -1):
            error = _norm(self._at(self.errors, time))
            sizes = sum(_norm(self._at(self.parts[key], time)) for key, _ in self._all_groups())
            if sizes <= APART * error:
                return time
        return -1

    def _error_of(self, name: str, time: int) -> float:
        outputs, self.outputs = self.outputs, (name,)
        try:
            return _norm(self._at(self.errors, time))
        finally:
            self.outputs = outputs


def _joined(some: Sequence[_Joint]) -> _Joint:
    """Consecutive groups of a function as one."""
    first, last = some[0].group, some[-1].group
    name = f"{first.name} to {last.name}"
    if first.name.startswith("line "):
        name = f"lines {first.line} to {last.line}"
    joint = _Joint(replace(first, name=name, source=name))
    for one in some:
        for kernel, rows in one.rows.items():
            joint.rows.setdefault(kernel, []).extend(rows)
        joint.arguments.extend(one.arguments)
        joint.places.extend(one.places)
    return joint


def _last(lanes: Sequence[Sequence[int]]) -> int:
    """The number of the last group that a lane has; -1 before the first."""
    return max((n for lane in lanes for n in lane), default=-1)


def _place(group: Group) -> tuple:
    """Where a group stands; the lines of a function stand together."""
    return group.file, group.function, group.line, group.name


def _source(key: tuple, group: Group) -> str:
    return "all lines" if key[0] == "function" else group.source


def _float(x) -> np.ndarray:
    return np.asarray(x, np.float64)


def _norm(x: np.ndarray) -> float:
    return float(np.linalg.norm(x))


def _rms(x: np.ndarray) -> float:
    return _norm(x) / max(x.size, 1) ** 0.5


def _share(part: np.ndarray, error: np.ndarray) -> float:
    """<part, error> / <error, error>; 0 where there is no error."""
    square = float(error @ error)
    return float(part @ error) / square if square else 0.0


def _chosen(results: Results, output) -> tuple[str, ...]:
    known = tuple(results.values)
    if output is None:
        return known
    wanted = [output] if isinstance(output, str) else list(names("output", output))
    for one in wanted:
        if one not in known:
            raise refused("output", one, f"one of {', '.join(known)}")
    return tuple(wanted)
