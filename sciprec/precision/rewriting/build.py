"""Values that tell one program of a kernel and an arithmetic from another: `Build`, and in it
`Numbers`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.precision.formats.backend import Backend
from sciprec.precision.formats.literal import round_array, round_literal
from sciprec.precision.rewriting.layout import Frame
from sciprec.precision.rewriting.observer import Hooks, Observer
from sciprec.precision.rewriting.syntax import name
from sciprec.precision.rounding.variant import FLOATS, RowVariant


@dataclass(frozen=True)
class Numbers:
    """Contents of variables, arrays and constants, and rows of the operations on them: here those
    of the program's own arithmetic. Others are subclasses, frozen too, whose fields can be pickled.

    Attributes:
        constant, read: texts of a constant array, in the generated module and in a kernel; `{}`
            stands for the array.
        given, given_back: texts of an argument as the entry hands it on, and of its result.
        narrowing: the operation that gives arguments a format of their own; "" for none.
        holder: in messages, what has rows of a table.
        sums_apart: whether operations of sums that loops form have a row each.
    """

    constant = read = given = given_back = "{}"
    narrowing, holder, sums_apart = "", "fixed point", False

    def imports(self, backend: Backend) -> str:
        """Return lines at the head of the generated module."""
        return ""

    def operations(self, program: Any) -> str:
        """Return the operations on them as an expression; "" for those of the arithmetic."""
        return ""

    def hooks(self, rewriter: Any) -> tuple[Hooks, ...]:
        """Return what is put into each function, nearer to it than what observers put there."""
        return ()

    def literal(self, rewriter: Any, value: float) -> ast.expr:
        """Return a constant of the source, rounded to the compute format: by the generated module
        where its text is one for several arithmetics.
        """
        program = rewriter.program
        if not program.neutral:
            return program.number(round_literal(value, program.backend.compute))
        return ast.Call(name(program.operation(f"literal({value.hex()!r})")), [], [])

    def array(self, program: Any, value: np.ndarray) -> np.ndarray:
        """Return a constant array of floats as the generated module holds it."""
        program.rounds_ahead = True
        return round_array(value, program.backend.storage)

    def definition(self, tree: ast.FunctionDef) -> ast.FunctionDef:
        """Return a finished function, changed where it has to be."""
        return tree

    def frame(self, program: Any) -> Frame:
        """Return rows for a function, none so far."""
        return Frame()

    def entry(self, program: Any, listed: str, body: str) -> str:
        """Return the text of the compiled function with the kernel's signature, and others like it.

        Args:
            program: whose kernel it calls.
            listed: its parameters.
            body: what it returns.
        """
        return program.entry_of(listed, body)


@dataclass(frozen=True)
class Build:
    """The making of a program. It can be pickled where the functions can that its observers and
    roundings of a user's own name.

    Args:
        path: "auto", or "software" for the path without the processor's rounding mode.
        trust_inputs: whether array elements are taken as they are. Where roles differ in format
            results are rounded to that of the storage all the same.
        loads: what becomes of the others: they are "rounded", or, where they are known to be in the
            storage format by the name of a parameter ("proven"), taken as they are, or only
            "compared" with themselves rounded.
        may_share: whether its text can be one for several arithmetics: see `Program.shares`.
        variant: what operations do with rows of a table, see `layout`.
        roles: those whose program this one is a variant of, where it is a profile.
        observers: put calls into it, the first one nearest to what is rewritten.
        numbers: contents of its variables.

    Raises:
        InputError: its numbers and roundings of a user's own both have rows.
    """

    path: str = "auto"
    trust_inputs: bool = False
    loads: str = "rounded"
    may_share: bool = True
    variant: RowVariant = FLOATS
    roles: Backend | None = None
    observers: tuple[Observer, ...] = ()
    numbers: Numbers = Numbers()

    def __post_init__(self) -> None:
        if self.variant.own and self.numbers != Numbers():
            raise InputError(
                f"{self.numbers.holder} and roundings around an arithmetic's have rows each, and a "
                "program has one table of them; lift the kernel twice"
            )


AS_LIFTED = Build()
