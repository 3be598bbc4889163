"""The places of a lifted kernel: which unit belongs to which operation of which chain of calls."""

from __future__ import annotations

import enum
import math
import types
from fractions import Fraction

import numpy as np

from tests.oracles import fixed
from tests.oracles.fixed_scalar import (
    REAL,
    WHOLE,
    each,
    exactly,
    is_real_array,
    rounded,
    taken,
)

ACCUMULATED = ("accumulate", "product")
STORED = ("add", "sub", "mul", "div", "sqrt", "fma", "neg", "abs", "fabs")
"""Operations whose results are formed in the unit of the array that they are stored into."""


class Places:
    """The places of one lifted kernel and what they count.

    A place is given as (chain, (function, line, column, operation, n)): see
    `tests.oracles.fixed_marks`.

    Args:
        backend: the arithmetic (its roles' bits, rounding and overflow).
        sites, rows, exponents: which operation, part and chain of calls each unit 2^e belongs to.
    """

    def __init__(self, backend, sites, rows, exponents):
        self.backend = backend
        self.places: list[fixed.Place] = []
        self.numbered: dict[tuple, list[int]] = {}
        self.rows: dict[tuple, fixed.Place] = {}
        for number, site in enumerate(sites):
            key = (site.function, site.line, site.column, site.operation)
            self.numbered.setdefault(key, []).append(number)
        for row, exponent in zip(rows, exponents, strict=True):
            summed = sites[row.site].operation in ACCUMULATED and row.part == 0
            arithmetic = backend.accumulate if summed else backend.compute
            fmt = arithmetic.format
            place = fixed.Place(fmt.bits, int(exponent), arithmetic.rounding, fmt.saturate)
            self.places.append(place)
            self.rows[row.calls, row.site, row.part] = place
        self.accumulators = {
            row.calls: self.rows[row.calls, row.site, 0]
            for row in rows
            if sites[row.site].operation in ACCUMULATED and row.part == 0
        }
        self.chains = {row.calls[:n] for row in rows for n in range(len(row.calls) + 1)}
        self.last = ""  # name of the latest operation

    # ---- places ---------------------------------------------------------------------------------

    def site(self, place: tuple, operation: str | None = None) -> int | None:
        chain, (*position, given, n) = place
        name = operation or given
        found = self.numbered.get((*position, name), [])
        if name == "call":
            inside = [s for s in found if (*chain, s) in self.chains]
            found = inside or found
        else:
            found = [s for s in found if (chain, s, 0) in self.rows]
        return found[min(n, len(found) - 1)] if found else None

    def place(self, place: tuple, operation: str | None = None, part: int = 0) -> fixed.Place:
        chain = place[0]
        if (operation or place[1][3]) in ACCUMULATED and part == 0:
            return self.accumulators[chain]
        return self.rows[chain, self.site(place, operation), part]

    def chain_of(self, place: tuple) -> tuple[int, ...]:
        return (*place[0], self.site(place, "call"))

    # ---- numbers --------------------------------------------------------------------------------

    def literal(self, value: float):
        """A constant to nearest, in the finest unit that holds it."""
        if value == 0 or not math.isfinite(value):
            return Fraction(0) if value == 0 else value
        bits = self.backend.compute.format.bits
        unit = Fraction(2) ** fixed.smallest_unit(abs(value), bits, 0)
        return round(Fraction(value) / unit) * unit

    def constant_array(self, values: np.ndarray):
        finite = [abs(float(x)) for x in values.ravel() if math.isfinite(x)]
        largest, bits = max(finite, default=0.0), self.backend.storage.format.bits
        unit = Fraction(2) ** fixed.smallest_unit(largest, bits, 0) if largest else Fraction(1)
        return each(lambda x: round(Fraction(float(x)) / unit) * unit, values)

    def entered(self, place: tuple, value):
        """What comes from outside a function, or out of an array, in its place."""
        site = self.site(place)
        return value if site is None else taken(value, self.rows[place[0], site, 0])

    def loaded(self, chain: tuple, loads: tuple, array: str, value):
        """An element; all loads from one array of a function have one place."""
        if not isinstance(value, (*REAL, tuple)):
            return value
        for key in dict(loads)[array]:
            if self.site((chain, key)) is not None:
                return self.entered((chain, key), value)
        raise KeyError((chain, array))

    def viewed(self, place: tuple, value):
        if is_real_array(value):
            return each(lambda x: taken(x, self.place(place)), value)
        return value

    def field(self, place: tuple, owner, name: str):
        value = getattr(owner, name)
        if isinstance(owner, (types.ModuleType, enum.Enum)):
            return self.literal(value) if isinstance(value, float) else value
        return self.entered(place, value)

    def put(self, place: tuple, value, owner, name: str) -> None:
        """owner.name = value, as into an array."""
        if isinstance(getattr(owner, name), REAL):
            value = rounded(exactly(value), self.place(place), True)
        setattr(owner, name, value)

    def latest(self) -> str:
        """The operation that has just been done: one of a value, before its index is computed."""
        return self.last

    def store(self, places: tuple, value, name: str, container, index) -> None:
        """container[index] = value, which the operation `name` has made: formed in the array's unit
        already, or rounded to it.
        """
        place = places[name in STORED]
        if container.dtype == object:
            place = self.place(place)
            if is_real_array(value):
                value = each(lambda x: taken(x, place), value)
            elif isinstance(value, WHOLE):
                value = rounded(Fraction(int(value)), place, True)
            elif isinstance(value, REAL) and name not in STORED:
                value = rounded(exactly(value), place, True)
        elif isinstance(value, REAL):
            value = int(value)
        container[index] = value
