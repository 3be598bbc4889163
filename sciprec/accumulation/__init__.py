"""Long accumulation: many small updates of a number, the smallest model in which rounding wins."""

from sciprec.accumulation.model import Accumulation, accumulate

__all__ = ["Accumulation", "accumulate"]
