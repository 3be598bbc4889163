"""The kernels that the generated twin tests run over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class KernelEntry:
    """A registered kernel and a maker of small arguments for it."""

    function: Callable
    example: Callable[[], tuple]


KERNELS: dict[str, KernelEntry] = {}


def kernel(*, example: Callable[[], tuple]) -> Callable:
    """Register a plain Python kernel under 'module.qualname'; the function itself is returned
    unchanged.

    Args:
        example: makes a tuple of small arguments (float64 arrays, `out` arrays included).
    """

    def register(function: Callable) -> Callable:
        KERNELS[f"{function.__module__}.{function.__qualname__}"] = KernelEntry(function, example)
        return function

    return register
