"""Long accumulation: many small updates of a number, the smallest model in which rounding wins."""

from sciprec.accumulation.integration import Accumulation, accumulate

__all__ = ["Accumulation", "accumulate"]
