"""The search for what to do about a line: rules one after another, judged by runs; and remedies
besides patches: a line in a wider format, rounding at random, another epsilon.
"""

from __future__ import annotations

import ast
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from sciprec.arrays.quantization import quantize
from sciprec.foundation.errors import InputError
from sciprec.foundation.listing import counted
from sciprec.foundation.loading import load_plugins
from sciprec.instruments.assigning.assignment import Assignment
from sciprec.precision.rewriting.syntax import LiftError
from sciprec.tools.mend.candidates import Candidate, candidates, fits_anywhere
from sciprec.tools.mend.catalogue import RULES
from sciprec.tools.mend.judge import LEAST, Judge, Judged, Score
from sciprec.tools.mend.sources import KernelSource
from sciprec.tools.trace.lines import Line
from sciprec.tools.trace.problem import Problem
from sciprec.tools.trace.proposals import Mend, Proposal, RefusedCandidate

_DEPTH, _WIDTH = 3, 3
"""Rules one after another, and candidates that a further rule is applied to."""
_PROVEN = 6
"""Candidates of a round that are held to exact values, the best first."""
_DONE = 0.8
"""Bits of mean error below which there is nothing to mend."""
_WELL = math.log2(1 + 4)
"""Bits of the worst number below which a search ends: four units."""
_SECONDS = 20.0
"""Processor seconds after which no further candidate is run."""
_STEPPED_OVER = ("does not help", "is worse ", "makes the worst", "adds nothing")
_NO_WORSE = 1.05


def mended(
    problem: Problem, blamed: Sequence[Line], most: int, underflows: bool = False
) -> Mend:
    """Proposals for a traced kernel.

    Args:
        problem: the kernel with its arguments in an arithmetic.
        blamed: lines of the trace, those to blame first.
        most: candidates that are run.
        underflows: whether numbers became zero that are none.

    Raises:
        LiftError: the kernel's source cannot be read.
    """
    load_plugins()
    source = KernelSource.of(problem.function)
    judge = Judge(problem, source)
    before, name = judge.inputs.narrow, problem.function.__name__
    kernel = f"'{name}' in {problem.backend.name}"
    notes = [f"no other regime was run, since {judge.only_given}"] if judge.only_given else []
    if not before.numbers:
        verdict = (
            f"Nothing can be proven: exact values of '{name}' need more than 106 bits, or are not "
            "finite, on the inputs given; mend it on a shorter run."
        )
        return _without(problem, before, verdict, notes)
    places = [n for n in blamed if n.function == name]
    helper = None
    if blamed and blamed[0].function != name:
        helper = source.helper(blamed[0].function)
    if blamed and blamed[0].function != name and helper is None:
        notes.append(
            f"line {blamed[0].line} is in '{blamed[0].function}', which the kernel calls: trace "
            "and mend that function by itself"
        )
    if before.mean < _DONE and before.worst <= 2.0:
        verdict = (
            f"There is nothing to mend: no line is to blame, {kernel} errs by {before.mean:.1f} "
            f"bits in the mean and {before.worst:.1f} at most."
        )
        return _without(problem, before, verdict, notes)
    search = _CandidateSearch(judge, [n.line for n in places], most, underflows)
    offered = []
    if helper is not None:
        lines = [n.line for n in blamed if n.function == blamed[0].function]
        search.blamed, offered = lines, search.run(Candidate(helper))
        search.blamed = [n.line for n in places]
    offered = offered or search.run(Candidate(source))
    notes += beside(judge, [n.line for n in blamed], [j.candidate for j in offered])
    if search.late:
        notes.append(f"the search was ended after {_SECONDS:.0f} s and {search.ran} candidates")
    proposals, refused = _proposals(judge, offered, search.tried)
    verdict = _verdict(kernel, before, proposals, len(refused), search.ran)
    return Mend(
        name, problem.backend.name, before.relative, before.mean, before.worst, tuple(proposals),
        tuple(refused), verdict, tuple(notes),
    )  # fmt: skip


def _without(problem: Problem, score: Score, verdict: str, notes: Sequence[str]) -> Mend:
    name, backend = problem.function.__name__, problem.backend.name
    return Mend(name, backend, score.relative, score.mean, score.worst, (), (), verdict,
                tuple(notes))  # fmt: skip


class _CandidateSearch:
    """Rounds of candidates: each applies one more rule to the best of the round before.

    Args:
        judge: runs them.
        blamed: lines of the kernel, those to blame first.
        most: candidates that are run.
        underflows: whether numbers became zero that are none.

    Attributes:
        tried: what is not offered, and why.
        ran: how many candidates were run.
        late: whether it was ended for its time.
    """

    def __init__(self, judge: Judge, blamed: Sequence[int], most: int, underflows: bool):
        self.judge, self.blamed, self.most = judge, blamed, most
        self.leaves_range = underflows or judge.inputs.narrow.relative == float("inf")
        self.tried: list[RefusedCandidate] = []
        self.ran = 0
        self.late = False
        self._texts: set[str] = set()
        self._end = time.process_time() + _SECONDS

    def run(self, start: Candidate) -> list[Judged]:
        """All candidates that are proven."""
        before = self.judge.inputs.narrow
        self._texts.add(start.text.text)
        frontier, offered = [Judged(start, "", before)], []
        for _ in range(_DEPTH):
            judged = [j for candidate in frontier for j in self._round(candidate)]
            judged.sort(key=lambda j: _size(j.score))
            helping = [j for j in judged if not j.why]
            proven: list[Judged] = []
            for candidate in helping[:_PROVEN]:
                better = next((p for p in offered + proven if _leaves_less(p, candidate)), None)
                proven.append(replace(candidate, why=_no_less(better)) if better else
                              self.judge.proven(candidate))  # fmt: skip
            offered += [j for j in proven if not j.why]
            refused = [j for j in proven if j.why]
            refused += [Judged(j.candidate, "helps less than others", j.score)
                        for j in helping[_PROVEN:]]  # fmt: skip
            self.tried += [_refused(j) for j in refused]
            wrong = {id(j.candidate) for j in refused if "another" in j.why or "exact" in j.why}
            frontier = [
                j for j in judged
                if id(j.candidate) not in wrong and (not j.why or j.why.startswith(_STEPPED_OVER))
            ][:_WIDTH]  # fmt: skip
            self.tried += [_refused(j) for j in judged if j.why]
            if self.late or not frontier or any(_is_done(j.score) for j in offered):
                break
        return offered

    def _round(self, before: Judged) -> list[Judged]:
        """The candidates of one more rule, run in the arithmetic."""
        batch = []
        for candidate in candidates(before.candidate, self.blamed, self.leaves_range):
            if candidate.text.text in self._texts:
                continue
            rule = RULES.get(candidate.rules[-1])
            if rule and fits_anywhere(rule) and any(not j.why and _is_done(j.score) for j in batch):
                break
            self.late = time.process_time() > self._end
            if self.ran >= self.most or self.late:
                break
            self._texts.add(candidate.text.text)
            self.ran += 1
            judged = self.judge.in_arithmetic(candidate)
            if judged.score is None:
                self.tried.append(_refused(judged))
                continue
            if not judged.why and not judged.score.helps(before.score):
                last = before.candidate.title
                judged = Judged(candidate, f"adds nothing to '{last}'", judged.score)
            batch.append(judged)
        return batch


def _size(score: Score | None) -> tuple[float, float]:
    assert score is not None
    return (score.mean, score.relative)


def _is_done(score: Score | None) -> bool:
    return score is not None and (score.mean < _DONE or score.worst < _WELL)


def _refused(judged: Judged) -> RefusedCandidate:
    return RefusedCandidate(judged.candidate.title, judged.candidate.line, judged.why)


def _proposals(
    judge: Judge, offered: Sequence[Judged], refused: Sequence[RefusedCandidate]
) -> tuple[list[Proposal], list[RefusedCandidate]]:
    """Proposals, the one that leaves least first; none of which another leaves no more with no
    more operations.
    """
    counted_ones = [(j, judge.operations_more(j.candidate)) for j in offered]
    counted_ones.sort(key=lambda item: (item[0].score.relative, item[1]))
    chosen: list[tuple[Judged, int]] = []
    rest = list(refused)
    for judged, more in sorted(counted_ones, key=lambda item: item[1]):
        better = next((k for k, _ in chosen if _covers(k.score, judged.score)), None)
        if better is None:
            chosen.append((judged, more))
        else:
            rest.append(_refused(replace(judged, why=_no_less(better))))
    chosen.sort(key=lambda item: (item[0].score.relative, item[1]))
    proposals = []
    for judged, more in chosen:
        candidate, score = judged.candidate, judged.score
        kernel = candidate.text.defined()
        kernel.__module__ = judge.problem.function.__module__
        sources = "; ".join(dict.fromkeys(candidate.sources))
        proposals.append(Proposal(
            candidate.title, candidate.line, score.relative, score.mean, score.worst, more,
            candidate.text.patch(), kernel, sources, candidate.cautions,
        ))  # fmt: skip
    listed = {(p.title, p.line) for p in proposals}
    return proposals, [t for t in dict.fromkeys(rest) if (t.title, t.line) not in listed]


def _leaves_less(first: Judged, other: Judged) -> bool:
    """Whether one that is proven leaves no more, with no more operations."""
    if first.why or first.operations is None or other.operations is None:
        return False
    return first.operations <= other.operations and _covers(first.score, other.score)


def _no_less(better: Judged) -> str:
    title, line = better.candidate.title, better.candidate.line
    return f"leaves no less than '{title}' in line {line}, which does no more operations"


def _covers(first: Score, other: Score) -> bool:
    return first.relative <= _NO_WORSE * other.relative and first.mean <= other.mean + 0.1


def _verdict(
    kernel: str, before: Score, proposals: Sequence[Proposal], refused: int, ran: int
) -> str:
    """Say what to do."""
    if not ran:
        return f"No rule fits a line of {kernel}, whose error is {before.relative:.2g}."
    if not proposals:
        return (
            f"Nothing is offered for {kernel}: of {counted(ran, 'candidate')} that were run none "
            "takes its error away and passes all runs."
        )
    best = proposals[0]
    count = counted(abs(best.operations), "operation")
    more = f"{count} {'more' if best.operations > 0 else 'fewer'}"
    how = f"with {more if best.operations else 'as many operations'}"
    if not math.isfinite(before.relative):
        rest = f"{best.error:.2g} is left where results were not finite"
    elif best.error < LEAST * before.relative:
        rest = f"{best.error:.2g} is left of an error of {before.relative:.2g}"
    else:
        rest = f"{best.bits:.1f} of {before.mean:.1f} wrong bits are left in the mean"
    return f"Mend line {best.line} of {kernel} by '{best.title}' ({best.source}): {rest}, {how}."


def beside(judge: Judge, lines: Sequence[int], offered: Sequence[Candidate]) -> list[str]:
    """Sentences on what else was run on the inputs given and leaves less error.

    Args:
        judge: of the kernel.
        lines: those to blame, in the file, the first to blame first.
        offered: candidates that are proven.
    """
    sentences = []
    for ways in (_wider_line(judge, lines), _random(judge, offered), _epsilon(judge)):
        try:
            sentences += list(ways)
        except (InputError, LiftError):  # an arithmetic that has no such variant
            continue
    return sentences


def _wider_line(judge: Judge, lines: Sequence[int]) -> Iterator[str]:
    """The line to blame in a wider format, all else as it is."""
    name = judge.backend.name
    wide = "fp32" if judge.format.significand_bits < 24 else "fp64"
    if not lines or name == wide:
        return
    function = judge.problem.function
    assignment = Assignment({lines[0]: wide}, default=name, kernel=function, rounds="everything")
    score = judge.score_in(judge.source, assignment)
    if score.helps(judge.inputs.narrow):
        yield (
            f"keeping line {lines[0]} in {wide} leaves an error of {score.relative:.2g}, without a "
            f"patch: lift to Assignment({{{lines[0]}: '{wide}'}}, default='{name}', "
            "rounds='everything')"
        )


def _random(judge: Judge, offered: Sequence[Candidate]) -> Iterator[str]:
    """Rounding at random, where updates lose what they add."""
    if any(rule.startswith("carry of the update") for c in offered for rule in c.rules):
        name = f"{judge.backend.name},round=sr"
        score = judge.score_in(judge.source, name)
        if score.helps(judge.inputs.narrow):
            yield (
                f"rounding at random, '{name}', leaves an error of {score.relative:.2g}, without a "
                "patch"
            )


def _epsilon(judge: Judge) -> Iterator[str]:
    """Constants of the source that vanish in the format, at its least normal number instead."""
    source, least = judge.source, repr(2.0**judge.format.emin)
    small = [n for n in ast.walk(source.tree)
             if isinstance(n, ast.Constant) and isinstance(n.value, float) and n.value
             and not np.any(quantize(np.array(n.value), judge.backend))]  # fmt: skip
    if not small:
        return
    new: KernelSource = source.edited([source.with_expression(n, least) for n in small])
    score = judge.score_in(new, judge.backend)
    if score.helps(judge.inputs.narrow):
        value, line = small[0].value, source.first - 1 + small[0].lineno
        yield (
            f"{value!r} in line {line} is 0 in {judge.backend.name}: with {least}, the least "
            f"normal number, {score.relative:.2g} is left; that is another function, and no cure"
        )
