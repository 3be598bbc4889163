"""Results: labelled datasets and their files, and their comparison with the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sciprec.results.accessor as _accessor  # noqa: F401  whoever gets a dataset gets `.sciprec`
from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.results.output.pressure import on_pressure_levels as on_pressure_levels

_PUBLIC = {
    "on_pressure_levels": "sciprec.results.output.pressure",
}

__all__ = list(_PUBLIC)
__getattr__, __dir__ = names_of("sciprec.results", _PUBLIC)
