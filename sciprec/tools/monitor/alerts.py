"""Rules that tell when something happens to a watched variable, and what they have told."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sciprec.foundation.arguments import flag, refused, share
from sciprec.foundation.errors import InputError, meant
from sciprec.tools.monitor.summaries import COLUMNS, digits

_AT = {name: place for place, name in enumerate(COLUMNS)}
AT_END = -1
"""A step: none, what the run has left."""
OVER_ALL = -2
"""A step: none, the whole run."""
_EARLIER = 3
"""Watched steps that a running mean needs."""


@dataclass(frozen=True)
class Alert:
    """A finding of a rule, at the first place where it holds.

    Attributes:
        rule: its name.
        variable: the watched one.
        step: where it was seen; -1: in what the run has left; -2: over the whole run.
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
        if self.step == OVER_ALL:
            return f"{self.variable}: {self.words}"
        if self.step == AT_END:
            return f"{self.variable}: {self.words} in what is left at the end{at}"
        after = f", not at step {self.since}" if 0 <= self.since < self.step - 1 else ""
        return f"{self.variable}: {self.words} in step {self.step}{after}{at}"


@dataclass(frozen=True)
class AlertRule:
    """A rule of alerts.

    Args:
        name: as scenarios say it.
        usual: its value where nothing is said; None: it is off.
        accepted: values in words.
        example: of a value.
        read: a given value as a number; ValueError or InputError where it is none.
        finds: (rows of a variable (steps, columns), relative l2 errors (steps,), value) -> the
            number of the first row where it holds and the words, or None. Left out, it is about
            the whole run.
        column: of the place in a row.
    """

    name: str
    usual: float | None
    accepted: str
    example: str
    read: Callable[[Any], float | None]
    finds: Callable[[np.ndarray, np.ndarray, float], tuple[int, str] | None] | None = None
    column: str = ""


def _nan(rows: np.ndarray, errors: np.ndarray, value: float) -> tuple[int, str] | None:
    count = rows[:, _AT["nans"]]
    if not count.any():
        return None
    first = int(np.argmax(count > 0))
    return first, f"first NaN ({int(count[first]):,} of {int(rows[first, 0]):,})"


def _overflow(
    rows: np.ndarray, errors: np.ndarray, value: float
) -> tuple[int, str] | None:
    counts = rows[:, _AT["overflows"]], rows[:, _AT["saturated"]]
    both = counts[0] + counts[1]
    if not both.any():
        return None
    first = int(np.argmax(both > 0))
    event = "infinity" if counts[0][first] else "saturation"
    return first, f"first {event} ({int(both[first]):,} of {int(rows[first, 0]):,})"


def _moved(rows: np.ndarray, errors: np.ndarray, value: float) -> tuple[int, str] | None:
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


def _jump(rows: np.ndarray, errors: np.ndarray, value: float) -> tuple[int, str] | None:
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


def _digits(rows: np.ndarray, errors: np.ndarray, value: float) -> tuple[int, str] | None:
    right_digits = np.array([digits(error) for error in errors.tolist()])
    below = np.flatnonzero(right_digits < value)
    if not below.size:
        return None
    first = int(below[0])
    return first, f"{right_digits[first]:.1f} digits agree with fp64, fewer than {value:g}"


@dataclass(frozen=True)
class Bounds:
    """A rule that values stay within a range, as in `h>0` or `|c|<=1`.

    Args:
        text: as it was given.
        variable: the watched one.
        sized: whether the size counts, without the sign.
        relation: <, <=, > or >=.
        limit: the end of the range.
    """

    text: str
    variable: str
    sized: bool
    relation: str
    limit: float

    @classmethod
    def read(cls, text: str) -> Bounds | None:
        """The range that a text says; None of any other text."""
        match = _RANGE.fullmatch(text.strip())
        if match is None:
            return None
        sized, variable, relation, limit = match.groups()
        try:
            number = float(limit)
        except ValueError:
            return None
        return cls(text, (sized or variable).strip(), sized is not None, relation, number)

    def finds(self, rows: np.ndarray) -> tuple[int, str] | None:
        """The number of the first row that leaves the range, and the words."""
        ends = [rows[:, _AT[name]] for name in ("minimum", "maximum")]
        if self.sized:
            ends = [np.zeros(len(rows)), np.maximum(*map(np.abs, ends))]
        values = ends[self.relation.startswith("<")]
        beyond = np.flatnonzero(~_RELATIONS[self.relation](values, self.limit) & ~np.isnan(values))
        if not beyond.size:
            return None
        first = int(beyond[0])
        size = " in size" if self.sized else ""
        return first, f"{values[first]:.6g}{size}, outside of {self.text.strip()}"


_RANGE = re.compile(r"(?:\|([^|<>=]+)\||([^|<>=]+))\s*(<=|>=|<|>)\s*([^<>=\s]+)")
_RELATIONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def _flag(value: Any) -> float | None:
    return 1.0 if flag("it", value) else None


def _above(least: float, most: float = math.inf) -> Callable[[Any], float]:
    """Reads numbers above one, and below or at another, in per cent, too, where that is finite."""
    def read(value: Any) -> float:
        if isinstance(value, str) and math.isfinite(most):
            value = share(value)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or not least < value <= most:
            raise ValueError
        return float(value)

    return read


RULES = {
    rule.name: rule
    for rule in (
        AlertRule("nan", 1.0, "true or false", "nan = true", _flag, _nan, "first_nan"),
        AlertRule("overflow", 1.0, "true or false", "overflow = true", _flag, _overflow,
             "first_overflow"),
        AlertRule("lost", 0.5, "a share > 0 and at most 1, such as 50%, or false", "lost = 0.5",
             _above(0.0, 1.0)),
        AlertRule("moved", None, "a share > 0 of the variable's first size, or false",
             "moved = 1e-3", _above(0.0), _moved),
        AlertRule("jump", None, "a factor > 1, or false", "jump = 10.0",
             _above(1.0), _jump, "largest"),
        AlertRule("digits", None, "a number of decimal digits > 0, or false", "digits = 3",
             _above(0.0), _digits),
    )
}  # fmt: skip
"""The first NaN; the first infinity or saturation; a carried sum that has lost that share of what
was added to it (`lost.LostUpdates.alarms`); a mean that has moved from its first value by more than
a share of the variable's first root mean square; a root mean square that is so many times larger or
smaller than the mean of those of all watched steps before, three at least; fewer digits that agree
with fp64. Beside these, ranges by their text."""
OLDER_RULES = {"drift": "moved"}
"""Today's names of rules by those of older versions, which scenarios and files may have."""


def checked_rules(
    values: Mapping[str, Any] | None, watched: Sequence[str] | None = None
) -> dict[str, float]:
    """Rule -> value of the rules that are on.

    Args:
        values: rules with their values, as a user says them.
        watched: names that ranges may have; left out, any.

    Raises:
        InputError: a rule is unknown, has no such value, or is about nothing that is watched.
    """
    if values is not None and not isinstance(values, Mapping):
        raise refused("alerts", values, "a table of rules, such as {'jump': 10.0}")
    rules = {rule.name: rule.usual for rule in RULES.values()}
    for name, value in (values or {}).items():
        bounds = Bounds.read(str(name))
        if bounds is not None:
            if watched is not None and bounds.variable not in watched:
                raise InputError(
                    f"alerts names the range '{name}' of '{bounds.variable}', which is not "
                    f"watched; watched: {', '.join(watched)}{meant(bounds.variable, watched)}"
                )
            rules[name] = 1.0 if flag(f"alerts['{name}']", value) else None
            continue
        name = OLDER_RULES.get(name, name)
        if name not in RULES:
            raise InputError(
                f"alerts names the unknown rule '{name}'; known: {', '.join(RULES)}, and ranges "
                f"such as 'h>0' or '|c|<=1'{meant(name, RULES)}"
            )
        rules[name] = _value(RULES[name], value)
    return {name: value for name, value in rules.items() if value is not None}


def _value(rule: AlertRule, value: Any) -> float | None:
    if value is False:
        return None
    if value is True and rule.usual is not None:
        return rule.usual
    try:
        return rule.read(value)
    except (ValueError, InputError):
        accepted = "True or False" if rule.read is _flag else rule.accepted
        raise refused(f"alerts.{rule.name}", value, accepted) from None


def alerts_of(
    variable: str, steps: np.ndarray, rows: np.ndarray, rules: Mapping[str, float],
    place: Callable[[int], str], errors: np.ndarray | None = None,
) -> list[Alert]:  # fmt: skip
    """Apply the rules to the rows of a variable.

    Args:
        variable: its name.
        steps: (n,), watched ones.
        rows: (n, columns).
        rules: from `checked_rules`.
        place: a place in the variable in words.
        errors: (n,), relative l2 errors against fp64, where they are known.
    """
    alerts = []
    errors_or_nan = np.full(len(rows), np.nan) if errors is None else errors
    for name, value in rules.items():
        rule, bounds = RULES.get(OLDER_RULES.get(name, name)), Bounds.read(name)
        finding, column = None, ""
        if len(rows) and bounds is not None and bounds.variable == variable:
            finding = bounds.finds(rows)
        elif len(rows) and rule is not None and rule.finds is not None:
            finding, column = rule.finds(rows, errors_or_nan, value), rule.column
        if finding is None:
            continue
        number, words = finding
        if name == "overflow" and rows[number, _AT["first_overflow"]] < 0:
            column = "largest"
        at = int(rows[number, _AT[column]]) if column else -1
        since = int(steps[number - 1]) if number else -1
        where = place(at) if at >= 0 else ""
        alerts.append(Alert(name, variable, int(steps[number]), since, where, words))
    return sorted(alerts, key=lambda alert: alert.step)
