"""Kernels whose operations have rows that roundings around the arithmetic's own write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.precision.formats.backend import Backend, HandedBackend, resolve_backend
from sciprec.precision.lifting.compiling import module_of
from sciprec.precision.lifting.lifted import Lifted, function_of
from sciprec.precision.rewriting.build import Build
from sciprec.precision.rewriting.observer import Observer
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rounding.around import Around
from sciprec.precision.rounding.variant import RowVariant

_WORD_BYTES = 8


@dataclass(frozen=True)
class Rows:
    """Rows that operations write, one for every operation and chain of calls that leads to it.

    Args:
        words: of a row, 64 bits each; they are zero when a call begins.
        around: the rounding that writes them.
    """

    words: int
    around: type[Around]


@dataclass(frozen=True)
class _SideBySide:
    """Make the roundings of some rows around another, their words side by side in a row."""

    rows: tuple[Rows, ...]

    def __call__(self, base: Any) -> Any:
        first = 0
        for row in self.rows:
            base, first = row.around(base, first), first + row.words
        return base


class LiftedWithRows(Lifted):
    """A kernel lifted as by `lift`, which leaves rows behind.

    Attributes:
        table: (rows, words) integers of the last call; `table.view(float)` of binary64 words.
    """

    table: np.ndarray

    @property
    def places(self) -> tuple[str, ...]:
        """The places of rows in the source: lines of calls, the last one's text. What the engine's
        own functions do has the place of their call.
        """
        origins, places = self._program.origins, []
        for row in self._program.layout.rows:
            chain = [n for n in (*row.calls, row.site) if n in origins]
            user_sites = [n for n in chain if not origins[n].of_engine] or [row.site]
            lines, site = (
                " > ".join(f"line {self.sites[n].line}" for n in user_sites),
                self.sites[user_sites[-1]],
            )
            places.append(f"{lines}: {site.text or site.operation}")
        return tuple(places)

    def _run(self, args: tuple) -> Any:
        words = self._program.variant.row_bytes // _WORD_BYTES
        table = np.zeros((len(self._program.layout.rows), words), np.int64)
        result, _ = self._enter(self.dispatcher, (table.ctypes.data, *args))
        self.table = table
        return result


def lift_with_rows(
    kernel: Callable[..., Any], backend: str | Backend, *rows: Rows,
    observers: Sequence[Observer] = (),
) -> LiftedWithRows:  # fmt: skip
    """Lift a kernel as `lift` does, on one thread, with rows that roundings around the arithmetic's
    own write: of several the first one stands nearest to it. Observers put calls into it, too.

    Raises:
        InputError: the arithmetic has rows itself, or draws random bits.
        LiftError: the kernel cannot be lifted.
    """
    arithmetic = resolve_backend(backend)
    arithmetic.require_taken_by("lift_with_rows")
    if isinstance(arithmetic, HandedBackend) or arithmetic.fixed or arithmetic.random:
        raise InputError(
            f"backend '{arithmetic.name}' has units, formats or random bits by place, and other "
            "rows stand beside none of these; accepted: floating point in one format, or in one "
            "for each role, without random bits"
        )
    function = function_of(kernel, "it")
    row_bytes = _WORD_BYTES * sum(r.words for r in rows)
    variant = RowVariant("", row_bytes, _SideBySide(rows), own=True)
    program = Program(function, arithmetic, Build(variant=variant, observers=tuple(observers)))
    again = partial(_lifted_again, backend=arithmetic, rows=rows, observers=observers)
    return LiftedWithRows(function, arithmetic, program, module_of(program), 0, again)


def _lifted_again(
    kernel, backend: Backend, rows: tuple[Rows, ...], observers: Sequence[Observer] = ()
) -> LiftedWithRows:
    """Lift a pickled kernel; older pickles name no observers."""
    return lift_with_rows(kernel, backend, *rows, observers=observers)

