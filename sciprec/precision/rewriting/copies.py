"""Copies of a call's arguments: of their own memory, or in this machine's byte order."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sciprec.precision.operations.objects import fields_of, is_object, object_with
from sciprec.precision.rewriting.syntax import LiftError

_ALIGNMENT = 64


def copied(args: tuple) -> tuple:
    """Arguments with arrays of their own, laid out as they were, and objects of jitclasses with
    fields of their own; arrays that share memory share it again.
    """
    known: dict[int, np.ndarray] = {}
    objects: dict[int, tuple[Any, dict]] = {}
    _open(args, objects)
    inside = tuple(held for _, fields in objects.values() for held in fields.values())
    for first, last, arrays in _regions((*args, *inside)):
        memory = np.empty(last - first + 1 + _ALIGNMENT, np.uint8)
        skipped = (first - memory.ctypes.data) % _ALIGNMENT
        for a in arrays:
            offset = skipped + a.ctypes.data - first
            made = np.ndarray(a.shape, a.dtype, memory, offset, a.strides)
            made[...] = a
            made.flags.writeable = a.flags.writeable
            known[id(a)] = made
    made: dict[int, Any] = {}

    def instead(value):
        if isinstance(value, np.ndarray):
            return known[id(value)] if value.size else value.copy(order="K")
        if id(value) in objects and id(value) not in made:
            own = {n: _replaced(held, instead) for n, held in objects[id(value)][1].items()}
            made[id(value)] = object_with(value, own)
        return made.get(id(value), value)

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
    """Whether arrays, in tuples too, are in this machine's byte order; asked of every call."""
    if not isinstance(value, tuple):
        return not isinstance(value, np.ndarray) or value.dtype.isnative
    for one in value:
        if one.__class__ is np.ndarray:
            if not one.dtype.isnative:
                return False
        elif not is_native(one):
            return False
    return True


@contextlib.contextmanager
def native(args: tuple, written: Callable[[tuple], list[bool]]) -> Iterator[tuple]:
    """Arguments in this machine's byte order: arrays in the other one are copied, and copied back
    afterwards where the kernel may have written them.

    Args:
        args: of a call.
        written: says for each argument whether the kernel may write an array in it.

    Raises:
        LiftError: arrays of different types share memory, and are not all in this byte order.
    """
    if is_native(args):
        yield args
        return
    known: dict[int, np.ndarray] = {}
    for first, last, arrays in _regions(args):
        if not all(a.dtype.isnative for a in arrays):
            known |= _swapped(first, last, arrays)
    changed = [
        a
        for argument, is_written in zip(args, written(args), strict=True)
        for a in _arrays_of(argument)
        if is_written and a.flags.writeable and id(a) in known
    ]
    try:
        yield _replaced(args, lambda a: known[id(a)] if id(a) in known else _converted(a))
    finally:
        for a in changed:
            a[...] = known[id(a)]


def _swapped(first: int, last: int, arrays: list[np.ndarray]) -> dict[int, np.ndarray]:
    """Arrays of one region of memory in the other byte order, by the identity of the given ones."""
    given = {id(a): a for a in arrays}
    if len(given) == 1:
        return {key: _converted(a) for key, a in given.items()}
    order = arrays[0].dtype
    places = {a.ctypes.data - first for a in arrays} | {s for a in arrays for s in a.strides}
    if any(a.dtype != order for a in arrays) or any(n % order.itemsize for n in places):
        raise LiftError(
            "arguments share memory, and not all of it is in this machine's byte order; kernels "
            "take such arrays one by one: convert them with x.astype(x.dtype.newbyteorder('='))"
        )
    memory = np.empty((last - first + 1) // order.itemsize, order.newbyteorder("="))
    known = {}
    for key, a in given.items():
        made = np.ndarray(a.shape, memory.dtype, memory, a.ctypes.data - first, a.strides)
        made[...] = a
        made.flags.writeable = a.flags.writeable
        known[key] = made
    return known


def _converted(a):
    """An array in this machine's byte order; itself where it is in it, and everything else."""
    if not isinstance(a, np.ndarray):
        return a
    made = a.astype(a.dtype.newbyteorder("="), copy=False)
    made.flags.writeable = a.flags.writeable
    return made


def _regions(args: tuple) -> list[list]:
    """[first address, last, arrays] of the memory of arrays, in ascending order."""
    regions: list[list] = []
    for array in sorted(_arrays_of(args), key=_first_address):
        first, last = _first_address(array), _last_address(array)
        if regions and first <= regions[-1][1]:
            regions[-1][1] = max(last, regions[-1][1])
            regions[-1][2].append(array)
        else:
            regions.append([first, last, [array]])
    return regions


def _arrays_of(value) -> list[np.ndarray]:
    if isinstance(value, tuple):
        return [array for item in value for array in _arrays_of(item)]
    return [value] if isinstance(value, np.ndarray) and value.size else []


def _first_address(a: np.ndarray) -> int:
    steps = zip(a.shape, a.strides, strict=True)
    return a.ctypes.data + sum((n - 1) * step for n, step in steps if step < 0)


def _last_address(a: np.ndarray) -> int:
    steps = zip(a.shape, a.strides, strict=True)
    return a.ctypes.data + sum((n - 1) * step for n, step in steps if step > 0) + a.itemsize - 1


def _replaced(value, replacement: Callable[[Any], Any]):
    """A value in which all but tuples are what `replacement` gives for them."""
    if isinstance(value, tuple):
        items = [_replaced(v, replacement) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return replacement(value)
