"""Tolerances of prices: a share of the price or an amount, as users write it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sciprec.foundation.arguments import share
from sciprec.foundation.errors import InputError

ACCEPTED = (
    "a share of the price above 0 and at most 100%, such as 0.1% or 0.001, or an amount above 0, "
    "such as 0.01abs"
)

UNUSUAL_SHARE = 0.25


@dataclass(frozen=True)
class PriceTolerance:
    """The largest bound that is accepted.

    Args:
        value: above zero.
        relative: whether `value` is a share of the price; otherwise it is an amount of currency.
    """

    value: float
    relative: bool

    def __str__(self) -> str:
        return f"{100 * self.value:.6g}%" if self.relative else f"{self.value:.6g}abs"


def price_tolerance(value_text: str | float) -> PriceTolerance:
    """The tolerance that a text stands for: "0.1%", "0.001" (shares) or "0.01abs" (an amount).

    Raises:
        InputError: it is written in another way, not above zero, or a share above one.
    """
    text = str(value_text).strip().lower()
    relative = not text.endswith("abs")
    try:
        value = share(text) if relative else float(text.removesuffix("abs"))
    except ValueError:
        value = math.nan
    if not (0 < value < math.inf) or (relative and value > 1):
        raise InputError(f"tolerance is {str(value_text)!r}; accepted: {ACCEPTED}")
    return PriceTolerance(value, relative)


def tolerance_note(what: str, text: str) -> list[str]:
    """A sentence about a large share without its per cent sign, which may be a slip.

    Args:
        what: that it is of, such as "price".
        text: accepted by `price_tolerance`.
    """
    tolerance = price_tolerance(text)
    if "%" in text or not tolerance.relative or tolerance.value < UNUSUAL_SHARE:
        return []
    share = f"{100 * tolerance.value:g} %"
    return [f"tolerance {text} is {share} of the {what}; 1 % of it is written 1% or 0.01"]


def share_of(text: str | float) -> float:
    """The share that a relative tolerance stands for.

    Raises:
        InputError: it is an amount, or no tolerance.
    """
    tolerance = price_tolerance(text)
    if not tolerance.relative:
        raise InputError(f"tolerance is {str(text)!r}; accepted: a share, such as 1%")
    return tolerance.value
