"""Kernels for `bound`: drawn from a seed, element by element, and numbers that they are given.

Two families: of all operations with numbers of all kinds, and of functions with a kink or a jump
whose operands nearly cancel, so that the tested and the exact one lie on different sides.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sciprec import quantize
from tests.random_kernels.trials import kernel_in

ONE = (
    "math.exp({})", "math.expm1({})", "np.exp2({})", "math.log({})", "np.log2({})",
    "math.log10({})",
    "math.log1p({})", "math.sin({})", "math.cos({})", "math.tan({})", "math.asin({})",
    "math.acos({})", "math.atan({})", "math.sinh({})", "math.cosh({})", "math.tanh({})",
    "math.asinh({})", "math.acosh({})", "math.atanh({})", "math.erf({})", "math.erfc({})",
    "np.cbrt({})", "np.sinc({})", "math.gamma({})",
)  # fmt: skip
TWO = ("math.atan2({}, {})", "math.hypot({}, {})", "math.pow(abs({}), {})")
PLAIN = (
    *(4 * ("{} + {}", "{} - {}", "{} * {}")), *(3 * ("{} / {}",)), "fma({}, {}, {})",
    "math.sqrt({})", "math.sqrt(abs({}))", "abs({})", "-{}", "({}) ** 2", "({}) ** 3",
)  # fmt: skip
DECIDING = (
    "max({}, {})", "min({}, {})", "np.floor({})", "math.fmod({}, {})", "{} % {}", "{} // {}",
    "float(int({}))", "math.copysign({}, {})", "np.sign({})", "{} if {} < {} else {}",
    "{} if {} >= {} else {}",
)  # fmt: skip
CANCELLING = (
    "{x} * {y} - {z}", "{z} - {x} * {y}", "{z} / {y} - {x}", "{x} - {z} / {y}",
    "fma({x}, {y}, -{z})", "{x} * {y} / {z} - 1.0", "math.sqrt({x} * {x}) - abs({z} / {y})",
    "({x} + {y}) - ({z} / {y} + {y})", "{x} * {y} * {y} - {z} * {y}", "{x} * 0.1 * {y} - {z} * 0.1",
    "({x} + 0.1) * {y} - ({z} + 0.1 * {y})", "{z} * {x} - {x} * {y} * {x}",
)  # fmt: skip
"""Rounding is monotone, so that a rounded x y is never beyond a z that the format holds: there the
products and sums with 0.1 alone have other signs than exact ones.
"""
NEAR_ONE = ("{x} * {y} / {z}", "{z} / {x} / {y}", "{x} / ({z} / {y})", "3.0 * ({x} * {y} / {z})")
KINKED = (
    "abs({})", "math.fabs({})", "np.abs({})", "math.copysign({}, 1.0)", "math.copysign({}, -2.5)",
    "math.hypot({}, 0.0)", "math.hypot({}, {})", "math.sqrt(abs({}))", "math.sqrt({})",
    "abs({}) - {}", "{} + abs({})", "math.atan2({}, {})", "1.0 / {}", "{} / {}",
    "math.log(abs({}))", "math.pow(abs({}), 0.5)", "np.cbrt({})", "math.cosh({})", "({}) ** 2",
    "np.square({})", "-{}", "np.reciprocal({})", "0.0 / {}", "math.acos(1.0 - abs({}))",
    "math.asin({})", "math.exp({})",
)  # fmt: skip
JUMPING = (
    "max({}, {})", "min({}, {})", "np.fmax({}, {})", "np.fmin({}, {})", "np.maximum({}, {})",
    "np.minimum({}, {})", "np.floor({})", "np.ceil({})", "np.trunc({})", "np.rint({})",
    "float(int({}))", "float(math.floor({}))", "float(math.ceil({}))", "float(math.trunc({}))",
    "float(round({}))", "round({}, 2)", "np.sign({})", "math.copysign({}, {})", "{} % {}",
    "math.fmod({}, {})", "{} // {}", "divmod({}, {})[0] * 1.0", "divmod({}, {})[1]",
    "np.clip({}, {}, {})", "np.clip({}, 0.0, {})", "{} if {} < {} else {}",
    "{} if {} >= 0.0 else {}", "{} if {} == {} else {}", "{} if {} != 0.0 else {}",
    "{} if {} <= {} else {}", "{} if {} > 0.0 else -{}", "1.0 if np.isfinite({}) else {}",
    "max({}, 0.0)", "min({}, 0.0)", "{} % 1.0", "math.fmod({}, 1.0)",
    "{} if np.isclose({}, {}) else {}",
)  # fmt: skip
LITERALS = ("0.1", "1.0", "3.0", "0.75", "1e-3", "2.5")


def source(seed: int) -> str:
    """out[i] of x[i] and y[i]; every third kernel decides."""
    rng = np.random.default_rng(seed)
    known, lines = ["x[i]", "y[i]"], []
    forms = [*PLAIN, *PLAIN, *rng.choice(ONE, 3), *TWO]
    forms += [] if seed % 3 else [*DECIDING, *DECIDING]
    for n in range(int(rng.integers(3, 9))):
        form = str(rng.choice(forms))
        count = form.count("{}")
        operands = [str(rng.choice([*known, *known, *LITERALS[:6]])) for _ in range(count)]
        if form == "float(int({}))":
            operands = [f"{operands[0]} / ({operands[0]} * {operands[0]} + 1.0) * 20.0"]
        lines.append(f"        v{n} = {form.format(*operands)}")
        known.append(f"v{n}")
    last = " + ".join(known[-2:])
    return _module("x, y, out", [*lines, f"        out[i] = {last}"])


def _module(parameters: str, lines: list[str]) -> str:
    body = "\n".join(lines)
    head = "import math\nimport numpy as np\nfrom sciprec import fma\n"
    return f"{head}\n\ndef kernel({parameters}):\n    for i in range(x.size):\n{body}\n"


def cancelling_source(seed: int) -> str:
    """out[i] of x[i], y[i] and z[i], where x y is almost z: every second kernel decides. A result
    and its operand are used again behind every function.
    """
    rng = np.random.default_rng((seed, 3))
    of = {name: f"{name}[i]" for name in "xyz"}
    known = rng.choice(CANCELLING), rng.choice(CANCELLING + NEAR_ONE)
    lines = [f"        v{n} = {str(text).format(**of)}" for n, text in enumerate(known)]
    names = ["v0", "v1"]
    forms = [*JUMPING, *KINKED[:8]] if decides(seed) else KINKED
    for n in range(2, 2 + int(rng.integers(1, 4))):
        form = str(rng.choice(forms))
        others = [*names, *names, *of.values(), *LITERALS[:3]]
        operands = [rng.choice(names), *rng.choice(others, 3)][: form.count("{}")]
        lines.append(f"        v{n} = {form.format(*operands)}")
        names.append(f"v{n}")
    last = f"{names[-1]} {rng.choice(['+', '-', '*'])} {rng.choice(names[:-1])}"
    return _module("x, y, z, out", [*lines, f"        out[i] = {last}"])


def decides(seed: int) -> bool:
    """Whether a cancelling kernel has functions that jump."""
    return seed % 2 == 0


def drawn(seed: int, folder: Path, cancelling: bool = False):
    """The kernel of a seed."""
    return kernel_in((cancelling_source if cancelling else source)(seed), folder)


def numbers(seed: int, count: int, backend) -> tuple[np.ndarray, np.ndarray]:
    """Ordinary numbers, numbers of the format, whole ones, of all sizes, and special values."""
    rng = np.random.default_rng(seed)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e-310, 1.7e308, -2.0**-1022,
                        65504.0, 1e5, 2.0**-24, 1.0, -1.0, 0.5])  # fmt: skip

    def one() -> np.ndarray:
        made = rng.normal(0.0, 2.0, count)
        kind = rng.integers(0, 12, count)
        made = np.where(kind == 0, np.round(made), made)
        made = np.where(kind == 1, rng.choice(special, count), made)
        sizes = rng.choice([-1.0, 1.0], count) * 2.0 ** rng.uniform(-40.0, 40.0, count)
        huge = rng.choice([-1.0, 1.0], count) * 2.0 ** rng.uniform(-1074.0, 1023.9, count)
        made = np.where(kind == 2, sizes, np.where(kind == 3, huge, made))
        with np.errstate(all="ignore"):
            held = np.asarray(quantize(made, backend), np.float64)
        return np.where(kind % 2 == 0, held, made)

    x, y = one(), one()
    return x, np.where(rng.integers(0, 10, count) == 0, x, y)


def nearly_cancelling(seed: int, count: int, backend, units) -> tuple[np.ndarray, ...]:
    """x, y and z = x y (1 + a few units), each unit drawn for itself; a half is of a format, some
    are whole or special.
    """
    rng = np.random.default_rng((seed, 4))
    x, y = rng.normal(0.0, 2.0, (2, count))
    whole = rng.integers(0, 6, count) == 0
    x, y = np.where(whole, np.round(x), x), np.where(whole, np.round(2.0 * y), y)
    held = rng.integers(0, 2, count) == 0
    moved = rng.choice(units, count) * np.where(
        held, rng.integers(-3, 4, count), rng.uniform(-3.0, 3.0, count)
    )
    with np.errstate(all="ignore"):
        x, y = (np.where(held, np.asarray(quantize(a, backend), np.float64), a) for a in (x, y))
        z = x * y * (1.0 + moved)
        z = np.where(held, np.asarray(quantize(z, backend), np.float64), z)
    special = rng.choice([0.0, -0.0, 1.0, -1.0, 1e-310, 1e300, np.inf], count)
    return x, y, np.where(rng.integers(0, 25, count) == 0, special, z)
