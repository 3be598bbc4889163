"""Arguments of public functions: each of its kind and in its range, or a sentence that says so."""

from __future__ import annotations

import functools
import inspect
import math
import os
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import numpy as np

from sciprec.foundation.errors import InputError, meant

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_LONGEST = 80

_Parameters = ParamSpec("_Parameters")
_Taken = TypeVar("_Taken")
_Result = TypeVar("_Result")


def taking(
    maker: Callable[_Parameters, _Taken],
) -> Callable[[Callable[[_Taken], _Result]], Callable[_Parameters, _Result]]:
    """Return a decorator by which a function of one object is called with the arguments of what
    makes this object.

    Args:
        maker: class of the object, or a function that returns it.
    """

    def decorate(function):
        result = inspect.signature(function).return_annotation
        signature = inspect.signature(maker).replace(return_annotation=result)

        @functools.wraps(function)
        def call(*args, **kwargs):
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{function.__name__}() {error}") from None
            return function(maker(*args, **kwargs))

        call.__signature__ = signature
        return call

    return decorate


def shown(value: Any) -> str:
    """A value on one line for a message; of an object that is no plain number or text, its type."""
    if isinstance(value, (list, tuple, dict, set, *_PLAIN)) or hasattr(value, "dtype"):
        try:
            text = " ".join(repr(value).split())
        except ValueError:  # an integer of thousands of digits
            text = f"a number of {value.bit_length()} bits"
        if " object at 0x" not in text:
            return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return f"of type {type(value).__name__}"


def refused(name: str, value: Any, accepted: str) -> InputError:
    """The complaint about an argument."""
    return InputError(f"{name} is {shown(value)}; accepted: {accepted}")


@dataclass(frozen=True)
class Range:
    """Real numbers from `least` (or above `above`) to `most`.

    Args:
        words: what is accepted, for messages and for the keys of scenarios.
        least, above, most: None where there is none; infinity and NaN never are accepted.
        unit: that they are counted in; empty where there is none.
        shares: whether a text in per cent is accepted, too: "5%".
    """

    words: str
    least: float | None = None
    above: float | None = None
    most: float | None = None
    unit: str = ""
    shares: bool = False

    def number(self, name: str, value: Any) -> float:
        """The value as a float.

        Raises:
            InputError: it is no finite number of this range.
        """
        number = _as_float(_share_in(value) if self.shares else value)
        low = self.least is not None and number < self.least
        low |= self.above is not None and number <= self.above
        if not math.isfinite(number) or low or (self.most is not None and number > self.most):
            raise refused(name, value, self.words)
        return number

    def limits(self) -> dict[str, float]:
        """The limits as pydantic's keywords for a key of a scenario."""
        limits = {"ge": self.least, "gt": self.above, "le": self.most}
        return {name: limit for name, limit in limits.items() if limit is not None}


def _share_in(value: Any) -> Any:
    """The number of a text in per cent; other values as they are."""
    try:
        return share(value) if isinstance(value, str) and value.strip().endswith("%") else value
    except ValueError:
        return value


def _as_float(value: Any) -> float:
    """A real number; NaN for everything else."""
    if isinstance(value, (bool, str, bytes)) or getattr(value, "ndim", 0):
        return math.nan
    if getattr(getattr(value, "dtype", None), "kind", "f") not in "fiu":
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def integer(name: str, value: Any, least: int, most: float, words: str = "") -> int:
    """The value as an integer.

    Raises:
        InputError: it is none from `least` to `most`; floats never are.
    """
    kind = getattr(getattr(value, "dtype", None), "kind", "i")
    fits = hasattr(value, "__index__") and not isinstance(value, bool) and kind in "iu"
    if not fits or getattr(value, "ndim", 0) or not least <= int(value) <= most:
        raise refused(name, value, words or f"an integer from {least} to {most}")
    return int(value)


whole = integer  # its name in version 0.1; it goes with version 0.3


def at_least(name: str, value: Any, least: int) -> int:
    """The value as an integer.

    Raises:
        InputError: it is none of at least `least`; floats never are.
    """
    return integer(name, value, least, math.inf, f"an integer of at least {least}")


def reals(name: str, value: Any, words: str = "real numbers") -> np.ndarray:
    """The value as an array of floats of at most 8 bytes, integers or truths.

    Raises:
        InputError: it is none: text, complex numbers, objects, lists of unequal lengths.
    """
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        array = np.asarray(None)
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        raise refused(name, value, words)
    return array


def share(text: str) -> float:
    """The number that a text stands for, in per cent or not: "1%" is 0.01.

    Raises:
        ValueError: it is none.
    """
    stripped = text.strip()
    return float(stripped.removesuffix("%")) / (100.0 if stripped.endswith("%") else 1.0)


def flag(name: str, value: Any) -> bool:
    """The value as True or False.

    Raises:
        InputError: it is neither; numbers and texts are none.
    """
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise refused(name, value, "True or False")


def word(name: str, value: Any, accepted: Collection[str]) -> str:
    """Return the value where it is one of the accepted names.

    Args:
        name: such as "scheme".

    Raises:
        InputError: it is none of them, with the nearest.
    """
    if isinstance(value, str) and value in accepted:
        return value
    message = f"unknown {name} {shown(value)}; known: {', '.join(accepted)}"
    raise InputError(message + meant(value, accepted))


def choice(name: str, value: Any, accepted: Collection[str]) -> str:
    """The value of an argument that chooses by a word.

    Args:
        name: of the argument.

    Raises:
        InputError: it is none of the accepted ones, with the nearest.
    """
    if isinstance(value, str) and value in accepted:
        return value
    message = f"{name} {shown(value)} is unknown; accepted: {', '.join(accepted)}"
    raise InputError(message + meant(value, accepted))


def by_of(by: str, unit: str | None) -> str:
    """The kind of places that get a format of their own: `by`, or `unit`, which was its name
    before, with a warning.
    """
    if unit is None:
        return by
    warn_of_older_name("unit", "by", stacklevel=4)
    return unit


def warn_of_older_name(old: str, new: str, stacklevel: int = 3) -> None:
    """Warn whoever calls the caller that a name is another one today."""
    message = f"'{old}' is called '{new}' everywhere now; write that"
    warnings.warn(message, FutureWarning, stacklevel=stacklevel)


def names(name: str, value: Any) -> Sequence[str]:
    """A sequence of names; one name stands for itself.

    Raises:
        InputError: it is something else.
    """
    items = [value] if isinstance(value, str) else value
    sequence = isinstance(items, (list, tuple, set, frozenset, dict)) or hasattr(items, "__next__")
    items = list(items) if sequence else []
    if not items or not all(isinstance(item, str) and item.strip() for item in items):
        raise refused(name, value, "a name or a sequence of names")
    return items


def path(name: str, value: Any) -> str:
    """A path as text.

    Raises:
        InputError: it is no text and no path, or holds a null character.
    """
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value)
        if isinstance(text, str) and "\0" not in text:
            return text
    raise refused(name, value, "a path")
