"""Random kernels of a few lines, for exhaustive searches."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np

from tests.random_kernels.trials import kernel_in

_HEAD = "import math\nimport numpy as np\n\n\ndef kernel(x, y, out):\n"
_LOOP = "    for i in range(out.size):\n"
_SUMS = ("np.sum(y) / y.size", "np.sum(x * y) * 0.01", "np.mean(x)", "np.dot(x, y) / y.size")
_FORMS = (
    "{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} / (1.5 + abs({b}))", "math.sqrt(abs({a}) + {c})",
    "{c} * {a} + {b}", "({a} - {b}) * {c}", "{a} * {a} - {b} * {c}", "math.exp(-abs({a})) + {b}",
    "{a} ** 2 + {c}", "{c} * {b} ** 3",
)  # fmt: skip


def source_of(seed: int) -> str:
    """A kernel of three to six lines with operations; of every other seed one sums an array."""
    rng = random.Random(seed)
    known, lines, head = ["x[i]", "y[i]"], [], _HEAD + _LOOP
    if seed % 2:
        head = f"{_HEAD}    total = {rng.choice(_SUMS)}\n{_LOOP}"
        known.append("total")
    for number in range(rng.randint(3, 6) - 1 - seed % 2):
        lines.append(f"        v{number} = {_form(rng, known)}")
        known.append(f"v{number}")
    lines.append(f"        out[i] = {rng.choice(known[-2:])} + {_form(rng, known)}")
    return head + "\n".join(lines) + "\n"


def _form(rng: random.Random, known: list[str]) -> str:
    c = rng.choice(("0.1", "3.7", "100.3", "0.003"))
    return rng.choice(_FORMS).format(a=rng.choice(known[-3:]), b=rng.choice(known), c=c)


def kernel_of(seed: int, folder: Path):
    """The kernel of a seed."""
    return kernel_in(source_of(seed), folder)


def inputs_of(seed: int, count: int = 300) -> tuple:
    """Arguments for any of them."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.2, 3.0, count), rng.normal(size=count), np.zeros(count)
