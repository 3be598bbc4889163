"""How heavy the prose of the documentation is: `python docs/count_words.py [PAGE ...]`.

Only sentences count: no code, tables, headings, links' targets, or front matter. Names of formats
and grids, such as fp16 and T42L20, are no numbers.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

MOST_COMMAS, MOST_NUMBERS, LONGEST, LEAST_BLOCKS = 0.9, 2.0, 27, 8.0
"""Commas a sentence, numbers per 100 words, words of nine in ten sentences; blocks per 1,000."""
FOLDER = Path(__file__).parent
_NUMBER = re.compile(r"(?<![\w.])[-−+]?\d[\d.,·]*(?:e[-−+]?\d+)?(?![\w-])")
_END = re.compile(r"(?<=[.:?!])\s+(?=[A-Z`\"*(\[])")


@dataclass(frozen=True)
class Counted:
    """Figures of a page's prose.

    Attributes:
        words: of the prose.
        commas: for each sentence.
        numbers: for each 100 words.
        length: words that nine in ten sentences do not exceed.
        blocks: of code, for each 1,000 words.
    """

    words: int
    commas: float
    numbers: float
    length: int
    blocks: float

    def too_heavy(self, shows_code: bool) -> list[str]:
        """The figures beyond their limits, in words.

        Args:
            shows_code: whether the page has to show code, as tutorials and how-to pages have.
        """
        told = {
            f"{self.commas:.2f} commas a sentence": self.commas > MOST_COMMAS,
            f"{self.numbers:.1f} numbers per 100 words": self.numbers > MOST_NUMBERS,
            f"one sentence in ten has more than {self.length} words": self.length > LONGEST,
            f"{self.blocks:.1f} blocks of code per 1,000 words":
                shows_code and self.blocks < LEAST_BLOCKS,
        }  # fmt: skip
        return [words for words, beyond in told.items() if beyond]


def counted(text: str) -> Counted:
    """The figures of a page in Markdown."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    text, blocks = re.subn(r"^```.*?^```", "\n", text, flags=re.DOTALL | re.MULTILINE)
    kept = [re.sub(r"^\s*(?:[-*] |\d+\. )", "\n", line) for line in text.splitlines()
            if not line.lstrip().startswith(("|", "#", "!["))]  # fmt: skip
    text = re.sub(r"!?\[([^][]*)\]\([^)]*\)", r"\1", "\n".join(kept))
    text = re.sub(r"`[^`]*`", "code", text)
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]
    sentences = [s for part in paragraphs for s in _END.split(part) if len(s.split()) > 2]
    lengths = sorted(len(s.split()) for s in sentences) or [0]
    words = max(1, sum(lengths))
    return Counted(
        words, sum(s.count(",") for s in sentences) / max(1, len(sentences)),
        100 * sum(len(_NUMBER.findall(s)) for s in sentences) / words,
        lengths[int(0.9 * (len(lengths) - 1))], 1000 * blocks / words,
    )  # fmt: skip


def pages() -> dict[str, Counted]:
    """Every page of prose outside laboratory and reference, by its path."""
    found = {}
    for path in sorted(FOLDER.rglob("*.md")):
        name = path.relative_to(FOLDER).as_posix()
        if not name.startswith(("lab/", "reference/")):
            found[name] = counted(path.read_text(encoding="utf-8"))
    return found


def heavy() -> dict[str, list[str]]:
    """Pages beyond a limit, with the figures."""
    shown = ("tutorials/", "how_to/")
    found = {n: c.too_heavy(n.startswith(shown)) for n, c in pages().items()}
    return {name: told for name, told in found.items() if told}


if __name__ == "__main__":
    asked = sys.argv[1:]
    for name, told in heavy().items():
        if not asked or name in asked:
            print(f"{name}: {'; '.join(told)}")
