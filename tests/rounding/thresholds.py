"""Where stochastic rounding steps up: the threshold of the random number, of the compiled code by
bisection, and of exact fractions.

    python -m tests.rounding.thresholds --seed 1 --count 200 --results thresholds.jsonl

draws formats of every p from 2 to 53 in turn, and operands for each operation; what is done already
is left out, so that a survey goes on where it was broken off.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from numba import njit
from numba.core import types
from numba.extending import intrinsic

from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.formats.float_format import FORMATS, Format
from sciprec.precision.rounding.stochastic import Draw
from sciprec.precision.rounding.technique import rounder
from sciprec.precision.rounding.words import F32, F64
from tests.oracles import exact

FULL = 1 << exact.RANDOM_BITS
OPERATIONS = {
    "add": 2, "sub": 2, "mul": 2, "div": 2, "sqrt": 1, "fma": 3,
    "from_binary64": 1, "from_binary32": 1, "from_integer": 1, "sum_of_binary64": 2,
}  # fmt: skip


class Compiled:
    """The operations of an arithmetic, each compiled when it is called first, with random bits that
    are given.

    Args:
        arithmetic: in whose format results are.
        others: formats of operands besides its own.
    """

    def __init__(self, arithmetic: Arithmetic, others: tuple[Format, ...] = ()) -> None:
        narrow = arithmetic.fits_binary32 and all(f.significand_bits <= 24 for f in others)
        self._kind, self._few = F32 if narrow else F64, arithmetic.random_bits is not None
        self._technique = rounder(arithmetic, self._kind, 0, others)
        self._functions = {}

    def _applied(self, name: str):
        """An intrinsic of three numbers of binary64, an integer, and two words of random bits."""
        technique, kind, few = self._technique, self._kind, self._few

        @intrinsic
        def applied(typingctx, x, y, z, k, first, second):
            def codegen(context, b, signature, args):
                draw = Draw(args[4], None if few else args[5])
                if name == "from_integer":
                    result = technique.from_integer(b, args[3], True, draw=draw)
                else:
                    taken = {"from_binary32": F32}.get(name, kind)
                    taken = F64 if name in ("from_binary64", "sum_of_binary64") else taken
                    values = [b.fptrunc(v, F32) if taken == F32 else v for v in args[:3]]
                    result = getattr(technique, name)(b, *values[: OPERATIONS[name]], draw=draw)
                return b.fpext(result, F64) if kind == F32 else result

            double = types.float64
            return double(double, double, double, types.int64, types.uint32, types.uint32), codegen

        return applied

    def __call__(self, name: str, operands: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """The results of columns of operands with 52 random bits each."""
        out = np.empty(draws.size)
        x = operands.astype(np.float64)
        k = operands[0].astype(np.int64) if name == "from_integer" else np.zeros(draws.size, int)
        if name not in self._functions:
            self._functions[name] = _over_arrays(self._applied(name))
        self._functions[name](x, k, draws, out)
        return out


def _over_arrays(applied):
    """The loop that applies an operation to columns, each with random bits of its own."""

    @njit
    def function(x, k, draws, out):
        for i in range(out.size):
            first, second = np.uint32(draws[i] >> 20), np.uint32((draws[i] & 0xFFFFF) << 12)
            out[i] = applied(x[0, i], x[1, i], x[2, i], k[i], first, second)

    return function


def stepped(compiled: Compiled, name: str, operands: np.ndarray, bits: int) -> np.ndarray:
    """Per column of operands the least random number from which on the result is the larger one in
    size; 2^52 where it is always the same. Found by bisection.

    Args:
        bits: how many are drawn.
    """
    size = operands.shape[1]
    unit = 1 << (exact.RANDOM_BITS - bits)
    odd = int(unit == 1)  # the last bit is set

    def at(draws: np.ndarray) -> np.ndarray:
        return compiled(name, operands, draws | odd)

    low, high = np.zeros(size, np.int64), np.full(size, FULL - unit)
    start, end = at(low), at(high)
    same = (start == end) | np.isnan(start) & np.isnan(end)
    while np.any(high - low > unit):
        middle = (low + high) // (2 * unit) * unit
        up = at(middle) != start
        high, low = np.where(up, middle, high), np.where(up, low, middle)
    return np.where(same, FULL, high)


def exact_result(name: str, operands) -> Fraction | None:
    """The exact result, of a root to 200 bits; None where it is no number, or a zero."""
    if any(not math.isfinite(x) for x in operands):
        return None
    x, *others = map(Fraction, operands)
    y = others[0] if others else Fraction(0)
    if name == "div" and y == 0 or name == "sqrt" and x < 0:
        return None
    if name == "sqrt":
        shift = 400 + 2 * max(0, x.denominator.bit_length())
        root = math.isqrt((x.numerator << shift) // x.denominator)
        return Fraction(root, 1 << shift // 2)
    result = {
        "add": lambda: x + y, "sub": lambda: x - y, "mul": lambda: x * y,
        "div": lambda: x / y, "fma": lambda: x * y + Fraction(others[1]),
        "sum_of_binary64": lambda: x + y,
    }.get(name, lambda: x)()  # fmt: skip
    return result or None


def between(x: Fraction, fmt: Format) -> tuple[float, float, Fraction]:
    """The neighbours in size of |x| as the format has them, and how far it is between them."""
    size = abs(x)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    if fmt.subnormals:
        exponent = max(exponent, fmt.emin)
    spacing = Fraction(2) ** (exponent - fmt.significand_bits + 1)
    kept = size // spacing
    fraction = size / spacing - kept
    ends, sign = [], -1 if x < 0 else 1
    for whole in (kept, kept + 1):
        end = whole * spacing
        if not fmt.subnormals and end < Fraction(fmt.min_normal):
            end = Fraction(0)
        largest = fmt.max_finite
        outward = {"infinity": math.inf, "nan": math.nan, "saturate": largest}[fmt.overflow]
        ends.append(sign * (outward if end > Fraction(largest) else float(end)))
    return *ends, fraction


def faults(compiled: Compiled, arithmetic: Arithmetic, name: str, rows) -> list[str]:
    """What of the compiled operation is not as exact fractions say: its ends, or its threshold.

    Args:
        rows: tuples of operands.
    """
    count = OPERATIONS[name]
    bits = arithmetic.random_bits or exact.RANDOM_BITS
    unit, odd = 1 << (exact.RANDOM_BITS - bits), int(bits == exact.RANDOM_BITS)
    cases = [(row, exact_result(name, row[:count])) for row in rows]
    cases = [(row, x) for row, x in cases if x is not None]
    dtype = np.int64 if name == "from_integer" else np.float64
    operands = np.array([(*row[:count], *(1,) * (3 - count)) for row, _ in cases], dtype).T
    draws = (np.full(len(cases), draw | odd) for draw in (0, FULL - unit))
    ends = [compiled(name, operands, draw) for draw in draws]
    found = stepped(compiled, name, operands, bits)
    wrong = []
    for n, (row, x) in enumerate(cases):
        low, high, fraction = between(x, arithmetic.format)
        if arithmetic.rule.even_chances and fraction:
            fraction = Fraction(1, 2)
        # the least multiple of the unit, or odd number, that is not below (1 - fraction) 2^52
        least = math.ceil((1 - fraction) * FULL / unit) * unit
        if odd:
            least -= (least % 2 == 1)  # the draw above an even number is the odd one after it
        always, never = least <= 0, least >= FULL
        expected = FULL if always or never or _same(low, high) else least
        first, last = (high if always else low), (low if never else high)
        if not (_same(ends[0][n], first) and _same(ends[1][n], last) and found[n] == expected):
            wrong.append(
                f"{arithmetic.name} {name}{tuple(row[:count])}: steps at {found[n]} from "
                f"{ends[0][n]} to {ends[1][n]}, expected {expected} from {first} to {last}"
            )
    return wrong


def _same(a: float, b: float) -> bool:
    return a == b and math.copysign(1, a) == math.copysign(1, b) or math.isnan(a) and math.isnan(b)


# ---- drawn formats and operands ----------------------------------------------------------------


def drawn_arithmetic(p: int, rng: random.Random) -> Arithmetic:
    """A format of p bits: binary32's range, a small one, a large one, of 53 bits binary64 itself;
    with few random bits, or with even chances, too.
    """
    emin, emax = rng.choice([(-126, 127), (-126, 127), (-14, 15), (-6, 8), (-300, 300), (-126, 40)])
    subnormals, overflow = rng.random() < 0.75, rng.choice(["infinity"] * 3 + ["saturate"])
    fmt = Format(f"{p} bits in {emin}..{emax}", p, emin, emax, subnormals, overflow)
    if p == 4 and rng.random() < 0.3:
        fmt = FORMATS["float8_e4m3fn"]
    few = rng.choice([None] * 4 + [1, 5, 13, 24, 32])
    if p == 53 and rng.random() < 0.7:
        fmt = FORMATS["binary64"]
    if rng.random() < 0.2:
        return Arithmetic(fmt, "random")
    return Arithmetic(fmt, "sr", random_bits=few)


def drawn_number(fmt: Format, rng: random.Random, near: int | None = None) -> float:
    """A number of the format: of any size, of one near 2^near, short or long, or a landmark."""
    p = fmt.significand_bits
    if rng.random() < 0.08:
        landmarks = [fmt.max_finite, fmt.min_normal, fmt.min_positive, 1.0]
        return rng.choice(landmarks) * rng.choice([-1, 1])
    exponent = rng.randint(fmt.emin - p * fmt.subnormals, fmt.emax)
    if near is not None:
        exponent = min(max(near, fmt.emin - p * fmt.subnormals), fmt.emax)
    significand = rng.getrandbits(p - 1) | 1 << (p - 1)
    if rng.random() < 0.4:
        significand = rng.choice([1 << (p - 1), (1 << p) - 1, (1 << (p - 1)) + 1])
    x = math.ldexp(significand, exponent - p + 1)
    x = round_down(x, fmt)
    return x * rng.choice([-1, 1]) if x else fmt.min_positive


def round_down(x: float, fmt: Format) -> float:
    """x toward zero in the format."""
    return exact.round_exact(x, SimpleNamespace(format=fmt, rounding="rz", aligned=False))


def drawn_row(name: str, fmt: Format, taken: Format, rng: random.Random) -> tuple:
    """Operands of an operation, numbers of the format `taken`: of all sizes; sums of sizes 0 to 80
    places apart; products and quotients about the ends of the range.
    """
    p = fmt.significand_bits
    if name == "from_integer":
        return (rng.choice([-1, 1]) * (rng.getrandbits(rng.randint(1, 62)) + 1),)
    if name in ("from_binary64", "from_binary32"):
        wide = FORMATS["binary64" if name == "from_binary64" else "binary32"]
        return (drawn_number(wide, rng, rng.randint(fmt.emin - p - 60, fmt.emax + 1)),)
    x = drawn_number(taken, rng, rng.randint(fmt.emin - p, fmt.emax))
    size = math.frexp(x)[1] - 1
    if name in ("add", "sub", "sum_of_binary64"):
        return x, drawn_number(taken, rng, size - rng.choice([1, -1]) * rng.randint(0, 80))
    if name == "sqrt":
        return (abs(x),)
    edge = rng.choice([fmt.emin - p, fmt.emin, fmt.emax, rng.randint(fmt.emin, fmt.emax)])
    shift = rng.randint(-60 if rng.random() < 0.2 else -3, 3)
    y = drawn_number(taken, rng, size - edge + shift if name == "div" else edge - size + shift)
    if name != "fma":
        return x, y
    apart = rng.choice([1, -1]) * rng.randint(0, 80)
    return x, y, drawn_number(taken, rng, size + math.frexp(y)[1] - 1 - apart)


def trial(seed: int, number: int, rows: int = 60) -> list[str]:
    """The faults of one format of p = 2 + number % 52 bits in every operation; every fifth beside
    another format, whose numbers are operands.
    """
    rng = random.Random(f"{seed} {number}")
    arithmetic = drawn_arithmetic(2 + number % 52, rng)
    taken, others = arithmetic.format, ()
    if rng.random() < 0.2:
        taken = FORMATS[rng.choice(["binary32", "binary64"])]
        if taken.emax > 450 and arithmetic.format.overflow == "saturate":
            taken = FORMATS["binary32"]  # the other is refused
        others = (taken,)
    compiled, wrong = Compiled(arithmetic, others), []
    for name in OPERATIONS:
        given = [drawn_row(name, arithmetic.format, taken, rng) for _ in range(rows)]
        wrong += faults(compiled, arithmetic, name, given)
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=520)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--results", type=Path, required=True)
    given = parser.parse_args()
    done = set()
    if given.results.exists():
        done = {json.loads(line)["number"] for line in given.results.read_text().splitlines()}
    for number in range(given.count):
        if number not in done:
            wrong = trial(given.seed, number, given.rows)
            with given.results.open("a") as file:
                print(json.dumps({"number": number, "wrong": wrong}), file=file)
            print(number, *wrong, sep="\n", flush=True)


if __name__ == "__main__":
    main()
