"""What the command line prints: tables and JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from sciprec.display.listing import Listing
from sciprec.errors import printable

_STATUS_COLOURS = {
    "truth": "dim", "identical": "green", "good": "green", "unjudged": "cyan",
    "beyond": "yellow", "broken": "red", "failed": "red",
}  # fmt: skip

_VERDICT_COLOURS = {
    "identical": "green", "noise": "cyan", "changed": "red", "pattern": "red", "slower": "yellow",
    "larger": "yellow",
}  # fmt: skip


def print_json(content: Any) -> None:
    """Plain data as JSON on standard output; numbers that are not finite are null."""
    print(json.dumps(_plain(content), indent=1, allow_nan=False))


def print_runs(rows: Sequence[dict[str, Any]]) -> None:
    """One line per run of a batch."""
    from sciprec.batch.listing import runs_listing

    def style(number: int, head: str, cell: str) -> str:
        return _STATUS_COLOURS[cell] if head == "verdict" else ""

    print_listing(runs_listing(rows), style)
    for row in rows:
        if row["status"] != "truth":
            say(f"{row['label']} in {row['scenario']}: {row['reason']}")


def print_backends(rows: Sequence[dict[str, Any]]) -> None:
    """The table of arithmetics."""
    from sciprec.precision.formats.listing import backends_listing

    print_listing(backends_listing(rows))


def print_forecast(rows: Sequence[dict[str, Any]]) -> None:
    """One line per run that a batch would make, members of an ensemble together, and their sum."""
    from sciprec.comparison.wording import duration

    columns = ("about", "file MB", "memory MB")
    table = Table(("scenario", "arithmetic", "work"), columns, droppable=(*columns[:0:-1], "work"))
    for row, count in _together(rows):
        time = "?" if row["seconds"] is None else duration(_seconds(row, count))
        size = "?" if row["megabytes"] is None else f"{count * row['megabytes']:.1f}"
        work, time = ("kept", "–") if row["kept"] else (row["work"], time)
        work = work if count == 1 else f"{count:,} members: {work}"
        memory = "?" if row["memory_megabytes"] is None else f"{row['memory_megabytes']:.0f}"
        table.add(row["scenario"], row["label"], work, time, size, memory)
    table.print()
    for row in rows:
        if row["note"]:
            say(row["note"])
    missing = [row for row in rows if not row["kept"]]
    compiling = sum(row["compile_seconds"] for row in missing)
    total = sum(row["seconds"] or 0.0 for row in missing) + compiling
    of_it = f"{duration(compiling)} of them to compile, the first time only"
    open_ended = sum(row["seconds"] is None for row in missing)
    more = f", and {open_ended} whose time depends on the numbers" if open_ended else ""
    say(
        f"{len(missing)} of {len(rows)} runs to compute: roughly {duration(total)} on one core, "
        f"{of_it if compiling else 'with kernels that are compiled already'}{more}"
    )


def _seconds(row: dict[str, Any], count: int) -> float:
    """Of some members; the first one compiles."""
    return count * row["seconds"] + row["compile_seconds"]


def _together(rows: Sequence[dict[str, Any]]) -> list[tuple[dict[str, Any], int]]:
    """Rows that differ in the member only as one, with their number."""
    groups: dict[tuple, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["scenario"], row["label"], row["kept"]), []).append(row)
    return [(group[0], len(group)) for group in groups.values()]


def print_policies(rows: Sequence[dict[str, Any]], mixtures: Sequence[dict[str, Any]]) -> None:
    """The stages of the models, and how policies and other mixtures of formats have them."""
    listed = [(r["model"], r["stage"], r["O1"], r["O2"], r["why"]) for r in rows]
    listing = Listing(("model", "stage", "O1", "O2"), (), listed, ("why",))
    print_listing(listing)
    say(
        'O0: all wide; O3: all narrow. For example --backend "policy:O2,narrow=fp16,wide=fp32"; '
        "allow=STAGE+STAGE and deny=STAGE+STAGE change the lists."
    )
    columns = tuple(mixtures[0])
    listing = Listing(columns[:-1], (), [tuple(m.values()) for m in mixtures], columns[-1:])
    print_listing(listing)


def print_findings(findings: Sequence[Any]) -> None:
    """One line per finding of the doctor, what is wrong in red."""
    table = Table(("what", "found"), (), droppable=())
    for finding in findings:
        table.add(finding.name, coloured(finding.value, "" if finding.good else "red"))
    table.print()


def print_in_force(settings: Sequence[dict[str, str]]) -> None:
    """What is in force where nothing else is said, one line per setting."""
    say("\nin force (scenario keys, then the environment, then defaults):")
    table = Table(("setting", "value", "from"), (), droppable=())
    for setting in settings:
        table.add(setting["name"], setting["value"], setting["source"])
    table.print()


def print_comparison(comparison: Any) -> None:
    """One line per variable of two files, and a sentence for each that is not within bounds."""
    from sciprec.comparison.listing import listing, sentences

    print_listing(listing(comparison))
    for sentence in sentences(comparison):
        say(sentence)


def print_check(check: Any) -> None:
    """One line per variable of a check against a baseline, and a sentence for each other one."""
    from sciprec.baselines.checking import listing, sentences

    def style(number: int, head: str, cell: str) -> str:
        return _VERDICT_COLOURS[cell] if head == "verdict" else ""

    say(f"baseline '{check.name}', {check.since or 'without commit'}")
    print_listing(listing(check.rows), style)
    for line in (*sentences(check), *check.notes):
        say(line)


def print_listing(
    listing: Listing, style: Callable[[int, str, str], str] = lambda number, head, cell: ""
) -> None:
    """A table of words.

    Args:
        listing: the words.
        style: of a cell, by the number of its row, its head, and its words; empty for none.
    """
    table = Table(listing.left, listing.right, listing.last, droppable=listing.droppable)
    for number, row in enumerate(listing.rows):
        table.add(
            *(coloured(cell, style(number, head, cell))
              for head, cell in zip(listing.heads, row, strict=True))
        )  # fmt: skip
    table.print()


def say(text: str) -> None:
    """A line of plain words on standard output."""
    _console().print(printable(text), markup=False, emoji=False, highlight=False, soft_wrap=True)


def coloured(text: str, style: str) -> Text:
    """A cell of a table in a colour; an empty style is none."""
    return Text(printable(text), style=style)


class Table:
    """A table in the house style that leaves columns out where a terminal is too narrow.

    Args:
        left, right, last: heads of the columns, by alignment (left, right, left again).
        droppable: heads that may be left out, the first one first.
    """

    def __init__(
        self,
        left: Sequence[str],
        right: Sequence[str],
        last: Sequence[str] = (),
        *,
        droppable: Sequence[str],
    ) -> None:
        self._heads = (*left, *right, *last)
        self._right, self._droppable = set(right), droppable
        self._rows: list[tuple[Text, ...]] = []

    def add(self, *cells: str | Text) -> None:
        """Add a row: one cell per head, plain words or `coloured` ones."""
        self._rows.append(tuple(c if isinstance(c, Text) else coloured(c, "") for c in cells))

    def print(self) -> None:
        """Print what fits; what was left out is in the JSON."""
        console = _console()
        for count in range(len(self._droppable) + 1):
            table = self._without(self._droppable[:count])
            if console.measure(table, options=_UNLIMITED).maximum <= console.width:
                break
        else:  # the names alone are too long: let the terminal break the lines
            console.width = _UNLIMITED.max_width
        console.print(table)

    def _without(self, dropped: Sequence[str]) -> RichTable:
        """The table as rich prints it, some columns left out."""
        kept = [i for i, head in enumerate(self._heads) if head not in dropped]
        table = RichTable(box=None, header_style="bold", pad_edge=False)
        for i in kept:
            side = "right" if self._heads[i] in self._right else "left"
            table.add_column(self._heads[i], justify=side, no_wrap=True)
        for row in self._rows:
            table.add_row(*(row[i] for i in kept))
        return table


_UNLIMITED = Console(width=10_000).options


def _console() -> Console:
    """Standard output; as wide as the tables where it is no terminal."""
    return Console(width=None if sys.stdout.isatty() else _UNLIMITED.max_width)


def _plain(value: Any) -> Any:
    """Data that JSON can hold."""
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, PathLike):
        return str(value)
    if isinstance(value, float) and not (value - value == 0.0):
        return None
    return value
