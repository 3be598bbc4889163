"""Benchmarks of engine and models, each against a native kernel and peers in the same run."""

from __future__ import annotations

import importlib
import json as json_format
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from sciprec.foundation import targets
from sciprec.foundation.errors import InputError, meant

BENCHMARKS = {
    "precision": "lifted kernels against native binary32 and against other emulators",
    "fixed": "integer matrix products against binary32 and binary64 ones: time and error",
    "compensation": "updates with their residuals kept against those without",
    "heston": "Heston paths and the time to a price within 0.1 %, against other libraries",
    "climate": "spectral transforms against other libraries, and shallow-water steps",
    "batch": "batches with one and two runs at a time, and the planning of many runs",
    "compare": "a comparison of two large arrays, beside what other tools do with them",
    "start": "first starts with an empty cache folder: models, a kernel, the quickstart",
    "trace": "kernels whose numbers carry their error, against lifted ones and plain Numba",
    "pairs": "kernels whose numbers are pairs (dd) against fp64 and against the exact twin",
    "monitor": "looks of a monitor at climate runs beside their steps",
    "forcing": "steps of the atmosphere with a forcing or with tracers, beside those without",
    "mixed": "mixtures of fp64 and fp32, and kernels and a model whose formats are by line",
}
"""Name -> what is measured."""
RESULT = targets.Sort("the result of a benchmark", '{\n "benchmark": "')
WIDTH = 100
"""Columns of the tables where there is no terminal."""
_MODULES = {"compare": "comparison", "trace": "traced", "monitor": "monitoring_cost",
            "forcing": "climate_forcing"}  # fmt: skip


def run(name: str, *, out: str | Path, json: bool = False, small: bool = False) -> dict:
    """Run a benchmark, write its JSON file, and print its table.

    Args:
        name: one of BENCHMARKS.
        out: the JSON file to write.
        json: print the JSON instead of the table.
        small: tiny sizes, for tests.

    Raises:
        InputError: unknown benchmark, or a file that cannot be written, or holds something else.
    """
    benchmark = benchmark_named(name)
    path = targets.require_free(out, RESULT)

    def say(text: str) -> None:
        print(f"measuring {text}", file=sys.stderr)

    result = benchmark.measure(small=small, say=say)
    targets.write(path, json_format.dumps(result, indent=1) + "\n", RESULT)
    if json:
        print(json_format.dumps(result))
    else:
        _print(benchmark, result)
    return result


def benchmark_named(name: str) -> ModuleType:
    """The module of a benchmark: `measure(small, say)` gives plain data, of which `tables` makes
    tables, and `timings` the seconds of what is ours by name.

    Raises:
        InputError: it is unknown.
    """
    if name not in BENCHMARKS:
        raise InputError(
            f"unknown benchmark '{name}'; known: {', '.join(BENCHMARKS)}{meant(name, BENCHMARKS)}"
        )
    return importlib.import_module(f"benchmarks.{_MODULES.get(name, name)}")


def _print(benchmark: ModuleType, result: dict) -> None:
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    for table in drawn(benchmark.tables(result)):
        console.print(table)
    facts = ", ".join(f"{k} {v}" for k, v in result["machine"].items())
    console.print(f"{benchmark.CAPTION}; {facts}", markup=False, highlight=False)


def drawn(tables: dict[str, list[dict]]) -> Iterator[Any]:
    """One table for each question; what no row says is no column."""
    from rich.table import Table

    for title, rows in tables.items():
        columns = list(dict.fromkeys(key for row in rows for key in row))
        columns.sort(key=lambda column: column.startswith("goal"))
        table = Table(*columns, title=title)
        for row in rows:
            table.add_row(*(str(row.get(column, "")) for column in columns))
        yield table
