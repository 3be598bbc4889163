"""A twin whose elementary functions are the engine's, each held against the exact value."""

from __future__ import annotations

import functools
import importlib.util
import math
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import sciprec
from tests.oracles import pairs
from tests.oracles.twin import ELEMENTARY, Twin, exactly

SOURCE = """import math

import numpy as np


def kernel({names}):
    return {function}({names})
"""


class OwnFunctions(Twin):
    """Everything is exact and rounded once but elementary functions of numbers."""

    def elementary(self, name: str, *operands):
        """The engine's value in binary64, within a unit in the last place of the exact one.

        Raises:
            ArithmeticError: it is not.
        """
        exact = super().elementary(name, *operands)
        if any(isinstance(x, np.ndarray) or pairs.is_complex(x) for x in operands):
            return exact
        found = engines(name, len(operands))(*map(float, operands))
        truth = float(exact)
        alike = found == truth or math.isnan(found) and math.isnan(truth)
        if not alike and not abs(found - truth) <= math.ulp(truth):
            raise ArithmeticError(f"{name}{tuple(map(float, operands))} is {found}, not {truth}")
        return exactly(found, self.backend.compute)


@functools.cache
def engines(name: str, count: int) -> Callable[..., float]:
    """A lifted kernel in binary64 of one elementary function of so many numbers."""
    function = next(f for f, known in ELEMENTARY.items() if known == name)
    module = "np" if getattr(np, function.__name__, None) is function else "math"
    text = SOURCE.format(names=", ".join("xyz"[:count]), function=f"{module}.{function.__name__}")
    file = Path(tempfile.mkdtemp()) / f"engines_{name}.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return sciprec.lift(made.kernel, "fp64")
