"""Copies of a call's arguments: of their own memory, or as compiled code takes them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from sciprec.precision.operations.objects import fields_of, is_object, object_with
from sciprec.precision.rewriting.syntax import LiftError

_ALIGNMENT = 64
HALF = np.dtype(np.float16).num
"""Number of NumPy's dtype float16; those of ml_dtypes, which Numba has not either, are above."""


def copied(args: tuple) -> tuple:
    """Arguments with arrays of their own, laid out as they were, and objects of jitclasses with
    fields of their own; arrays that share memory share it again.
    """
    copies: dict[int, np.ndarray] = {}
    objects: dict[int, tuple[Any, dict]] = {}
    _open(args, objects)
    inside = tuple(field for _, fields in objects.values() for field in fields.values())
    for first, last, arrays in _regions((*args, *inside)):
        memory = np.empty(last - first + 1 + _ALIGNMENT, np.uint8)
        skipped = (first - memory.ctypes.data) % _ALIGNMENT
        for a in arrays:
            offset = skipped + a.ctypes.data - first
            new = np.ndarray(a.shape, a.dtype, memory, offset, a.strides)
            new[...] = a
            new.flags.writeable = a.flags.writeable
            copies[id(a)] = new
    new: dict[int, Any] = {}

    def instead(value):
        if isinstance(value, np.ndarray):
            return copies[id(value)] if value.size else value.copy(order="K")
        if id(value) in objects and id(value) not in new:
            fields = {n: _replaced(field, instead) for n, field in objects[id(value)][1].items()}
            new[id(value)] = object_with(value, fields)
        return new.get(id(value), value)

    return _replaced(args, instead)


def _open(value, objects: dict[int, tuple[Any, dict]]) -> None:
    """Note objects of jitclasses by their identity, with what their fields hold."""
    if isinstance(value, tuple):
        for item in value:
            _open(item, objects)
    elif is_object(value) and id(value) not in objects:
        objects[id(value)] = value, fields_of(value)
        _open(tuple(objects[id(value)][1].values()), objects)


def is_native(value) -> bool:
    """Whether numbers and arrays, in tuples too, are such as compiled code takes: in this machine's
    byte order, and of 32 bits or more where they are floats; asked of every call.
    """
    if not isinstance(value, tuple):
        return not isinstance(value, (np.ndarray, np.generic)) or _is_usual(value.dtype)
    for item in value:
        if item.__class__ is np.ndarray:
            dtype = item.dtype
            if not dtype.isnative or dtype.num >= HALF:
                return False
        elif not is_native(item):
            return False
    return True


def _is_usual(dtype: np.dtype) -> bool:
    return dtype.isnative and dtype.num < HALF


@dataclass(frozen=True)
class Taking:
    """The way in which a kernel takes arrays that compiled code cannot.

    Args:
        written: says for each argument of a call whether the kernel may write an array in it.
        filled: numbers of the arguments in which the kernel writes elements and reads none.
        wide: the dtype in whose variables numbers of 8 and 16 bits are carried.
        keeps: whether an array of a dtype keeps every number that the kernel stores.
    """

    written: Callable[[tuple], list[bool]]
    filled: frozenset[int] = frozenset()
    wide: np.dtype = np.dtype(np.float64)
    keeps: Callable[[np.dtype], bool] = lambda dtype: True


@contextlib.contextmanager
def native(args: tuple, taking: Taking) -> Iterator[tuple]:
    """Arguments as compiled code takes them: arrays in the other byte order, and of floats of 8 and
    16 bits, are copied, and copied back afterwards where the kernel may have written them.

    What a kernel reads of an array has to be what it has stored there: where the array's own dtype
    rounds that, a kernel that may read it again is given a copy that it cannot write.

    Raises:
        LiftError: arrays of different types share memory, and not all can be taken as they are; or
            the kernel writes an array that it may read again, and whose dtype rounds its numbers.
    """
    if is_native(args):
        yield args
        return
    converted: dict[int, np.ndarray] = {}
    alone: set[int] = set()
    for first, last, arrays in _regions(args):
        if not all(_is_usual(a.dtype) for a in arrays):
            converted |= _copies(first, last, arrays, taking.wide)
            alone |= {id(a) for a in arrays if len(arrays) == 1}
    changed: list[np.ndarray] = []
    closed: dict[int, np.ndarray] = {}
    for number, argument in enumerate(args):
        if not taking.written(args)[number]:
            continue
        for a in arrays_of(argument):
            if id(a) not in converted or not a.flags.writeable:
                continue
            fills = number in taking.filled and id(a) in alone
            if is_small(a.dtype) and not (fills or taking.keeps(a.dtype)):
                closed[number] = a
                converted[id(a)].flags.writeable = False
            else:
                changed.append(a)
    try:
        yield _replaced(
            args, lambda a: converted[id(a)] if id(a) in converted else _copied(a, taking.wide)
        )
    except LiftError as error:
        if "readonly array" in str(error) and closed:
            raise LiftError(_refused(closed)) from None
        raise
    finally:
        with np.errstate(all="ignore"):  # as what is stored overflows in other arrays, too
            for a in changed:
                a[...] = converted[id(a)]


def is_small(dtype: np.dtype) -> bool:
    """Whether numbers are floats of 8 or 16 bits: NumPy's float16, or one of those of ml_dtypes."""
    if dtype.num == HALF:
        return True
    return dtype.type.__module__ == "ml_dtypes" and "float" in dtype.name


def _refused(closed: dict[int, np.ndarray]) -> str:
    dtypes = ", ".join(dict.fromkeys(str(a.dtype) for a in closed.values()))
    return (
        f"it writes an array of {dtypes} that it may read again, whose elements do not hold the "
        "numbers that it stores there; give it an array of float32 or float64, or lift it to the "
        "format of the array"
    )


def _in_variables(dtype: np.dtype, wide: np.dtype) -> np.dtype:
    """The dtype in which compiled code takes an array's numbers."""
    return wide if is_small(dtype) else dtype.newbyteorder("=")


def _copies(
    first: int, last: int, arrays: list[np.ndarray], wide: np.dtype
) -> dict[int, np.ndarray]:
    """Arrays of one region of memory as compiled code takes them, by the identity of the given
    ones; they share memory as before.
    """
    by_id = {id(a): a for a in arrays}
    if len(by_id) == 1:
        return {key: _copied(a, wide) for key, a in by_id.items()}
    dtype = arrays[0].dtype
    places = {a.ctypes.data - first for a in arrays} | {s for a in arrays for s in a.strides}
    if any(a.dtype != dtype for a in arrays) or any(n % dtype.itemsize for n in places):
        raise LiftError(
            "arguments share memory, and not all of it is in this machine's byte order and in "
            "floats of 32 or 64 bits; kernels take such arrays one by one: convert them with "
            "x.astype(np.float64)"
        )
    native_dtype = _in_variables(dtype, wide)
    memory = np.empty((last - first + 1) // dtype.itemsize, native_dtype)
    converted = {}
    for key, a in by_id.items():
        start, *steps = (
            n // dtype.itemsize * native_dtype.itemsize for n in (a.ctypes.data - first, *a.strides)
        )
        array = np.ndarray(a.shape, native_dtype, memory, start, steps)
        array[...] = a
        array.flags.writeable = a.flags.writeable
        converted[key] = array
    return converted


def _copied(a, wide: np.dtype):
    """An array or a number of NumPy's as compiled code takes it; everything else as it is."""
    if isinstance(a, np.generic):
        return a if is_native(a) or not is_small(a.dtype) else float(a)
    if not isinstance(a, np.ndarray):
        return a
    converted = a.astype(_in_variables(a.dtype, wide), copy=False)
    if converted is not a:
        converted.flags.writeable = a.flags.writeable
    return converted


def _regions(args: tuple) -> list[list]:
    """[first address, last, arrays] of the memory of arrays, in ascending order."""
    regions: list[list] = []
    for array in sorted(arrays_of(args), key=lambda a: byte_bounds(a)[0]):
        first, last = byte_bounds(array)[0], byte_bounds(array)[1] - 1
        if regions and first <= regions[-1][1]:
            regions[-1][1] = max(last, regions[-1][1])
            regions[-1][2].append(array)
        else:
            regions.append([first, last, [array]])
    return regions


def arrays_of(value) -> list[np.ndarray]:
    """The arrays in an argument, tuples of them too, but those without elements."""
    if isinstance(value, tuple):
        return [array for item in value for array in arrays_of(item)]
    return [value] if isinstance(value, np.ndarray) and value.size else []


def _replaced(value, replacement: Callable[[Any], Any]):
    """A value in which all but tuples are what `replacement` gives for them."""
    if isinstance(value, tuple):
        items = [_replaced(v, replacement) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return replacement(value)
