"""The error of fp64 itself in the results of a call, which verdicts that take it as truth state."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from sciprec.arrays.metrics import METRICS, error_by
from sciprec.foundation.arguments import choice
from sciprec.foundation.errors import InputError
from sciprec.precision.formats.backend import TRUTH, resolve_backend
from sciprec.precision.lifting.lifting import lift
from sciprec.precision.rewriting.copies import copied
from sciprec.precision.rewriting.syntax import LiftError
from sciprec.results.comparison.own_error import OWN, OwnError, OwnErrors
from sciprec.tools.digits.kernel_digits import LANES
from sciprec.tools.digits.shortened import shortened
from sciprec.tools.digits.truth import ExactResults, most_digits, truth_of
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


def checked_truth(given: Any) -> str:
    """One of `TRUTHS`.

    Raises:
        InputError: it is none.
    """
    return choice("truth", given, TRUTHS)


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
