"""Kernels for `bound`: drawn from a seed, element by element, and numbers that they are given."""

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
    "np.cbrt({})", "np.sinc({})", "math.gamma({})", "special.beta({}, {})",
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
    body = "\n".join([*lines, f"        out[i] = {last}"])
    head = "import math\nimport numpy as np\nfrom scipy import special\nfrom sciprec import fma\n"
    return f"{head}\n\ndef kernel(x, y, out):\n    for i in range(x.size):\n{body}\n"


def drawn(seed: int, folder: Path):
    """The kernel of a seed."""
    return kernel_in(source(seed), folder)


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
