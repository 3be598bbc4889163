"""The templates' environment, the same for every page."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment(**filters: Callable) -> Environment:
    """An environment in which unknown names are errors and text is escaped.

    Args:
        filters: by name, what templates may apply to values.
    """
    made = Environment(
        loader=PackageLoader("sciprec.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(filters)
    return made


def page_style() -> str:
    """The style sheet that pages contain."""
    return _text("page.css")


def page_script() -> str:
    """The script that pages contain: sorting of tables, switching between figures."""
    return _text("page.js")


def _text(name: str) -> str:
    """A file beside the templates."""
    return resources.files("sciprec.report").joinpath("templates", name).read_text("utf-8")
