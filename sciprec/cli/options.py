"""Options that several verbs have, and completions that a shell offers for them."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from glob import glob
from pathlib import Path
from typing import Annotated, Any

import typer

from sciprec.foundation.arguments import share, word
from sciprec.foundation.errors import InputError

SHELLS = ("bash", "zsh", "fish")
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


def share_option(words: str, **limits: float) -> Any:
    """An option that is a share or a rate, 0.05 or 5%.

    Args:
        words: what it is.
        limits: least and most, both accepted.
    """

    def read(text: str | float) -> float:
        written = str(text).strip()
        try:
            value = share(written)
        except ValueError:
            raise typer.BadParameter(
                f"{written!r} is no number; accepted: a number or a percentage, 0.05 or 5%"
            ) from None
        least, most = limits.get("least", -math.inf), limits.get("most", math.inf)
        if limits and not least <= value <= most:
            raise typer.BadParameter(f"{written} is not in the range {least:g} to {most:g}")
        return value

    return typer.Option(help=words, parser=read, metavar="<float>")


def known_backends(incomplete: str) -> list[str]:
    from sciprec.precision.formats.backend import backends

    return [name for name in backends() if name.startswith(incomplete)]


def _kinds(incomplete: str) -> list[str]:
    from sciprec.workbench.kinds import kinds

    return [name for name in kinds() if name.startswith(incomplete)]


def _cases(incomplete: str) -> list[str]:
    from sciprec.climate.catalogue import CASES

    return [name for name in CASES if name.startswith(incomplete)]


def _payoffs(incomplete: str) -> list[str]:
    from sciprec.heston.options.catalogue import payoffs

    return [name for name in payoffs() if name.startswith(incomplete)]


def _scenarios(incomplete: str) -> list[str]:
    from sciprec.foundation.shipped import EXAMPLES, SCENARIOS, names

    examples = (f"{EXAMPLES}:{name}" for name in names(EXAMPLES))
    known = (*glob("*.toml"), *names(SCENARIOS), *examples)
    return [name for name in known if name.startswith(incomplete)]


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress on standard error.")]
Backends = Annotated[
    list[str] | None,
    typer.Option(
        "--backend", "-b", autocompletion=known_backends,
        help="Arithmetic to compute in, by its name in `sciprec list backends` or a spec "
"string; repeat it for several.",
    ),
]  # fmt: skip
Backend = Annotated[
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
KindName = Annotated[
    str,
    typer.Argument(
        autocompletion=_kinds,
        help="Kind of the scenario: climate, heston, accumulation, or a plugin's.",
    ),
]
AnyKind = Annotated[
    str | None,
    typer.Argument(
        autocompletion=_kinds,
        help="Kind of scenario: climate, heston, accumulation, or a plugin's [default: all].",
    ),
]
CaseName = Annotated[
    str,
    typer.Argument(autocompletion=_cases, help="Name of a case, which `sciprec list cases` has."),
]
Payoff = Annotated[
    str,
    typer.Option(
        autocompletion=_payoffs,
        help="Name of the payoff, such as call, asian-arithmetic, barrier-down-out.",
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
            for given in args[: args.index("--") if "--" in args else None]:
                if f"-{given.partition('=')[0]}" in long_names:
                    raise InputError(
                        f"'{given}' was given; a long option has two hyphens: -{given}"
                    )
            values, rest, options = parse(args=args)
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


def _read(process: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    """Read the value of an option; what cannot be read is named."""
    try:
        return process(context, value)
    except typer.BadParameter as error:
        texts = [str(item) for item in (value if isinstance(value, (list, tuple)) else [value])]
        if value is not None and not any(text in error.message for text in texts):
            error.message = f"'{', '.join(texts)}': {error.message}"
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
    given = any(word.partition("=")[0] == option for word in words)
    return f"{option} {message.partition(' ')[2]}" if given else message
