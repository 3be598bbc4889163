"""`mend`: what to do about the line that a trace blames, each proposal proven by a run."""

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.tools.mend.catalogue import RULES as RULES
    from sciprec.tools.mend.catalogue import Rule as Rule
    from sciprec.tools.trace.proposals import Mend as Mend
    from sciprec.tools.trace.proposals import Proposal as Proposal

__all__, __getattr__, __dir__ = names_of("sciprec.tools.mend")
