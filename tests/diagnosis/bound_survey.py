"""Bounds of many random kernels in eight arithmetics against exact values; what is done is kept.

    python -m tests.diagnosis.bound_survey FOLDER FIRST LAST NUMBERS [lines] [cancelling]

Runs the kernels of seeds FIRST to LAST - 1 on NUMBERS pairs of numbers each, those that decide, a
pair a call, on a sixteenth of them. An exact value is that of all arithmetics, so each is computed
once. With `lines` every line has a format of its own, drawn from those of four mixtures; with
`cancelling` operands nearly cancel in front of functions with a kink or a jump. A seed's counts
and findings are in FOLDER/seed_N.json as soon as it is complete.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

from sciprec import bound, lift
from sciprec.foundation.errors import InputError
from sciprec.precision import resolve_backend
from tests.diagnosis.bound_kernels import decides, drawn, nearly_cancelling, numbers
from tests.diagnosis.kept_seeds import kept
from tests.diagnosis.trace_checks import MIXTURES, by_line
from tests.oracles.reals import errors, real_kernel

ARITHMETICS = (
    "bf16", "fp64", "fp16", "fp32", "mlu370", "float:p=13,emin=-60,emax=60,round=rz", "e4m3fn",
    "float:p=40,round=ru",
)  # fmt: skip
FMA = {"fma": lambda x, y, z: x * y + z}
FEWER = 16


def units() -> list[float]:
    """The unit roundoff of every arithmetic."""
    return [resolve_backend(name).storage.format.unit_roundoff for name in ARITHMETICS]


def surveyed(
    seed: int, count: int, lines: bool = False, cancelling: bool = False, names=ARITHMETICS
) -> dict[str, Any]:
    """Of a kernel: calls (an element in an arithmetic each), those with a bound, open decisions,
    findings (bounds below the error), and quantiles of bound over error. Of one arithmetic all
    numbers are run.
    """
    deciding = decides(seed) if cancelling else seed % 3 == 0
    total = max(1, count // FEWER) if deciding and len(names) > 1 else count
    name = names[seed % len(names)]
    given: tuple[np.ndarray, ...] = numbers(seed, total, name)
    if cancelling:
        given = nearly_cancelling(seed, total, name, units())
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        kernel = drawn(seed, Path(folder), cancelling)
        on_reals = real_kernel(kernel, FMA)

        @cache
        def exact(n: int) -> Any:
            one = (a[n : n + 1] for a in given)
            return on_reals((*one, np.zeros(1)))[1][-1]

        found: dict[str, Any] = {
            "calls": 0,
            "bounded": 0,
            "open": 0,
            "refused": 0,
            "no real": 0,
            "below": [],
        }
        ratios: list[float] = []
        mixtures = range(len(MIXTURES)) if len(names) > 1 else (seed,)
        for name in [by_line(kernel, n) for n in mixtures] if lines else names:
            found["calls"] += total
            try:
                for first, size in ((n, 1) for n in range(total)) if deciding else ((0, total),):
                    _one_call(kernel, name, given, first, size, exact, found, ratios)
            except InputError as error:
                found["refused"] += 1
                found["why"] = str(error)
    finite = [one for one in ratios if math.isfinite(one)]
    found["median"] = float(np.median(finite)) if finite else None
    found["nine tenths"] = float(np.quantile(finite, 0.9)) if finite else None
    return found


def _one_call(
    kernel: Callable[..., Any], name: Any, given: tuple[np.ndarray, ...], first: int,
    size: int, exact: Callable[[int], Any], found: dict[str, Any], ratios: list[float],
) -> None:  # fmt: skip
    """Hold the bounds of a call against exact values, and its results against those of `lift`."""
    part, out = [a[first : first + size] for a in given], np.zeros(size)
    proven = bound(kernel, name, (*part, out))
    lift(kernel, name)(*part, out)
    found["open"] += bool(proven.undecided)
    tested, bounds = proven.results["out"], proven.bounds["out"]
    assert np.array_equal(out, tested, equal_nan=True)
    for n in np.flatnonzero(np.isfinite(bounds)).tolist():
        (error,) = errors(tested[n : n + 1], exact(first + n))
        if not mpmath.isfinite(error):  # fmod(x, inf), 1**nan: real numbers have none of these
            found["no real"] += 1
            continue
        found["bounded"] += 1
        if not error <= bounds[n]:
            numbers_given = [float(one[first + n]).hex() for one in given]
            below = {"arithmetic": str(name), "numbers": numbers_given, "bound": float(bounds[n])}
            found["below"].append(below | {"error": float(error), "tested": float(tested[n])})
        if error:
            ratios.append(float(bounds[n] / error))


def survey(
    folder: Path, first: int, last: int, count: int, lines: bool = False, cancelling: bool = False
) -> dict[str, Any]:
    """Run every seed that the folder does not hold yet; the sum over all that it holds."""
    every = kept(
        folder, range(first, last), lambda seed: surveyed(seed, count, lines, cancelling),
        f"_{count}{'_lines' * lines}{'_cancelling' * cancelling}",
    )  # fmt: skip
    medians = [one["median"] for one in every if one["median"] is not None]
    return (
        {"kernels": len(every)}
        | summed(every)
        | {
            "below": [one["seed"] for one in every if one["below"]],
            "median": float(np.median(medians)) if medians else None,
        }
    )


def summed(every: Iterable[dict[str, Any]]) -> dict[str, int]:
    """The counts of several kernels."""
    counts = ("calls", "bounded", "open", "refused", "no real")
    return {name: sum(one[name] for one in every) for name in counts}


if __name__ == "__main__":
    words = [word in sys.argv[5:] for word in ("lines", "cancelling")]
    print(survey(Path(sys.argv[1]), *map(int, sys.argv[2:5]), *words))
