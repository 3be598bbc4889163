"""A corpus of kernels: each with arguments, and with traits that say which sentences hold of it.

A module of this package is a list of kernels. All of its functions are, but those whose names begin
with an underscore, which kernels call; arguments are made anew for each call, by the names of the
parameters. `tests.precision.test_corpus` says the sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numba.core.dispatcher import Dispatcher

TRAITS = {
    "elementary": "calls elementary functions, whose oracle needs formats of at most 24 bits",
    "one format": "is refused, or means something else, in roles of several formats",
    "untwinned": "the oracle cannot read it: only what leaves it is looked at",
    "NumPy": "in binary64 it has the bits of NumPy, to a few roundings",
}
_TRAITS: dict[Callable, frozenset[str]] = {}
_PLAIN: dict[Callable, Callable] = {}


@dataclass(frozen=True)
class Entry:
    """A kernel of the corpus.

    Args:
        kernel: a Python function, or one of `@njit`.
        make: makes its arguments, anew at each call.
        traits: see TRAITS.
        plain: says the same in what the oracle reads: the kernel itself, unless it is another one.
    """

    kernel: Callable
    make: Callable[[], tuple]
    traits: frozenset[str] = frozenset()
    plain: Callable = field(default=None)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        assert self.traits <= TRAITS.keys(), self.traits
        if self.plain is None:
            object.__setattr__(self, "plain", getattr(self.kernel, "py_func", self.kernel))


def has(*traits: str, plain: Callable | None = None):
    """Note traits of a kernel, and the plain one that says the same."""

    def noted(kernel):
        _TRAITS[kernel] = frozenset(traits)
        if plain is not None:
            _PLAIN[kernel] = plain
        return kernel

    return noted


def kernels_of(module: dict, arguments: dict[str, Callable]) -> dict[str, Entry]:
    """The kernels of a module, by name.

    Args:
        module: its globals.
        arguments: parameter -> what makes an argument for it.
    """
    found = {}
    for name, kernel in list(module.items()):
        function = getattr(kernel, "py_func", kernel)
        is_own = getattr(function, "__module__", "") == module["__name__"]
        known = isinstance(kernel, Dispatcher) or type(kernel) is type(kernels_of)
        if name.startswith("_") or not known or not is_own:
            continue
        makers = [arguments[parameter] for parameter in parameters(function)]
        found[name] = Entry(
            kernel, lambda makers=makers: tuple(make() for make in makers),
            _TRAITS.get(kernel, frozenset()), _PLAIN.get(kernel),
        )  # fmt: skip
    return found


def parameters(function: Callable) -> Iterable[str]:
    """The names of a function's parameters."""
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def numbers(seed: int, *shape: int) -> np.ndarray:
    """Numbers of many sizes, of 24 bits at most, between -4 and 4."""
    rng = np.random.default_rng(seed)
    made = rng.uniform(-1, 1, shape) * 2.0 ** rng.integers(-6, 3, shape)
    return made.astype(np.float32).astype(np.float64)
