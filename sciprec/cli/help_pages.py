"""Help pages: verbs in groups, each with its whole sentence, as wide as the terminal."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperGroup

from sciprec.foundation.errors import InputError

WIDEST = 120
"""Columns of a help page at most; lines beyond are hard to read."""
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": WIDEST}
KERNEL, MODELS, OPTIONS, KEEP, REST = (
    "My kernel", "Models and batches", "Option prices", "Keep it so", "Other verbs",
)  # fmt: skip
"""Groups of verbs, in the order in which help names them."""


_ARGUMENT = re.compile(r"^    (\w+): (.*(?:\n {5,}.*)*)", re.M)
_SORTS = {"str": "text", "int": "whole number", "float": "number", "Path": "path"}


def in_plain_words(command: Any) -> None:
    """Let the help of a command and of those below it name the sort of a value as people do: text
    in place of list[str].
    """
    for below in getattr(command, "commands", {}).values():
        in_plain_words(below)
    for param in command.params:
        if hasattr(param, "display_type"):  # of newer versions of Typer
            param.display_type = partial(_plain, param.display_type)


def _plain(display_type: Callable[[Any], str], context: Any) -> str:
    """The sort of a value in words."""
    text = display_type(context).strip("<>").removesuffix(" range")
    element = re.sub(r"^list\[(.*)\]$", r"\1", text)
    return f"<{_SORTS.get(element, element)}>"


class Verbs(TyperGroup):
    """A command of several verbs; its help names each with its first sentence, by group."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a verb; one in capitals is named as what it is."""
        small = args[0].lower()
        if args[0] not in self.commands and small in self.commands:
            raise InputError(f"'{args[0]}' was given; verbs have small letters: {small}")
        below = [f"{name} {args[0]}" for name, command in self.commands.items()
                 if args[0] in getattr(command, "commands", {})]  # fmt: skip
        if args[0] not in self.commands and below:
            raise InputError(f"'{args[0]}' is a verb below others; write {' or '.join(below)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the sections of the verbs; none is cut."""
        visible = {name: command for name, command in self.commands.items() if not command.hidden}
        width = max(map(len, visible))
        sections: dict[str, list[tuple[str, str]]] = {}
        for name, command in visible.items():
            group = getattr(command, "rich_help_panel", None)
            about = inspect.cleandoc(command.help or "").split("\n\n")[0]
            row = name.ljust(width), " ".join(about.split())
            sections.setdefault(group if isinstance(group, str) else "Verbs", []).append(row)
        for group, rows in sections.items():
            with formatter.section(group):
                formatter.write_dl(rows)


class App(typer.Typer):
    """Verbs whose docstrings say below `Args:` what their options are for."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(no_args_is_help=True, cls=Verbs, **settings)

    def command(self, *args: Any, **settings: Any) -> Callable[[Any], Any]:
        """Return the decorator that adds a verb."""
        add = super().command(*args, **settings)
        return lambda verb: add(_explained(verb))

    def callback(self, *args: Any, **settings: Any) -> Callable[[Any], Any]:
        """Return the decorator of the function that has the options before a verb."""
        add = super().callback(*args, **settings)
        return lambda function: add(_explained(function))


def _explained(verb: Any) -> Any:
    """Move the lines below `Args:` from a verb's docstring to its options, which they help with. A
    parameter without a default is an argument, a truth value that is false by default a flag.
    """
    about, _, listed = inspect.cleandoc(verb.__doc__ or "").partition("\n\nArgs:\n")
    texts = {name: " ".join(text.split()) for name, text in _ARGUMENT.findall(listed)}
    hints = get_type_hints(verb, include_extras=True)
    assert texts.keys() <= hints.keys(), f"{verb.__name__} has no {texts.keys() - hints.keys()}"
    for name, parameter in inspect.signature(verb).parameters.items():
        sort, (about_it, *_) = hints[name], getattr(hints[name], "__metadata__", [None])
        if about_it is None:
            flag = [f"--{name.replace('_', '-')}"] if sort is bool else []
            is_argument = parameter.default is parameter.empty
            about_it = (typer.Argument if is_argument else typer.Option)(*flag)
        else:
            sort, about_it = sort.__origin__, copy(about_it)
        about_it.help = texts.get(name, about_it.help)
        hints[name] = Annotated[sort, about_it]
    verb.__annotations__, verb.__doc__ = hints, about
    return verb
