"""Rules that tell when something happens to a watched variable, and what they have told."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sciprec.foundation.arguments import flag, refused
from sciprec.foundation.errors import InputError, meant
from sciprec.tools.monitor.summaries import COLUMNS

_AT = {name: place for place, name in enumerate(COLUMNS)}
AT_END = -1
"""A step: none, what the run has left."""
_EARLIER = 3
"""Watched steps that a running mean needs."""


@dataclass(frozen=True)
class Alert:
    """Something that a rule has found, where it did so first.

    Attributes:
        rule: its name.
        variable: the watched one.
        step: where it was seen; -1: in what the run has left.
        since: the watched step before, at which it was not; -1: there is none.
        place: in the variable, in words; "" for the whole.
        words: what was found.
    """

    rule: str
    variable: str
    step: int
    since: int
    place: str
    words: str

    def __str__(self) -> str:
        at = f" at {self.place}" if self.place else ""
        if self.step == AT_END:
            return f"{self.variable}: {self.words} in what is left at the end{at}"
        after = f", not at step {self.since}" if 0 <= self.since < self.step - 1 else ""
        return f"{self.variable}: {self.words} in step {self.step}{after}{at}"


@dataclass(frozen=True)
class Rule:
    """A rule of alerts.

    Args:
        name: as scenarios say it.
        usual: its value where nothing is said; None: it is off.
        accepted: values in words.
        example: of a value.
        finds: (rows of a variable (steps, columns), value) -> the number of the first row where it
            holds and the words, or None.
        column: of the place in a row.
    """

    name: str
    usual: float | None
    accepted: str
    example: str
    finds: Callable[[np.ndarray, float], tuple[int, str] | None]
    column: str


def _nan(rows: np.ndarray, value: float) -> tuple[int, str] | None:
    count = rows[:, _AT["nans"]]
    if not count.any():
        return None
    first = int(np.argmax(count > 0))
    return first, f"first NaN ({int(count[first]):,} of {int(rows[first, 0]):,})"


def _overflow(rows: np.ndarray, value: float) -> tuple[int, str] | None:
    counts = rows[:, _AT["overflows"]], rows[:, _AT["saturated"]]
    both = counts[0] + counts[1]
    if not both.any():
        return None
    first = int(np.argmax(both > 0))
    what = "infinity" if counts[0][first] else "saturation"
    return first, f"first {what} ({int(both[first]):,} of {int(rows[first, 0]):,})"


def _drift(rows: np.ndarray, value: float) -> tuple[int, str] | None:
    """|mean - its first one| > value times the first root mean square."""
    sizes, means = _sizes(rows), rows[:, _AT["mean"]]
    begun = np.flatnonzero(np.isfinite(means) & (sizes > 0.0))
    if not begun.size:
        return None
    moved = np.abs(means - means[begun[0]]) / sizes[begun[0]]
    beyond = np.flatnonzero(moved > value)
    beyond = beyond[beyond > begun[0]]
    if not beyond.size:
        return None
    first = int(beyond[0])
    return first, f"its mean has moved by {moved[first]:.2g} of its first size, beyond {value:g}"


def _jump(rows: np.ndarray, value: float) -> tuple[int, str] | None:
    """Root mean square more than `value` times the mean of all earlier ones, or less than that part
    of it.
    """
    total, count = 0.0, 0
    for number, size in enumerate(_sizes(rows).tolist()):
        if not math.isfinite(size):
            continue
        usual = total / count if count else 0.0
        if count >= _EARLIER and usual > 0.0 and not usual / value <= size <= usual * value:
            return number, f"a jump from {usual:.3g} on average to {size:.3g}"
        total, count = total + size, count + 1
    return None


def _sizes(rows: np.ndarray) -> np.ndarray:
    """Root mean squares of the finite values; NaN where there is none."""
    count = rows[:, 0] - rows[:, _AT["nans"]] - rows[:, _AT["overflows"]]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(count > 0, rows[:, _AT["norm"]] / np.sqrt(count), np.nan)


RULES = {
    rule.name: rule
    for rule in (
        Rule("nan", 1.0, "true or false", "nan = true", _nan, "first_nan"),
        Rule("overflow", 1.0, "true or false", "overflow = true", _overflow, "first_overflow"),
        Rule("drift", None, "a share > 0 of the variable's first size, or false",
             "drift = 1e-3", _drift, ""),
        Rule("jump", None, "a factor > 1, or false", "jump = 10.0", _jump, "largest"),
    )
}  # fmt: skip
"""The first NaN; the first infinity or saturation; a mean that has moved from its first value by
more than a share of the variable's first root mean square; a root mean square that is so many times
larger or smaller than the mean of those of all watched steps before, three at least."""


def checked_rules(given: Mapping[str, Any] | None) -> dict[str, float]:
    """Rule -> value of the rules that are on.

    Raises:
        InputError: a rule is unknown, or has no such value.
    """
    if given is not None and not isinstance(given, Mapping):
        raise refused("alerts", given, "a table of rules, such as {'jump': 10.0}")
    found = {rule.name: rule.usual for rule in RULES.values()}
    for name, value in (given or {}).items():
        if name not in RULES:
            raise InputError(
                f"alerts names the unknown rule '{name}'; known: {', '.join(RULES)}"
                f"{meant(name, RULES)}"
            )
        found[name] = _value(RULES[name], value)
    return {name: value for name, value in found.items() if value is not None}


def _value(rule: Rule, value: Any) -> float | None:
    if value is False:
        return None
    if rule.usual is not None:
        return 1.0 if flag(f"alerts.{rule.name}", value) else None
    least = 1.0 if rule.name == "jump" else 0.0
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not value > least:
        raise refused(f"alerts.{rule.name}", value, rule.accepted)
    return float(value)


def alerts_of(
    variable: str, steps: np.ndarray, rows: np.ndarray, rules: Mapping[str, float],
    place: Callable[[int], str],
) -> list[Alert]:  # fmt: skip
    """What the rules find in the rows of a variable.

    Args:
        variable: its name.
        steps: (n,), watched ones.
        rows: (n, columns).
        rules: from `checked_rules`.
        place: a place in the variable in words.
    """
    found = []
    for name, value in rules.items():
        rule = RULES[name]
        seen = rule.finds(rows, value) if len(rows) else None
        if seen is None:
            continue
        number, words = seen
        column = rule.column
        if name == "overflow" and rows[number, _AT["first_overflow"]] < 0:
            column = "largest"
        at = int(rows[number, _AT[column]]) if column else -1
        since = int(steps[number - 1]) if number else -1
        where = place(at) if at >= 0 else ""
        found.append(Alert(name, variable, int(steps[number]), since, where, words))
    return sorted(found, key=lambda alert: alert.step)
