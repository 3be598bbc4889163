"""Whether the tables of a benchmark can be read in a hundred columns, and what baselines keep."""

from rich.console import Console
from rich.measure import Measurement

import benchmarks as bench


def widths(tables: dict[str, list[dict]]) -> dict[str, int]:
    """Title -> the columns that a table takes with no cell broken."""
    wide = Console(width=1000)
    drawn = zip(tables, bench.drawn(tables), strict=True)
    return {title: Measurement.get(wide, wide.options, table).maximum for title, table in drawn}


def fits(tables: dict[str, list[dict]]) -> bool:
    return all(width <= bench.WIDTH for width in widths(tables).values())


def timed(benchmark, result: dict, rows: int) -> bool:
    """Whether so many rows of a benchmark say how long they take, as its baseline keeps them."""
    seconds = benchmark.timings(result)
    return len(seconds) == rows and all(one >= 0.0 for one in seconds.values())
