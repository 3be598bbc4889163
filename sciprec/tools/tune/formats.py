"""The formats that a search chooses from, and the cost of an operation in each."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sciprec.foundation.arguments import refused
from sciprec.foundation.errors import InputError
from sciprec.instruments.assigning.assignment import arithmetic_of
from sciprec.precision.formats.backend import Backend, backend_names
from sciprec.precision.formats.float_format import Format

BITS = "bits"
FEWEST, MOST = 2, 25
BEYOND_NEED = 390
"""The largest exponent of formats by bits alone: as far as any significand's are emulated."""


@dataclass(frozen=True)
class Formats:
    """Formats to choose from.

    Args:
        names: as they were given.
        by_bits: whether they are significands of 2 to 25 bits, and binary64.
        start: the number of the one that counts as the widest; None: the first `by_width`.
    """

    names: tuple[str, ...]
    by_bits: bool = False
    start: int | None = None

    @cached_property
    def bits(self) -> tuple[int, ...]:
        """The cost of an operation in each format: the bits in which it is stored, or those of its
        significand where nothing else differs.
        """
        formats = [_format(name) for name in self.names]
        if self.by_bits:
            return tuple(fmt.significand_bits for fmt in formats)
        return tuple(stored_bits(fmt) for fmt in formats)

    @cached_property
    def by_width(self) -> tuple[int, ...]:
        """Numbers of the formats: the longest significand first, and of those the largest range."""
        formats = [_format(name) for name in self.names]
        wide = [(fmt.significand_bits, fmt.max_finite) for fmt in formats]
        return tuple(sorted(range(len(formats)), key=lambda n: wide[n], reverse=True))

    @property
    def widest(self) -> int:
        """The number of the widest format: all places are in it before any is narrowed."""
        return self.by_width[0] if self.start is None else self.start

    @cached_property
    def ascending(self) -> tuple[int, ...]:
        """Numbers of the formats, the cheapest first."""
        return tuple(sorted(range(len(self.names)), key=lambda n: self.bits[n]))


def formats_of(items: Any) -> Formats:
    """The formats to choose from: names, or "bits".

    Raises:
        InputError: a name is unknown or cannot be assigned, or there are fewer than two.
    """
    if isinstance(items, str) and items == BITS:
        names = map(spec_of_bits, range(FEWEST, MOST + 1))
        return Formats((*names, "fp64"), by_bits=True)
    if isinstance(items, str) or not isinstance(items, Iterable) or getattr(items, "ndim", 1) == 0:
        raise refused(
            "formats", items, "several names, such as ('fp64', 'fp32', 'bf16'), or 'bits'"
        )
    items = [item.name if isinstance(item, Backend) else item for item in items]
    wrong = [
        item for item in items if not isinstance(item, str) and not hasattr(item, "as_backend")
    ]
    if wrong:
        raise refused("formats", wrong[0], "names, such as 'fp32', or backends")
    names = backend_names(items) if items else []
    arithmetics = {arithmetic_of(name) for name in names}
    if len(arithmetics) < len(names) or len(names) < 2:
        given_names = ", ".join(names) or "none"
        raise InputError(f"formats are {given_names}; accepted: two or more, each of them once")
    return Formats(tuple(names))


def spec_of_bits(bits: int, emax: int = BEYOND_NEED) -> str:
    """The spec string of a significand, rounded to nearest, with exponents 1 - emax to emax: by
    the bits of both, where the exponents are all that so many bits have.
    """
    if emax & (emax + 1) == 0:
        return f"float:e={(emax + 1).bit_length()},m={bits - 1}"
    return f"float:p={bits},emin={1 - emax},emax={emax}"


def emax_of(exponent_bits: int) -> int:
    """The largest exponent e of an IEEE-like format; the smallest is 1 - e."""
    return 2 ** (exponent_bits - 1) - 1


def stored_bits(fmt: Format) -> int:
    """Sign, exponent and significand without the implicit bit."""
    exponents = fmt.emax - fmt.emin + 1 + 2
    if fmt.overflow == "nan":
        exponents -= 1  # the largest exponent holds numbers
    return 1 + max(1, math.ceil(math.log2(exponents))) + fmt.significand_bits - 1


def _format(name: str) -> Format:
    result: Any = arithmetic_of(name).format
    return result
