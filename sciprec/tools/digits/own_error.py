"""The error of fp64 itself in the results of a call, which verdicts that take it as truth state.

Where the truth of a call costs too much, a shorter call stands for it. Arrays are cut along their
first axis, where this can be done in one way: all arrays of the greatest length there, and
arguments that are that number. Where there are no such, a number of steps is made smaller that does
nothing but end a loop.
"""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from sciprec.arrays.metrics import METRICS, error_by
from sciprec.foundation.errors import InputError
from sciprec.precision.formats.backend import TRUTH, resolve_backend
from sciprec.precision.lifting.lifting import lift
from sciprec.precision.rewriting.copies import copied
from sciprec.precision.rewriting.syntax import LiftError, parse
from sciprec.results.comparison.own_error import OWN, OwnError, OwnErrors
from sciprec.tools.digits.kernel_digits import LANES
from sciprec.tools.digits.truth import ExactResults, most_digits, truth_of
from sciprec.tools.memory.memory import check_memory
from sciprec.tools.trace.attribution import Result, require_apart
from sciprec.tools.trace.needed_memory import require_memory_of_kernel
from sciprec.tools.trace.problem import Problem

OwnMetric = Callable[[str, np.ndarray, np.ndarray], float]
"""A metric of a user's own: the name of a result, its values and its truth."""
AUTO, DD, FP64 = "auto", "dd", TRUTH
TRUTHS = (AUTO, DD, FP64)
"""The truth of a verdict: fp64, whose own error is looked at where that is cheap, or always, or
never."""
AFFORDED = 4.0
"""Seconds that a look at fp64's own error may take where nobody has asked for it."""
TIMES = 300.0
"""The time of a run beside exact values, over that of the kernel in fp64; 20 to 450 are met."""
LEAST = 16
"""Elements, or steps, without which a shorter call tells nothing."""


def own_errors(
    function: Callable[..., Any], args: tuple, truth: str, *,
    output: str | Iterable[str] | None = None, metric: OwnMetric | None = None, on: str = "",
) -> OwnErrors | None:  # fmt: skip
    """The error of fp64 itself in the results of a call.

    Args:
        function: the plain kernel.
        args: in the order of its parameters.
        truth: of `TRUTHS`.
        output: names of the results that count, those of `digits`; None: all.
        metric: one of a user's own; called "own" here.
        on: which inputs they are.

    Returns:
        None where nobody asks; with a reason where it costs too much, or exact values cannot be
        followed.

    Raises:
        InputError, LiftError: exact values cannot be followed, and they were asked for.
    """
    if truth == FP64:
        return None
    try:
        require_memory_of_kernel(function.__name__, args, LANES)
        require_apart(function.__name__, args, "truth='dd'")
        if truth == AUTO and (seconds := _seconds(function, args)) > AFFORDED:
            shorter = _afforded(function, args, AFFORDED / seconds)
            if shorter is None:
                return OwnErrors({}, on, f"a run beside exact values takes some {seconds:,.0f} s, "
                                 "and truth='dd' makes it")  # fmt: skip
            args, words = shorter
            on = f"{words} of {on}" if on else words
        problem = Problem(function, resolve_backend(TRUTH), args, output, LANES, verb="truth='dd'")
        results, references = truth_of(problem)
    except (InputError, LiftError) as error:
        if truth == DD:
            raise
        return OwnErrors({}, on, str(error))
    return OwnErrors({r.name: _error_of(r, references, problem, metric) for r in results}, on)


def _afforded(
    function: Callable[..., Any], args: tuple, share: float
) -> tuple[tuple, str] | None:
    """A shorter call whose truth can be afforded, and what it is; None where there is none."""
    calls = shortened(function, args, 0.5 * share)
    return next((call for call in calls if _seconds(function, call[0]) <= AFFORDED), None)


def _seconds(function: Callable[..., Any], args: tuple) -> float:
    """The time that a run beside exact values takes, estimated from one in fp64."""
    lifted = lift(function, TRUTH)
    with np.errstate(all="ignore"):
        lifted(*copied(args))  # compiles
        arguments = copied(args)
        before = time.perf_counter()
        lifted(*arguments)
    return TIMES * (time.perf_counter() - before)


def _error_of(
    result: Result, truth: ExactResults, problem: Problem, metric: OwnMetric | None
) -> OwnError:
    """Compare the numbers that are finite in fp64; other numbers are compared as they are."""
    finite, name = np.isfinite(result.tested), result.name
    if not finite.any():
        return OwnError(0, 0, math.nan, dict.fromkeys((*METRICS, OWN), 0.0), 0.0)
    digits = truth.digits(name, result.tested, most_digits(problem))[finite]
    tested = result.tested[finite]
    high, low, doubt = (part[name][finite] for part in (truth.high, truth.low, truth.doubt))
    with np.errstate(all="ignore"):
        error = abs((tested - high) - low)
        has_digits, certain = ~np.isnan(digits), bool(np.isfinite(error + doubt).all())
        errors, least = dict.fromkeys((*METRICS, OWN), math.inf), 0.0
        if certain:
            errors = {m: error_by(m, error + doubt, high) for m in METRICS}
            least = error_by("relative_l2", np.maximum(error - doubt, 0.0), abs(high) + doubt)
        if metric is not None:
            errors[OWN] = metric(name, tested, high) if has_digits.all() else math.inf
    fewest = float(digits[has_digits].min()) if has_digits.any() else math.nan
    return OwnError(tested.size, int((~has_digits).sum()), fewest, errors, least)


def shortened(
    function: Callable[..., Any], args: tuple, share: float
) -> Iterator[tuple[tuple, str]]:
    """Shorter calls, and what they are, in words; those that the kernel can make, without an index
    outside of its arrays.

    Args:
        function: the plain kernel.
        args: in the order of its parameters.
        share: the part of the work that is to be left.
    """
    names = tuple(inspect.signature(function).parameters)
    for cut in (_cut_arrays, _cut_steps):
        shorter = cut(function, names, args, share)
        if shorter is not None and _runs(function, shorter[0]):
            yield shorter


def _cut_arrays(function, names, args, share) -> tuple[tuple, str] | None:
    """Cut arrays of one length to a shorter one; None where a call cannot be shortened so."""
    arrays = [a for a in args if isinstance(a, np.ndarray) and a.ndim]
    longest = max((a.shape[0] for a in arrays), default=0)
    length = _less(longest, share)
    if length is None or not all(isinstance(a, np.ndarray) or np.isscalar(a) for a in args):
        return None
    numbers = [int(a) for a in args if np.ndim(a) == 0 and _is_whole(a)]
    lengths = [n for a in arrays for n in a.shape[a.shape[0] == longest :]]
    near = {longest - 1, longest, longest + 1}
    if near & {*lengths} or any(length <= n <= longest + 1 and n != longest for n in numbers):
        return None

    def short(a):
        if isinstance(a, np.ndarray) and a.ndim:
            return a[:length].copy() if a.shape[0] == longest else a
        return type(a)(length) if _is_whole(a) and int(a) == longest else a

    cut = [n for n, a in zip(names, args, strict=False) if np.ndim(a) and a.shape[0] == longest]
    words = f"{' and '.join(cut[:2])}{' and others' * (len(cut) > 2)}"
    return tuple(map(short, args)), f"the first {length:,} of {longest:,} elements of {words}"


def _cut_steps(function, names, args, share) -> tuple[tuple, str] | None:
    """Make an argument smaller that does nothing but set the number of steps; None without one."""
    try:
        tree = parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return None
    loops = [node.iter for node in ast.walk(tree) if isinstance(node, ast.For)]
    ends = [
        call.args[0].id for call in loops
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "range"
        and len(call.args) == 1 and isinstance(call.args[0], ast.Name)
    ]  # fmt: skip
    used = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    steps = {
        n: int(a) for n, a in zip(names, args, strict=False)
        if np.ndim(a) == 0 and _is_whole(a) and ends.count(n) == used.count(n) == 1
    }  # fmt: skip
    most_steps = max(steps.values(), default=0)
    length = _less(most_steps, share)
    if length is None:
        return None
    name = next(n for n in steps if steps[n] == most_steps)
    shortened_args = tuple(
        type(a)(length) if n == name else a for n, a in zip(names, args, strict=False)
    )
    return shortened_args, f"a run with {name} = {length:,} in place of {most_steps:,}"


def _is_whole(a: Any) -> bool:
    return isinstance(a, (int, np.integer)) and not isinstance(a, bool)


def _less(size: int, share: float) -> int | None:
    """The power of two that leaves that share of a number at most; None where it is too small."""
    length = 2 ** int(np.log2(max(size * share, 1.0)))
    return length if LEAST <= length < size else None


def _runs(function: Callable[..., Any], args: tuple) -> bool:
    """Whether a kernel can make a call and reaches nothing outside of its arrays."""
    try:
        report = check_memory(function, TRUTH, args)
    except (InputError, LiftError):
        return False
    return report.clean and not report.ended
