"""Results: labelled datasets and their files, and their comparison with the truth."""

from typing import TYPE_CHECKING

import sciprec.results.accessor as _accessor  # noqa: F401  whoever gets a dataset gets `.sciprec`
from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.results.output.regridding import on_pressure_levels as on_pressure_levels

__all__, __getattr__, __dir__ = names_of("sciprec.results")
