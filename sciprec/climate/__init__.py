"""A spectral model of the atmosphere whose every operation can run in any arithmetic."""

from typing import TYPE_CHECKING, Any

from sciprec.climate.physics.forcings import forcing
from sciprec.climate.running.integration import Trajectory, integrate
from sciprec.climate.running.perturbation import Perturbation
from sciprec.foundation.later import public

if TYPE_CHECKING:
    from sciprec.climate.running.column import column
    from sciprec.climate.running.labelled import run

__all__ = ["Perturbation", "Trajectory", "column", "forcing", "integrate", "run"]


def __getattr__(name: str) -> Any:  # labelled data takes long to import
    modules = {"run": "labelled", "column": "column"}
    rooms = {name: f"sciprec.climate.running.{module}" for name, module in modules.items()}
    return public(name, "sciprec.climate", rooms)


def __dir__() -> list[str]:
    return __all__
