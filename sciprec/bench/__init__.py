"""Benchmarks of engine and models, each against a native kernel and peers in the same run."""

from __future__ import annotations

import importlib
import json as json_format
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from sciprec.errors import InputError, meant
from sciprec.writing import targets

BENCHMARKS = (
    "precision", "fixed", "compensation", "heston", "climate", "batch", "compare", "start", "trace",
    "monitor", "mixed",
)  # fmt: skip
WIDTH = 100
"""Columns of the tables where there is no terminal."""
_MODULES = {"compare": "comparison", "trace": "traced", "monitor": "monitoring_cost"}


def run(name: str, *, out: str | Path, json: bool = False, small: bool = False) -> dict:
    """Run a benchmark, write its JSON file, and print its table.

    Args:
        name: "precision" (lifted kernels), "fixed" (integer matrix products), "compensation"
            (updates with their residuals), "heston" (paths and prices), "climate" (transforms and
            steps), "batch" (many runs at once), "compare" (two arrays with every statistic),
            "start" (compiling, with an empty cache folder), "trace" (numbers with their errors),
            "monitor" (looks at a run beside its steps) or "mixed" (formats by line and policy).
        out: the JSON file to write.
        json: print the JSON instead of the table.
        small: tiny sizes, for tests.

    Raises:
        InputError: unknown benchmark, or a file that cannot be written, or holds something else.
    """
    benchmark = benchmark_named(name)
    path = targets.require_free(out, targets.BENCHMARK)

    def say(text: str) -> None:
        print(f"measuring {text}", file=sys.stderr)

    result = benchmark.measure(small=small, say=say)
    targets.write(path, json_format.dumps(result, indent=1) + "\n", targets.BENCHMARK)
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
    return importlib.import_module(f"sciprec.bench.{_MODULES.get(name, name)}")


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
