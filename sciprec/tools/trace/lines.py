"""Parts of an error in words: lines, and lines that go together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

UNKNOWN = "unknown"
"""Name of the row of what is rounded and not seen."""
LANES = 8
"""Numbers beside each value: the whole error, and the parts of seven groups at once."""


@dataclass(frozen=True)
class Line:
    """A line of the source, or whatever else the error is split by.

    Attributes:
        function, file, line: where its first operation begins (absolute line number).
        source: the text of the line; of an argument's conversion "argument x".
        name: "line 12", or what it is called by operation, variable, function, call or step.
        share: of the error of all outputs, signed: <its part, error> / <error, error>.
        rms: of its part over the outputs, in their unit; of several outputs each over its norm.
        shares: share of the error of each output, by its name.
        bits_lost: log2 of the relative error of a result over that of its operands, the largest
            over its operations and runs; exact operands count as rounded once.
        runs: how often it was executed.
        group: number of its group of lines whose parts go together; 0 where its part is small.
    """

    function: str
    file: str
    line: int
    source: str
    name: str
    share: float
    rms: float
    shares: Mapping[str, float] = field(default_factory=dict)
    bits_lost: float = 0.0
    runs: int = 0
    group: int = 0

    @property
    def percent(self) -> str:
        """The share in words: "+61.5%"."""
        return "0.0%" if abs(self.share) < 0.0005 else f"{self.share:+.1%}"


@dataclass(frozen=True)
class LineGroup:
    """Lines whose parts are correlated over results and perturbed inputs, so that none of them is
    worth changing alone; or a line by itself.

    Attributes:
        number: from 1, the largest share first.
        members: places of its lines among all lines of the trace.
        lines: its lines.
        share: of the error, pooled over inputs: <its part, error> / <error, error>.
        left: predicted error without its roundings: |error - part| / |error|.
        correlation: the one of largest size between two of its lines; 0 of a single line.
    """

    number: int
    members: tuple[int, ...]
    lines: tuple[Line, ...]
    share: float
    left: float
    correlation: float
