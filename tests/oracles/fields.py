"""Objects of a jitclass as the twins of a kernel see them: fields are kept as elements of arrays
are, methods are the class's own source.
"""

from __future__ import annotations

import enum
import functools
import types

import numpy as np


class Fields:
    """The contents of an object's fields; a twin is given it in the object's place.

    Args:
        kind: the jitclass, or None where methods are not called.
        values: by name: floats, `np.float32`, integers and arrays.
    """

    def __init__(self, kind, **values) -> None:
        held = {n: np.float64(v) if type(v) is float else v for n, v in values.items()}
        self.__dict__.update(held, _kind=kind)

    def __setattr__(self, name: str, value) -> None:
        """Fields of binary32 and binary64 numbers stay such."""
        before = getattr(self, name)
        self.__dict__[name] = type(before)(value) if isinstance(before, np.floating) else value

    def names(self) -> list[str]:
        """Of the fields, in order."""
        return [n for n in vars(self) if n != "_kind"]

    def held(self) -> tuple:
        """The fields' values, in order."""
        return tuple(getattr(self, n) for n in self.names())

    def made(self):
        """An object of the class with these fields, which its constructor takes in order."""
        return self._kind(*self.held())

    def taken_from(self, made) -> None:
        """Keep what the fields of an object of the class hold now."""
        for name in self.names():
            setattr(self, name, getattr(made, name))


def method_of(kind, name: str) -> types.FunctionType:
    """The plain function of a method."""
    return kind.class_type.jit_methods[name].py_func


class ExactFields:
    """Fields for `tests.oracles.twin`: each number an array of one element."""

    def __init__(self, twin, given: Fields) -> None:
        kept = {}
        for name in given.names():
            value = getattr(given, name)
            number = isinstance(value, (float, np.floating))
            kept[name] = twin.argument(np.array([value]) if number else value)
        numbers = {n for n in kept if not isinstance(getattr(given, n), np.ndarray)}
        self.__dict__.update(_twin=twin, _kind=given._kind, _kept=kept, _numbers=numbers)

    def __getattr__(self, name: str):
        if name not in self._kept:
            method = self._twin.rebuild(method_of(self._kind, name))
            return functools.partial(method, self)
        kept = self._kept[name]
        return kept[0] if name in self._numbers and isinstance(kept, np.ndarray) else kept

    def __setattr__(self, name: str, value) -> None:
        kept = self._kept[name]
        if name in self._numbers and isinstance(kept, np.ndarray):
            kept[0] = value
        else:
            self._kept[name] = value

    def write_into(self, given: Fields, write) -> None:
        """Write what a kernel has written; `write(before, after)` does so for an array."""
        for name, kept in self._kept.items():
            before = getattr(given, name)
            if name in self._numbers and isinstance(kept, np.ndarray):
                held = np.array([before])
                write(held, kept)
                setattr(given, name, held.dtype.type(held[0]))
            elif isinstance(kept, np.ndarray):
                write(before, kept)
            else:
                setattr(given, name, kept)


class ExactMembers:
    """An enumeration whose members' values are a twin's numbers; they are equal to themselves."""

    def __init__(self, twin, kind: type[enum.Enum]) -> None:
        self._members = {
            m.name: types.SimpleNamespace(name=m.name, value=twin.convert(m.value)) for m in kind
        }

    def __getattr__(self, name: str):
        return self._members[name]
