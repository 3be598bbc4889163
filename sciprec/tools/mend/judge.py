"""The judge of candidates: each is run, on the inputs given and in another regime, in the
arithmetic asked about and in fp64, and held against exact values.
"""

from __future__ import annotations

import ast
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from sciprec.arrays.quantization import quantize
from sciprec.foundation.alike import tuple_like
from sciprec.foundation.errors import InputError
from sciprec.instruments.tracing import rows
from sciprec.precision.formats.backend import TRUTH, Backend, resolve_backend
from sciprec.precision.formats.float_format import Format
from sciprec.precision.lifting.lifting import lift
from sciprec.precision.operations.operation import NOTHING, OPERATIONS
from sciprec.precision.rewriting.copies import copied
from sciprec.tools.digits.truth import ExactResults, truth_of
from sciprec.tools.mend.candidates import Candidate
from sciprec.tools.mend.plain_runs import PlainRuns, rounding_of
from sciprec.tools.mend.sources import KernelSource
from sciprec.tools.trace.problem import Problem, moved, stored_in
from sciprec.tools.trace.splitting import norm

GAIN, LEAST = 0.2, 0.7
"""A candidate helps that takes away so many bits of the mean error, or leaves at most so much of
the relative one."""
SLACK, FINE = 0.5, 1.5
"""Bits by which the mean error of many numbers may grow, of one number three times as many; bits
of mean error that are no harm."""
GROWTH, WORST = 1.5, 5.0
"""Bits by which the error of the worst number may grow, and up to which it may."""
_SAME, _MOSTLY, _MOSTLY_SERIES = 2.0**-40, 2.0**-60, 2.0**-48
"""Shares of an exact value by which a candidate's exact value may differ: at most, and for half of
the numbers. Where digits cancel exact values have fewer than 106 bits, and their doubt is only an
estimate.
"""
_UNITS = 4.0
_ENGINE = os.path.join(Path(__file__).parents[2], "")
"""Folder of the package, whose own functions steer by nothing of a user's."""
_LARGEST = 28.0
_OF_PAIRS, _NOTHING_LEFT = 2.0**-43, 2.0**-4
"""Error of exact values over that of fp64 where digits cancel: functions of pairs are right to
2^-98 of themselves, those of fp64 to 2^-53, and it takes two bits more to be sure. Of fp64: an
error from which on nobody knows how much pairs have lost."""
_PLAIN, _LONGER, _NEAR = 15_000, 30, 0.1
"""Operations of a kernel that Python runs still, how many times as many those of a candidate may
be, and bits by which errors of its numbers may differ from those of compiled code."""
_RunResult = tuple[dict[str, np.ndarray], np.ndarray]
"""Results, and outcomes of decisions."""
_STEERS = re.compile(r"\b(while|int|int32|int64|intp|round|searchsorted|digitize)\b")
"""Words of kernels that other numbers may take out of their arrays, or keep from ending."""


def decisions_of(function: ast.FunctionDef) -> list[str]:
    """The tests of a function's decisions, each once."""
    kinds = (ast.If, ast.While, ast.IfExp)
    return list(dict.fromkeys(
        ast.unparse(n.test) for n in ast.walk(function) if isinstance(n, kinds)
    ))  # fmt: skip


def noted(outcomes, number, test):
    """A decision, its outcome put behind those before it."""
    outcomes[number] = (outcomes[number] * 31 + (2 if test else 1)) % 1000003
    return test


@dataclass(frozen=True)
class Score:
    """The error of all results of a run.

    Attributes:
        mean, worst: bits of error of the numbers, log2(1 + error in units of the last place).
        relative: relative l2 error of the result that has the largest.
        numbers: how many were compared.
    """

    mean: float
    worst: float
    relative: float
    numbers: int

    def helps(self, before: Score) -> bool:
        """Whether it is clearly better than another."""
        less = self.relative < LEAST * before.relative and self.relative < 1.0
        fewer = self.mean < before.mean - GAIN and math.isfinite(self.relative)
        return fewer or less

    def harms(self, before: Score) -> bool:
        """Whether it is worse than another, in the mean or in the worst number."""
        slack = SLACK * (1.0 + 2.0 / max(self.numbers, 1) ** 0.5)
        grown = self.worst > max(before.worst + GROWTH, WORST)
        return self.mean > max(before.mean + slack, FINE) or grown


@dataclass(frozen=True)
class InputSet:
    """Arguments, and the exact results that the kernel has of them.

    Attributes:
        name: of the regime.
        args: numbers of the arithmetic's format.
        truth: exact results.
        narrow, wide: the kernel's own scores, in the arithmetic and in fp64.
        outcomes: of its decisions, in the arithmetic.
    """

    name: str
    args: tuple
    truth: ExactResults
    narrow: Score
    wide: Score
    outcomes: np.ndarray


@dataclass(frozen=True)
class Judged:
    """The verdict on a candidate.

    Attributes:
        candidate: it.
        why: why it is not offered; "" where it has passed so far.
        score: on the inputs given, in the arithmetic; None where it did not run.
        operations: on the inputs given, as Python counts them; None where it did not run it.
    """

    candidate: Candidate
    why: str
    score: Score | None = None
    operations: int | None = None


class Judge:
    """A kernel's exact results, errors and decisions, to which candidates are held.

    Args:
        problem: the kernel with its arguments in an arithmetic.
        source: of the kernel.

    Attributes:
        sets: the inputs given, then those of other regimes.
        only_given: why there is no other regime; "" where there is.
    """

    def __init__(self, problem: Problem, source: KernelSource):
        self.problem, self.source = problem, source
        self.backend, self.truth = problem.backend, resolve_backend(TRUTH)
        self.format = stored_in(problem.backend).format
        self.tests = {text: number for number, text in enumerate(decisions_of(source.tree))}
        self.only_given, arguments = self._regimes()
        self.results: tuple[str, ...] = ()
        self.sets: list[InputSet] = []
        runner = self._runner(source)
        for name, args in arguments:
            try:
                problem_here = self._exactly(problem.function, args)
                results, truth = truth_of(problem_here)
                if _calls_functions(problem_here):
                    truth = doubted(truth, {r.name: r.tested for r in results})
            except InputError:
                if not self.sets:
                    raise
                continue
            self.results = tuple(r.name for r in results)
            tested, outcomes = runner(args)
            self.sets.append(InputSet(
                name, args, truth, self._score(tested, truth, self.format),
                self._score({r.name: r.tested for r in results}, truth, self._wide), outcomes,
            ))  # fmt: skip
        self.operations = self._count(problem.function)
        self.plain: dict[str, PlainRuns] = {}
        if self.operations < _PLAIN:
            self.plain = {which: runs for which in ("narrow", "wide")
                          if (runs := self._plain_runs(which)) is not None}  # fmt: skip

    @property
    def inputs(self) -> InputSet:
        """The inputs that were given, rounded to the format."""
        return self.sets[0]

    @property
    def _wide(self) -> Format:
        return stored_in(self.truth).format

    def _regimes(self) -> tuple[str, list[tuple[str, tuple]]]:
        """The arguments in the format, then those of `_REGIMES`. A kernel that other numbers could
        lead out of its arrays gets moved ones alone.
        """
        problem, rng = self.problem, np.random.default_rng(20261128)
        arguments = tuple(_mapped(a, self.backend, lambda x: x) for a in problem.args)
        sets = [("the inputs given", arguments)]
        functions = problem.kernel("twin").program.functions()
        own_file = problem.function.__code__.co_filename
        texts = ["\n".join(s.lines) for s in functions
                 if s.file == own_file or not s.file.startswith(_ENGINE)]  # fmt: skip
        if word := next((m.group() for text in texts if (m := _STEERS.search(text))), ""):
            near = tuple(moved(a, self.backend, rng, _UNITS) for a in arguments)
            near = tuple(_mapped(a, self.backend, lambda x: x) for a in near)
            return f"the kernel has '{word}'", [*sets, ("moved inputs", near)]
        for name, turn in _REGIMES.items():
            sets.append((name, tuple(_mapped(a, self.backend, turn) for a in arguments)))
        return "", sets

    def _exactly(self, function, args: tuple) -> Problem:
        return Problem(function, self.truth, args, self.problem.output, 4, verb="mend")

    def _runner(self, source: KernelSource):
        """Runs a source in the arithmetic: arguments -> (results, outcomes of its decisions)."""
        names = list(self.problem.kernel("twin").names)
        outcomes = np.zeros(max(len(self.tests), 1), np.int64)
        lifted = lift(self._function_of(source), self.backend)

        def run(args: tuple) -> tuple[dict[str, np.ndarray], np.ndarray]:
            copies = copied(args)
            outcomes[:] = 0
            with np.errstate(all="ignore"):
                returned = lifted(*((outcomes,) if self.tests else ()), *copies)
            values = dict(zip(names, copies, strict=True)) | {"return": returned}
            return {n: _value(n, values) for n in self.results}, outcomes.copy()

        return run

    def _function_of(self, source: KernelSource) -> FunctionType:
        """The function of a source, whose decisions are noted in an array before its arguments."""
        if not self.tests:
            return source.defined()
        return source.defined(_Noting(self.tests), sp_noted=noted)

    def score_in(self, source: KernelSource, arithmetic: Any) -> Score:
        """The error of a source in another arithmetic, on the inputs given."""
        function = self.problem.function if source is self.source else source.defined()
        return self._score(self._run_in(function, arithmetic), self.inputs.truth, self.format)

    def _run_in(self, function, arithmetic: Any) -> dict[str, np.ndarray]:
        copies = copied(self.inputs.args)
        with np.errstate(all="ignore"):
            returned = lift(function, arithmetic)(*copies)
        names = self.problem.kernel("twin").names
        values = dict(zip(names, copies, strict=True)) | {"return": returned}
        return {n: _value(n, values) for n in self.results}

    def _score(self, tested: Mapping[str, np.ndarray], truth: ExactResults, to: Format) -> Score:
        """The error of results in units of a format, over numbers that are known well enough."""
        bits, relative = [], 0.0
        for name in self.results or tested:
            high, low, doubt = (part[name] for part in (truth.high, truth.low, truth.doubt))
            with np.errstate(all="ignore"):
                is_sure = np.isfinite(high) & (
                    doubt <= abs(high) * 2.0 ** -(to.significand_bits + 2)
                )
                high, low, result = (
                    high[is_sure],
                    low[is_sure],
                    np.asarray(tested[name], float)[is_sure],
                )
                error = abs((result - high) - low)
                least = np.max(abs(high), initial=0.0) * 2.0**-to.significand_bits
                units = np.where(high == 0.0, least, unit_of(high, to))
                some = np.log2(1.0 + error / np.where(units > 0.0, units, 1.0))
                size = norm(high)
                wrong = norm(error) if np.isfinite(result).all() else math.inf
            some = np.where(np.isfinite(some), some, np.inf)
            bits.append(np.minimum(some, float(to.significand_bits)))
            relative = max(relative, wrong / size if size else wrong)
        every = np.concatenate([b.ravel() for b in bits]) if bits else np.zeros(0)
        if not every.size:
            return Score(0.0, 0.0, 0.0, 0)
        return Score(float(every.mean()), float(every.max()), relative, every.size)

    def in_arithmetic(self, candidate: Candidate) -> Judged:
        """Run a candidate in the arithmetic: by Python, where that gives what compiled code gives
        of the kernel, else compiled.
        """
        if "narrow" in self.plain:
            try:
                runs, operations = self._run_plainly(candidate.text, "narrow")
                judged = self._judged(candidate, runs)
                if not judged.why and "wide" in self.plain:
                    runs, _ = self._run_plainly(candidate.text, "wide")
                    judged = replace(judged, why=self._worse_in_fp64(r for r, _ in runs))
                return replace(judged, operations=operations)
            except Exception:  # Python cannot run it so: compiled code can, or says why not
                pass
        return self._compiled(candidate)

    def _compiled(self, candidate: Candidate) -> Judged:
        """Run a candidate in the arithmetic, compiled."""
        try:
            runner = self._runner(candidate.text)
            runs = [runner(s.args) for s in self.sets]
        except Exception as error:  # a rule of a user's may make anything
            return Judged(candidate, f"does not compile: {_first_sentence(error)}")
        return self._judged(candidate, runs)

    def _judged(self, candidate: Candidate, runs: Sequence[_RunResult]) -> Judged:
        """Judge a candidate by its runs on all sets."""
        scores = [self._score(tested, s.truth, self.format)
                  for (tested, _), s in zip(runs, self.sets, strict=True)]  # fmt: skip
        decisions = decisions_of(candidate.text.definition)
        on_first, decisive = scores[0], [self.tests[t] for t in decisions if t in self.tests]
        for (_, outcomes), case in zip(runs, self.sets, strict=True):
            if (outcomes[decisive] != case.outcomes[decisive]).any():
                return Judged(candidate, f"changes a decision on {case.name}", on_first)
        if on_first.harms(self.inputs.narrow) and not on_first.helps(self.inputs.narrow):
            return Judged(candidate, "makes the error larger", on_first)
        if on_first.harms(self.inputs.narrow):
            return Judged(candidate, "makes the worst number worse", on_first)
        for score, case in zip(scores[1:], self.sets[1:], strict=True):
            if score.harms(case.narrow):
                return Judged(candidate, f"is worse on {case.name}", on_first)
        if not on_first.helps(self.inputs.narrow):
            return Judged(candidate, "does not help", on_first)
        return Judged(candidate, "", on_first)

    def _worse_in_fp64(self, runs: Iterable[Mapping[str, np.ndarray]]) -> str:
        """Name a result that is worse in fp64 than the kernel's; "" for none."""
        for tested, case in zip(runs, self.sets, strict=False):
            if self._score(tested, case.truth, self._wide).harms(case.wide):
                return f"is worse in fp64 on {case.name}"
        return ""

    # ---- runs by Python --------------------------------------------------------------------------

    def _plain_runs(self, which: str) -> PlainRuns | None:
        """Runs by Python in the arithmetic ("narrow") or in fp64 ("wide"); None where the kernel's
        own errors and decisions are others than in compiled code.
        """
        rounding = rounding_of(self.backend if which == "narrow" else self.truth)
        if rounding is None:
            return None
        self.plain[which] = PlainRuns(rounding)
        try:
            runs, operations = self._run_plainly(self.source, which)
        except Exception:  # Python runs no such kernel
            return None
        self.plain[which].most = _LONGER * max(operations, 100)
        for (tested, outcomes), case in zip(runs, self.sets, strict=True):
            new, old = self._score(tested, case.truth, self._format(which)), getattr(case, which)
            far = abs(new.mean - old.mean) > _NEAR or abs(new.worst - old.worst) > 5.0 * _NEAR
            if far or (which == "narrow" and (outcomes != case.outcomes).any()):
                return None
        return self.plain[which]

    def _run_plainly(self, source: KernelSource, which: str) -> tuple[list[_RunResult], int]:
        """The runs of a source on all sets, and the operations on the inputs given."""
        runs, function, operations = self.plain[which], self._function_of(source), []
        names = list(self.problem.kernel("twin").names)
        outcomes, collected = np.zeros(max(len(self.tests), 1), np.int64), []
        for input_set in self.sets:
            outcomes[:] = 0
            copies, returned = runs.run(function, (outcomes,) if self.tests else (), input_set.args)
            values = dict(zip(names, copies, strict=True)) | {"return": returned}
            collected.append(({n: _value(n, values) for n in self.results}, outcomes.copy()))
            operations.append(runs.operations)
        return collected, operations[0]

    def _format(self, which: str) -> Format:
        return self.format if which == "narrow" else self._wide

    def proven(self, judged: Judged) -> Judged:
        """Hold a candidate that helps to exact values: it has to be the same function, and no worse
        in fp64. One that only Python has run yet is run compiled first.
        """
        candidate, apart, runs = judged.candidate, [], []
        if judged.operations is not None:
            judged = replace(self._compiled(candidate), operations=judged.operations)
        if judged.why:
            return judged
        try:
            function = candidate.text.defined()
            for input_set in self.sets:
                results, truth = truth_of(self._exactly(function, input_set.args))
                some = self._apart(truth, input_set.truth)
                if some is None:
                    return Judged(
                        candidate, f"is another function on {input_set.name}", judged.score
                    )
                apart.append(some)
                runs.append({r.name: r.tested for r in results})
            if worse := self._worse_in_fp64(runs):
                return Judged(candidate, worse, judged.score)
        except Exception as error:
            return Judged(candidate, f"has no exact run: {_first_sentence(error)}", judged.score)
        if not apart[0].size:
            return Judged(candidate, "is not proven: exact values are not known", judged.score)
        mostly = _MOSTLY_SERIES if candidate.series else _MOSTLY
        if np.median(np.concatenate(apart)) > mostly:
            return Judged(candidate, "is another function", judged.score)
        return judged

    def _apart(self, new: ExactResults, old: ExactResults) -> np.ndarray | None:
        """The relative difference of exact results, where both are known; None where they are
        those of different functions.
        """
        shares = []
        for name in self.results:
            with np.errstate(all="ignore"):
                high, doubt = old.high[name], old.doubt[name] + new.doubt[name]
                is_sure = np.isfinite(high) & np.isfinite(old.doubt[name])
                apart = abs((new.high[name] - high) + (new.low[name] - old.low[name]))
                lost = is_sure & ~np.isfinite(new.high[name])
                both = is_sure & np.isfinite(doubt)
                differs = both & (apart > np.maximum(doubt, _SAME * abs(high)))
                share = np.where(apart == 0.0, 0.0, apart / abs(high))
            if lost.any() or differs.any():
                return None
            shares.append(share[both & (doubt <= _SAME * abs(high))])
        return np.concatenate([s.ravel() for s in shares])

    def operations_more(self, candidate: Candidate) -> int:
        """The number of operations that a candidate adds to those of the kernel, on the inputs."""
        return self._count(candidate.text.defined()) - self.operations

    def _count(self, function) -> int:
        problem = self._exactly(function, self.inputs.args)
        table, program = problem.table("twin"), problem.kernel("twin").program
        problem.run("twin", table)
        runs: dict[tuple, int] = {}  # of an operation; an operand that is converted has its own row
        for number, row in enumerate(program.layout.rows):
            name = program.sites[row.site].operation
            operation = OPERATIONS.get(name) or OPERATIONS.get(name.removeprefix("i"))
            if row.site in program.origins and operation and operation.computes:
                place = (row.site, row.calls)
                runs[place] = max(runs.get(place, 0), int(table.words[number, rows.RUNS]))
        return sum(runs.values())


def _calls_functions(problem: Problem) -> bool:
    """Whether a kernel calls elementary functions, which pairs know to 2^-98 alone."""
    program = problem.kernel("twin").program
    called = (program.sites[row.site].operation for row in program.layout.rows)
    return any(OPERATIONS.get(name, NOTHING).evaluate is not None for name in called)


def doubted(truth: ExactResults, tested: Mapping[str, np.ndarray]) -> ExactResults:
    """Exact results with more doubt where fp64 has lost digits: pairs have lost as many there, and
    functions that err alike in both of two numbers that cancel do not show it.

    Args:
        truth: of a run in fp64.
        tested: its results.
    """
    doubt = {}
    for name, high in truth.high.items():
        with np.errstate(all="ignore"):
            error = abs((tested[name] - high) - truth.low[name])
            more = np.where(error < _NOTHING_LEFT * abs(high), _OF_PAIRS * error, np.inf)
            doubt[name] = np.fmax(truth.doubt[name], np.where(error == 0.0, 0.0, more))
    return replace(truth, doubt=doubt)


def unit_of(values: np.ndarray, to: Format) -> np.ndarray:
    """The unit in the last place of numbers in a format."""
    _, exponent = np.frexp(values)
    least = to.emin - to.significand_bits + 1
    return np.ldexp(1.0, np.maximum(exponent - to.significand_bits, least))


def _mapped(argument: Any, backend: Backend, turn) -> Any:
    """An argument with its floating-point numbers turned, then rounded to the format; numbers that
    leave it stay as they are.
    """
    if isinstance(argument, tuple):
        return tuple_like(argument, (_mapped(a, backend, turn) for a in argument))
    if isinstance(argument, (float, np.floating)):
        return float(_mapped(np.array([argument], np.float64), backend, turn)[0])
    if not isinstance(argument, np.ndarray) or argument.dtype.kind != "f":
        return argument
    values = np.asarray(argument, np.float64)
    with np.errstate(all="ignore"):
        turned = np.where(values == 0.0, values, turn(np.where(values == 0.0, 1.0, values)))
        rounded, shifted = (np.asarray(quantize(v, backend), np.float64) for v in (values, turned))
        usable = np.isfinite(shifted) & ((shifted != 0.0) | (values == 0.0))
    return np.where(usable, shifted, rounded).astype(argument.dtype)


def _exchanged(x: np.ndarray) -> np.ndarray:
    """1/x, or where that is beyond 2^28 a root of it: exact angles are known up to 2^30."""
    most = float(np.max(abs(np.log2(abs(x))), initial=0.0))
    return np.sign(x) * abs(x) ** -min(1.0, _LARGEST / most if most else 1.0)


def _between(x: np.ndarray) -> np.ndarray:
    """Sizes drawn between 1 and those of numbers, in their logarithms, with any signs."""
    rng = np.random.default_rng(x.size)
    return rng.choice([-1.0, 1.0], x.shape) * abs(x) ** rng.uniform(0.0, 1.0, x.shape)


_REGIMES = {
    "signs turned": lambda x: -x,
    "sizes nearer to 1": lambda x: np.sign(x) * abs(x) ** 0.125,
    "sizes nearer to 1, signs turned": lambda x: -np.sign(x) * abs(x) ** 0.125,
    "sizes between, any signs": _between,
    "large and small exchanged": _exchanged,
}


class _Noting(ast.NodeTransformer):
    """Tests of a kernel that note their outcome in an array, its first argument then."""

    def __init__(self, tests: Mapping[str, int]):
        self.tests = tests

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.args.args.insert(0, ast.arg("sp_outcomes"))
        return node

    def _test(self, node):
        text = ast.unparse(node.test)
        self.generic_visit(node)
        if text in self.tests:
            args = [ast.Name("sp_outcomes", ast.Load()), ast.Constant(self.tests[text]), node.test]
            node.test = ast.Call(ast.Name("sp_noted", ast.Load()), args, [])
        return node

    visit_If = visit_While = visit_IfExp = _test


def _value(name: str, values: Mapping[str, Any]) -> np.ndarray:
    """A result by its name, of arguments and of what was returned; items of tuples have numbers."""
    if name in values and not isinstance(values[name], tuple):
        return np.asarray(values[name], np.float64)
    owner, _, number = name.rpartition("_")
    items: Sequence[Any] = _tuple(owner, values)
    return np.asarray(items[int(number)], np.float64)


def _tuple(name: str, values: Mapping[str, Any]) -> Sequence[Any]:
    if name in values:
        return values[name]
    owner, _, number = name.rpartition("_")
    return _tuple(owner, values)[int(number)]


def _first_sentence(error: Exception) -> str:
    return " ".join(str(error).split("\n")[0].split())[:120] or type(error).__name__
