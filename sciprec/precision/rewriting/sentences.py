"""Which lines of a kernel may end with a sentence that a function of the engine's raises."""

from __future__ import annotations

import numpy as np

OF_NUMBA = {
    np.argmax: "attempt to get argmax of an empty sequence",
    np.argmin: "attempt to get argmin of an empty sequence",
}
"""Functions left to Numba -> what they raise."""


class Sentences:
    """Who raises what, and who calls whom, as it is found while kernels are rewritten."""

    def __init__(self) -> None:
        self._raising: dict[str, list] = {text: [f] for f, text in OF_NUMBA.items()}
        self._calls: dict[object, list] = {}
        self._order: dict[str, int] = {}

    def add_raise(self, text: str, function) -> None:
        """A function of the engine's raises an exception with this text."""
        self._raising.setdefault(text, []).append(function)

    def add_call(self, function, caller, place: str, is_users: bool) -> None:
        """A kernel calls a function at a place; whether the kernel is a user's."""
        self._calls.setdefault(function, []).append((caller, place, is_users))
        self._order.setdefault(place, len(self._order))

    def places(self) -> dict[str, str]:
        """Text of an exception -> the places in users' kernels from which it may come."""
        found = {text: self._places_of(functions) for text, functions in self._raising.items()}
        return {text: " or ".join(places) for text, places in found.items() if places}

    def _places_of(self, functions: list) -> list[str]:
        todo, seen, places = list(functions), set(functions), set()
        while todo:
            for caller, place, is_users in self._calls.get(todo.pop(0), ()):
                if is_users:
                    places.add(place)
                elif caller not in seen:
                    seen.add(caller)
                    todo.append(caller)
        return sorted(places, key=self._order.__getitem__)
