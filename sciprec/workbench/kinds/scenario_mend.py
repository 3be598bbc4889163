"""Proposals for a scenario's model: other keys of its file, each run and held to fp64."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sciprec.foundation.errors import InputError
from sciprec.foundation.later import MODEL_STAGES
from sciprec.foundation.listing import counted
from sciprec.foundation.shipped import SCENARIOS, named
from sciprec.instruments.assigning.assignment import Assignment, arithmetic_of
from sciprec.instruments.assigning.files import text_of
from sciprec.instruments.assigning.places import Place, known_as
from sciprec.instruments.assigning.policies import POLICIES, Policy
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.scenario.loading import Scenario
from sciprec.scenario.variant import Variant
from sciprec.tools.mend.sources import diff_of_new, unified_diff
from sciprec.tools.trace.models.stages import (
    HELPS,
    SEEN,
    StagePart,
    in_percent,
    kept_wide,
    shares_alone,
    wider_than,
)
from sciprec.tools.trace.models.traces import ModelTrace
from sciprec.tools.trace.proposals import ModelMend, ModelProposal, RefusedCandidate
from sciprec.tools.tune.formats import stored_bits
from sciprec.workbench.kinds.programs import ScenarioLike, first_variant, loaded, program_of

_NO_WORSE = 1.05
_FEW = 2
"""Stages that are tried together with the one that leaves least, those with the largest shares."""
_CARRIED, _SPLIT = "Kahan (1965)", "Micikevicius et al. (2018)"
_RANDOM = "Croci et al. (2022)"
_BACKENDS = re.compile(r"(?ms)^backends[ \t]*=[ \t]*(\[.*?\]|\"[^\"\n]*\"|'[^'\n]*')")
_COMPENSATION = re.compile(r"(?ms)^compensation[ \t]*=[ \t]*(\[.*?\]|\"[^\"\n]*\"|'[^'\n]*')")
_KEYS = {"backends": _BACKENDS, "compensation": _COMPENSATION}


@dataclass(frozen=True)
class _Alternative:
    """Another way to run a model.

    Args:
        title: what is changed.
        source: author and year.
        backend: its arithmetic.
        compensation: its compensation; "" where that stays.
        bits: of executed operations, over those before.
        assignment: that the arithmetic is; None where it has a name.
    """

    title: str
    source: str
    backend: str
    compensation: str = ""
    bits: float = 1.0
    assignment: Assignment | None = None


@dataclass(frozen=True)
class _JudgedRun:
    """A candidate that was run: its error over that before, and operations more."""

    candidate: _Alternative
    left: float
    operations: int = 0
    why: str = ""

    @property
    def is_narrow(self) -> bool:
        """Whether it needs no wider format."""
        return self.candidate.bits == 1.0

    def cost(self, operations: int) -> float:
        """Bits of all operations, over those before."""
        return self.candidate.bits * (1.0 + self.operations / max(operations, 1))


@dataclass(frozen=True)
class ScenarioToMend:
    """A scenario whose model was traced.

    Args:
        scenario: with the changes.
        source: as it was given: a file that a patch is for, or something else.
        variant, backend: of the trace.
        output: names of variables that count.
        changes: values in place of the file's.
    """

    scenario: Scenario
    source: ScenarioLike
    variant: Variant
    backend: Backend
    output: str | Iterable[str] | None
    changes: Mapping[str, Any] | None

    def mended(self, trace: ModelTrace) -> ModelMend:
        """The proposals for a trace of it.

        Raises:
            InputError: nothing is to blame.
        """
        if not (trace.sizes and trace.ordinary_runs.error):
            raise InputError(
                f"there is nothing to mend: no stage or line of '{trace.model}' in {trace.backend} "
                "is to blame, since its error against fp64 is none, or cancels; trace it in a "
                "narrower format"
            )
        return _ScenarioSearch(self, trace).run()

    @cached_property
    def file(self) -> Path | None:
        """The file that patches are for."""
        if isinstance(self.source, (str, Path)):
            return named(self.source, SCENARIOS)
        return None

    def with_keys(self, candidate: _Alternative) -> dict[str, Any]:
        """The keys of a scenario that runs a candidate, beside what else it runs."""
        names = list(self.scenario.backends)
        matches = [n for n in names if resolve_backend(n).name == self.backend.name]
        if matches:
            names[names.index(matches[0])] = candidate.backend
        else:
            names.append(candidate.backend)
        keys: dict[str, Any] = {"backends": list(dict.fromkeys(names))}
        if candidate.backend == self.backend.name and matches:
            keys = {}
        if candidate.compensation:
            keys["compensation"] = [candidate.compensation]
        return keys


class _ScenarioSearch:
    """The runs of one search.

    Args:
        subject: the scenario.
        trace: of it.
    """

    def __init__(self, subject: ScenarioToMend, trace: ModelTrace) -> None:
        self.subject, self.trace = subject, trace
        self.runs = trace.ordinary_runs
        self.wide = wider_than(subject.backend)
        self.stages = tuple(
            s for s in MODEL_STAGES.get(subject.scenario.kind, ()) if not s.always
        )
        self.judged: list[_JudgedRun] = []
        self.planned = 0

    def run(self) -> ModelMend:
        """Try single remedies, then two together."""
        ranked = sorted((p for p in self.trace.stages if p.left is not None),
                        key=lambda p: p.left)  # fmt: skip
        self.judged += [_JudgedRun(self._with_kept((p,)), p.left) for p in ranked]
        singles = [
            *self._carried(), *self._policies(), *self._by_function(), *self._everywhere()
        ]  # fmt: skip
        best, remaining = ranked[:1], sorted(ranked[1:], key=lambda p: -abs(p.share))[:_FEW]
        together = [(*best, part) for part in remaining]
        if len(remaining) > 1:
            together.append((*best, *remaining))
        self.planned = len(ranked) + len(singles) + len(together)
        for candidate in singles:
            self._try(candidate)
        for parts in together:
            self._try(self._with_kept(parts))
        carried = [j.candidate for j in self.judged if j.candidate.compensation and not j.why
                   and j.left < HELPS]  # fmt: skip
        if carried and best:
            both, carry = self._with_kept(best), carried[0]
            self._try(replace(both, title=f"{both.title}; {carry.title}",
                              source=f"{both.source}; {carry.source}",
                              compensation=carry.compensation))  # fmt: skip
        return self._mend()

    # ---- candidates ----------------------------------------------------------------------------

    def _with_kept(self, parts: Iterable[StagePart]) -> _Alternative:
        """Some stages in the wider format, all else as before."""
        names = [part.name for part in parts]
        policy = kept_wide(self.subject.backend, self.wide, names)
        return _Alternative(
            f"{' + '.join(names)} in {self.wide}", _SPLIT, policy.text, bits=self._bits(names)
        )

    def _policies(self) -> list[_Alternative]:
        """Policies of the model, by their own lists."""
        if not (self.stages and self.wide):
            return []
        candidates = []
        for name in POLICIES[2:0:-1]:
            policy = Policy(name, self.subject.backend.name, self.wide)
            wide = [s.name for s in self.stages if not policy.is_narrow(s)]
            narrow = [s.name for s in self.stages if policy.is_narrow(s)]
            all_but = name == "O1"
            label = f"{' + '.join(wide)} in {self.wide}"
            if all_but:
                label = f"all but {' + '.join(narrow)} in {self.wide}"
            candidates.append(_Alternative(
                f"policy {name}: {label}", _SPLIT, policy.text, bits=self._bits(wide, all_but)
            ))  # fmt: skip
        return candidates

    def _carried(self) -> list[_Alternative]:
        """Residuals that are carried, of models that do without."""
        if self.subject.variant.compensation.name != "none":
            return []
        return [_Alternative("carry of the update", _CARRIED, self.subject.backend.name, "carry")]

    def _by_function(self) -> list[_Alternative]:
        """Functions with much of the error in the wider format, of models without stages, each by
        itself, and the first two.
        """
        if self.stages or not self.wide:
            return []
        shares: Counter[tuple[str, str]] = Counter()
        for line in self.trace.lines:
            if line.file and line.function:
                shares[line.file, line.function] += line.share
        functions = self.trace.functions()
        chosen = [w for w in sorted(shares, key=lambda w: -abs(shares[w]))
                  if abs(shares[w]) >= SEEN and functions.get(w, (0,))[0]][: _FEW + 1]  # fmt: skip
        some = [*((w,) for w in chosen), *[tuple(chosen[:_FEW])] * (len(chosen) > 1)]
        return [self._of_functions(each, functions) for each in some]

    def _of_functions(
        self, some: tuple[tuple[str, str], ...],
        functions: Mapping[tuple[str, str], tuple[int, frozenset[tuple[str, str]]]],
    ) -> _Alternative:  # fmt: skip
        names = [function for _, function in some]
        places = {Place("function", name, known_as(file)): self.wide
                  for where in some for file, name in sorted(functions[where][1])}  # fmt: skip
        assignment = Assignment.of_places(
            "function", places, self.subject.backend.name, "", "_".join([*names, self.wide])
        )
        every = sum(count for count, _ in functions.values())
        share = sum(functions[where][0] for where in some) / max(every, 1)
        return _Alternative(
            f"kernels of {' + '.join(names)} in {self.wide}", _SPLIT, assignment.as_backend().name,
            bits=1.0 + (self._ratio - 1.0) * share, assignment=assignment,
        )  # fmt: skip

    def _everywhere(self) -> list[_Alternative]:
        """Another arithmetic for everything: the next wider one, and stochastic rounding."""
        name, candidates = self.subject.backend.name, []
        if self.wide:
            candidates.append(
                _Alternative(f"everything in {self.wide}", "–", self.wide, bits=self._ratio)
            )
        try:
            number_format = arithmetic_of(name).format.name
            random = resolve_backend(f"{number_format},round=sr").name
            candidates.append(_Alternative("stochastic rounding", _RANDOM, random))
        except InputError:
            pass
        return candidates

    @property
    def _ratio(self) -> float:
        """Bits of a number in the wider format, over those in the trace's."""
        arithmetic = arithmetic_of(self.subject.backend.name)
        return stored_bits(arithmetic_of(self.wide).format) / stored_bits(arithmetic.format)

    def _bits(self, names: Iterable[str], all_but: bool = False) -> float:
        """Bits of executed operations with some stages in the wider format, and what no stage has.
        """
        every = {p.name: p.operations for p in self.trace.stages}
        stage_names = {stage.name for stage in self.stages}
        wide = sum(
            n for name, n in every.items() if name in names or all_but and name not in stage_names
        )
        return 1.0 + (self._ratio - 1.0) * wide / max(sum(every.values()), 1)

    # ---- runs ----------------------------------------------------------------------------------

    def _try(self, candidate: _Alternative) -> None:
        """Run a candidate, as its file would."""
        count = len(self.judged)
        self.trace.tell("remedies tried", count, max(self.planned, count + 1))
        subject = self.subject
        try:
            changed = loaded(subject.scenario, subject.with_keys(candidate))
            backend = resolve_backend(candidate.backend)
            variant = first_variant(changed, backend.name)
            program = program_of(changed, variant, subject.output)
            error_left = self.runs.error_of(backend, program) / self.runs.error
        except InputError as error:
            why = f"is refused: {str(error).splitlines()[0]}"
            self.judged.append(_JudgedRun(candidate, math.inf, why=why))
            return
        more = 0
        if candidate.compensation and error_left < HELPS:
            more = self.trace.operations_more(program)
        self.judged.append(_JudgedRun(candidate, error_left, more))

    # ---- what is offered -----------------------------------------------------------------------

    def _mend(self) -> ModelMend:
        """Sort what was run."""
        trace = self.trace
        tried = [j for j in self.judged if not self._helps(j)]
        offered: list[_JudgedRun] = []
        for judged in sorted((j for j in self.judged if self._helps(j)), key=self._cost):
            better = next((k for k in offered if k.left <= _NO_WORSE * judged.left
                           and (k.is_narrow or not judged.is_narrow)), None)  # fmt: skip
            if better is None:
                offered.append(judged)
            else:
                why = f"leaves no less than '{better.candidate.title}', which costs no more"
                tried.append(replace(judged, why=why))
        offered.sort(key=lambda j: j.left)
        proposals = tuple(map(self._proposal, offered))
        refused = tuple(
            RefusedCandidate(
                j.candidate.title, 0, j.why or f"leaves {in_percent(j.left)} of the error"
            )
            for j in tried
        )
        mend = ModelMend(
            trace.model, trace.backend, self.runs.error, proposals, refused, "",
            self._notes(proposals),
        )  # fmt: skip
        return replace(mend, verdict=self._verdict(mend))

    def _helps(self, judged: _JudgedRun) -> bool:
        return not judged.why and judged.left < HELPS

    def _cost(self, judged: _JudgedRun) -> tuple[float, float]:
        return judged.cost(self.trace.operations), judged.left

    def _proposal(self, judged: _JudgedRun) -> ModelProposal:
        candidate, keys = judged.candidate, self.subject.with_keys(judged.candidate)
        patch, cautions = "", []
        if self.subject.file is not None:
            patch = self._patch(candidate, keys)
            if not patch:
                cautions.append(
                    f"'{self.subject.file}' says these keys in another way than as an array at the "
                    "start of a line: change it by hand, as `.changes` says"
                )
        if "round=sr" in candidate.backend:
            cautions.append("one run of one seed: others leave another error")
        return ModelProposal(
            candidate.title, judged.left * self.runs.error, judged.left, judged.operations,
            candidate.bits * (1.0 + judged.operations / max(self.trace.operations, 1)), patch, keys,
            candidate.source, tuple(cautions),
        )  # fmt: skip

    def _patch(self, candidate: _Alternative, keys: Mapping[str, Any]) -> str:
        """The diff of the scenario file, and of the assignment's file beside it."""
        file = self.subject.file
        if candidate.assignment is None:
            return patch_of(file, keys)
        beside = file.with_name(f"{file.stem}_{candidate.assignment.name}.toml")
        names = [f"assignment:{beside.name}" if n == candidate.backend else n
                 for n in keys["backends"]]  # fmt: skip
        patch = patch_of(file, {**keys, "backends": names})
        return patch and patch + diff_of_new(beside, text_of(candidate.assignment.as_dict()))

    def _verdict(self, mend: ModelMend) -> str:
        trace, ran = self.trace, counted(len(self.judged), "remedy", "remedies")
        of, first = f"'{trace.model}' in {trace.backend}", mend.recommended
        if first is None:
            return f"Nothing is offered for {of}: of {ran} that were run none takes its error away."
        least = mend.proposals[0]
        text = (
            f"Mend {of} by {first.title}: {first.error:.2g} is left of an error of "
            f"{self.runs.error:.2g} ({in_percent(first.left)}), {_more(first.bits)}, "
            "summed over all operations"
        )
        if first is least:
            return f"{text}."
        return f"{text}; {least.title} leaves {in_percent(least.left)}, {_more(least.bits)}."

    def _notes(self, proposals: tuple[ModelProposal, ...]) -> tuple[str, ...]:
        alone = shares_alone(self.trace.stages, self.subject.backend)
        notes = [alone] if alone else []
        if self.subject.changes and any(p.patch for p in proposals):
            notes.append(
                "all was run with your changes of the scenario, which the patch does not make: "
                + ", ".join(f"{key} = {value}" for key, value in self.subject.changes.items())
            )
        return tuple(notes)


def _more(bits: float) -> str:
    """The cost of a proposal in words."""
    if round(bits, 3) == 1.0:
        return "with as many bits"
    if bits < 1.0:
        return f"with {1.0 - bits:.1%} fewer bits"
    return f"with {bits - 1.0:.1%} more bits"


def patch_of(file: Path, keys: Mapping[str, Any]) -> str:
    """The unified diff by which a scenario file says other keys; "" where that cannot be written
    without changing more.
    """
    text = file.read_bytes().decode("utf-8")
    end = "\r\n" if "\r\n" in text else "\n"
    changed = text
    for key, value in keys.items():
        line = f"{key} = {json.dumps(value, ensure_ascii=False)}"
        place = _KEYS[key].search(changed)
        after = _BACKENDS.search(changed)
        if place is not None:
            changed = changed[: place.start()] + line + changed[place.end() :]
        elif after is not None:  # behind the arithmetics, among the first keys
            changed = f"{changed[: after.end()]}{end}{line}{changed[after.end() :]}"
    try:
        as_meant = _content(changed) == {**_content(text), **keys}
    except tomllib.TOMLDecodeError:
        return ""
    if not as_meant:
        return ""
    before, after = (of.splitlines(keepends=True) for of in (text, changed))
    return unified_diff(before, after, str(file))


def _content(text: str) -> dict[str, Any]:
    """The keys of a scenario file."""
    return tomllib.loads(text.removeprefix("\ufeff"))
