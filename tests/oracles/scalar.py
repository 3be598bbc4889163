"""A scalar that rounds itself: Python's operators on it are exact operations rounded once."""

from __future__ import annotations

import math
import numbers
import operator

import numpy as np

from tests.oracles import derived, exact

WHOLE = (int, np.integer, np.bool_)


class Exact:
    """A number of an arithmetic's format whose operators round as the arithmetic does.

    Integers and other floats that meet it are rounded on entry; integers are compared exactly.

    Args:
        value: a float, an integer or another Exact, rounded on entry.
        arithmetic: any object with `format`, `rounding` and `aligned`.
    """

    __slots__ = ("value", "arithmetic")
    __array_ufunc__ = None  # NumPy scalars leave their operators to this class

    def __init__(self, value, arithmetic) -> None:
        self.value = entered(value, arithmetic)
        self.arithmetic = arithmetic

    def _apply(self, operation, *operands) -> Exact:
        if any(isinstance(x, np.ndarray) for x in operands):
            return elementwise(lambda *x: self._apply(operation, *x), operands)
        pair = next((x for x in operands if hasattr(x, "of_step")), None)
        if pair is not None:  # a complex number
            return pair.of_step(operation, operands)
        own = at_operation(self.arithmetic, operation)
        values = [entered(x, own) for x in operands]
        made = result(operation(*values, own), own)
        return made if own is self.arithmetic else exactly(made.value, self.arithmetic)

    def __add__(self, other):
        return self._apply(exact.add, self, other)

    def __radd__(self, other):
        return self._apply(exact.add, other, self)

    def __sub__(self, other):
        return self._apply(exact.sub, self, other)

    def __rsub__(self, other):
        return self._apply(exact.sub, other, self)

    def __mul__(self, other):
        return self._apply(exact.mul, self, other)

    def __rmul__(self, other):
        return self._apply(exact.mul, other, self)

    def __truediv__(self, other):
        return self._apply(exact.div, self, other)

    def __rtruediv__(self, other):
        return self._apply(exact.div, other, self)

    def __floordiv__(self, other):
        return self._apply(derived.floordiv, self, other)

    def __rfloordiv__(self, other):
        return self._apply(derived.floordiv, other, self)

    def __mod__(self, other):
        return self._apply(derived.mod, self, other)

    def __rmod__(self, other):
        return self._apply(derived.mod, other, self)

    def __neg__(self):
        return self._apply(exact.neg, self)

    def __pos__(self):
        return result(self.value, self.arithmetic)

    def __abs__(self):
        return self._apply(exact.absolute, self)

    def _compare(self, operation, other) -> bool | np.ndarray:
        if isinstance(other, np.ndarray):
            each = [self._compare(operation, x) for x in other.ravel()]
            return np.array(each, bool).reshape(other.shape)
        if isinstance(other, WHOLE):
            (own,) = exact.operands(self.arithmetic, self.value)
            return bool(operation(own, int(other)))
        if not isinstance(other, (Exact, numbers.Real)):
            return NotImplemented
        return exact.compare(
            operation, self.value, entered(other, self.arithmetic), self.arithmetic
        )

    def __lt__(self, other):
        return self._compare(operator.lt, other)

    def __le__(self, other):
        return self._compare(operator.le, other)

    def __gt__(self, other):
        return self._compare(operator.gt, other)

    def __ge__(self, other):
        return self._compare(operator.ge, other)

    def __eq__(self, other):
        return self._compare(operator.eq, other)

    def __ne__(self, other):
        return self._compare(operator.ne, other)

    __hash__ = None

    def __bool__(self) -> bool:
        return self != 0

    def item(self) -> Exact:
        """As of a number of NumPy's."""
        return self

    real = property(item)
    imag = property(lambda self: exactly(0.0, self.arithmetic))

    def __float__(self) -> float:
        return self.value

    def __int__(self) -> int:
        return exact.to_int(self.value, self.arithmetic)

    def __floor__(self) -> int:
        return math.floor(self.value)

    def __ceil__(self) -> int:
        return math.ceil(self.value)

    __trunc__ = __int__

    def __repr__(self) -> str:
        return f"Exact({self.value!r}, {self.arithmetic.format.name} {self.arithmetic.rounding})"


def at_operation(arithmetic, operation):
    """The arithmetic of an operation that is about to be done: another one where it depends on the
    line (see `by_line`).
    """
    known = getattr(arithmetic, "at_operation", None)
    return arithmetic if known is None else known(operation)


def entered(x, arithmetic) -> float:
    """A number rounded on entry; one that already is of this arithmetic passes as it is."""
    if isinstance(x, Exact):
        if x.arithmetic is arithmetic:
            return x.value
        return exact.round_exact(x.value, arithmetic)
    if isinstance(x, WHOLE):
        return exact.from_int(int(x), arithmetic)
    if isinstance(x, (float, np.floating)):
        return exact.round_exact(float(x), arithmetic)
    raise TypeError(f"{x!r} is a {type(x).__name__}; a real number or an Exact is needed")


def elementwise(function, operands) -> np.ndarray:
    """function of each element of the broadcast operands, an array of the first array's class,
    which may say how it keeps them.
    """
    arrays = [np.asarray(x) if isinstance(x, np.ndarray) else _boxed(x) for x in operands]
    first = next(x for x in operands if isinstance(x, np.ndarray))
    kept = getattr(first, "kept", lambda x: x)
    out = np.empty(np.broadcast_shapes(*(a.shape for a in arrays)), dtype=object)
    arrays = [np.broadcast_to(a, out.shape) for a in arrays]
    for index in np.ndindex(out.shape):
        out[index] = kept(function(*(a[index] for a in arrays)))
    made = out.view(type(first))
    made.__array_finalize__(first)
    if hasattr(made, "narrow"):
        made.narrow = None  # a new array holds what is computed
    if made.size and hasattr(made, "pairs"):
        made.pairs = hasattr(out.flat[0], "of_step")
    return made


def _boxed(x) -> np.ndarray:
    box = np.empty((), dtype=object)
    box[()] = x
    return box


def result(value: float, arithmetic) -> Exact:
    """An Exact of what an operation gave: where the arithmetic is mixed with others, an operand of
    theirs may have come through as it was.
    """
    if getattr(arithmetic, "mixed", False):
        value = exact.round_exact(value, arithmetic)
    return exactly(value, arithmetic)


def exactly(value: float, arithmetic) -> Exact:
    """An Exact of a value that is already in the format."""
    number = object.__new__(Exact)
    number.value, number.arithmetic = value, arithmetic
    return number
