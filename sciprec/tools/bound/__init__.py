"""`bound`: a proven bound of a kernel's rounding error."""

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.tools.bound.bounds import Bound as Bound

__all__, __getattr__, __dir__ = names_of("sciprec.tools.bound")
