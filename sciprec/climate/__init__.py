"""A spectral model of the atmosphere whose every operation can run in any arithmetic."""

from typing import TYPE_CHECKING, Any

from sciprec.climate.running.integration import Trajectory, integrate
from sciprec.climate.running.perturbation import Perturbation
from sciprec.foundation.later import MODEL_RUNS

if TYPE_CHECKING:
    from sciprec.workbench.kinds.climate_runs import run_climate as run

__all__ = ["Perturbation", "Trajectory", "integrate", "run"]


def __getattr__(name: str) -> Any:
    if name == "run":
        return MODEL_RUNS["climate"]
    raise AttributeError(f"module 'sciprec.climate' has no attribute '{name}'")
