"""The exact results of a kernel as pairs of binary64 numbers that know their own error."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from sciprec.instruments.tracing import rows
from sciprec.instruments.tracing.table import Table
from sciprec.instruments.tracing.technique import sees
from sciprec.precision.operations.operation import OPERATIONS
from sciprec.tools.trace.attribution import Result, arithmetics_of
from sciprec.tools.trace.following import doubt_of
from sciprec.tools.trace.problem import Problem, stored_in

LITERALS = "literals"
"""The name, beside the arguments, for the numbers written in a source."""
_SURE = 1.0
"""How many digits apart the fewest and the most may be where digits are known."""


@dataclass(frozen=True)
class ExactResults:
    """Results of a run in exact arithmetic, as far as they are known.

    Attributes:
        high, low: name of a result -> exact values, the sum of two.
        doubt: name -> by how much they may be wrong; infinite where they are not known.
        otherwise: how many decisions exact values made otherwise than the tested run.
        unsure: how many decisions they leave open: no result is known then.
        unseen: names of functions whose exact values are not known either: those of users.
    """

    high: Mapping[str, np.ndarray]
    low: Mapping[str, np.ndarray]
    doubt: Mapping[str, np.ndarray]
    otherwise: int = 0
    unsure: int = 0
    unseen: tuple[str, ...] = ()

    def digits(self, name: str, tested: np.ndarray, most: float) -> np.ndarray:
        """The decimal digits of tested values that are right, -log10 of their relative errors.

        Args:
            name: of the result.
            tested: of its shape.
            most: digits of the format.

        Returns:
            Between 0 and `most`, never more than there are; NaN where they are not known.
        """
        high, low, doubt = self.high[name], self.low[name], self.doubt[name]
        with np.errstate(all="ignore"):
            error = abs((tested - high) - low)
            size, error = abs(high), np.where(np.isfinite(tested), error, np.inf)
            largest = _digits_of(error + doubt, size - doubt, most)
            smallest = _digits_of(np.maximum(error - doubt, 0.0), size + doubt, most)
        is_sure = np.isfinite(high) & np.isfinite(doubt) & (smallest - largest <= _SURE)
        return np.where(is_sure, largest, math.nan)

    def moved(self, name: str, other: ExactResults, most: float) -> np.ndarray:
        """The digits of exact values that another run leaves, whose data were moved."""
        doubt = self.doubt[name] + other.doubt[name]
        high, low, size = self.high[name], self.low[name], abs(self.high[name])
        with np.errstate(all="ignore"):
            apart = abs((other.high[name] - high) + (other.low[name] - low))
            allowed = _digits_of(np.maximum(apart - doubt, 0.0), size + doubt, most)
            fewest = _digits_of(apart + doubt, size - doubt, most)
        is_sure = np.isfinite(doubt) & np.isfinite(apart) & (allowed - fewest <= _SURE)
        return np.where(is_sure, fewest, math.nan)


def _digits_of(error: np.ndarray, size: np.ndarray, most: float) -> np.ndarray:
    """-log10(error / size), between 0 and `most`; 0 beside nothing, `most` without an error."""
    share = np.where(size > 0.0, error / np.where(size > 0.0, size, 1.0), np.inf)
    share = np.where(error == 0.0, 0.0, share)
    return np.clip(-np.log10(np.maximum(share, 10.0**-most)), 0.0, most)


def most_digits(problem: Problem) -> float:
    """The decimal digits of the format of a problem's results."""
    return stored_in(problem.backend).format.significand_bits * math.log10(2.0)


def truth_of(problem: Problem) -> tuple[list[Result], ExactResults]:
    """A run's results, and the exact ones along their own path.

    Where exact values decide otherwise than the tested run, in a comparison, a sign, or when they
    are rounded to an integer, another run lets them decide.
    """
    table = problem.table("twin")
    results = problem.run("twin", table)
    otherwise, unsure = _noted(table, rows.OTHERWISE), _noted(table, rows.UNSURE)
    if unseen := _unseen(problem):
        return results, _truth(results, otherwise, unsure, unseen)
    if not otherwise and not unsure:
        return results, _truth(results)
    return results, healed_truth(problem, {}, otherwise)


def _unseen(problem: Problem) -> tuple[str, ...]:
    """Functions of a wide format that have no residual."""
    program = problem.kernel("twin").program
    bits = arithmetics_of(problem.backend)[-1].format.significand_bits
    called = (program.sites[row.site].operation for row in program.layout.rows)
    some = {name: OPERATIONS[name] for name in called if name in OPERATIONS}
    return tuple(n for n, row in some.items() if row.evaluate is not None and not sees(row, bits))


def healed_truth(
    problem: Problem, moved: Mapping[str, float], otherwise: int = 0, draw: int = 0
) -> ExactResults:
    """The exact results where exact values decide.

    Args:
        problem: the kernel with its arguments.
        moved: argument, or `LITERALS` -> the share of itself by which it is moved, of a sign drawn
            for each number; -share turns all signs round.
        otherwise: decisions that the tested run makes otherwise.
        draw: of signs.
    """
    table = problem.table("twin")
    table.words[:, rows.TREATMENT] = rows.HEALED
    arrays = _move(problem, table, moved, draw)
    results = problem.run("twin", table, moved=arrays)
    return _truth(results, otherwise, _noted(table, rows.UNSURE))


def _noted(table: Table, word: int) -> int:
    return int(table.words[:, word].sum())


def _truth(
    results: list[Result], otherwise: int = 0, unsure: int = 0, unseen: tuple[str, ...] = ()
) -> ExactResults:
    is_exact = not unsure and not unseen
    high = {r.name: r.beside[..., 0] for r in results}
    low = {r.name: r.beside[..., 1] for r in results}
    doubt = {r.name: doubt_of(r) if is_exact else np.full(r.tested.shape, np.inf)
             for r in results}  # fmt: skip
    return ExactResults(high, low, doubt, otherwise, unsure, unseen)


# ---- data that are moved by half a unit ----------------------------------------------------------


def movable(problem: Problem) -> list[str]:
    """Names of the arguments that hold floating-point numbers, and `LITERALS` where there are some
    that are no numbers of binary64 as they are written.
    """
    names = problem.kernel("twin").names
    some = [n for n, a in zip(names, problem.args, strict=True) if _has_numbers(a)]
    return some + [LITERALS] * bool(_literals(problem))


def _has_numbers(argument) -> bool:
    if isinstance(argument, tuple):
        return any(map(_has_numbers, argument))
    if isinstance(argument, np.ndarray):
        return argument.dtype.kind == "f" and bool(np.any(argument))
    return isinstance(argument, (float, np.floating)) and bool(argument)


def _literals(problem: Problem) -> list[int]:
    """Rows of literals that are rounded when they are read, as 0.1; 0.5 and 3.0 are what they
    say.
    """
    program, inexact = problem.kernel("twin").program, []
    for number, row in enumerate(program.layout.rows):
        operation, _, text = program.sites[row.site].operation.partition("(")
        if operation == "literal":
            value = float.fromhex(text.strip("'\")"))
            if math.isfinite(value) and Decimal(repr(value)) != Decimal(value):
                inexact.append(number)
    return inexact


def _move(
    problem: Problem, table: Table, moved: Mapping[str, float], draw: int
) -> dict[str, np.ndarray]:
    """Tell rows how scalars and literals are moved; of arrays the shares are returned."""
    program, arrays = problem.kernel("twin").program, {}
    for name, share in moved.items():
        seed = hashlib.blake2b(f"{name} {draw}".encode(), digest_size=8).digest()
        rng = np.random.default_rng(int.from_bytes(seed, "little"))
        if name == LITERALS:
            some = _literals(problem)
            table.numbers[some, rows.MOVED] = share * rng.choice([-1.0, 1.0], len(some))
            continue
        argument = problem.args[problem.kernel("twin").names.index(name)]
        if isinstance(argument, np.ndarray):
            arrays[name] = share * rng.choice([-1.0, 1.0], argument.shape)
        for number, row in enumerate(program.layout.rows):
            if row.site not in program.origins and program.sites[row.site].text == name:
                table.numbers[number, rows.MOVED] = share * rng.choice([-1.0, 1.0])
    return arrays
