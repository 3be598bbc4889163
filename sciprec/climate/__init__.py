"""A spectral model of the atmosphere whose every operation can run in any arithmetic."""

from typing import TYPE_CHECKING, Any

from sciprec.climate.running.integration import Trajectory, integrate
from sciprec.climate.running.perturbation import Perturbation
from sciprec.foundation.later import public

if TYPE_CHECKING:
    from sciprec.climate.running.labelled import run

__all__ = ["Perturbation", "Trajectory", "integrate", "run"]


def __getattr__(name: str) -> Any:  # labelled data takes long to import
    return public(name, "sciprec.climate", {"run": "sciprec.climate.running.labelled"})


def __dir__() -> list[str]:
    return __all__
