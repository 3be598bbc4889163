"""Printing of the command line: tables and JSON; and its exit codes."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sciprec.foundation.errors import printable
from sciprec.foundation.listing import Listing, left_out_of, wrapped
from sciprec.foundation.plain_data import plain

_STATUS_COLOURS = {
    "truth": "dim", "identical": "green", "good": "green", "unjudged": "cyan",
    "still": "yellow", "doubtful": "yellow", "beyond": "yellow", "broken": "red", "failed": "red",
}  # fmt: skip

_VERDICT_COLOURS = {
    "identical": "green", "noise": "cyan", "changed": "red", "pattern": "red", "slower": "yellow",
    "larger": "yellow",
}  # fmt: skip
GOOD, NOT_MET, USAGE, INTERNAL, INTERRUPTED, UNREAD = 0, 1, 2, 3, 130, 141
"""Good; a bound or threshold not met, or a failed run; usage; internal; ended by Ctrl-C; a pipe
that nobody reads, as after `| head`, which shells count so.
"""


def print_json(content: Any) -> None:
    """Plain data as JSON on standard output; numbers that are not finite are null."""
    print(json.dumps(plain(content), indent=1, allow_nan=False))


def print_result(result: Any, page: Path | None, json: bool) -> None:
    """A result as it shows itself, or as JSON, and where its page is.

    Args:
        result: with `as_dict`.
        page: that was written; None: none.
        json: whether JSON is asked for.
    """
    if json:
        print_json(result.as_dict())
    else:
        print(result)
        if page is not None:
            say(f"page: {page}")


def print_runs(rows: Sequence[dict[str, Any]]) -> None:
    """One line per run of a batch."""
    from sciprec.workbench.batch.workflow import runs_listing

    def style(number: int, head: str, cell: str) -> str:
        return _STATUS_COLOURS[rows[number]["status"]] if head == "verdict" else ""

    print_listing(runs_listing(rows), style)
    for row in rows:
        if row["status"] != "truth":
            say(f"{row['label']} in {row['scenario']}: {row['reason']}")


def print_backends(rows: Sequence[dict[str, Any]]) -> None:
    """The table of arithmetics."""
    from sciprec.precision.formats.backend import backends_listing

    print_listing(backends_listing(rows))


def print_forecast(rows: Sequence[dict[str, Any]]) -> None:
    """One line per run that a batch would make, members of an ensemble together, and their sum."""
    from sciprec.results.comparison.wording import duration

    columns = ("about", "file MB", "memory MB")
    lines = []
    for row, count in _together(rows):
        time = "?" if row["seconds"] is None else duration(_seconds(row, count))
        size = "?" if row["megabytes"] is None else f"{count * row['megabytes']:.1f}"
        work, time = ("kept", "–") if row["kept"] else (row["work"], time)
        work = work if count == 1 else f"{count:,} members: {work}"
        memory = "?" if row["memory_megabytes"] is None else f"{row['memory_megabytes']:.0f}"
        lines.append((row["scenario"], row["label"], work, time, size, memory))
    labels, droppable = ("scenario", "arithmetic", "work"), (*columns[:0:-1], "work")
    print_listing(Listing(labels, columns, lines, droppable=droppable))
    for row in rows:
        if row["note"]:
            say(row["note"])
    missing = [row for row in rows if not row["kept"]]
    compiling = sum(row["compile_seconds"] for row in missing)
    total = sum(row["seconds"] or 0.0 for row in missing) + compiling
    of_it = f"{duration(compiling)} of them to compile, the first time only"
    open_ended = sum(row["seconds"] is None for row in missing)
    unknown = f", and {open_ended} whose time depends on the numbers" if open_ended else ""
    say(
        f"{len(missing)} of {len(rows)} runs to compute: roughly {duration(total)} on one core, "
        f"{of_it if compiling else 'with kernels that are compiled already'}{unknown}"
    )


def _seconds(row: dict[str, Any], count: int) -> float:
    """The seconds of some members, in words; the first one compiles."""
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
    print_listing(Listing(("model", "stage", "O1", "O2"), (), listed, ("why",)))
    say(
        'O0: all wide; O3: all narrow. For example --backend "policy:O2,narrow=fp16,wide=fp32"; '
        "allow=STAGE+STAGE and deny=STAGE+STAGE change the lists."
    )
    columns, rows = tuple(mixtures[0]), [tuple(m.values()) for m in mixtures]
    print_listing(Listing(columns[:-1], (), rows, columns[-1:], droppable=("about", "rest")))


def print_findings(findings: Sequence[Any]) -> None:
    """One line per finding of the doctor, failures in red."""

    def style(number: int, head: str, cell: str) -> str:
        return "red" if head == "found" and not findings[number].good else ""

    rows = [(finding.name, finding.value) for finding in findings]
    print_listing(Listing(("what", "found"), (), rows), style)


def print_in_force(settings: Sequence[dict[str, str]]) -> None:
    """Print the settings that apply where nothing else is given, one line per setting."""
    say("\nin force (scenario keys, then the environment, then defaults):")
    rows = [(setting["name"], setting["value"], setting["source"]) for setting in settings]
    print_listing(Listing(("setting", "value", "from"), (), rows))


def print_comparison(comparison: Any) -> None:
    """One line per variable of two files, and a sentence for each that is not within bounds."""
    print_listing(comparison.listing())
    for sentence in comparison.sentences():
        say(sentence)


def print_check(check: Any) -> None:
    """One line per variable of a check against a baseline, and a sentence for each other one."""
    from sciprec.regression.baselines.checking import listing, sentences

    def style(number: int, head: str, cell: str) -> str:
        return _VERDICT_COLOURS[cell] if head == "verdict" else ""

    say(f"baseline '{check.name}', {check.since or 'without commit'}")
    print_listing(listing(check.rows), style)
    for line in (*sentences(check), *check.notes):
        say(line)


def print_keys(keys: Sequence[Any]) -> None:
    """The table of keys of a scenario; some lines for each key where it is wider than the terminal,
    or than 80 columns where there is none and COLUMNS does not say another width.

    Args:
        keys: keys, of sciprec.scenario.keys.
    """
    from sciprec.scenario.keys import key_lines, keys_listing

    listing, width = keys_listing(list(keys)), shutil.get_terminal_size().columns
    if _width(_drawn(listing, (), lambda *_: "")) <= width:
        return print_listing(listing)
    for key in keys:
        for line in key_lines(key, width):
            say(line)
    return None


def print_listing(
    listing: Listing, style: Callable[[int, str, str], str] = lambda number, head, cell: ""
) -> None:
    """Print a table, and of the columns that may be left out those that fit into the terminal; a
    line names the others. Cells of several words go on in the next line where the rest is still too
    wide.

    Args:
        listing: the words.
        style: of a cell, by the number of its row, its head, and its words; empty for none.
    """
    console = _console()
    width = console.width
    for count in range(len(listing.droppable) + 1):
        dropped = listing.droppable[:count]
        table = _drawn(listing, dropped, style)
        if _width(table) <= width:
            break
    else:
        texts = _texts(listing, dropped)
        table = _drawn(listing, dropped, style, texts)
        rest = _drawn(listing, (*dropped, *texts), style)
        if _width(rest) + len(texts) * _LEAST_TEXT > width:
            console.width = _UNLIMITED  # names are too long: the terminal breaks them
    console.print(table)
    for words in left_out_of(listing.heads, set(listing.heads) - set(dropped)):
        say("\n".join(textwrap.wrap(words, width)))


_FEW_WORDS, _LEAST_TEXT = 3, 20
"""Cells of no more words, such as numbers with a unit, stay on one line; columns of others have so
much room at least.
"""


def _texts(listing: Listing, dropped: Sequence[str]) -> tuple[str, ...]:
    """Heads of the columns that hold texts."""
    return tuple(
        head for i, head in enumerate(listing.heads)
        if head not in dropped and any(len(row[i].split()) > _FEW_WORDS for row in listing.rows)
    )  # fmt: skip


def _width(table: Any) -> int:
    """Columns that a table takes."""
    from rich.console import Console

    return Console(width=_UNLIMITED).measure(table).maximum


def _drawn(
    listing: Listing, dropped: Sequence[str], style: Callable[[int, str, str], str],
    texts: Sequence[str] = (),
) -> Any:  # fmt: skip
    """The table as rich prints it, some columns left out, and cells of texts in several lines where
    that is needed.
    """
    from rich.table import Table
    from rich.text import Text

    columns = [(i, head) for i, head in enumerate(listing.heads) if head not in dropped]
    table = Table(box=None, header_style="bold", pad_edge=False)
    for _, head in columns:
        side = "right" if head in listing.right else "left"
        table.add_column(head, justify=side, no_wrap=head not in texts, overflow="fold")
    for number, row in enumerate(listing.rows):
        cells = ((row[i], style(number, head, row[i])) for i, head in columns)
        table.add_row(*(Text(printable(cell), style=colour) for cell, colour in cells))
    return table


def say(text: str) -> None:
    """A line of plain words on standard output; on a terminal it breaks between words."""
    text = "\n".join(map(wrapped, text.split("\n")))
    _console().print(printable(text), markup=False, emoji=False, highlight=False, soft_wrap=True)


_UNLIMITED = 10_000


def _console() -> Any:
    """Standard output; where it is no terminal as wide as COLUMNS says, or else as the tables. A
    closed pipe is left to the command: Rich would end the process with 1.
    """
    from rich.console import Console

    is_wide = not sys.stdout.isatty() and not os.environ.get("COLUMNS", "").isdigit()
    console = Console(width=_UNLIMITED if is_wide else None)
    console.on_broken_pipe = _raise_broken_pipe
    return console


def _raise_broken_pipe() -> None:
    raise BrokenPipeError
