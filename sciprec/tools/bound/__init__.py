"""`bound`: a proven bound of a kernel's rounding error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.tools.bound.bounds import Bound as Bound

_PUBLIC = {
    "Bound": "sciprec.tools.bound.bounds",
}

__all__ = list(_PUBLIC)
__getattr__, __dir__ = names_of("sciprec.tools.bound", _PUBLIC)
