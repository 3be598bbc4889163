"""The 28 rearrangements of Hamming (1973), chapter 3, with inputs where they lose digits."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

LARGE, SMALL = "large", "small"
PROBLEMS = {
    "3.1": ("sqrt(x + 1) - sqrt(x)", LARGE),
    "3.3": ("sin(x + e) - sin(x)", "xe"),
    "3.4": ("(1 - cos(x))/sin(x)", SMALL),
    "3.5": ("atan(x + 1) - atan(x)", LARGE),
    "3.6": ("1/sqrt(x) - 1/sqrt(x + 1)", LARGE),
    "3.3.1": ("1/(x + 1) - 1/x", LARGE),
    "3.3.2": ("tan(x + e) - tan(x)", "xe"),
    "3.3.3": ("1/(x + 1) - 2/x + 1/(x - 1)", LARGE),
    "3.3.4": ("(x + 1)**(1/3) - x**(1/3)", LARGE),
    "3.3.5": ("cos(x + e) - cos(x)", "xe"),
    "3.3.6": ("log(x + 1) - log(x)", LARGE),
    "3.3.7": ("exp(x) - 2 + exp(-x)", SMALL),
    "p42+": ("(-b + sqrt(b*b - 4*(a*c)))/(2*a)", "abc"),
    "p42-": ("(-b - sqrt(b*b - 4*(a*c)))/(2*a)", "abc"),
    "3.2.1+": ("(-b + sqrt(b*b - a*c))/a", "abc"),
    "3.2.1-": ("(-b - sqrt(b*b - a*c))/a", "abc"),
    "3.7": ("exp(x) - 1", SMALL),
    "3.8": ("(x + 1)*log(x + 1) - x*log(x) - 1", LARGE),
    "3.9": ("1/x - 1/tan(x)", SMALL),
    "3.10": ("log(1 - x)/log(1 + x)", SMALL),
    "3.4.1": ("(1 - cos(x))/(x*x)", SMALL),
    "3.4.2": ("e*(exp((a + b)*e) - 1)/((exp(a*e) - 1)*(exp(b*e) - 1))", "abe"),
    "3.4.3": ("log((1 - e)/(1 + e))", "e"),
    "3.4.4": ("sqrt((exp(2*x) - 1)/(exp(x) - 1))", SMALL),
    "3.4.5": ("(x - sin(x))/(x - tan(x))", SMALL),
    "3.4.6": ("(x + 1)**(1/n) - x**(1/n)", "xn"),
    "3.5ax": ("exp(a*x) - 1", "ax"),
    "3.11": ("exp(x)/(exp(x) - 1)", SMALL),
}
"""Name -> the expression, and which numbers it is given."""
FEW = ("p42-", "fp32"), ("3.4.2", "fp64")
"""Problems of the usual tests, and not of the slow ones in fp32: a branch, all places at once."""


def inputs(kind: str, bits: int, count: int, seed: int, other: bool = False) -> dict:
    """Numbers by name, log-uniform: where the remark of the book applies, or the other regime.

    Args:
        kind: of `PROBLEMS`.
        bits: of the format.
        count: how many.
        seed: of the draws.
        other: numbers of moderate size, which lose little.
    """
    rng = np.random.default_rng(seed)
    sign = rng.choice([-1.0, 1.0], count)

    def between(low, high):
        return 2.0 ** rng.uniform(low, high, count)

    small = sign * (between(-2, -0.1) if other else between(-bits, -2))
    large = between(0.6, 3) if other else between(2, bits)
    if kind == LARGE:
        return {"x": large}
    if kind in (SMALL, "e"):
        return {"x" if kind == SMALL else "e": small}
    if kind == "xe":
        return {"x": rng.uniform(0.3, 1.2, count),
                "e": sign * (between(-1, 1) if other else between(-bits, -2))}  # fmt: skip
    if kind == "xn":
        return {"x": large, "n": rng.uniform(2, 9, count)}
    if kind == "ax":
        return {"a": rng.uniform(0.5, 2, count), "x": small}
    if kind == "abe":
        return {"a": rng.uniform(0.5, 2, count), "b": rng.uniform(0.5, 2, count), "e": small}
    size = between(1, 3) if other else between(2, bits / 2)
    part = 0.9 if other else 1.0
    return {"a": rng.uniform(0.5, 1, count), "b": sign * size,
            "c": part * rng.uniform(0.5, 1, count)}  # fmt: skip


def source(name: str) -> str:
    """The text of a problem's kernel."""
    expression, kind = PROBLEMS[name]
    names = list(inputs(kind, 24, 1, 1))
    text = re.sub(r"\b(sqrt|sin|cos|tan|atan|exp|log)\b", r"math.\1", expression)
    text = re.sub(rf"\b({'|'.join(names)})\b", r"\1[i]", text)
    called = "problem_" + re.sub(r"\W", lambda m: {"+": "p", "-": "m"}.get(m.group(), "_"), name)
    return (
        f"def {called}({', '.join(names)}, out):\n    for i in range(out.size):\n"
        f"        out[i] = {text}\n"
    )


def written(folder: Path, name: str) -> tuple[Path, str]:
    """The file of a problem's kernel, and the kernel's name in it."""
    text = source(name)
    called = text.partition("(")[0].removeprefix("def ")
    file = folder / f"{called}.py"
    file.write_text(f"import math\n\n\n{text}", encoding="utf-8")
    return file, called
