"""Roundings: one row for each, with everything that the engine knows of it.

`ROUNDINGS.add(Rounding("rna", "to nearest, ties away", lambda lost: lost.more | lost.tie, (True,
True), nearest=True))` is all that a further one costs: literals follow its rule as they are, and
operations as instructions (see `sticky`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sciprec.foundation.errors import InputError
from sciprec.foundation.registry import NamedRows


@dataclass(frozen=True)
class Lost:
    """The facts that a rule may ask of a number between two neighbours in the format; each of them
    can be combined by & | ~.

    Args:
        some: whether the number is between them, not on the lower one.
        more, tie: whether it is above their middle, or just there.
        odd: whether the integer significand of the lower one (in size) is odd.
        negative: its sign.
    """

    some: Any
    more: Any
    tie: Any
    odd: Any
    negative: Any


@dataclass(frozen=True)
class Rounding:
    """A rounding.

    Args:
        name: in spec strings.
        words: in tables.
        up: rule(lost) -> whether a number goes to the larger neighbour, in size; of a random
            rounding, for literals.
        overflows: whether a finite result beyond the largest number becomes infinite: (above it,
            below its negative); else it becomes that number.
        nearest: whether no error is above half of the distance of neighbours.
        mode: bits of the processor's control word for it; None where it has none, and `up` is
            followed by instructions.
        random: whether it draws random bits: the larger neighbour is taken with the probability of
            what is lost, unless the next three say otherwise.
        even_chances: whether both neighbours are as likely, whatever is lost.
        moves_operands, moves_results: whether noise of a last place is added to operands, and to
            results, before they are rounded to nearest (Monte Carlo arithmetic).
        negative_zero: whether an exact sum that is zero is -0 (IEEE 754-2019, 6.3).

    Raises:
        InputError: there is no rule.
    """

    name: str
    words: str
    up: Callable[[Lost], Any]
    overflows: tuple[bool, bool]
    nearest: bool = False
    mode: int | None = None
    random: bool = False
    even_chances: bool = False
    moves_operands: bool = False
    moves_results: bool = False
    negative_zero: bool = False

    def __post_init__(self) -> None:
        if not callable(self.up):
            raise InputError(
                f"rounding '{self.name}' has the rule {self.up!r}; accepted: a function of what is "
                "lost, as in lambda lost: lost.more | lost.tie & lost.odd"
            )

    @property
    def noisy(self) -> bool:
        """Whether it adds noise."""
        return self.moves_operands or self.moves_results

    @property
    def usual(self) -> bool:
        """Whether the processor's conversions do it, or come after random bits."""
        return self.mode == 0 or self.random

    @property
    def symmetric(self) -> bool:
        """Whether -x becomes minus what x becomes."""
        return self.overflows[0] == self.overflows[1]


def _to_even(lost: Lost):
    return lost.more | lost.tie & lost.odd


ROUNDINGS: NamedRows[Rounding] = NamedRows(
    "rounding",
    Rounding("rn", "to nearest, ties to even", _to_even, (True, True), nearest=True, mode=0),
    Rounding("rz", "toward zero", lambda lost: lost.some & ~lost.some, (False, False), mode=0x6000),
    Rounding(
        *("ru", "toward +infinity", lambda lost: lost.some & ~lost.negative, (True, False)),
        mode=0x4000,
    ),
    Rounding(
        *("rd", "toward -infinity", lambda lost: lost.some & lost.negative, (False, True)),
        mode=0x2000, negative_zero=True,
    ),
    Rounding(
        "ro", "to odd (Boldo & Melquiond 2008)", lambda lost: lost.some & ~lost.odd, (False, False)
    ),
    Rounding("sr", "stochastic, counter-based bits", _to_even, (True, True), random=True),
    Rounding(
        *("random", "up or down with even chances", _to_even, (True, True)), random=True,
        even_chances=True,
    ),
    Rounding(
        *("rr", "to nearest, random noise on results", _to_even, (True, True)), random=True,
        moves_results=True,
    ),
    Rounding(
        *("pb", "to nearest, random noise on operands", _to_even, (True, True)), random=True,
        moves_operands=True,
    ),
    Rounding(
        *("mca", "to nearest, random noise on operands and results", _to_even, (True, True)),
        random=True, moves_operands=True, moves_results=True,
    ),
)  # fmt: skip
"""Every rounding by name; `add` takes more of them."""
