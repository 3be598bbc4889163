"""Names that a kernel may use at a place while it is being written."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field, replace

INDICES = ("i", "j", "k")
DIMENSIONS = ("n", "m", "l")


@dataclass(frozen=True)
class Array:
    """An array that the kernel names; `axes` are the dimensions it runs over, none for a table.

    Args:
        name: in the source.
        ndim: number of its axes, which are the kernel's first dimensions.
        written: whether the kernel may write it.
        whole: whether its elements are integers.
        length: of a table of constants, which is never empty; else 0.
    """

    name: str
    ndim: int = 1
    written: bool = False
    whole: bool = False
    length: int = 0


@dataclass
class Scope:
    """Names that can be read and written here, and how loads stay inside the arrays.

    Args:
        rng: chooses.
        arrays, floats, integers: what can be read; `fixed` are numbers that are never assigned.
        functions: helpers by name, with the number of their arguments.
        indices: loop indices that run over the dimensions, from the first; with how far beyond
            an index loads may go on both sides.
        parallel: whether iterations must not see one another.
        elementary: whether elementary functions may be used.
        depth: of blocks around.
        reduced: variables that a parallel loop reduces into; the first letter tells how.
        rows: arrays that a parallel loop has reduced rows into, to be returned.
        totals: variables that began as an integer, and are added to.
        extra: chooses what was added later, so that the kernels of most seeds stay as they were.
        count: numbers new names.
    """

    rng: random.Random
    arrays: list[Array]
    floats: list[str] = field(default_factory=list)
    fixed: list[str] = field(default_factory=list)
    integers: list[str] = field(default_factory=list)
    functions: dict[str, int] = field(default_factory=dict)
    indices: list[tuple[str, int, int]] = field(default_factory=list)
    parallel: bool = False
    elementary: bool = False
    depth: int = 0
    reduced: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    totals: tuple[str, ...] = ()
    extra: random.Random = field(default_factory=random.Random)
    count: itertools.count = field(default_factory=lambda: itertools.count(1))

    def inner(self, **changed) -> Scope:
        """The scope of a block: what is added there is unknown outside."""
        own = {n: list(getattr(self, n)) for n in ("arrays", "floats", "integers", "indices")}
        return replace(self, **{**own, "depth": self.depth + 1, **changed})

    def fresh(self, stem: str) -> str:
        """A new name."""
        return f"{stem}{next(self.count)}"

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def element(self, array: Array, near: bool = True) -> str:
        """An element of the array that exists here; with `near`, perhaps a neighbour."""
        if array.length:
            return f"{array.name}[{self._constant_index(array)}]"
        near = near and not (self.parallel and array.written)
        parts = []
        for name, below, above in self.indices[: array.ndim]:
            offset = self.rng.choice([0, 0, 0, *range(-below, above + 1)]) if near else 0
            parts.append(f"{name} {'+' if offset > 0 else '-'} {abs(offset)}" if offset else name)
        return f"{array.name}[{', '.join(parts)}]"

    def _constant_index(self, array: Array) -> str:
        if self.indices and self.chance(0.3):
            return f"{self.rng.choice(self.indices)[0]} % {array.length}"
        return str(self.rng.randrange(-1, array.length))

    def readable(self, whole: bool = False) -> list[Array]:
        """Arrays with an element that exists here."""
        return [
            a
            for a in self.arrays
            if a.whole == whole and (a.length or 0 < a.ndim <= len(self.indices))
        ]

    def writable(self) -> list[Array]:
        """Arrays with an element that belongs to this iteration alone, or to the whole loop."""
        exact = [a for a in self.readable() if a.written and a.ndim == len(self.indices)]
        return exact or [a for a in self.readable() if a.written and not self.parallel]
