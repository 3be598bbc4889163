"""Results in words: a title, a table and some sentences, as text at a prompt and as HTML in a
notebook.

A result says what there is to see of it once, in its `_summary`; nothing is computed for that.
"""

from __future__ import annotations

import html
import shutil
import sys
import textwrap
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from sciprec.foundation.errors import printable

MOST_LINES = 20
"""Most lines of a result at a prompt; further rows and sentences are only counted."""
_MOST_NOTES = 5
_LONGEST_CELL = 100


@dataclass(frozen=True)
class Listing:
    """Rows of words below heads.

    Args:
        left, right, last: heads by alignment: left, right, left again.
        rows: a cell for each head.
        droppable: heads that are left out where a line is too long, the first one first.
    """

    left: tuple[str, ...]
    right: tuple[str, ...] = ()
    rows: Sequence[tuple[str, ...]] = ()
    last: tuple[str, ...] = ()
    droppable: tuple[str, ...] = ()

    @property
    def heads(self) -> tuple[str, ...]:
        """All heads, in order."""
        return (*self.left, *self.right, *self.last)

    def text(self, width: int, most: int) -> list[str]:
        """The listing in columns, at most some lines; the last ones count the rows beyond them, and
        name the columns that are left out.

        Args:
            width: of the widest line, where leaving columns out gets there.
            most: lines.
        """
        count = _rows_to_show(len(self.rows), most - 1)
        table = [self.heads, *([_short(cell) for cell in row] for row in self.rows[:count])]
        columns = dict(zip(self.heads, zip(*table, strict=True), strict=True))
        widths = {head: max(map(len, cells)) for head, cells in columns.items()}
        for head in self.droppable:
            if sum(widths.values()) + 2 * (len(widths) - 1) <= width:
                break
            widths.pop(head, None)
        left_out = left_out_of(self.heads, widths)
        if left_out:
            count = _rows_to_show(len(self.rows), most - 2)
        padded = [
            [f"{cell:{'>' if head in self.right else '<'}{size}}" for cell in columns[head]]
            for head, size in widths.items()
        ]
        lines = ["  ".join(cells).rstrip() for cells in zip(*padded, strict=True)][: count + 1]
        return lines + _rows_left_out(len(self.rows) - count, "rows") + left_out

    def html(self, most: int) -> str:
        """A table without colours of its own; of rows beyond `most` its end says how many."""
        count = _rows_to_show(len(self.rows), most)
        head = "".join(self._cell("th", h, h) for h in self.heads)
        rows = [
            "".join(self._cell("td", h, cell) for h, cell in zip(self.heads, row, strict=True))
            for row in self.rows[:count]
        ]
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        end = "".join(map(_paragraph, _rows_left_out(len(self.rows) - count, "rows")))
        return f"<table><tr>{head}</tr>{body}</table>{end}"

    def _cell(self, tag: str, head: str, words: str) -> str:
        style = "text-align: " + ("right; white-space: nowrap" if head in self.right else "left")
        return f'<{tag} style="{style}">{_escaped(_short(words))}</{tag}>'


@dataclass(frozen=True)
class Summary:
    """The display of a result.

    Args:
        title: one line.
        listing: a table, or None.
        notes: sentences below it.
        page: a file to read on in, or None.
        about: a line below the title; empty for none.
    """

    title: str
    listing: Listing | None = None
    notes: tuple[str, ...] = ()
    page: Path | None = None
    about: str = ""

    def text(self) -> str:
        """The summary in at most MOST_LINES lines; on a terminal, sentences that are wider go on in
        further ones.
        """
        notes = self._notes()
        if self.page is not None:
            notes.append(f"page: {self.page}")
        lines = [_line(words) for words in (self.title, self.about) if words]
        if self.listing is not None and self.listing.rows:
            width = shutil.get_terminal_size().columns
            table = self.listing.text(width, MOST_LINES - len(lines) - len(notes))
            return "\n".join([*map(wrapped, lines), *table, *map(wrapped, notes)])
        return "\n".join(map(wrapped, [*lines, *notes]))

    def html(self) -> str:
        """The summary as HTML that brings no script and no colour."""
        parts = [f"<p><strong>{_escaped(_line(self.title))}</strong></p>"]
        parts += [_paragraph(_line(self.about))] if self.about else []
        if self.listing is not None and self.listing.rows:
            parts.append(self.listing.html(MOST_LINES))
        parts += map(_paragraph, self._notes())
        if self.page is not None:
            link = f'<a href="{_address(self.page)}" target="_blank">{_escaped(str(self.page))}</a>'
            parts.append(f"<p>page: {link}</p>")
        return f"<div>{''.join(parts)}</div>"

    def _notes(self) -> list[str]:
        count = _rows_to_show(len(self.notes), _MOST_NOTES)
        notes = list(map(_line, self.notes[:count]))
        return notes + _rows_left_out(len(self.notes) - count, "sentences")


class Shown:
    """A result that is shown by its summary. If the summary fails, the plain repr is shown."""

    def _summary(self) -> Summary:
        """The display of the result; made of what is known already."""
        raise NotImplementedError

    def __repr__(self) -> str:
        try:
            return self._summary().text()
        except Exception:  # half made, say: a debugger asks at any time
            return object.__repr__(self)

    def _repr_html_(self) -> str | None:
        try:
            return self._summary().html()
        except Exception:
            return None  # notebooks then show the text


def counted(count: int, singular: str, many: str = "") -> str:
    """A number and what it counts: "1 run", "3 runs"."""
    return f"{count:,} {singular if count == 1 else many or singular + 's'}"


def wrapped(line: str) -> str:
    """Break a line between words where standard output is a terminal that is not as wide; what
    follows is indented as the line is.
    """
    if not sys.stdout.isatty():
        return line
    indent = line[: len(line) - len(line.lstrip())]
    width = max(shutil.get_terminal_size().columns, len(indent) + 20)
    parts = textwrap.wrap(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(parts) or line


def left_out_of(heads: Sequence[str], columns: Collection[str]) -> list[str]:
    """A line that names the columns that a terminal is too narrow for; none where all are shown."""
    missing = [head for head in heads if head not in columns]
    return [f"not shown for want of width: {', '.join(missing)}"] if missing else []


def _rows_to_show(count: int, most: int) -> int:
    """The number of lines shown where there is room for only some, the line for the rest among
    them.
    """
    return count if count <= most else max(most - 1, 0)


def _rows_left_out(count: int, rows: str) -> list[str]:
    return [f"… and {count:,} more {rows[:-1] if count == 1 else rows}"] if count else []


def _line(words: str) -> str:
    return " ".join(printable(words).split())


def _short(words: str) -> str:
    line = _line(words)
    return line if len(line) <= _LONGEST_CELL else f"{line[: _LONGEST_CELL - 1]}…"


def _escaped(words: str) -> str:
    return html.escape(words, quote=True)


def _paragraph(words: str) -> str:
    return f"<p>{_escaped(words)}</p>"


def _address(file: Path) -> str:
    """The address of a file on a notebook's page: relative where it is below the current folder."""
    absolute = file.absolute()
    folder = Path.cwd()
    if absolute.is_relative_to(folder):
        return _escaped(quote(absolute.relative_to(folder).as_posix()))
    return _escaped(absolute.as_uri())
