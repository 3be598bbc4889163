"""The templates' environment, the same for every page."""

from __future__ import annotations

from functools import cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from sciprec.comparison.reasons import place
from sciprec.comparison.wording import digits, duration, gain_in_words, number


def template(name: str) -> Template:
    """One of the templates in `report/templates/`, by its path there."""
    return _environment().get_template(name)


def template_of(markup: str) -> Template:
    """The template that a text is; it may take what is in the others, such as `figure`."""
    return _environment().from_string(markup)


@cache
def _environment() -> Environment:
    """An environment in which unknown names are errors and text is escaped.

    Templates may apply to values: number, seconds, digits, gain, place.
    """
    made = Environment(
        loader=PackageLoader("sciprec.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        number=number, seconds=duration, digits=digits, gain=gain_in_words, place=place
    )
    return made


def page_style() -> str:
    """The style sheet that pages contain."""
    return _text("page.css")


def page_script() -> str:
    """The script that pages contain: sorting of tables, switching between figures."""
    return _text("page.js")


def _text(name: str) -> str:
    """A file among the templates."""
    return resources.files("sciprec.report").joinpath("templates", name).read_text("utf-8")
