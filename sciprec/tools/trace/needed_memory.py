"""The memory that a trace takes, and whether there is so much."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.foundation.memory import bytes_of_memory
from sciprec.tools.trace.attribution import floats


def require_memory(traced: str, count: int, lanes: int, numbers_of: Callable[[int], int]) -> None:
    """Refuse a run that does not fit into memory with some numbers beside each value.

    Args:
        traced: the kernel or model.
        count: how many values it has.
        lanes: numbers beside each.
        numbers_of: lanes -> how many binary64 numbers are held in all.

    Raises:
        InputError: it does not fit; fewer lanes that do, if there are such.
    """
    memory = bytes_of_memory()
    if memory is None or 8 * numbers_of(lanes) <= memory:
        return
    fewer = [n for n in (4, 8, 16) if n < lanes and 8 * numbers_of(n) <= memory]
    advice = f"give lanes={fewer[-1]}" if fewer else "give smaller arrays"
    raise InputError(
        f"a trace of '{traced}' with {lanes} numbers beside each of {count:,} values takes "
        f"{8e-9 * numbers_of(lanes):,.0f} GB, and this machine has {1e-9 * memory:,.0f} GB of "
        f"memory: {advice}"
    )


def require_memory_of_kernel(kernel: str, args: tuple, lanes: int) -> None:
    """See `require_memory`: the arrays of a kernel's arguments, each once."""
    count = sum(a.size for argument in args for a in floats(argument))
    require_memory(kernel, count, lanes, lambda n: count * (1 + n))


class Recent(dict[int, tuple]):
    """The tuples that a model has given last, by their identity; they live on."""

    most = 64

    def __setitem__(self, key: int, value: tuple) -> None:
        if key not in self and len(self) == self.most:
            del self[next(iter(self))]
        super().__setitem__(key, value)


class Arrays:
    """The arrays of floats that kernels of a model are given and return, while they live.

    Attributes:
        most: of the numbers in them, at a time.
        most_of_call: of the numbers that one call is given, and of the last tuples before it, whose
            numbers with companions are kept.
    """

    def __init__(self) -> None:
        self.most = self.most_of_call = 0
        self._alive: dict[int, int] = {}
        self._count = 0
        self._tuples: Recent = Recent()

    def note(self, args: tuple, result: Any) -> None:
        """A call's arguments and result."""
        owners = {id(owner): owner for owner in map(_owner, _all_floats((*args, result)))}
        for key, owner in owners.items():
            if key not in self._alive:
                self._alive[key] = owner.size
                self._count += owner.size
                weakref.finalize(owner, self._forget, key).atexit = False
        self.most = max(self.most, self._count)
        for argument in args:
            if isinstance(argument, tuple) and id(argument) not in self._tuples:
                size = sum(a.size for a in _all_floats((argument,)))
                self._tuples[id(argument)] = argument, size
        plain = sum(a.size for x in args if not isinstance(x, tuple) for a in floats(x))
        in_tuples = sum(size for _, size in self._tuples.values())
        self.most_of_call = max(self.most_of_call, plain + in_tuples)

    def _forget(self, key: int) -> None:
        self._count -= self._alive.pop(key, 0)

    def numbers(self, lanes: int) -> int:
        """Return the number of binary64 numbers that copies of a model hold, and the calls of its
        kernels.
        """
        return (1 + lanes) * (self.most + self.most_of_call)


def _all_floats(arguments: tuple) -> list[np.ndarray]:
    arrays = {id(a): a for argument in arguments for a in floats(argument) if a.ndim}
    return list(arrays.values())


def _owner(array: np.ndarray) -> np.ndarray:
    """The array whose memory it is."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
