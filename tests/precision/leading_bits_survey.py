"""Roundings from leading bits at length: in how many results they differ from what they should be.

    python -m tests.precision.leading_bits_survey PAIRS PAIRS_OF_MPFR FORMAT ...

For each format (all of `test_leading_bits` where none is given) and each operation: results that
differ from the evaluation in binary64 and from 64-bit integers over PAIRS operands, and from MPFR
over PAIRS_OF_MPFR; for elementary functions, from their evaluation in the mode to nearest.
"""

from __future__ import annotations

import sys

import numpy as np

from sciprec.precision import lift, resolve_backend
from tests.oracles import vector
from tests.precision import arithmetic_kernels as kernels
from tests.precision.samples import in_format, random_numbers
from tests.precision.test_leading_bits import ARITY, SPECS, by_mpfr, operands, results

PART = 500_000


def differences(found, expected) -> int:
    """How many numbers differ in a bit, any NaN equal to any other."""
    same = (found == expected) & (np.signbit(found) == np.signbit(expected))
    return int(np.count_nonzero(~(same | np.isnan(found) & np.isnan(expected))))


def of_operations(spec: str, pairs: int, pairs_of_mpfr: int) -> dict[str, list[int]]:
    """Operation -> differences from binary64, integers and MPFR."""
    backend = resolve_backend(spec)
    fmt = backend.compute.format
    counts = {name: [0, 0, 0] for name in kernels.ARITHMETIC}
    for seed in range(-(-pairs // PART)):
        given = operands(fmt, min(PART, pairs), seed + 100)
        found, software = (results(backend, path, *given) for path in ("auto", "software"))
        left = max(0, min(PART, pairs_of_mpfr - seed * PART))
        some = np.random.default_rng(seed).permutation(given[0].size)[:left]
        for row, name in enumerate(kernels.ARITHMETIC):
            taken, count = given[: ARITY.get(name, 2)], counts[name]
            count[0] += differences(found[row], software[row])
            count[1] += differences(found[row], getattr(vector, name)(*taken, backend.compute))
            if left and fmt.overflow == "infinity":
                exactly = by_mpfr(name, fmt, *(x[some] for x in taken))
                count[2] += differences(found[row][some], exactly)
    return counts


def of_functions(spec: str, size: int) -> dict[str, int]:
    """Elementary function -> differences from the evaluation in the mode to nearest."""
    backend, counts = resolve_backend(spec), {}
    fmt = backend.compute.format
    for seed in range(-(-size // PART)):
        rng = np.random.default_rng(seed + 500)
        x = rng.standard_normal(PART - PART // 4) * np.exp2(rng.uniform(-12, 8, PART - PART // 4))
        x = np.concatenate([in_format(x, fmt), random_numbers(fmt, PART // 4, rng)])
        for kernel, names, given in (
            (kernels.unary_functions, kernels.UNARY_FUNCTIONS, (x,)),
            (kernels.binary_functions, kernels.BINARY_FUNCTIONS, (x, np.roll(x, 1))),
        ):
            found = [np.empty((len(names), x.size)) for _ in range(2)]
            for path, out in zip(("auto", "software"), found, strict=True):
                lift(kernel, backend, path=path)(*given, out)
            for row, name in enumerate(names):
                counts[name] = counts.get(name, 0) + differences(found[0][row], found[1][row])
    return counts


if __name__ == "__main__":
    size, of_mpfr = map(int, sys.argv[1:3])
    for one in sys.argv[3:] or SPECS:
        counted = of_operations(one, size, of_mpfr).items()
        said = [f"{name} {'/'.join(map(str, counts))}" for name, counts in counted]
        other = of_functions(one, size)
        wrong = {name: count for name, count in other.items() if count}
        print(f"{one}: {', '.join(said)}; {len(other)} functions: {wrong or 0}", flush=True)
