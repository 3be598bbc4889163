"""Random kernels whose places have random scales, in both forms, against exact fractions.

A kernel is a list of steps with one operation each, which the oracle carries out by itself; each
step has a scale, in a random format.
"""

import math
import random
import runpy
from fractions import Fraction

import numpy as np
import pytest

from sciprec.instruments.assigning.scaled import scalable
from sciprec.instruments.assigning.scaling import KEPT, shifted
from sciprec.precision import resolve_backend
from tests.oracles.exact import round_exact
from tests.precision.test_scaled import numbers

FORMATS = "fp16", "e4m3fn", "e5m2", "bf16", "float:p=11,emin=-3,emax=4", "float:p=2,emin=-5,emax=6"
SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
WRITTEN = {"abs": "abs({0})", "max": "max({0}, {1})", "neg": "-{0}", "copy": "{0}"}
"""Operations that round nothing."""
GIVEN = ("x[i]", "y[i]", "z[i]")
SIZE, FIRST_LINE = 25, 5


def steps_of(rng: random.Random) -> list[tuple[str, ...]]:
    """Steps (target, operation, operands): a loop's, with a sum that goes on."""
    known, made = [*GIVEN, *(repr(rng.choice([0.7, 3.0, -1.0 / 3.0, 0.5, 10.0]))
                             for _ in range(2)), "total"], []  # fmt: skip
    for number in range(rng.randint(4, 12)):
        operation = rng.choice(["add", "add", "sub", "mul", "mul", "div", "sqrt", *WRITTEN])
        count = 1 if operation in ("sqrt", "abs", "neg", "copy") else 2
        fresh = [name for name in known if name.startswith("v")]
        operands = [rng.choice(fresh) if fresh and rng.random() < 0.6 else rng.choice(known)
                    for _ in range(count)]  # fmt: skip
        target = "total" if rng.random() < 0.15 else f"v{number}"
        made.append((target, operation, *operands))
        known.append(target)
    return made


def source_of(steps) -> str:
    """The kernel, a step a line; the first step is on FIRST_LINE."""
    lines = ["import math", "def kernel(x, y, z, out):", "    total = 0.0",
             "    for i in range(out.size):"]  # fmt: skip
    for target, operation, *operands in steps:
        made = WRITTEN.get(operation) or "math.sqrt({0})"
        if operation in SYMBOLS:
            made = f"{{0}} {SYMBOLS[operation]} {{1}}"
        lines.append(f"        {target} = {made.format(*operands)}")
    return "\n".join([*lines, f"        out[i] = {steps[-1][0]}", ""])


def done(operation: str, a: float, b: float, arithmetic) -> float:
    """One operation on binary64 numbers, rounded once; zeros have their signs."""
    if operation in ("abs", "neg", "copy"):
        return {"abs": abs(a), "neg": -a, "copy": a}[operation]
    if operation == "max":  # Python's: the second one where it is larger
        return b if b > a else a
    with np.errstate(all="ignore"):
        plain = (float(np.sqrt(a)) if operation == "sqrt" else
                 float({"add": np.add, "sub": np.subtract, "mul": np.multiply,
                        "div": np.divide}[operation](a, b)))  # fmt: skip
    if not (math.isfinite(a) and math.isfinite(b)) or plain != plain:
        return plain
    if operation == "div" and b == 0.0:  # as what overflows: e4m3fn has no infinity
        return math.copysign(round_exact(Fraction(2) ** 4000, arithmetic), plain)
    if operation == "sqrt":
        return a if a == 0.0 else rounded_root(Fraction(a), arithmetic)
    x, y = Fraction(a), Fraction(b)
    exact = {"add": x + y, "sub": x - y, "mul": x * y, "div": x / y if y else 0}[operation]
    return math.copysign(round_exact(exact, arithmetic), plain)


def rounded_root(x: Fraction, arithmetic) -> float:
    """The root to 200 bits below it, and a bit more where it goes on."""
    shift = 400 + 2 * max(0, x.denominator.bit_length() - x.numerator.bit_length())
    whole = (x.numerator << shift) // x.denominator
    root = math.isqrt(whole)
    goes_on = root * root != whole or (x.numerator << shift) % x.denominator
    return round_exact(Fraction(2 * root + bool(goes_on), 1 << (shift // 2 + 1)), arithmetic)


def expected_of(steps, arithmetics, given, wide) -> list[float]:
    """Values that the kernel writes, step by step; literals have the significand of a format."""
    made, values = [], {"total": 0.0}
    for row in zip(*given, strict=True):
        values |= dict(zip(GIVEN, map(float, row), strict=True))
        for (target, operation, *operands), arithmetic in zip(steps, arithmetics, strict=True):
            taken = [values[one] if one in values else round_exact(Fraction(float(one)), wide)
                     for one in operands]  # fmt: skip
            values[target] = done(operation, taken[0], taken[-1], arithmetic)
        made.append(values[steps[-1][0]])
    return made


def short_format(random) -> str:
    """A random format of at most 11 bits."""
    bits, least, most = random.integers(2, 12), random.integers(-15, 0), random.integers(1, 20)
    return f"float:p={bits},emin={least},emax={most}"


def require_as_steps(seed: int, folder, draws: int) -> None:
    """A random kernel at random scales of random formats."""
    rng, draw = random.Random(seed), np.random.default_rng(seed)
    steps = steps_of(rng)
    file = folder / f"scaled_{seed}.py"
    file.write_text(source_of(steps))
    kernel = scalable(runpy.run_path(str(file))["kernel"])
    lines = [kernel.program.sites[row.site].line for row in kernel.rows]
    for _ in range(draws):
        name = rng.choice((*FORMATS, short_format(draw)))
        arithmetic = resolve_backend(name).compute
        wide = resolve_backend(f"float:p={arithmetic.format.significand_bits}").compute
        small, most = rng.choice(["clipped", KEPT]), rng.choice([3, 20, 100])
        k = [rng.randint(-most, most) for _ in steps]
        given = [numbers(draw, arithmetic, SIZE, rng.randint(1, 30)) for _ in range(3)]
        own = [shifted(arithmetic, one, small) for one in k]
        with np.errstate(all="ignore"):
            expected = expected_of(steps, own, given, wide)
        of_rows = [k[line - FIRST_LINE] if line >= FIRST_LINE else 0 for line in lines]
        out = np.zeros(SIZE)
        kernel.run(kernel.table(arithmetic, of_rows, small), *given, out)
        np.testing.assert_array_equal(out, expected, f"{name} {small} {k}\n{file.read_text()}")


@pytest.mark.parametrize("seed", [2, pytest.param(0, marks=pytest.mark.slow)])
def test_random_kernels_at_random_scales(seed, tmp_path):
    require_as_steps(seed, tmp_path, 12)
