"""Speed and error of integer matrix products against binary32 and binary64 ones, in one run.

Every round times the fp32 product and every contender one after the other and takes the ratio
within the round; the median over the rounds is reported. One thread, packing included. The fp32
and fp64 products in Numba are of the same making as the integer ones: packed panels, tiles in
registers, fused multiply-add instructions; so that the ratio is that of the arithmetic.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import statistics
from collections.abc import Callable

import numba
import numpy as np

from benchmarks import kernels
from benchmarks.precision import _seconds, machine
from sciprec.arrays.integers.fixed_point import Quantized, adaptive_quantize
from sciprec.arrays.integers.matrix_products import fixed_matmul, tiled_matmul

TITLE = "Time of a matrix product"
CAPTION = "ratios to fp32 in Numba, blocked; errors relative to the largest element"
BASE = "fp32, Numba, blocked"
ROWS = (
    BASE, "fp64, Numba, blocked", "fp32, Numba, loops", "fp64, Numba, loops", "fp32, NumPy",
    "fp64, NumPy", "int8", "int16", "int16, headroom 2", "int32", "int32, accurate",
    "int8, from floats", "int16, from floats", "int32, from floats",
)  # fmt: skip
"""Integers are given with their scales, or chosen from binary64 within the time."""

ERROR_ROWS = 4  # rows of the product whose error is measured


def sizes(small: bool) -> tuple[int, ...]:
    """Rows and columns of the square matrices; `small` are sizes for tests."""
    return (16, 40) if small else (128, 256, 512, 1024, 2048)


def contenders(a: np.ndarray, b: np.ndarray) -> dict[str, Callable[[], np.ndarray]]:
    """row -> a function that multiplies the matrices in its arithmetic."""
    single = a.astype(np.float32), b.astype(np.float32)

    def integers(bits: int, headroom: int = 0) -> tuple[Quantized, Quantized]:
        return tuple(adaptive_quantize(x, bits, headroom=headroom) for x in (a, b))

    def loops(x, y):
        c = np.zeros((x.shape[0], y.shape[1]), x.dtype)
        _loops(x, y, c)
        return c

    calls = (
        (tiled_matmul, (*single, "float32")), (tiled_matmul, (a, b, "float64")), (loops, single),
        (loops, (a, b)), (np.matmul, single), (np.matmul, (a, b)), (fixed_matmul, integers(8)),
        (fixed_matmul, integers(16)), (fixed_matmul, integers(16, 2)),
        (fixed_matmul, integers(32)), (fixed_matmul, (*integers(32), 32, True)),
        (fixed_matmul, (a, b, 8)), (fixed_matmul, (a, b, 16)), (fixed_matmul, (a, b, 32)),
    )  # fmt: skip
    return {
        row: (lambda f=function, given=arguments: f(*given))
        for row, (function, arguments) in zip(ROWS, calls, strict=True)
    }


_loops = numba.njit(kernels.matrix_product, error_model="numpy", nogil=True)


def _one_thread():
    """NumPy's products on one thread, where `threadpoolctl` is there to ask for it."""
    if importlib.util.find_spec("threadpoolctl"):
        import threadpoolctl

        return threadpoolctl.threadpool_limits(1)
    return contextlib.nullcontext()


def _numpy_threads() -> str:
    if importlib.util.find_spec("threadpoolctl"):
        return "1"
    return os.environ.get("OPENBLAS_NUM_THREADS") or "all; OPENBLAS_NUM_THREADS=1 makes it one"


def measure(
    small: bool = False, rounds: int = 5, say: Callable[[str], None] = lambda text: None
) -> dict:
    """Run the benchmark.

    Args:
        small: a quick run of tiny sizes (for tests; its ratios mean nothing).
        rounds: how many rounds the medians are over, at least; up to ten times as many of
            short products.
        say: is told what is being measured.

    Returns:
        The machine, and per size the seconds of the fp32 product, and of each row the ratio to it
        and the largest error, relative to the largest element, of a few rows of the product.
    """
    results = []
    with _one_thread():
        for n in sizes(small):
            say(f"{n} x {n}")
            results.append(_measure_size(n, 2 if small else rounds))
    facts = machine() | {"NumPy threads": _numpy_threads()}
    return {"benchmark": "fixed", "machine": facts, "cases": results}


def _measure_size(n: int, rounds: int) -> dict:
    a, b = np.random.default_rng(n).standard_normal((2, n, n))
    found = contenders(a, b)
    exact = a[:ERROR_ROWS].astype(np.longdouble) @ b.astype(np.longdouble)
    errors = {
        row: float(np.abs(multiply()[:ERROR_ROWS] - exact).max() / np.abs(exact).max())
        for row, multiply in found.items()
    }
    once = sum(_seconds(f, [], 1) for f in found.values())
    rounds = max(rounds, min(10 * rounds, int(2.0 / once)))
    times = [{row: _seconds(f, [], 1) for row, f in found.items()} for _ in range(rounds)]
    return {
        "size": n,
        "base_seconds": statistics.median(t[BASE] for t in times),
        "rows": [
            {
                "row": row,
                "ratio": statistics.median(t[row] / t[BASE] for t in times),
                "error": errors[row],
            }
            for row in found
        ],
    }


def timings(result: dict) -> dict[str, float]:
    """Seconds of each product of ours, by name."""
    return {
        f"{entry['row']}, {case['size']} x {case['size']}": case["base_seconds"] * entry["ratio"]
        for case in result["cases"] for entry in case["rows"]
    }  # fmt: skip


def tables(result: dict) -> dict[str, list[dict]]:
    """The table: one row per arithmetic; per size the ratio, and the error at the last size."""
    table: dict[str, dict] = {}
    for case in result["cases"]:
        for entry in case["rows"]:
            row = table.setdefault(entry["row"], {"arithmetic": entry["row"]})
            row[str(case["size"])] = round(entry["ratio"], 2)
            row[f"error {case['size']}"] = f"{entry['error']:.0e}"
    base = {str(case["size"]): f"{case['base_seconds'] * 1e3:.3g} ms" for case in result["cases"]}
    return {TITLE: [*table.values(), {"arithmetic": f"time of {BASE}"} | base]}
