"""A spectral model of the atmosphere whose every operation can run in any arithmetic."""

from typing import TYPE_CHECKING

from sciprec.climate.physics.forcings import forcing
from sciprec.climate.running.integration import Trajectory, integrate
from sciprec.climate.running.perturbation import Perturbation
from sciprec.foundation.later import names_of

if TYPE_CHECKING:  # labelled data takes long to import
    from sciprec.climate.running.column import column as column
    from sciprec.climate.running.labelled import run as run

_later, __getattr__, _ = names_of("sciprec.climate")
__all__ = ["Perturbation", "Trajectory", "forcing", "integrate", *_later]


def __dir__() -> list[str]:
    return __all__
