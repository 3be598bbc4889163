"""Whether the tables of a benchmark can be read where there are a hundred columns."""

from rich.console import Console
from rich.measure import Measurement

from sciprec import bench


def widths(tables: dict[str, list[dict]]) -> dict[str, int]:
    """Title -> the columns that a table takes with no cell broken."""
    wide = Console(width=1000)
    drawn = zip(tables, bench.drawn(tables), strict=True)
    return {title: Measurement.get(wide, wide.options, table).maximum for title, table in drawn}


def fits(tables: dict[str, list[dict]]) -> bool:
    return all(width <= bench.WIDTH for width in widths(tables).values())
