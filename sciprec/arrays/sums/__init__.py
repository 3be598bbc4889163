"""Sums and updates that carry their rounding errors along."""

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.arrays.sums.compensation import CarriedUpdate as CarriedUpdate
    from sciprec.arrays.sums.compensation import Compensation as Compensation
    from sciprec.arrays.sums.summation import compensated_dot as compensated_dot
    from sciprec.arrays.sums.summation import compensated_sum as compensated_sum

__all__, __getattr__, __dir__ = names_of("sciprec.arrays.sums")
