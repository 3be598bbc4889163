"""The page of a trace: what it says, its size, and that it brings no script."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from sciprec import InputError, trace
from tests.diagnosis.faulty_kernels import advected, flow
from tests.diagnosis.short_kernels import line_of
from tests.diagnosis.test_findings import vanishing


class Page(HTMLParser):
    """Tags and words of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.rows: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        if tag not in ("meta", "link", "br", "path", "use", "rect"):
            self.open.append(tag)
        if tag == "tr":
            self.rows.append((dict(attributes).get("class") or "", ""))

    def handle_endtag(self, tag):
        if tag not in ("meta", "link", "br", "path", "use", "rect"):
            assert self.open.pop() == tag

    def handle_data(self, data):
        if "tr" in self.open:
            heat, words = self.rows[-1]
            self.rows[-1] = heat, words + " " + data.strip()


def test_the_page_shows_where_and_when(tmp_path):
    u = flow()
    found = trace(advected, "bf16", (u, np.zeros(60), 40), output="u")
    path = found.html(tmp_path / "page.html")
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    assert not page.open and "script" not in page.seen and "svg" in page.seen
    assert re.findall("<h2>(.*?)</h2>", text) == [
        "What is wrong", "Where it is rounded, by line", "What it would change: lines in binary64",
        "Other parts", "Lines that go together", "When it arises", "About the runs",
    ]  # fmt: skip
    number = line_of(advected, "new[i] =")
    heat, words = next(row for row in page.rows if row[1].split()[:1] == [str(number)])
    share = next(n for n in found.lines if n.line == number).share
    assert heat == "heat4" and f"{share:+.1%}" in words and "u[i] - out_of_cell" in words
    assert found.verdict.replace("'", "&#39;") in text
    assert "line 102, line 103" in text.replace(str(number - 2), "102").replace(
        str(number - 1), "103"
    )
    found.html(path)
    assert path.read_text(encoding="utf-8") == text
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


def test_a_page_that_cannot_be_written(tmp_path):
    found = trace(vanishing, "bf16", (0.3,))
    with pytest.raises(InputError, match="cannot be written"):
        found.html(tmp_path / "nowhere" / "page.html")
    with pytest.raises(InputError, match="verify"):
        found.html(tmp_path / "page.html", verify=-1)
