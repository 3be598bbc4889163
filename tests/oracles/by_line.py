"""The exact oracle of assignments: a twin whose operations have the arithmetic of their line.

Numbers are binary64's. An operation enters its operands into the arithmetic of the line that runs,
and rounds its result to it; where a function of the engine's runs, the line that called it counts.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable

from sciprec.precision.formats.float_format import FORMATS
from tests.oracles import derived, exact
from tests.oracles.twin import ENGINE, Twin, run_twin

COPIES = {
    exact.neg, exact.absolute, derived.minimum, derived.maximum, derived.fmin, derived.fmax,
    derived.least, derived.greatest, derived.copysign, derived.sign,
}  # fmt: skip
"""Operations that round nothing."""


class ByLine:
    """Binary64 for numbers; another arithmetic for each operation.

    Args:
        kernel: what is run.
        arithmetic_at: (file, absolute line) -> the arithmetic of that line.
    """

    format, rounding, aligned = FORMATS["binary64"], "rn", False

    def __init__(self, kernel, arithmetic_at: Callable[[str, int], object]) -> None:
        self.kernel, self.arithmetic_at = kernel, arithmetic_at
        self.known: dict[types.CodeType, types.FunctionType] = {}

    def at_operation(self, operation):
        """The arithmetic of the operation that is about to be done."""
        if operation in COPIES:
            return self
        frame = sys._getframe(2)
        while frame.f_code not in self.known:
            frame = frame.f_back
        function = self.known[frame.f_code]
        line = function.__code__.co_firstlineno + frame.f_lineno - 1
        return self.arithmetic_at(function.__code__.co_filename, line)


class _TwinByLine(Twin):
    """Notes which code is the user's: the kernel, and what is not the engine's."""

    def rebuild(self, function):
        made, rules = super().rebuild(function), self.backend.compute
        if function is rules.kernel or not function.__module__.startswith(ENGINE):
            rules.known[made.__code__] = getattr(function, "py_func", function)
        return made


def run_by_line(kernel, arithmetic_at: Callable[[str, int], object], args: tuple):
    """Run a kernel's Python source with the arithmetic of each line.

    Args:
        kernel: a plain Python function.
        arithmetic_at: (file, absolute line) -> the arithmetic of that line.
        args: numbers, arrays, tuples; arrays are written where the kernel writes them.
    """
    one = ByLine(kernel, arithmetic_at)
    backend = types.SimpleNamespace(storage=one, compute=one, accumulate=one, matmul=one)
    return run_twin(kernel, backend, args, _TwinByLine)
