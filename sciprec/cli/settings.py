"""Options that hold for every verb, wherever they are given."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import typer

from sciprec.cli.old_spellings import in_todays_words
from sciprec.cli.options import Quiet
from sciprec.foundation.errors import InputError, Interrupted

FILES_KEPT = "the files of runs that had finished are kept"


class Settings:
    """Options of the command line that hold for this whole process."""

    debug: bool = False
    quiet: bool = False
    """Whether verbs show no progress."""
    plugins: tuple[str, ...] = ()
    """Absolute paths of the user's own files, which are imported."""
    command: tuple[str, ...] = ()
    """The words behind a bare `--`."""
    work_ended: Callable[[], str] = str
    """Returns the sentence about work that Ctrl-C ends; an empty one outside of `interruptible`."""


def quiet_everywhere(command: Any) -> None:
    """Let a command and those below it take `--quiet`, where they have no such parameter."""
    below = getattr(command, "commands", {}).values()
    for each in below:
        quiet_everywhere(each)
    options = {option for parameter in command.params for option in parameter.opts}
    if not below and "--quiet" not in options:
        alone = typer.Typer(add_completion=False)
        alone.command()(_quieten)
        (option,) = typer.main.get_command(alone).params
        option.expose_value, option.callback = False, lambda *args: _quieten(args[-1])
        command.params.append(option)


def _quieten(quiet: Quiet = False) -> None:
    """Show no progress."""
    Settings.quiet = Settings.quiet or quiet


@contextmanager
def interruptible(message: Callable[[], str]) -> Iterator[None]:
    """Long work of a verb, for a `with` statement, which Ctrl-C ends.

    Args:
        message: gives the words for what stays on disk then.

    Raises:
        Interrupted: it was ended.
    """
    Settings.work_ended = message
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(message()) from None
    finally:
        Settings.work_ended = str


def before_the_verb(args: list[str]) -> list[str]:
    """`--debug` and `--plugin FILE` before the verb; what follows a bare `--` is no option.

    Raises:
        InputError: `--plugin` stands at the end.
    """
    end = args.index("--") if "--" in args else len(args)
    Settings.command = tuple(args[end + 1 :])
    moved, rest, words = [], [], iter(args[:end])
    for word in words:
        if word == "--debug" or word.startswith("--plugin="):
            moved.append(word)
        elif word == "--plugin":
            file = next(words, "")
            if not file:
                raise InputError(
                    "--plugin was given without a file; give the path of a file such as mymodel.py"
                )
            moved += [word, file]
        else:
            rest.append(word)
    return [*moved, *in_todays_words(rest), *args[end:]]


def as_words(plugins: tuple[str, ...]) -> list[str]:
    """The words of a command line that name such files."""
    return [word for file in plugins for word in ("--plugin", file)]


def command_line(verb: Sequence[str], options: Mapping[str, Iterable[Any] | None]) -> str:
    """The command line that does the same again, here and now.

    Args:
        verb: with its arguments.
        options: the values that each was given; None, alone or among them, is no value.
    """
    from sciprec.workbench.batch.modes import shell_assignments

    words = [
        word for name, values in options.items() for value in values or () if value is not None
        for word in (name, str(value))
    ]  # fmt: skip
    start = [*shell_assignments(os.environ), "sciprec", *as_words(Settings.plugins)]
    return shlex.join([*start, *verb, *words])
