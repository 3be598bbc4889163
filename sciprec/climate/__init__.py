"""A spectral model of the atmosphere whose every operation can run in any arithmetic."""

from sciprec.climate.model import Trajectory, integrate

__all__ = ["Trajectory", "integrate"]
