"""Options that several verbs have, and completions that a shell offers for them."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from glob import glob
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from sciprec.foundation.arguments import share, word
from sciprec.foundation.errors import InputError

SHELLS = ("bash", "zsh", "fish")
_TYPOGRAPHIC = "“”„‟«»‘’‚‛"
_ASKED_BY_SHELL = "_SCIPREC_COMPLETE"


def prepare_completion() -> None:
    """Let the command answer the shell where that asks for the words that may come next."""
    if _ASKED_BY_SHELL in os.environ:
        from typer.completion import completion_init

        completion_init()


def print_completion(shell: str | None) -> None:
    """Print the script by which a shell completes words of the command.

    Raises:
        InputError: it is none of SHELLS.
    """
    if shell is not None:
        from typer.completion import get_completion_script

        names = {"prog_name": "sciprec", "complete_var": _ASKED_BY_SHELL}
        print(get_completion_script(**names, shell=word("shell", shell, SHELLS)))
        raise typer.Exit


def share_option(**limits: float) -> Any:
    """An option that is a share or a rate, 0.05 or 5%.

    Args:
        limits: least and most, both accepted.
    """

    def read(text: str | float) -> float:
        written = str(text).strip()
        try:
            value = share(written)
        except ValueError:
            raise typer.BadParameter(
                f"{written!r} is not a number; accepted: a number or a percentage, 0.05 or 5%"
            ) from None
        least, most = limits.get("least", -math.inf), limits.get("most", math.inf)
        if limits and not least <= value <= most:
            raise typer.BadParameter(f"{written} is not in the range {least:g} to {most:g}")
        return value

    return typer.Option(parser=read, metavar="<number>")


def known_backends(incomplete: str) -> list[str]:
    from sciprec.precision.formats.backend import backends

    return [name for name in backends() if name.startswith(incomplete)]


def known_kinds(incomplete: str) -> list[str]:
    from sciprec.workbench.kinds.kind import kind_names

    return [name for name in kind_names() if name.startswith(incomplete)]


def known_cases(incomplete: str) -> list[str]:
    from sciprec.climate.catalogue import CASES

    return [name for name in CASES if name.startswith(incomplete)]


def known_payoffs(incomplete: str) -> list[str]:
    from sciprec.heston.payoff_registry import payoffs

    return [name for name in payoffs() if name.startswith(incomplete)]


def _scenarios(incomplete: str) -> list[str]:
    from sciprec.foundation.shipped import EXAMPLES, SCENARIOS, names

    examples = (f"{EXAMPLES}:{name}" for name in names(EXAMPLES))
    choices = (*glob("*.toml"), *names(SCENARIOS), *examples)
    return [name for name in choices if name.startswith(incomplete)]


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress on standard error.")]
BackendsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--backend", "-b", autocompletion=known_backends,
        help="Arithmetic to compute in, by its name in `sciprec list backends` or a spec "
"string; repeat it for several.",
    ),
]  # fmt: skip
BackendOption = Annotated[
    str,
    typer.Option(
        "--backend",
        "-b",
        autocompletion=known_backends,
        help="Arithmetic to compute in, by its name in `sciprec list backends` or a spec string.",
    ),
]
ScenarioFiles = Annotated[
    list[Path],
    typer.Argument(
        autocompletion=_scenarios, help="Scenario files (TOML), or names of shipped scenarios."
    ),
]
AnyKind = Annotated[
    str | None,
    typer.Argument(
        autocompletion=known_kinds,
        help="Kind of scenario: climate, heston, or that of an example or a plugin [default: all].",
    ),
]


def refuse_slips(command: Any) -> None:
    """Let a command and those below it refuse an option that takes one value and is given twice,
    since the last one would go before the others in silence, and long options with one hyphen; and
    name the value of an option that cannot be read.
    """
    make_parser = command.make_parser
    long_names = {name for param in command.params for name in param.opts if name[:2] == "--"}

    def checking_parser(context: Any) -> Any:
        parser = make_parser(context)
        parse = parser.parse_args

        def parsed(args: list[str]) -> Any:
            for each in args[: args.index("--") if "--" in args else None]:
                name = each.partition("=")[0]
                if f"-{name}" in long_names:
                    raise InputError(f"'{each}' was given; a long option has two hyphens: -{each}")
                if name not in long_names and name.lower() in long_names:
                    right = each.replace(name, name.lower(), 1)
                    raise InputError(f"'{each}' was given; options have small letters: {right}")
            _refuse_before_verb(command, context.command_path, args)
            _refuse_lost_value(command, args)
            _refuse_two_letters(command, args)
            words = list(args)  # which the parser takes away
            try:
                values, rest, options = parse(args=args)
            except Exception as error:
                _refuse_hyphen(getattr(error, "option_name", None) or "", words)
                raise
            for option, count in Counter(options).items():
                kinds = ("multiple", "is_flag", "count")  # which an argument has none of
                if count > 1 and not any(getattr(option, kind, False) for kind in kinds):
                    raise InputError(
                        f"{max(option.opts, key=len)} is given {count} times; accepted: once"
                    )
            return values, rest, options

        parser.parse_args = parsed
        return parser

    command.make_parser = checking_parser
    for param in command.params:
        param.process_value = partial(_read, param.process_value)
    for below in getattr(command, "commands", {}).values():
        refuse_slips(below)


def _refuse_before_verb(command: Any, path: str, args: list[str]) -> None:
    """Refuse an option in front of the verb that has it."""
    options = {name for param in command.params for name in param.opts}
    first = args[0].partition("=")[0] if args else ""
    for verb, below in getattr(command, "commands", {}).items():
        verb_options = {name for param in below.params for name in param.opts}
        if first[:1] == "-" and first not in options and first in verb_options:
            raise InputError(
                f"'{args[0]}' stands in front of the verb; options stand behind it, as in `{path} "
                f"{verb} {args[0]}`"
            )


def _refuse_lost_value(command: Any, args: list[str]) -> None:
    """Refuse an option in the place of another one's value."""
    options = {name for param in command.params for name in param.opts if name[:1] == "-"}
    flags = {name for param in command.params if getattr(param, "is_flag", False)
             for name in param.opts}  # fmt: skip
    for typed, value in pairwise(args[: args.index("--") if "--" in args else None]):
        if typed in options - flags and value.partition("=")[0] in options:
            raise InputError(
                f"'{value}' stands where the value of {typed} is expected; write that value behind "
                f"{typed}"
            )


def _refuse_two_letters(command: Any, args: list[str]) -> None:
    """Refuse an option of one letter that takes a value, with another letter behind it: that letter
    would be its value, and the next word something else.
    """
    letters = {name: param for param in command.params for name in param.opts if len(name) == 2}
    words = args[: args.index("--") if "--" in args else None]
    for typed, behind in pairwise([*words, ""]):
        first, second = typed[:2], f"-{typed[2:]}"
        takes = first in letters and not getattr(letters[first], "is_flag", False)
        if not (takes and re.fullmatch("-[A-Za-z]{2}", typed)):
            continue
        value = f" {behind}" if behind and behind[0] != "-" else " and its value"
        right = f"{second} {first}" if second in letters else first
        raise InputError(
            f"'{typed}' was given, which means {first} with the value '{typed[2:]}'; write "
            f"{right}{value}"
        )


def _refuse_hyphen(option: str, args: list[str]) -> None:
    """Refuse a word that a hyphen makes a row of options of one letter, the first an unknown one.

    Args:
        option: the unknown one; empty for none.
    """
    for typed in args:
        if len(option) == 2 and re.match("-[A-Za-z]{2}", typed) and option[1] in typed:
            raise InputError(
                f"'{typed}' begins with a hyphen and is not an option; write {typed[1:]} or --"
                f"{typed[1:]}, or write -- before it if it is a value"
            )


def suspicious(words: list[str]) -> list[str]:
    """Sentences on words of a command line that hold what nobody types on purpose: dashes and
    quotes of typography, spaces, nothing.
    """
    messages = []
    for number, typed in enumerate(words):
        behind = f", behind '{words[number - 1]}'" if number else ""
        plain = re.sub("^[\u2010-\u2015\u2212]+", "--", typed).strip(_TYPOGRAPHIC + " \t\xa0")
        if not typed:
            messages.append(
                f"a word is empty{behind}, as of a variable of the shell that is not set"
            )
        elif re.match("[\u2010-\u2015\u2212]", typed):
            messages.append(
                f"'{typed}' begins with a dash of typography; hyphens are meant: {plain}"
            )
        elif typed[0] in _TYPOGRAPHIC or typed[-1] in _TYPOGRAPHIC:
            messages.append(f"'{typed}' has quotes of typography; write {plain}")
        elif typed != plain:
            messages.append(f"'{typed}' begins or ends with a space; write {plain}")
    return messages


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


_PLAIN = {"number": "a number", "integer": "a whole number"}


def _read(process: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    """Read the value of an option; what cannot be read is named."""
    try:
        return process(context, value)
    except typer.BadParameter as error:
        texts = [str(item) for item in (value if isinstance(value, (list, tuple)) else [value])]
        if value is not None and not any(text in error.message for text in texts):
            number = re.match(r"Input should be a valid (number|integer)", error.message)
            message = f": {error.message}"
            if number:
                texts = [text for text in texts if not _is_number(text)] or texts
                message = f" is not {_PLAIN[number[1]]}"
            error.message = f"'{', '.join(texts)}'{message}"
        if any(re.search(r"\d,\d", text) for text in texts):
            error.message += "; a decimal point is written in place of a comma"
        raise


def of_options(message: str, words: list[str]) -> str:
    """A sentence on an argument, which names it as the command line does where it was given there.

    Args:
        words: of the command line.

    Example:
        `of_options("by 'lines' is unknown", ["trace", "--by=lines"])` begins with "--by".
    """
    option = f"--{message.partition(' ')[0].replace('_', '-')}"
    is_given = any(word.partition("=")[0] == option for word in words)
    return f"{option} {message.partition(' ')[2]}" if is_given else message
