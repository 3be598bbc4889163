"""`mend`: what to do about the line that a trace blames, each proposal proven by a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.tools.mend.catalogue import RULES as RULES
    from sciprec.tools.mend.catalogue import Rule as Rule
    from sciprec.tools.trace.proposals import Mend as Mend
    from sciprec.tools.trace.proposals import Proposal as Proposal

_PUBLIC = {
    "Mend": "sciprec.tools.trace.proposals",
    "Proposal": "sciprec.tools.trace.proposals",
    "RULES": "sciprec.tools.mend.catalogue",
    "Rule": "sciprec.tools.mend.catalogue",
}

__all__ = list(_PUBLIC)
__getattr__, __dir__ = names_of("sciprec.tools.mend", _PUBLIC)
