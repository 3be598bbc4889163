"""The table of one run of a traced program: what its rows are told, and what they noted."""

from __future__ import annotations

from typing import Any

import numpy as np

from sciprec.instruments.tracing import rows
from sciprec.instruments.tracing.operations import TECHNIQUES
from sciprec.precision.rewriting.program import Program


class Table:
    """Rows of a program, and the header that they share.

    Args:
        program: of numbers with companions, whose rows they are.

    Attributes:
        words: (rows, words), integers; names of words are those of `rows`.
        numbers: the same memory as binary64 numbers.
        masks: (rows, lanes), which lanes a row's rounding goes to; 1.0 in lane 0.
        header: what all rows share.
    """

    def __init__(self, program: Program):
        numbers: Any = program.numbers
        count, width = len(program.layout.rows), TECHNIQUES[numbers.technique].words
        self.lanes = numbers.lanes
        self.header = np.zeros(rows.HEADER_WORDS, np.int64)
        self.header[rows.STOP] = np.iinfo(np.int64).max
        self.header[rows.HEALED_STEP] = -1
        self.words = np.zeros((count, width + self.lanes), np.int64)
        self.words[:, rows.HEADER] = self.header.ctypes.data
        self.numbers = self.words.view(np.float64)
        self.masks = self.numbers[:, width:]
        self.masks[:, 0] = 1.0
        self.of_steps(np.zeros((1, self.lanes)))

    def begin(self) -> None:
        """Set the header to the beginning of a run; notes of rows stay."""
        self.header[[rows.CLOCK, rows.STEP, rows.LOOP]] = 0
        self.header[rows.MASK] = self.header[rows.MASKS]

    def passes(self) -> tuple[int, int, int] | None:
        """The row of the loop that the run is in, how many of its passes are done, and how many
        there are; None outside of loops over ranges, and where the technique counts none.
        """
        loop, begun, length = self.header[[rows.LOOP, rows.DONE, rows.LENGTH]].tolist()
        row = (loop - self.address) // self.words.strides[0]
        return (row, max(begun - 1, 0), length) if loop else None

    @property
    def address(self) -> int:
        """The address at which a kernel finds the table."""
        return self.words.ctypes.data

    def of_steps(self, masks: np.ndarray) -> None:
        """Give the mask of every step: (steps, lanes), step 0 before the first outermost loop."""
        self._of_steps = np.ascontiguousarray(masks, np.float64)
        self.header[rows.MASKS] = self._of_steps.ctypes.data
