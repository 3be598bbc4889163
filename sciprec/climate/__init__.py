"""A spectral model of the atmosphere whose every operation can run in any arithmetic."""

from typing import TYPE_CHECKING, Any

from sciprec.climate.running.integration import Trajectory, integrate
from sciprec.climate.running.perturbation import Perturbation

if TYPE_CHECKING:
    from sciprec import run_climate as run

__all__ = ["Perturbation", "Trajectory", "integrate", "run"]


def __getattr__(name: str) -> Any:
    if name == "run":  # it makes labelled data, which the model itself knows nothing of
        from sciprec import run_climate

        return run_climate
    raise AttributeError(f"module 'sciprec.climate' has no attribute '{name}'")
