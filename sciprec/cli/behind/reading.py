"""The documentation as text: its sections, and the one that a word belongs to."""

from __future__ import annotations

import functools
import re
import webbrowser
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from sciprec.foundation.errors import InputError, meant
from sciprec.foundation.shipped import DOCS, shipped

_HEADING = re.compile(r"(#+) (.+)")
_ROW = re.compile(r"\| ([^|]+) \| ([^|]+) \|")
_MARKUP = re.compile(r"!?\[([^][]*)\]\([^)]*\)")
_LAST = ("reference/", "lab/")
"""Folders whose pages are found behind those that explain."""
MOST = 5
"""Places that are named beside the best one."""


@dataclass(frozen=True)
class DocsSection:
    """A part of a page, from its heading to the next one of its level.

    A page's own part ends where its first section begins; with no words before that, it is the
    whole page.

    Attributes:
        page: path below the folder of the documentation.
        heading: without markup.
        line: of the heading, from 1.
        text: the section, in Markdown.
    """

    page: str
    heading: str
    line: int
    text: str

    @property
    def place(self) -> str:
        """The path of the page, the line, and the heading."""
        return f"{folder() / self.page}:{self.line}  {self.heading}"

    def as_dict(self) -> dict[str, str | int]:
        """The section as JSON has it."""
        return asdict(self)


def folder() -> Path:
    """The folder of the documentation, of the checkout or of the installed package."""
    return shipped(DOCS)


def titles() -> list[dict[str, str]]:
    """Every page with its title."""
    return [{"page": s.page, "title": s.heading} for s in sections() if s.text.startswith("# ")]


@functools.cache
def sections() -> tuple[DocsSection, ...]:
    """All sections of all pages, those that explain before those of reference and laboratory."""
    pages = (path.relative_to(folder()).as_posix() for path in folder().rglob("*.md"))
    ordered = sorted(pages, key=lambda page: (page.startswith(_LAST), page))
    return tuple(section for page in ordered for section in _sections_of(page))


def _sections_of(page: str) -> Iterator[DocsSection]:
    lines = (folder() / page).read_text(encoding="utf-8").splitlines()
    heads, fenced = [], False
    for number, line in enumerate(lines):
        fenced ^= line.startswith("```")
        if not fenced and (match := _HEADING.fullmatch(line)):
            heads.append((number, len(match[1]), plain(match[2])))
    for at, (number, level, heading) in enumerate(heads):
        following = (n for n, deep, _ in heads[at + 1 :] if level == 1 or deep <= level)
        text = "\n".join(lines[number : next(following, None)]).strip()
        if text == lines[number] and level == 1:  # nothing before its first section
            text = "\n".join(lines[number:]).strip()
        yield DocsSection(page, heading, number + 1, text)


def plain(text: str) -> str:
    """A text without marks of code and links."""
    return _MARKUP.sub(r"\1", text).replace("`", "").replace("*", "").strip()


@functools.cache
def _explained() -> dict[str, DocsSection]:
    """The words of the glossary, each with its row."""
    page, explanations = "reference/glossary.md", {}
    lines = (folder() / page).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        if row := _ROW.match(line):
            text = f"{plain(row[1])}: {plain(row[2])}"
            for word in re.split("[,;]", plain(row[1])):
                explanations.setdefault(_even(word), DocsSection(page, plain(row[1]), number, text))
    return explanations


@functools.lru_cache(4096)
def _even(text: str) -> str:
    """A text in small letters, without signs between its words."""
    return " ".join(re.findall(r"[\w.:×÷-]+", plain(text).lower().replace("_", " ")))


def find(word: str) -> list[DocsSection]:
    """The sections that a word belongs to, the best first.

    A page of that name comes first, then a heading that is the word, a word of the glossary, a
    heading that has the word in it, and a text that has it.

    Raises:
        InputError: no page has the word.
    """
    query = _even(word) or word
    pattern = re.compile(rf"(?<![\w-]){re.escape(query)}(?![\w-])")
    ranks: tuple[list[DocsSection], ...] = ([], [], [], [], [])
    for section in sections():
        heading, first = _even(section.heading), section.text.startswith("# ")
        name = _even(Path(section.page).stem)
        if first and query in (name, _even(section.page.removesuffix(".md"))):
            ranks[0].append(section)
        elif heading == query:
            ranks[1].append(section)
        elif query in heading and pattern.search(heading):
            ranks[3].append(section)
        elif not first and query in (text := _even(section.text)) and pattern.search(text):
            ranks[4].append(section)
    ranks[4].sort(key=lambda s: (s.page.startswith(_LAST), -len(pattern.findall(_even(s.text)))))
    if query in _explained():
        ranks[2].append(_explained()[query])
    matches = [section for rank in ranks for section in rank]
    if not matches:
        names = {Path(s.page).stem for s in sections()} | {s.heading for s in sections()}
        near = meant(query, sorted({*_explained(), *map(_even, names)}))
        raise InputError(
            f"no page of the documentation has {word!r}; give another word, or none for the list "
            f"of pages{near}"
        )
    return matches[: MOST + 1]


def address(section: DocsSection) -> str:
    """The address of a section in the site that was built from the documentation.

    Raises:
        InputError: no site has been built.
    """
    built = folder().parent / "site"
    page = built / Path(section.page).with_suffix(".html")
    if not page.is_file():
        raise InputError(
            f"--site needs the site, and '{page}' is not there; build it in a checkout by "
            "`python -m sphinx docs site`, or leave --site out to read here"
        )
    anchor = "-".join(re.findall(r"[\w]+", section.heading.lower()))
    first = section.text.startswith("# ")
    return page.as_uri() + ("" if first else f"#{anchor}")


def open_page(address: str) -> bool:
    """Open an address in a browser; whether there is one."""
    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False
