"""The search for the cheapest format of every line, by runs of a kernel compiled once."""

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.tools.tune.tuned import Tuned as Tuned

__all__, __getattr__, __dir__ = names_of("sciprec.tools.tune")
