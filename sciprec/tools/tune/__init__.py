"""The search for the cheapest format of every line, by runs of a kernel compiled once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.tools.tune.tuned import Tuned as Tuned

_PUBLIC = {
    "Tuned": "sciprec.tools.tune.tuned",
}

__all__ = list(_PUBLIC)
__getattr__, __dir__ = names_of("sciprec.tools.tune", _PUBLIC)
