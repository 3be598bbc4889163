"""Formulas that the rules of `mend` were not written for: bits of error before and after.

    python -m benchmarks.mend_unseen fp32 [part of parts, such as 0/2] > table.md

Every formula of `mend_unseen.txt` is mended on 24 drawn inputs, and both kernels are run on 200
others. A row: mean and worst bits of error, log2(1 + units in the last place), before and after.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np

from sciprec import lift, quantize, trace
from sciprec.precision.formats.backend import TRUTH, resolve_backend
from sciprec.tools.digits.truth import truth_of
from sciprec.tools.mend.judge import unit_of
from sciprec.tools.trace.problem import Problem, stored_in

MOST = 12  # candidates of a formula
FORMULAS = Path(__file__).with_suffix(".txt")
_FUNCTIONS = r"\b(sqrt|exp|log|sin|cos|tan|atan|asin|acos|atan2|expm1|log1p|sinh|cosh|tanh|hypot)\("


def formulas() -> list[tuple[str, dict[str, tuple[float, float]], list[str]]]:
    """Name, ranges by argument, statements."""
    found = []
    for line in FORMULAS.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            name, ranges, text = line.split(" | ")
            ends = {n: (float(a), float(b.rstrip("?"))) for n, _, a, b in map(str.split,
                    ranges.split(", "))}  # fmt: skip
            found.append((name, ends, text.split("; ")))
    return found


def kernel_of(folder: Path, number: int, arguments, statements):
    """The kernel of a formula, in a file of its own."""
    named = [re.sub(_FUNCTIONS, r"math.\1(", s) for s in statements]
    named = [re.sub(rf"(?<![\w.])({'|'.join(arguments)})\b(?!\()", r"\1[at]", s) for s in named]
    *before, last = named
    lines = [*before, f"out[at] = {last}"]
    body = "".join(f"        {line}\n" for line in lines)
    head = f"def formula_{number}({', '.join(arguments)}, out):\n    for at in range(out.size):\n"
    file = folder / f"formula_{number}.py"
    file.write_text(f"import math\n\n\n{head}{body}", encoding="utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, f"formula_{number}")


def drawn(ranges, backend: str, count: int, seed: int) -> list[np.ndarray]:
    """Numbers of the format within the ranges."""
    rng, found = np.random.default_rng(seed), []
    for low, high in ranges.values():
        share = rng.uniform(0.0, 1.0, count)
        ratio = high / low if low * high > 0.0 else 1.0
        wide = max(ratio, 1.0 / ratio) > 100.0
        values = low * ratio**share if wide else low + (high - low) * share
        found.append(np.asarray(quantize(values, backend), float))
    return found


def wrong_bits(kernel, truth, inputs, backend: str) -> tuple[float, float]:
    """Mean and worst error of a kernel, where exact values are known."""
    out = np.zeros(inputs[0].size)
    with np.errstate(all="ignore"):
        lift(kernel, backend)(*inputs, out)
        to = stored_in(resolve_backend(backend)).format
        high, low, doubt = truth.high["out"], truth.low["out"], truth.doubt["out"]
        known = np.isfinite(high) & (doubt <= abs(high) * 2.0 ** -(to.significand_bits + 2))
        error = abs((out - high) - low) / unit_of(high, to)
        bits = np.minimum(np.log2(1.0 + error), to.significand_bits)[known]
    bits = np.where(np.isfinite(bits), bits, to.significand_bits)
    return (float(bits.mean()), float(bits.max())) if bits.size else (np.nan, np.nan)


def row(folder: Path, number: int, backend: str) -> str:
    """A line of the table."""
    name, ranges, statements = formulas()[number]
    seed = zlib.crc32(name.encode())
    try:
        kernel = kernel_of(folder, number, list(ranges), statements)
        given = drawn(ranges, backend, 24, seed)
        mend = trace(kernel, backend, (*given, np.zeros(24)), samples=1).mend(most=MOST)
        fresh = drawn(ranges, backend, 200, seed + 1)
        problem = Problem(kernel, resolve_backend(TRUTH), (*fresh, np.zeros(200)), None, 4)
        _, truth = truth_of(problem)
        before = wrong_bits(kernel, truth, fresh, backend)
        if not mend.proposals:
            words = re.match(r"[^:,]*", mend.verdict).group()
            why = next(
                (
                    w
                    for w in (
                        "Nothing can be proven",
                        "There is nothing to mend",
                        "No rule fits",
                        "Nothing is offered",
                    )
                    if w in words
                ),
                words,
            )
            return f"| {name} | {before[0]:.1f} ({before[1]:.1f}) | | {why.lower()} |"
        best = mend.proposals[0]
        after = wrong_bits(best.kernel, truth, fresh, backend)
    except Exception as error:  # a formula that fails is a row of the table
        first = " ".join(str(error).split())[:100]
        return f"| {name} | failed | | {type(error).__name__}: {first} |"
    return (f"| {name} | {before[0]:.1f} ({before[1]:.1f}) | {after[0]:.1f} ({after[1]:.1f}) | "
            f"{best.title} |")  # fmt: skip


def main(backend: str, share: str = "0/1") -> None:
    first, parts = map(int, share.split("/"))
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, len(formulas()), parts):
            print(row(Path(folder), number, backend), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
