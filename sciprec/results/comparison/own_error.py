"""The error of fp64 itself in the results that others are compared with, as runs state it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sciprec.foundation.errors import InputError
from sciprec.foundation.listing import counted
from sciprec.foundation.plain_data import plain

OWN, NO_DIGIT, WELL = "own", 0.5, 14.0
"""The name of a metric of a user's own; fewer digits than this are none; so many need no word in a
short verdict.
"""


@dataclass(frozen=True)
class OwnError:
    """The error of fp64 in one result.

    Attributes:
        numbers, unknown: how many finite ones it has, and of how many no digits are known.
        fewest: digits of the number with the fewest; NaN where none are known.
        errors: metric -> the error that it has at most; infinite where nothing is known.
        least: the relative l2 error that it has at least.
    """

    numbers: int
    unknown: int
    fewest: float
    errors: Mapping[str, float]
    least: float

    @property
    def digits(self) -> float:
        """The digits by the l2 norm; NaN where they are not known within one."""
        most, least = (max(e, 2.0**-53) for e in (self.errors["relative_l2"], self.least))
        return -math.log10(min(most, 1.0)) if most <= 10.0 * least or least >= 1.0 else math.nan


@dataclass(frozen=True)
class OwnErrors:
    """The error of fp64 in all results, or why it was not looked at.

    Attributes:
        results: name of a result -> its error.
        on: of which inputs, where there are several; else "".
        left_out: why nobody has looked, in words; else "".
    """

    results: Mapping[str, OwnError]
    on: str = ""
    left_out: str = ""

    def error(self, name: str, metric: str) -> float:
        """The error that fp64 has at most in a result; 0 where nobody has looked."""
        result = self.results.get(name)
        return result.errors.get(metric, 0.0) if result is not None else 0.0

    def misses(self, name: str, metric: str, limit: float) -> bool:
        """Whether fp64 itself may miss a tolerance. One below its unit asks how far a run agrees
        with fp64, not with what is true.
        """
        return limit >= 2.0**-53 and self.error(name, metric) > limit

    def sentence(self, name: str) -> str:
        """The number of digits that fp64 has in a result."""
        row, where = self.results[name], f" of {self.on}" * bool(self.on)
        if math.isnan(row.digits):
            some = f"of {row.unknown:,} of {counted(row.numbers, 'number')}"
            if row.fewest < NO_DIGIT:
                no = f"fp64 itself has no right digit in a number of {name}{where}"
                return f"{no}, and {some} its digits are not known"
            message = f"the digits of fp64 itself in {name}{where} are not known"
            return (
                f"{message}{f' ({some})' * (row.numbers > 1)}: exact values need more than 106 bits"
            )
        if row.digits < NO_DIGIT:
            return f"fp64 itself has no right digit in {name}{where}"
        worst = f", {row.fewest:.1f} in the worst number" if row.fewest < row.digits - 1.0 else ""
        return f"fp64 itself has {row.digits:.1f} digits in {name}{where}{worst}"

    def require(self, kernel: str, tolerances: Mapping[str, tuple[str, float]]) -> None:
        """Refuse tolerances that fp64 itself is not known to meet.

        Args:
            kernel: its name.
            tolerances: result -> a metric and the largest error by it.

        Raises:
            InputError: there are such.
        """
        missed = {n: at for n, (by, at) in tolerances.items() if self.misses(n, by, at)}
        if missed:
            words = "; ".join(self.sentence(name) for name in missed)
            raise InputError(
                f"kernel '{kernel}': {words}. So no format can be held to the tolerance "
                f"{min(missed.values()):.2g}; give a shorter run, or truth='fp64' to take fp64 as "
                "it is"
            )

    def as_dict(self) -> dict[str, Any]:
        """Plain data; None where a number is none."""
        names = ("numbers", "unknown", "fewest", "least", "errors")
        results = {k: {n: getattr(o, n) for n in names} for k, o in self.results.items()}
        return plain({"results": results, "on": self.on, "left_out": self.left_out})

    def worst(self, other: OwnErrors) -> OwnErrors:
        """Keep, for every result, the larger error of two calls."""
        pairs = {name: (row, other.results.get(name, row)) for name, row in self.results.items()}
        worst = {n: max(two, key=lambda o: o.errors["relative_l2"]) for n, two in pairs.items()}
        return OwnErrors(worst, self.on, self.left_out or other.left_out)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> OwnErrors:
        """Read errors from what `as_dict` gave."""
        results = {
            name: OwnError(
                o["numbers"], o["unknown"], math.nan if o["fewest"] is None else o["fewest"],
                {m: math.inf if e is None else e for m, e in o["errors"].items()},
                math.inf if o["least"] is None else o["least"],
            )
            for name, o in stored["results"].items()
        }  # fmt: skip
        return cls(results, stored["on"], stored["left_out"])


def own_errors_of(attributes: Mapping[str, Any]) -> OwnErrors | None:
    """The error of fp64 itself that a study's files state; None where none does."""
    kernel = json.loads(attributes.get("sciprec_scenario", "{}")).get("kernel") or {}
    stored = kernel.get("truth") if isinstance(kernel, dict) else None
    return OwnErrors.from_dict(stored) if stored else None
