"""The operations of fixed point as Python functions on exact fractions, for `uncompiled`.

A key is the number of a row of the table, which stands for its address. Each row has a place: a
unit, and counts of what left its range.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction

from tests.oracles import fixed, functions
from tests.oracles.fixed_scalar import applied, exact_mpfr, exactly, rounded, taken
from tests.oracles.python_operations import REAL, WithoutKeys, is_array, kind_of

ACCUMULATED = ("accumulate", "product", "contracting('accumulate')", "contracting('product')",
               "contracting('subtract')")  # fmt: skip


class FixedOperations(WithoutKeys):
    """The operations of a lifted kernel in its units.

    Args:
        units: with `backend`, `sites`, `rows` and `exponents`.

    Attributes:
        places: of the rows, with what they have counted.
    """

    def __init__(self, units) -> None:
        self.backend, self.takes_keys, self.rows, self.narrow = units.backend, True, True, False
        self.own = ()
        self.compute, self.roles = None, {}
        self.places = []
        for row, exponent in zip(units.rows, units.exponents, strict=True):
            summed = units.sites[row.site].operation in ACCUMULATED and row.part == 0
            arithmetic = units.backend.accumulate if summed else units.backend.compute
            bits, saturate = arithmetic.format.bits, arithmetic.format.saturate
            self.places.append(fixed.Place(bits, int(exponent), arithmetic.rounding, saturate))

    def _keyed(self, function):
        return lambda key, row, *operands: function(key + row, *operands)

    def _of_numbers(self, name, key, operands, entering, evaluate) -> float:
        if evaluate is not None:
            return float(evaluate(operands, key))
        if name == "subtract":
            name, operands = "accumulate", (operands[0], -exactly(operands[1]))
        name = "cast" if name == "pos" else name
        return float(applied(self.places[key], name, operands))

    def _cast(self, key, x):
        return self.applied("cast", None, key, x)

    def _from_bits(self, name, key, u):
        value = exact_mpfr(functions.FROM_BITS[name](int(u) % 2**32))
        return float(rounded(value, self.places[key], True))

    def _power(self, exponent: int):
        """Repeated squaring; each multiplication has a place of its own."""

        def repeated(operands, key):
            result, square, left, part = None, exactly(*operands), abs(exponent), 1
            while left:
                if left & 1 and result is not None:
                    result = fixed.mul(result, square, self.places[key + part])
                elif left & 1:
                    result = square
                left >>= 1
                if left:
                    square = fixed.mul(square, square, self.places[key + part + 1])
                part += 2
            result = Fraction(1) if result is None else result
            return fixed.div(1, result, self.places[key + part]) if exponent < 0 else result

        return functools.partial(self.applied, "power", lambda x: x**exponent, evaluate=repeated)

    # ---- arrays --------------------------------------------------------------------------------

    def _element(self, key: int, number: int) -> int:
        return key

    def _operand(self, key: int, place: int, x, alone: bool):
        return self._enter(key + place, x)

    def _settled(self, key: int, made):
        return made

    # ---- where numbers enter and leave ---------------------------------------------------------

    def _enter(self, key: int, x):
        if isinstance(x, tuple) and not hasattr(x, "_fields"):
            return tuple(self._enter(key, item) for item in x)
        return float(taken(x, self.places[key])) if isinstance(x, REAL) else x

    def _trusted(self, key: int, x):
        return x

    def _returned(self, key: int, x):
        if isinstance(x, tuple):
            items = [self._returned(key, item) for item in x]
            return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
        return self._viewed(key, x) if is_array(x) else self._enter(key, x)

    def _leave(self, key: int, target, x):
        of = target[0] if isinstance(target, list) and target else target
        if kind_of(of) != "f" or kind_of(x) == "O":
            return x
        if is_array(x):
            return self._mapped(self._entered_or_rounded, key, x, float)
        return self._entered_or_rounded(key, x)

    def _entered_or_rounded(self, key: int, x) -> float:
        return float(rounded(exactly(x), self.places[key], True))

    def _stored(self, key: int, target, x):
        """A number in the array's unit already, as an operation's result is."""
        return x if isinstance(x, REAL) else self._leave(key, target, x)

    # ---- what takes no key ---------------------------------------------------------------------

    def _literal(self, text: str):
        """A constant to nearest, in the finest unit that holds it."""
        value = float.fromhex(text)
        if value and math.isfinite(value):
            bits = self.backend.compute.format.bits
            unit = Fraction(2) ** fixed.smallest_unit(abs(value), bits, 0)
            value = float(round(Fraction(value) / unit) * unit)
        return lambda: value

    @staticmethod
    def _row(key: int, number: int) -> int:
        return key + number

    def _times(self, factor):
        raise NotImplementedError("fixed point multiplies by literals")

    _over = _times
