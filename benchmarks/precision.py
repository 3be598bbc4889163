"""Speed of lifted kernels against the same kernel compiled by plain Numba in binary32, in one run.

Every round times the native kernel and every contender one after the other, in processor seconds,
and takes the ratio within the round; the median over the rounds is reported, with the least. One
thread.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import llvmlite.binding
import numba
import numpy as np

from benchmarks import kernels, peers
from sciprec import __version__
from sciprec.precision import lift, resolve_backend
from sciprec.precision.rounding.mode import has_feature

TITLE = "Time of a lifted kernel"
CAPTION = "ratios to native binary32 in processor seconds: median (least); goals for Zen 5"

BACKENDS = {
    "fp32": "fp32",
    "mlu370": "mlu370",
    "custom rz, 14 bits": "float:p=14,round=rz",
    "fp16": "fp16",
    "bf16": "bf16",
    "tf32": "tf32",
    "custom rn, 10 bits": "float:p=10,emin=-30,emax=30",
    "custom rn, 16 bits": "float:p=16",
    "custom rn, 23 bits": "float:p=23",
    "custom rn, 16 bits, own range": "float:p=16,emin=-40,emax=40",
    "e4m3fn": "e4m3fn",
    "bf16 stochastic": "float:p=8,round=sr",
    "fp32 stochastic": "fp32,round=sr",
    "fp64 stochastic": "fp64,round=sr",
    "fp64 at random": "fp64,round=random",
    "fp64 Monte Carlo": "fp64,round=mca",
    "mlu370-noguard": "mlu370-noguard",
    "mlu370-noise": "mlu370-noise",
    "fixed32": "fixed32",
    "fixed16": "fixed16",
    "fp64": "fp64",
}
"""row of the table -> backend."""

GOALS = {
    "fp32": (1.02, 1.02), "mlu370": (1.12, 1.05), "custom rz, 14 bits": (3, 2), "fp16": (3.1, 2),
    "bf16": (3.1, 2), "tf32": (3, 2), "custom rn, 10 bits": (5.3, 2.9),
    "custom rn, 16 bits": (6.5, 3.5), "custom rn, 23 bits": (6.5, 3.5),
    "custom rn, 16 bits, own range": (11, 5.7), "bf16 stochastic": (6, 6),
    "mlu370-noguard": (6, 6), "mlu370-noise": (6, 6), "fixed32": (4, None),
}  # fmt: skip
"""row -> goals on the stencil at 512 x 512 and on the matrix product, for Zen 5; on Zen 4, which
has half of its width, ratios are about 1.3 times as high.
"""

FAMILIES = {
    "znver1": "Zen", "znver2": "Zen 2", "znver3": "Zen 3", "znver4": "Zen 4", "znver5": "Zen 5",
    "skylake-avx512": "Skylake", "cascadelake": "Cascade Lake", "icelake-server": "Ice Lake",
    "sapphirerapids": "Sapphire Rapids", "emeraldrapids": "Emerald Rapids",
    "graniterapids": "Granite Rapids",
}  # fmt: skip
"""LLVM's name of a processor -> its family's."""


@dataclass(frozen=True)
class Case:
    """A kernel at a size: its name in the table, the shapes of its arrays, and its scalars."""

    name: str
    kernel: Callable
    shapes: tuple[tuple[int, ...], ...]
    scalars: tuple[float, ...] = ()

    def arguments(self, dtype: np.dtype) -> list:
        """Arrays and scalars that every format holds exactly, then the output.

        All contenders of one carrier share them: where arrays lie in memory alone changes the time
        of a stencil by a tenth.
        """
        rng = np.random.default_rng(0)
        values = np.array([0.25, 0.5, 0.75, 1.0], dtype)
        arrays = [values[rng.integers(0, 4, shape)] for shape in self.shapes[:-1]]
        scalars = [dtype.type(x) for x in self.scalars]
        return [*arrays, *scalars, np.zeros(self.shapes[-1], dtype)]


def cases(small: bool) -> list[Case]:
    """The kernels and sizes; `small` is a size for tests."""
    side, short, long, large = (64, 1000, 1000, 100) if small else (512, 65_536, 10**7, 3162)
    scalars = (0.125, 0.125, 0.0625, 4.0)
    return [
        Case("c = a + b, in cache", kernels.add, ((short,),) * 3),
        Case("c = a + b, 10^7", kernels.add, ((long,),) * 3),
        Case("stencil 512^2", kernels.advect, ((side, side),) * 4, scalars),
        Case("stencil 10^7", kernels.advect, ((large, large),) * 4, scalars),
        Case("matrix product 512^3", kernels.matrix_product, ((side, side),) * 3),
    ]


def _seconds(function: Callable, arguments: list, repeat: int, clock=time.perf_counter) -> float:
    start = clock()
    for _ in range(repeat):
        function(*arguments)
    return (clock() - start) / repeat


def _busy(function: Callable, arguments: list, repeat: int) -> float:
    """Processor seconds of all threads."""
    return _seconds(function, arguments, repeat, time.process_time)


def _contenders(case: Case, plain: list) -> dict[tuple[str, str], tuple[Callable, list]]:
    """(row, column) -> function and arguments: every backend, loading by rounding and by trust.
    What rounds is called by its entry: a lifted kernel may prove that it need not round.
    """
    shared = {np.dtype(np.float32): plain, np.dtype(np.float64): case.arguments(np.dtype("f8"))}
    found = {}
    for row, name in BACKENDS.items():
        backend = resolve_backend(name)
        for column, trust in (("trusted", True), ("rounded", False)):
            lifted = lift(case.kernel, backend, trust_inputs=trust)
            entry = lifted if trust or backend.random or backend.fixed else lifted.dispatcher
            found[row, column] = entry, shared[backend.carrier]
    return found


def measure(
    small: bool = False, rounds: int = 7, say: Callable[[str], None] = lambda text: None
) -> dict:
    """Run the benchmark.

    Args:
        small: a quick run of tiny sizes (for tests; its ratios mean nothing).
        rounds: how many rounds the medians are over.
        say: is told what is being measured.

    Returns:
        The machine; per case the native seconds and the ratios to it; wrong results of other
        emulators, and of ours in their formats, in 10^5 operations, as plain data.
    """
    results = []
    for case in cases(small):
        say(case.name)
        native = numba.njit(case.kernel, error_model="numpy", nogil=True)
        plain = case.arguments(np.dtype(np.float32))
        contenders = _contenders(case, plain) | peers.contenders(case.kernel, plain)
        native(*plain)
        for function, arguments in contenders.values():
            function(*arguments)
        once = max(_busy(native, plain, 1), 1e-6)
        repeat = 1 if small else max(1, int(0.02 / once))
        base, ratios = [], {key: [] for key in contenders}
        for _ in range(2 if small else rounds):
            base.append(max(_busy(native, plain, repeat), 1e-9))
            for key, (function, arguments) in contenders.items():
                slow = isinstance(function, peers.Peer)
                ratios[key].append(_busy(function, arguments, 1 if slow else repeat) / base[-1])
        results.append(
            {
                "case": case.name,
                "native_seconds": statistics.median(base),
                "ratios": [
                    {
                        "row": row,
                        "column": column,
                        "ratio": statistics.median(values),
                        "least": min(values),
                    }
                    for (row, column), values in ratios.items()
                ],
            }
        )
    say("wrong results")
    wrong = peers.wrong_of_peers()
    for row in ("fp16", "bf16", "custom rn, 16 bits"):
        if row in BACKENDS:
            wrong[row] = peers.wrong_of_ours(BACKENDS[row])
    found = {"wrong": wrong, "absent": peers.absent()}
    return {"benchmark": "precision", "machine": machine(), "cases": results} | found


def machine() -> dict:
    """The processor and versions that the numbers depend on."""
    wanted = ("avx512f", "avx2", "fma", "f16c")
    processor = llvmlite.binding.get_host_cpu_name()
    return {
        "processor": FAMILIES.get(processor, processor),
        "vector_extensions": [f for f in wanted if has_feature(f)],
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numba": numba.__version__,
        "numpy": np.__version__,
        "sciprec": __version__,
        "date": datetime.now(UTC).date().isoformat(),
    }


def timings(result: dict) -> dict[str, float]:
    """Seconds of each case in each of our arithmetics, by name."""
    return {
        f"{case['case']}, {one['row']}, {one['column']}": case["native_seconds"] * one["ratio"]
        for case in result["cases"] for one in case["ratios"] if one["row"] in BACKENDS
    }  # fmt: skip


def tables(result: dict) -> dict[str, list[dict]]:
    """Stencil and product with goals and wrong results in 10^5 operations beside, the same where
    every element is rounded on loading, and the other cases.
    """
    small = [c for c in result["cases"] if "10^7" not in c["case"]]
    aimed = [c for c in small if c["case"].startswith(("stencil", "matrix"))]
    others = [c for c in result["cases"] if c not in aimed]
    first = _rows(aimed, "trusted")
    for name, (stencil, product) in GOALS.items():
        first[name]["goal"] = f"{stencil} / {product}"
    for name, count in result["wrong"].items():
        first[name]["wrong of 10^5"] = count
    found = {
        TITLE: first, "The same, loads rounded": _rows(aimed, "rounded"),
        "Other cases": _rows(others, "trusted"),
        "Not measured here": {name: {"peer": name} for name in result["absent"]},
    }  # fmt: skip
    return {title: list(rows.values()) for title, rows in found.items() if rows}


def _rows(cases: list[dict], column: str) -> dict[str, dict]:
    """Arithmetic or peer -> medians, with the least."""
    table: dict[str, dict] = {}
    for case in cases:
        for entry in case["ratios"]:
            if entry["column"] == column:
                row = table.setdefault(entry["row"], {"arithmetic": entry["row"]})
                ratio, least = _short(entry["ratio"]), _short(entry["least"])
                row[case["case"].removeprefix("matrix ")] = f"{ratio} ({least})"
    return table


def _short(ratio: float) -> str:
    """Three digits of a ratio."""
    return f"{ratio:.0f}" if ratio >= 99.5 else f"{ratio:.3g}"
