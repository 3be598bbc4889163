"""`digits`: how many digits of a kernel's results are right, and how many its data leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.tools.digits.kernel_digits import Digits as Digits

_PUBLIC = {"Digits": "sciprec.tools.digits.kernel_digits"}

__all__ = list(_PUBLIC)
__getattr__, __dir__ = names_of("sciprec.tools.digits", _PUBLIC)
