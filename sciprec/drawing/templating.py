"""The templates' environment, the same for every page; and pages of results that are tables and
sentences alone: bounds, memory, repeated runs, prices.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from sciprec.foundation import targets
from sciprec.foundation.arguments import path as checked_path
from sciprec.foundation.errors import printable
from sciprec.foundation.listing import Listing
from sciprec.foundation.origin import version_in_words
from sciprec.results.comparison.wording import digits, duration, gain_in_words, number, place, short


def template(name: str) -> Template:
    """A template, by its path in `drawing/templates/`, or else in the package: of a facet."""
    return _environment().get_template(name)


def template_of(markup: str) -> Template:
    """The template of a text; it may use the other templates, such as `figure`."""
    return _environment().from_string(markup)


@cache
def _environment() -> Environment:
    """An environment in which unknown names are errors and text is escaped, for HTML and for the
    eye: unseen characters are written out.

    Templates may apply to values: number, seconds, digits, gain, place, short, unbroken,
    with_options.
    """
    environment = Environment(
        loader=ChoiceLoader([PackageLoader("sciprec.drawing"), PackageLoader("sciprec", "")]),
        autoescape=True,
        finalize=_made_printable,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=number, seconds=duration, digits=digits, gain=gain_in_words, place=place,
        short=short, unbroken=_unbroken, with_options=_with_options,
    )
    environment.globals["made_by_version"] = version_in_words
    return environment


def _made_printable(value: Any) -> Any:
    """A value of a template; of text, not of markup, all characters are seen."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _unbroken(text: str) -> Markup:
    """A text whose factors, such as ÷ 410, stay in one line."""
    return Markup(re.sub(r"([÷×]) (?=\d)", "\\1\u00a0", str(escape(printable(text)))))


def _with_options(command: str) -> Markup:
    """A command whose options, such as --plugin, stay in one line; it is copied as it is."""
    words = str(escape(printable(command)))
    return Markup(re.sub(r"(?<!\S)(--?[\w-]+)", r'<span class="option">\1</span>', words))


def page_style() -> str:
    """The style sheet that pages contain."""
    return _text("page.css")


def page_script() -> str:
    """The script that pages contain: sorting of tables, switching between figures."""
    return _text("page.js")


def _text(name: str) -> str:
    """A file among the templates."""
    return resources.files("sciprec.drawing").joinpath("templates", name).read_text("utf-8")


def write_listed(
    path: str | Path, title: str, verdict: str, tables: Mapping[str, Listing],
    notes: Sequence[str] = (),
) -> Path:  # fmt: skip
    """Write a page of tables without pictures and scripts; the same result gives the same bytes.

    Args:
        path: of the file.
        title, verdict: of the page; the verdict is a sentence.
        tables: heading -> table; those without a row are left out.
        notes: sentences below them.

    Returns:
        The path.

    Raises:
        InputError: it cannot be written, or what is there is no page of sciprec.
    """
    free = targets.require_free(checked_path("the page", path), targets.PAGE)
    filled = [(heading, listing) for heading, listing in tables.items() if listing.rows]
    page = template("listed.html").render(
        style=page_style(), title=title, verdict=verdict, tables=filled, notes=notes
    )
    return targets.write(free, page, targets.PAGE)
