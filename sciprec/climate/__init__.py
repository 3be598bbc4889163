"""A spectral model of the atmosphere whose every operation can run in any arithmetic."""

from sciprec.climate.running.integration import Trajectory, integrate
from sciprec.climate.running.perturbation import Perturbation

__all__ = ["Perturbation", "Trajectory", "integrate", "run"]


def __getattr__(name: str):
    if name == "run":  # it makes labelled data, which the model itself knows nothing of
        from sciprec import run_climate

        return run_climate
    raise AttributeError(f"module 'sciprec.climate' has no attribute '{name}'")
