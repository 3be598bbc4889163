"""Verbs and options that have another name today; the old one works, with a warning."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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


def todays_rule(name: str) -> str:
    """Today's name of a rule of alerts."""
    from sciprec.tools.monitor.alerts import OLDER_RULES

    if name in OLDER_RULES:
        _warn(f"--alert {name}", f"--alert {OLDER_RULES[name]}")
    return OLDER_RULES.get(name, name)


@contextmanager
def old_spellings_named() -> Iterator[None]:
    """Warnings of names that are others today, each as a line on standard error."""
    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any) -> None:
        if not issubclass(category, FutureWarning):
            return usual(message, category, *where)
        print(f"sciprec: {message}", file=sys.stderr)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = usual


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
