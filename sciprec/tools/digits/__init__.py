"""`digits`: how many digits of a kernel's results are right, and how many its data leave."""

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.tools.digits.kernel_digits import Digits as Digits

__all__, __getattr__, __dir__ = names_of("sciprec.tools.digits")
