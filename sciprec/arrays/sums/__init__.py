"""Sums and updates that carry their rounding errors along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.arrays.sums.compensation import CarriedUpdate as CarriedUpdate
    from sciprec.arrays.sums.compensation import Compensation as Compensation
    from sciprec.arrays.sums.summation import compensated_dot as compensated_dot
    from sciprec.arrays.sums.summation import compensated_sum as compensated_sum

_PUBLIC = {
    "Compensation": "sciprec.arrays.sums.compensation",
    "CarriedUpdate": "sciprec.arrays.sums.compensation",
    "compensated_sum": "sciprec.arrays.sums.summation",
    "compensated_dot": "sciprec.arrays.sums.summation",
}

__all__ = list(_PUBLIC)
__getattr__, __dir__ = names_of("sciprec.arrays.sums", _PUBLIC)
