"""Verbs and options that have another name today; the old one works, with a warning."""

from __future__ import annotations

import sys

VERBS = {
    ("watch",): ("monitor",),
    ("backends",): ("list", "backends"),
    ("policies",): ("list", "policies"),
    ("climate", "list"): ("list", "climate"),
    ("coverage",): ("dev", "coverage"),
    ("gallery",): ("dev", "gallery"),
}
"""Today's words of verbs by the old ones."""
OPTIONS = {
    "tune": {"--unit": "--by", "--formats": "--backend"},
}
"""Today's names of options by the old ones, of verbs by their first word."""


def in_todays_words(words: list[str]) -> list[str]:
    """A command line in today's spelling; a line on standard error names each that is not.

    Args:
        words: the verb, its arguments and its options.
    """
    for old, new in VERBS.items():
        if tuple(words[: len(old)]) == old:
            _warn(" ".join(("sciprec", *old)), " ".join(("sciprec", *new)))
            words = [*new, *words[len(old) :]]
    renamed = OPTIONS.get(words[0], {}) if words else {}
    return [_option(word, renamed) for word in words]


def _option(word: str, renamed: dict[str, str]) -> str:
    """A word with today's name of its option, where it had another."""
    name, equals, value = word.partition("=")
    if name not in renamed:
        return word
    _warn(name, renamed[name])
    return f"{renamed[name]}{equals}{value}"


def _warn(old: str, new: str) -> None:
    """Name the new spelling on standard error."""
    print(f"sciprec: `{old}` is now `{new}`; the old spelling will go", file=sys.stderr)
