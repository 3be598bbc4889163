"""`sciprec docs`: every heading and word of the glossary is found; what is not is said."""

import json
import webbrowser

import pytest

from sciprec.cli.behind import reading
from sciprec.cli.console import GOOD, USAGE
from sciprec.foundation.errors import InputError


@pytest.mark.slow
def test_every_heading_is_found_by_its_words_with_more_than_itself():
    for section in reading.sections():
        assert "\n" in section.text, section.place
        best = reading.find(section.heading)[0]
        names = {reading._even(best.heading), reading._even(best.page.split("/")[-1][:-3])}
        assert reading._even(section.heading) in names, section.place


@pytest.mark.slow
def test_every_word_of_the_glossary_is_found():
    for word in reading._explained():
        assert reading.find(word), word


@pytest.mark.parametrize(("words", "page"), [
    ("trace", "explain/trace.md"), ("SLURM", "how_to/cores.md"), ("carry", "reference/glossary.md"),
    ("half a unit", "explain/"), ("No such option", "help/troubleshooting.md"),
])  # fmt: skip
def test_a_word_has_its_page(call, words, page):
    code, out, _ = call("docs", *words.split(), "--json")
    found = json.loads(out)
    assert code == GOOD and found["page"].startswith(page)
    text = call("docs", *words.split())[1]
    assert text.startswith(found["text"]) and f"{found['page']}:{found['line']}" in text
    first = (reading.folder() / found["page"]).read_text("utf-8").splitlines()[found["line"] - 1]
    assert reading.plain(first.strip("#| ").split(" | ")[0]) == found["heading"]


def test_without_a_word_all_pages_are_listed(call):
    out = call("docs")[1]
    assert len(out.splitlines()) == len(list(reading.folder().rglob("*.md")))
    assert {"page": "start.md", "title": "Start here"} in json.loads(call("docs", "--json")[1])


def test_an_unknown_word_is_refused_with_a_near_one(call):
    code, _, err = call("docs", "compenzation")
    assert code == USAGE and "no page of the documentation has 'compenzation'" in err
    assert "did you mean 'compensation'?" in err


def test_the_site_is_opened_where_it_is(call, monkeypatch, tmp_path):
    pages = reading.folder()
    code, _, err = call("docs", "trace", "--site")
    assert code == USAGE and "is not there; build it" in err
    (tmp_path / "docs").symlink_to(pages)
    (tmp_path / "site/how_to").mkdir(parents=True)
    (tmp_path / "site/how_to/cores.html").touch()
    monkeypatch.setattr(reading, "folder", lambda: tmp_path / "docs")
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: not opened.append(address))
    assert call("docs", "slurm", "--site")[0] == GOOD
    assert opened == [(tmp_path / "site/how_to/cores.html").as_uri() + "#slurm"]
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    assert "open it by hand" in call("docs", "slurm", "--site")[1]
    with pytest.raises(InputError, match="--site needs the site"):
        reading.address(reading.find("trace")[0])
