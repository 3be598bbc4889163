"""Searches for a cheap choice of formats whose error stays within a limit.

Sensitivities first: the error of every group alone in every narrower format. They order what is
narrowed, and bisection with real runs finds how far that order can be followed (after the ranking
in Precimonious' successors; the closed form for bits is the minimum of sum c_i p_i under
sum s_i 2^-p_i <= tolerance). Single groups are narrowed further while a real run passes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.tools.tune.formats import FEWEST, MOST
from sciprec.tools.tune.problem import Choice, TuningProblem

_NEIGHBOURS = 2
"""Numbers on either side of the least that passes that are tried, too."""
_PROBED = 12
"""Bits in which a group's sensitivity is found."""
_OFFSETS = (-6.0, 3.0, 0.25)
"""Offsets of the closed form, in bits: from, to, and how close to its end."""
_SMALL, _NEAR = 8, 1.05
"""Groups up to which the closed form and one number of bits everywhere are both trimmed, of more
the cheaper one alone; of the cost found: the dearer one below it is."""
_FEW, _MOST_CHEAPER, _LIKELY = 1000, 150, 2.0
"""Choices up to which all cheaper ones are looked at; how many of them are run; the error of each
group alone, over the limit, above which none is."""


def cheapest(problem: TuningProblem, limit: float) -> Choice:
    """A cheap choice whose error is within a limit. It starts from the widest format everywhere,
    or, where that misses the limit (of the longest significand a range may be too small), from the
    next one that does not.

    Raises:
        InputError: every format misses it.
    """
    problem.truth()
    _start(problem, limit)
    if not problem.groups:
        return problem.all_wide
    return _by_bits(problem, limit) if problem.formats.by_bits else _by_formats(problem, limit)


def _start(problem: TuningProblem, limit: float) -> None:
    """Take the widest format that meets a limit everywhere as the widest of all."""
    missed = []
    for number in problem.formats.by_width[: 1 if problem.formats.by_bits else None]:
        problem.start_from(number)
        error = problem.error(problem.all_wide)
        if error <= limit:
            return
        missed.append(f"{error:.2g} with '{problem.formats.names[number]}'")
    more = f" ({', '.join(missed[1:])})" if missed[1:] else ""
    raise InputError(
        f"{problem.sort} '{problem.name}' has an error of {missed[0]} everywhere, above the limit "
        f"of {limit:.2g}{more}; give a larger tolerance, or a wider format"
    )


# ---- formats -----------------------------------------------------------------------------------


def _by_formats(problem: TuningProblem, limit: float) -> Choice:
    wide, formats = problem.all_wide, problem.formats
    widest = formats.widest
    narrower = [
        n for n in formats.ascending if n != widest and formats.bits[n] < formats.bits[widest]
    ]
    uniform = [tuple(n for _ in wide) for n in narrower]
    alone = [(g, n) for g in range(len(wide)) for n in narrower]
    errors = problem.errors([*uniform, *(_with(wide, g, n) for g, n in alone)])
    passing = [c for c, e in zip(uniform, errors, strict=False) if e <= limit]
    sensitivity = dict(zip(alone, errors[len(uniform) :], strict=True))
    best = min([wide, *passing], key=problem.cost)
    path = _path(problem, sensitivity, narrower)
    reached = _farthest(path, lambda choice: problem.error(choice) <= limit)
    best = min([best, reached], key=problem.cost)
    best = _trimmed(problem, best, limit, sensitivity)
    if len(formats.names) ** len(wide) <= _FEW:
        best = _cheaper(problem, best, limit, sensitivity)
    return best


def _with(choice: Choice, group: int, number: int) -> Choice:
    return (*choice[:group], number, *choice[group + 1 :])


def _path(
    problem: TuningProblem, sensitivity: dict[tuple[int, int], float], narrower: list[int]
) -> list[Choice]:
    """Return choices from the widest to the narrowest; a step that costs least error for the bits
    it saves comes first.
    """
    formats, steps = problem.formats, []
    for group, measured in enumerate(problem.groups):
        points = [(formats.bits[formats.widest], 0.0, formats.widest)]
        points += [(formats.bits[n], sensitivity[group, n], n) for n in narrower]
        points = [k for k in points if math.isfinite(k[1])]
        at = points[0]
        while True:  # along the lower hull of error over bits
            further = [k for k in points if k[0] < at[0]]
            if not further:
                break
            slopes = [(max(k[1] - at[1], 0.0) / (at[0] - k[0]), k[0], k) for k in further]
            slope, _, to = min(slopes, key=lambda s: (s[0], s[1]))
            steps.append((slope / measured.runs, len(steps), group, to[2]))
            at = to
    choice, path = problem.all_wide, [problem.all_wide]
    for _, _, group, number in sorted(steps):
        choice = _with(choice, group, number)
        path.append(choice)
    return path


def _farthest(path: list[Choice], passes: Callable[[Choice], bool]) -> Choice:
    """The last choice of a path that passes, as bisection finds it; the first one does."""
    low, high = 0, len(path) - 1
    if passes(path[high]):
        return path[high]
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if passes(path[middle]) else (low, middle)
    return path[low]


def _trimmed(
    problem: TuningProblem, choice: Choice, limit: float,
    sensitivity: dict[tuple[int, int], float],
) -> Choice:  # fmt: skip
    """Narrow single groups while a run passes; the one that saves most for its error comes first.
    """
    bits, refused = problem.formats.bits, set()
    while True:
        moves = []
        for group, current in enumerate(choice):
            for number in problem.formats.ascending:
                saved = problem.groups[group].runs * (bits[current] - bits[number])
                if saved <= 0 or (group, number) in refused:
                    continue
                size = sensitivity.get((group, number), 0.0)
                moves.append((not size <= limit, -saved, size, group, number))
        for hopeless, _, _, group, number in sorted(moves):
            if hopeless:
                return choice
            candidate = _with(choice, group, number)
            if problem.error(candidate) <= limit:
                choice = candidate
                break
            refused.add((group, number))
        else:
            return choice


def _cheaper(
    problem: TuningProblem, choice: Choice, limit: float,
    sensitivity: dict[tuple[int, int], float],
) -> Choice:  # fmt: skip
    """Return the cheapest choice for few groups that passes, among those that are cheaper than a
    choice and likely to pass, the cheapest first.
    """
    most = problem.cost(choice)
    single = [
        [n for n in problem.formats.ascending if sensitivity.get((g, n), 0.0) <= _LIKELY * limit]
        for g in range(len(choice))
    ]
    candidates = [c for c in itertools.product(*single) if problem.cost(c) < most]
    for candidate in sorted(candidates, key=problem.cost)[:_MOST_CHEAPER]:
        if problem.error(candidate) <= limit:
            return candidate
    return choice


# ---- bits --------------------------------------------------------------------------------------


def _by_bits(problem: TuningProblem, limit: float) -> Choice:
    """The closed form p_i = log2(s_i sum(c) / (limit c_i)) + offset, the offset by bisection."""
    wide = problem.all_wide
    probes = [_with(wide, g, _PROBED - FEWEST) for g in range(len(wide))]
    sensitivity = np.array(problem.errors(probes)) * 2.0**_PROBED
    if not np.isfinite(sensitivity).all():
        return _trimmed_bits(problem, wide, np.ones(len(wide)), limit)
    exact = sensitivity == 0.0
    least = np.full(len(wide), FEWEST)

    def passes(group: int, bits: int) -> bool:
        return problem.error(_with(wide, group, bits - FEWEST)) == 0.0

    for group in map(int, np.flatnonzero(exact)):
        least[group] = least_passing(partial(passes, group), FEWEST, _PROBED)
    runs = np.array([g.runs for g in problem.groups], float)
    total = runs[~exact].sum()

    def closed(offset: float) -> Choice:
        size = np.where(exact, 1.0, sensitivity)
        bits = np.log2(size * total / (limit * runs)) + offset if total else np.zeros(len(wide))
        bits = np.where(exact, least, np.ceil(bits))
        return tuple(int(p) - FEWEST for p in np.clip(bits, FEWEST, MOST))

    low, high, close = _OFFSETS
    best = closed(high)
    if problem.error(best) > limit:
        best = wide
    while high - low > close:
        middle = (low + high) / 2
        choice = closed(middle)
        if problem.error(choice) <= limit:
            high, best = middle, choice
        else:
            low = middle
    start, other = sorted([best, _uniform(problem, limit)], key=problem.cost)
    best = _trimmed_bits(problem, start, sensitivity, limit)
    if len(wide) <= _SMALL and problem.cost(other) < _NEAR * problem.cost(best):
        best = min([best, _trimmed_bits(problem, other, sensitivity, limit)], key=problem.cost)
    return best


def _uniform(problem: TuningProblem, limit: float) -> Choice:
    """Find the fewest bits that pass everywhere, by bisection; the widest where none do."""

    def everywhere(bits: int) -> Choice:
        return (bits - FEWEST,) * len(problem.groups)

    least = least_passing(lambda bits: problem.error(everywhere(bits)) <= limit, FEWEST, MOST + 1)
    return problem.all_wide if least > MOST else everywhere(least)


def _trimmed_bits(problem: TuningProblem, choice: Choice, sensitivity, limit: float) -> Choice:
    """Narrow single groups by a bit each while a run passes; the one that saves most for its error
    comes first.
    """
    runs = np.array([g.runs for g in problem.groups], float)
    bits = np.array([problem.formats.bits[n] for n in choice], float)
    order = np.argsort(-(runs / np.maximum(sensitivity * 2.0**-bits, 1e-300)), kind="stable")
    for group in map(int, order):
        while problem.formats.bits[choice[group]] > FEWEST:
            current = problem.formats.bits[choice[group]]
            number = min(current - 1, MOST) - FEWEST
            candidate = _with(choice, group, number)
            if problem.error(candidate) > limit:
                break
            choice = candidate
    return choice


# ---- one number: tune's bits, a study's bits and exponent bits ---------------------------------


def least_passing(passes: Callable[[int], bool], low: int, high: int) -> int:
    """The least number from `low` on that passes, by bisection; `high` where none below it does."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle + 1, high)
    return low


def least_holding(
    passes: Callable[[int], bool], low: int, high: int, others: Sequence[int] = ()
) -> int:
    """The least number that passes together with all larger ones that are tried, next neighbours
    and `others` among them: errors need not fall with every bit. `high` where none below it does.
    """
    least = least_passing(passes, low, high)
    while True:
        near = range(max(least - _NEIGHBOURS, low), min(least + _NEIGHBOURS + 1, high))
        tried = {number: passes(number) for number in (*others, *near)}
        missed = [number for number, has_passed in tried.items() if not has_passed]
        if least > max(missed, default=low - 1):
            return least
        least = max(missed) + 1


def least_from(start: int, passes: Callable[[int], bool], low: int, high: int) -> int:
    """The least number that passes together with all from it up to a start; where the start does
    not pass, the next one above that does, and `high` where none does.
    """
    least = next((number for number in range(start, high) if passes(number)), high)
    while least > low and passes(least - 1):
        least -= 1
    return least
