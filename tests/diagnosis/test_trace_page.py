"""The page of a trace: what it says, its size, and that it brings no script."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from sciprec import InputError, trace
from tests.diagnosis.test_findings import advected, line_of, vanishing


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
    u = 1.0 + np.round(np.sin(np.linspace(0.0, 6.0, 60)) * 64) / 256
    found = trace(advected, "bf16", (u, np.zeros(60), 40), output="u")
    path = found.html(tmp_path / "page.html")
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    assert not page.open and "script" not in page.seen and "svg" in page.seen
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


@pytest.mark.parametrize("by", ["variable", "step"])
def test_the_page_of_another_split(by, tmp_path):
    u = 1.0 + np.sin(np.linspace(0.0, 6.0, 20))
    found = trace(advected, "bf16", (u, np.zeros(20), 4), by=by)
    page = Page(found.html(tmp_path / "page.html", verify=0).read_text(encoding="utf-8"))
    names = {n.name for n in found.lines if n.share}
    assert all(any(name in words for _, words in page.rows) for name in names)


def test_the_command_writes_it(tmp_path, call):
    kernel, inputs = "examples/lorenz63.py:lorenz63", "examples/lorenz63.py:start"
    page = tmp_path / "t.html"
    status, out, said = call("trace", kernel, "--inputs", inputs, "--backend", "bf16", "--html",
                             str(page))  # fmt: skip
    assert status == 0 and str(page) in out + said and page.stat().st_size < 100_000
    assert "lorenz63" in page.read_text(encoding="utf-8")


def test_a_page_that_cannot_be_written(tmp_path):
    found = trace(vanishing, "bf16", (0.3,))
    with pytest.raises(InputError, match="cannot be written"):
        found.html(tmp_path / "nowhere" / "page.html")
    with pytest.raises(InputError, match="verify"):
        found.html(tmp_path / "page.html", verify=-1)


@pytest.mark.slow
def test_four_hundred_lines_are_under_200_kb(tmp_path):
    """Forty of them round; each of the others could for 60 bytes more."""
    body = "".join(f"        v = 0.9 * v + x[i] / {n + 2}.0\n" for n in range(40))
    text = "def long(x, out):\n    for i in range(x.size):\n        v = x[i]\n"
    text += body + "        # what stands in a model's lines besides: words of usual length\n" * 356
    text += "        out[i] = v\n"
    (tmp_path / "long.py").write_text(text)
    space: dict = {}
    exec(compile(text, str(tmp_path / "long.py"), "exec"), space)
    found = trace(space["long"], "bf16", (np.linspace(0.1, 1.0, 8), np.zeros(8)))
    path = found.html(tmp_path / "page.html", verify=0)
    page = path.read_text(encoding="utf-8")
    assert len(page.encode()) + 356 * 60 < 200_000 and len(re.findall("<tr", page)) > 400
